package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/adapters/fleet/daemon"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

func TestSettingsAreWhatIsRead(t *testing.T) {
	for file, into := range map[string]any{
		"server1.yaml": &daemon.ServerSettings{}, "server2.yaml": &daemon.ServerSettings{},
		"server3.yaml": &daemon.ServerSettings{}, "agent.yaml": &daemon.AgentSettings{},
	} {
		text, err := os.ReadFile(filepath.Join("three-servers", file))
		require.NoError(t, err)
		require.NoError(t, yaml.UnmarshalStrict(text, into), file)
	}
}

// The units run commands that there are, with flags that they have.
func TestUnitsRunTheProgram(t *testing.T) {
	for unit, command := range map[string]interface{ ParseFlags([]string) error }{
		"berth-server.service": daemon.ServerCommand("test"), "berth-agent.service": daemon.AgentCommand("test"),
	} {
		text, err := os.ReadFile(filepath.Join("systemd", unit))
		require.NoError(t, err)
		var start []string
		for line := range strings.Lines(string(text)) {
			if args, ok := strings.CutPrefix(line, "ExecStart="); ok {
				start = strings.Fields(args)
			}
		}
		require.Equal(t, "/usr/local/bin/berth", start[0])
		require.Equal(t, strings.TrimSuffix(strings.TrimPrefix(unit, "berth-"), ".service"), start[1])
		require.NoError(t, command.ParseFlags(start[2:]), unit)
	}
}

// The script makes certificates that are good for what they are for.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "berth"), "../cmd/berth")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	script, err := filepath.Abs("three-servers/certificates.sh")
	require.NoError(t, err)
	c := exec.Command(script)
	c.Dir = dir
	c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	before := syscall.Umask(0) // it sets its own
	out, err = c.CombinedOutput()
	syscall.Umask(before)
	require.NoError(t, err, "%s", out)
	for _, pattern := range []string{"ca", "s?", "*.pem", "ca/*-key.pem", "s?/*-key.pem", "s?/server.pem"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		for _, path := range found {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Zero(t, info.Mode().Perm()&0o077, "%s is its owner's alone", path)
		}
	}
	for file, who := range map[string]pki.Identity{
		"s1/server.pem": {Role: pki.Server, Name: "s1"}, "s3/server.pem": {Role: pki.Server, Name: "s3"},
		"admin.pem": {Role: pki.Operator, Name: "admin"},
	} {
		got, err := pki.LoadCredential(filepath.Join(dir, file))
		require.NoError(t, err)
		require.Equal(t, who, got.Identity())
	}
	_, err = pki.LoadAuthority(filepath.Join(dir, "s2"))
	require.NoError(t, err)
}
