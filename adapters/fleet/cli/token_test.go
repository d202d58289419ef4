package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A token's file is its owner's alone, whatever the umask, and is there only with a token.
func TestTokenFile(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	e := newEnvironment(t)
	for command, want := range map[string]string{
		"token create eve --out DIR/eve.token":          "berth.user.abc\n",
		"server join-token agent --out DIR/agent.token": "berth.agent.xyz\n",
	} {
		e.transcript(t, command)
		path := filepath.Join(e.dir, filepath.Base(command))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	require.Contains(t, e.transcript(t, "token create eve --out DIR/none.token --addr 127.0.0.1:1"), "[exit 5]")
	require.NoFileExists(t, filepath.Join(e.dir, "none.token"))
}
