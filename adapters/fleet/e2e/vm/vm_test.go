package vm

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// agentSettings are those of the node.
const agentSettings = `
name: node
data: /var/agent
listen: 127.0.0.1:7071
servers: ["127.0.0.1:7070"]
accounts: own
maxProcesses: 20
`

// jobs are run one after the other, in the order of their names.
var jobs = map[string]string{
	"a-fits":     "command: [sh, -c, 'echo fine']\nresources: {cpu: 1, memory: 64Mi}",
	"b-memory":   "command: [sh, -c, 'tail /dev/zero']\nresources: {cpu: 1, memory: 48Mi}",
	"c-child":    "command: [sh, -c, '(tail /dev/zero); echo the child was killed, and I went on; sleep 60']\nresources: {cpu: 1, memory: 48Mi}",
	"d-cpu":      "command: [sh, -c, 'timeout 5 sh -c \"while :; do :; done\"; true']\nresources: {cpu: 0.2, memory: 64Mi}",
	"e-pids":     "command: [sh, -c, 'for i in $(seq 50); do sleep 60 & done; wait']\nresources: {cpu: 1, memory: 64Mi}\ntimeLimit: 10s",
	"f-runaways": "command: [sh, -c, 'setsid sh -c \"trap \\\"\\\" TERM; sleep 600\" & sleep 600']\nresources: {cpu: 1, memory: 64Mi}\ntimeLimit: 3s\nkillGrace: 1s",
	"g-group":    "command: [sh, -c, 'cat /proc/self/cgroup; cd /sys/fs/cgroup/$(cut -d: -f3 /proc/self/cgroup); cat memory.max cpu.max pids.max']\nresources: {cpu: 0.5, memory: 64Mi}",
	"h-core":     "command: [sh, -c, 'nproc; cd /sys/fs/cgroup/$(cut -d: -f3 /proc/self/cgroup); cat cpuset.cpus cpu.max']\nresources: {cpu: 1, memory: 64Mi}",
}

// guest is what the machine said.
type guest struct {
	node api.Node
	jobs map[string]api.JobDetail
	logs map[string]string
	left string
}

func TestLimitsOfControlGroups(t *testing.T) {
	g := boot(t)

	t.Run("the node says what it has", func(t *testing.T) {
		require.True(t, g.node.Machine.Isolation.Cgroup, "%+v", g.node)
		for _, c := range []string{"cpu", "cpuset", "memory", "pids"} {
			require.Contains(t, g.node.Machine.Isolation.Controllers, c)
		}
	})
	t.Run("a job within its limits", func(t *testing.T) {
		require.Equal(t, job.Completed, g.jobs["a-fits"].State)
		require.Equal(t, "fine\n", g.logs["a-fits"])
	})
	t.Run("too much memory", func(t *testing.T) {
		require.Equal(t, job.OutOfMemory, g.jobs["b-memory"].State)
		peak := g.jobs["b-memory"].Usage.PeakMemory
		require.Greater(t, peak, job.Bytes(40<<20))
		require.LessOrEqual(t, peak, job.Bytes(48<<20))
	})
	t.Run("too much memory in a child ends all of the task", func(t *testing.T) {
		require.Equal(t, job.OutOfMemory, g.jobs["c-child"].State)
		require.Empty(t, g.logs["c-child"])
	})
	t.Run("no more than its share of a processor", func(t *testing.T) {
		u := g.jobs["d-cpu"]
		require.Equal(t, job.Completed, u.State)
		wall := u.Ended.Sub(u.Started).Seconds()
		require.GreaterOrEqual(t, wall, 4.0)
		require.Less(t, u.Usage.CPUSeconds, 0.4*wall, "it was to get a fifth")
	})
	t.Run("no more processes than allowed", func(t *testing.T) {
		require.NotEqual(t, job.Completed, g.jobs["e-pids"].State)
	})
	t.Run("what runs away is killed with its group", func(t *testing.T) {
		require.Equal(t, job.Timeout, g.jobs["f-runaways"].State)
		require.NotContains(t, g.left, "sleep 600")
		require.NotContains(t, g.left, "f-runaways")
	})
	t.Run("the group is what was asked for", func(t *testing.T) {
		lines := strings.Split(strings.TrimSpace(g.logs["g-group"]), "\n")
		require.Equal(t, []string{"67108864", "50000 100000", "20"}, lines[1:])
	})
	t.Run("a whole core is the task's own", func(t *testing.T) {
		lines := strings.Fields(g.logs["h-core"])
		require.Equal(t, []string{"1", "0", "100000", "100000"}, lines)
	})
	t.Run("tasks with cores of their own are kept apart", func(t *testing.T) {
		// The machine has two cores of two threads: 0 and 1, 2 and 3.
		require.Equal(t, []int{2, 4}, []int{g.node.Machine.Cores, g.node.Machine.Threads})
		require.Equal(t, "2\n0-1\n", g.logs["pair"], "it sees two, of one core")
		require.Equal(t, "1\n2\n", g.logs["one"], "the agent that started it was not the one of the pair")
	})
	t.Run("a task that shares follows while it runs", func(t *testing.T) {
		require.Equal(t, "0-3\n2-3\n3\n0-1,3\n0-3\n", g.logs["watcher"])
	})
}

