package vm

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// unitFiles are those of the machine's folder /etc, besides the units.
var unitFiles = map[string]string{
	"etc/machine-id":                   strings.Repeat("1", 32) + "\n",
	"etc/passwd":                       "root:x:0:0:root:/tmp:/bin/sh\nberth:x:998:998::/:/bin/sh\nalice:x:1000:1000::/tmp:/bin/sh\n",
	"etc/group":                        "root:x:0:\nberth:x:998:\nalice:x:1000:\n",
	"etc/berth/server.yaml":            "name: s1\ndata: /var/lib/berth/server\nlisten: 127.0.0.1:7070\nbootstrap: true\n",
	"etc/berth/agent.yaml":             "name: node\ndata: /var/lib/berth/agent\nlisten: 127.0.0.1:7071\nservers: [127.0.0.1:7070]\ntokenFile: /etc/berth/join-token\n",
	"etc/systemd/system/guest.service": "[Unit]\nAfter=basic.target\n[Service]\nExecStart=/guest\nStandardOutput=tty\nStandardError=tty\nTTYPath=/dev/console\n",
}

// targets are what the units and systemd itself need of systemd's own units.
var targets = []string{
	"basic", "sysinit", "multi-user", "local-fs", "local-fs-pre", "swap", "paths", "sockets", "timers", "slices", "network", "network-online",
	"shutdown", "umount", "final", "poweroff",
}

// TestUnits runs the units under the systemd of this machine.
func TestUnits(t *testing.T) {
	const systemd = "/usr/lib/systemd/systemd"
	if _, err := os.Stat(systemd); err != nil {
		t.Skip("there is no systemd; see the package comment")
	}
	qemu, kernel, busybox := tools(t)
	image := filepath.Join(t.TempDir(), "initramfs")
	writeUnitsImage(t, image, busybox, systemd, "/usr/bin/systemctl", "/usr/lib/systemd/systemd-shutdown")
	g := runMachine(t, qemu, kernel, image, "loglevel=3 rdinit="+systemd+" systemd.log_target=console systemd.log_level=warning systemd.show_status=no")

	t.Run("the agent has all controllers", func(t *testing.T) {
		require.Subset(t, g.node.Machine.Isolation.Controllers, []string{"cpu", "cpuset", "memory", "pids"})
		require.True(t, g.node.Machine.Isolation.Users)
		require.Empty(t, g.node.Machine.Warnings)
	})
	t.Run("a task is in a group near the agent's, with its limits", func(t *testing.T) {
		require.Equal(t, job.Completed, g.jobs["limits"].State)
		lines := strings.Split(strings.TrimSpace(g.logs["limits"]), "\n")
		require.Regexp(t, regexp.MustCompile(`^/system.slice/(berth-agent.service/)?berth-node-`), lines[0])
		require.Equal(t, []string{"67108864", "50000 100000", "unlimited", "alice"}, lines[1:])
	})
	t.Run("too much memory ends the task alone", func(t *testing.T) {
		require.Equal(t, job.OutOfMemory, g.jobs["memory"].State)
	})
	t.Run("a task survives a restart of the agent, and deaths of the agent and the server", func(t *testing.T) {
		require.Equal(t, job.Completed, g.jobs["survivor"].State)
		require.Equal(t, "began\nended\n", g.logs["survivor"])
		require.Len(t, g.jobs["survivor"].Attempts, 1)
	})
	t.Run("units that die are started again", func(t *testing.T) {
		for _, unit := range []string{"berth-server", "berth-agent"} {
			require.ElementsMatch(t, []string{"ActiveState=active", "NRestarts=1"}, strings.Fields(g.logs[unit]), unit)
		}
	})
	t.Run("the data folders", func(t *testing.T) {
		require.Equal(t, "700 berth\n711 root\n", g.logs["folders"])
	})
}

// writeUnitsImage writes the file system of a machine with systemd and the units.
func writeUnitsImage(t *testing.T, image, busybox string, programs ...string) {
	f, err := os.Create(image)
	require.NoError(t, err)
	defer f.Close()
	i := &tree{t: t, archive: archive{w: f}, made: map[string]bool{}}
	for _, d := range []string{"usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "var/lib", "tmp", "proc", "sys", "dev", "run"} {
		i.parents(d + "/x")
	}
	for _, d := range []string{"bin", "sbin", "lib", "lib64"} {
		i.link(d, "usr/"+d)
	}
	shell, err := os.ReadFile(busybox)
	require.NoError(t, err)
	i.put("usr/bin/busybox", 0o755, shell)
	for _, name := range []string{"sh", "ip", "cat", "cut", "id", "sleep", "stat", "tail"} {
		i.link("usr/bin/"+name, "busybox")
	}
	for _, p := range programs {
		i.program(p)
	}
	i.put("guest", 0o755, build(t, ".", "./guest"))
	i.put("usr/local/bin/berth", 0o755, build(t, "../..", "./cmd/berth"))
	i.link("berth", "usr/local/bin/berth")
	for name, text := range unitFiles {
		i.put(name, 0o644, []byte(text))
	}
	for _, name := range targets {
		i.copy("/usr/lib/systemd/system/" + name + ".target")
	}
	for _, name := range []string{"berth-server.service", "berth-agent.service"} {
		text, err := os.ReadFile(filepath.Join("../../deploy/systemd", name))
		require.NoError(t, err)
		i.put("etc/systemd/system/"+name, 0o644, text)
	}
	i.link("etc/systemd/system/default.target", "/usr/lib/systemd/system/multi-user.target")
	i.parents("etc/systemd/system/multi-user.target.wants/x")
	i.link("etc/systemd/system/multi-user.target.wants/guest.service", "../guest.service")
	require.NoError(t, i.end())
}

// tree is an archive of files with their folders.
type tree struct {
	archive
	t    *testing.T
	made map[string]bool
}

// parents adds the folders above a file.
func (i *tree) parents(name string) {
	if dir := path.Dir(name); dir != "." && !i.made[dir] {
		i.parents(dir)
		i.made[dir] = true
		i.folder(dir)
	}
}

func (i *tree) put(name string, mode os.FileMode, content []byte) {
	i.parents(name)
	i.file(name, mode, content)
}

// copy adds a file of this machine, in the place where it is here.
func (i *tree) copy(name string) {
	info, err := os.Stat(name)
	require.NoError(i.t, err)
	content, err := os.ReadFile(name)
	require.NoError(i.t, err)
	if !strings.HasPrefix(name, "/usr/") { // /lib is a link
		name = "/usr" + name
	}
	if !i.made[name] {
		i.made[name] = true
		i.put(strings.TrimPrefix(name, "/"), info.Mode().Perm(), content)
	}
}

// program adds a program of this machine, with its libraries.
func (i *tree) program(name string) {
	i.copy(name)
	out, err := exec.Command("ldd", name).CombinedOutput()
	require.NoError(i.t, err, "%s", out)
	for _, word := range strings.Fields(string(out)) {
		if strings.HasPrefix(word, "/") {
			i.copy(word)
		}
	}
}
