package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"
)

func settingsFile(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A file of settings is read strictly, and whole.
func TestSettingsFiles(t *testing.T) {
	for name, text := range map[string]string{
		"an unknown setting": "nobodyKnows: 1", "a setting twice": "name: a\nname: b", "of another kind": "maxTasks: many",
		"a list": "[]", "no YAML": "\t:", "a bad amount": "reserved: {memory: lots}",
		// Cut at the limit it would be right, and say something else.
		"too large": "maxTasks: 1\n#" + strings.Repeat("x", maxSettings) + "\naccounts: own\n",
	} {
		var s AgentSettings
		err := readSettings(settingsFile(t, text), &s)
		require.Error(t, err, name)
		require.Contains(t, err.Error(), "settings.yaml", name)
	}
	var s AgentSettings
	require.NoError(t, readSettings(settingsFile(t, "labels: {a: b}\nreserved: {memory: 1Gi}\naccounts: own\n"), &s))
	require.Equal(t, "b", s.Labels["a"])
	require.EqualValues(t, 1<<30, s.Reserved.Memory)
	require.Error(t, readSettings(filepath.Join(t.TempDir(), "none"), &s))
}

// Cores are pinned unless the settings say no.
func TestPinCores(t *testing.T) {
	for text, off := range map[string]bool{"name: n1": false, "pinCores: true": false, "pinCores: false": true} {
		var s AgentSettings
		require.NoError(t, readSettings(settingsFile(t, text), &s), text)
		require.Equal(t, off, s.config("test", nil, hclog.NewNullLogger()).NoPinning, text)
	}
}

// A join token that others can read is refused, and is not looked at where none is needed.
func TestJoinTokenIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "join-token")
	require.NoError(t, os.WriteFile(path, []byte("secret\n"), 0o600))
	c := Common{Servers: []string{"s1:7070"}, TokenFile: path}
	join, err := c.join(false)
	require.NoError(t, err)
	require.Equal(t, "secret", join.Token)
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o610, 0o660} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := c.join(false)
		require.ErrorContains(t, err, fmt.Sprintf("the join token: %s holds a secret, and others may read it (mode %04o): run \"chmod 600 %s\"", path, mode, path))
		require.NotContains(t, err.Error(), "secret\n")
	}
	for _, gone := range []bool{false, true} {
		if gone {
			require.NoError(t, os.Remove(path))
		}
		join, err = c.join(true)
		require.NoError(t, err)
		require.Empty(t, join.Token)
	}
	_, err = c.join(false)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// FuzzSettings: whatever is in a file, it is read or refused.
func FuzzSettings(f *testing.F) {
	for _, text := range []string{
		"", "name: n1\nservers: [a:1, b:2]\n", "reserved: {cpu: 500m, memory: 1Gi}", "labels: {a: b}\nhealth: {command: [x], limit: 1m}",
		"a: &a [*a]", "a: &a [x,x]\nb: [*a,*a]", "%YAML 1.1\n---\n...", "{", "lost: 5m\nrate: .inf", "\xff",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := settingsFile(t, text)
		for _, into := range []any{&AgentSettings{}, &ServerSettings{}} {
			if err := readSettings(path, into); err != nil {
				require.Contains(t, err.Error(), path)
			}
		}
	})
}