// boot runs the machine to its end.
func boot(t *testing.T) *guest {
	qemu, kernel, busybox := tools(t)
	dir := t.TempDir()
	image := filepath.Join(dir, "initramfs")
	require.NoError(t, writeImage(t, image, busybox))
	return runMachine(t, qemu, kernel, image, "quiet loglevel=0 rdinit=/init")
}

// runMachine runs a machine to its end.
func runMachine(t *testing.T, qemu, kernel, image, options string) *guest {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, qemu, "-accel", "tcg", "-cpu", "max,vendor=GenuineIntel", "-m", "1024", "-smp", "4,sockets=1,cores=2,threads=2", "-nographic", "-no-reboot",
		"-nic", "none", "-kernel", kernel, "-initrd", image, "-append", "console=ttyS0 panic=-1 "+options)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	g := &guest{jobs: map[string]api.JobDetail{}, logs: map[string]string{}}
	done := false
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		word, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		name, text, _ := strings.Cut(rest, " ")
		switch word {
		case "NODE":
			require.NoError(t, json.Unmarshal([]byte(rest), &g.node))
		case "JOB":
			var d api.JobDetail
			require.NoError(t, json.Unmarshal([]byte(text), &d), text)
			g.jobs[name] = d
		case "LOG":
			var s string
			require.NoError(t, json.Unmarshal([]byte(text), &s))
			g.logs[name] = s
		case "LEFT":
			require.NoError(t, json.Unmarshal([]byte(rest), &g.left))
		case "DONE":
			done = true
		}
	}
	require.True(t, done, "the machine did not come to its end:\n%s", out)
	return g
}

// tools finds what the machine is made of.
func tools(t *testing.T) (qemu, kernel, busybox string) {
	qemu, err := exec.LookPath("qemu-system-x86_64")
	if err != nil {
		t.Skip("there is no qemu-system-x86_64; see the package comment")
	}
	kernel = os.Getenv("BERTH_VM_KERNEL")
	if kernel == "" {
		kernels, _ := filepath.Glob("/boot/vmlinuz-*")
		if len(kernels) == 0 {
			t.Skip("there is no kernel in /boot; see the package comment")
		}
		slices.Sort(kernels)
		kernel = kernels[len(kernels)-1]
	}
	for _, busybox = range []string{"/bin/busybox", "/usr/bin/busybox"} {
		if _, err := os.Stat(busybox); err == nil {
			return qemu, kernel, busybox
		}
	}
	t.Skip("there is no busybox; see the package comment")
	return
}

// build is a program of a package of ours.
func build(t *testing.T, module, pkg string) []byte {
	program := filepath.Join(t.TempDir(), "program")
	c := exec.Command("go", "build", "-o", program, pkg)
	c.Dir, c.Env = module, append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(program)
	require.NoError(t, err)
	return text
}

// writeImage writes the file system of the machine.
func writeImage(t *testing.T, image, busybox string) error {
	shell, err := os.ReadFile(busybox)
	require.NoError(t, err)
	f, err := os.Create(image)
	if err != nil {
		return err
	}
	defer f.Close()
	a := &archive{w: f}
	for _, d := range []string{"bin", "dev", "jobs", "etc"} {
		a.folder(d)
	}
	a.file("init", 0o755, build(t, ".", "./guest"))
	a.file("berth", 0o755, build(t, "../..", "./cmd/berth"))
	a.file("bin/busybox", 0o755, shell)
	a.file("etc/passwd", 0o644, []byte("root:x:0:0:root:/tmp:/bin/sh\n"))
	a.file("etc/group", 0o644, []byte("root:x:0:\n"))
	a.file("agent.yaml", 0o644, []byte(agentSettings))
	for name, text := range jobs {
		a.file("jobs/"+name+".yaml", 0o644, []byte(text))
	}
	return a.end()
}
