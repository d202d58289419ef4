package agent

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/shim"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// TestEnvironment: what tasks find, and what users may not change.
func TestEnvironment(t *testing.T) {
	who := person{Home: "/home/ann", Shell: "/bin/zsh"}
	who.Name, who.UID = "ann", 1000
	gpus := []api.GPU{{Model: "A"}, {Model: "A"}, {Model: "A"}}
	single := script(17, "")
	single.Run.Spec.Resources = job.Resources{CPU: 1500, Memory: 1 << 30}
	gang := script(17, "")
	gang.Task.Rank, gang.Task.Attempt, gang.Task.Element = 1, 3, 5
	gang.Run.Hosts, gang.Run.Names = []string{"10.0.0.1", "10.0.0.2"}, []string{"n1", "n2"}
	gang.Run.Array = 9
	gang.Run.GPUs = []api.GPUShare{{GPU: 2, Share: 1000}, {GPU: 0, Share: 1000}}
	restored := script(17, "")
	restored.Task.Attempt, restored.Run.Try = 100_018, 2
	hostile := script(17, "")
	hostile.Run.Spec.Env = map[string]string{
		"BERTH_TASK_ID": "1_0.1.0", "BERTH_NEW": "x", "CUDA_VISIBLE_DEVICES": "0,1,2", "A=B": "x", "": "x",
		"PATH": "/opt/bin", "MASTER_PORT": "1", "GREETING": "two words\nand a line",
		"BERTH_TOKEN": "x", "BERTH_CONFIG": "/x", "BASH_FUNC_f%%": "() { :; }",
	}
	const unset = "(unset)"
	for _, c := range []struct {
		name  string
		order api.Order
		gpus  []api.GPU
		want  map[string]string
	}{
		{"a task alone", single, nil, map[string]string{
			"BERTH_JOB_ID": "17", "BERTH_USER": "ann", "BERTH_TASK_ID": "17_0.1.0", "BERTH_ATTEMPT": "1", "BERTH_RANK": "0",
			"BERTH_SIZE": "1", "BERTH_HOSTS": "10.0.0.1", "BERTH_LEADER_ADDRESS": "10.0.0.1", "BERTH_NODE": "n1",
			"BERTH_CPUS": "2", "BERTH_MEMORY": "1073741824", "BERTH_GPUS": "", "BERTH_ARRAY_INDEX": unset,
			"CUDA_VISIBLE_DEVICES": unset, "RANK": unset, "MASTER_ADDR": unset,
			"HOME": "/home/ann", "USER": "ann", "LOGNAME": "ann", "SHELL": "/bin/zsh", "PATH": "/usr/local/bin:/usr/bin:/bin",
			"TMPDIR": "/work/tmp", "BERTH_TASK_DIR": "/work",
		}},
		{"one without devices on a node that has some", single, gpus, map[string]string{
			"CUDA_VISIBLE_DEVICES": "", "BERTH_GPUS": "",
		}},
		{"one of a gang, in an array, with devices", gang, gpus, map[string]string{
			"BERTH_RANK": "1", "BERTH_SIZE": "2", "BERTH_HOSTS": "10.0.0.1,10.0.0.2", "BERTH_LEADER_ADDRESS": "10.0.0.1",
			"BERTH_ATTEMPT": "3", "BERTH_ARRAY_INDEX": "5", "BERTH_ARRAY_COUNT": "9", "BERTH_GPUS": "2,0",
			"CUDA_VISIBLE_DEVICES": "2,0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
			"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "24781",
		}},
		{"the second try, after a backup was restored", restored, nil, map[string]string{
			"BERTH_TASK_ID": "17_0.100018.0", "BERTH_ATTEMPT": "2",
		}},
		{"a user who tries", hostile, gpus, map[string]string{
			"BERTH_TASK_ID": "17_0.1.0", "BERTH_NEW": unset, "CUDA_VISIBLE_DEVICES": "", "A": unset, "": unset,
			"PATH": "/opt/bin", "MASTER_PORT": "1", "GREETING": "two words\nand a line",
			"BERTH_TOKEN": unset, "BERTH_CONFIG": "/x", "BASH_FUNC_f%%": "() { :; }",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := map[string]string{}
			for _, line := range environment(c.order, place{node: "n1", gpus: c.gpus, who: who, work: "/work"}) {
				name, value, _ := strings.Cut(line, "=")
				require.NotContains(t, got, name, "twice")
				got[name] = value
			}
			for name, want := range c.want {
				value, ok := got[name]
				if !ok {
					value = unset
				}
				require.Equal(t, want, value, name)
			}
		})
	}
}

// TestSlurmEnvironment: what scripts that were written for Slurm find.
func TestSlurmEnvironment(t *testing.T) {
	who := person{Home: "/home/ann"}
	who.Name, who.UID, who.GID = "ann", 1000, 100
	order := func(change func(o *api.Order)) api.Order {
		o := script(17, "")
		o.Run.Spec.Name, o.Run.Spec.Queue = "train", "gpu"
		o.Run.Spec.Resources = job.Resources{CPU: 2000, Memory: 1 << 30}
		o.Run.GPUs = []api.GPUShare{{GPU: 1, Share: 1000}, {GPU: 3, Share: 1000}}
		change(&o)
		return o
	}
	array := func(text string, element int32) api.Order {
		return order(func(o *api.Order) {
			x, err := job.ParseArray(text)
			require.NoError(t, err)
			o.Run.Spec.Array, o.Run.Array, o.Task.Element = x, int32(x.Len()), element
		})
	}
	const unset = "(unset)"
	for _, c := range []struct {
		name  string
		order api.Order
		want  map[string]string
	}{
		{"a task alone", order(func(*api.Order) {}), map[string]string{
			"SLURM_JOB_ID": "17", "SLURM_JOBID": "17", "SLURM_JOB_NAME": "train", "SLURM_JOB_PARTITION": "gpu", "SLURM_JOB_USER": "ann",
			"SLURM_JOB_UID": "1000", "SLURM_JOB_GID": "100", "SLURMD_NODENAME": "n1", "SLURM_JOB_NODELIST": "n1", "SLURM_NNODES": "1",
			"SLURM_NTASKS": "1", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0", "SLURM_TASKS_PER_NODE": "1",
			"SLURM_CPUS_PER_TASK": "2", "SLURM_CPUS_ON_NODE": "2", "SLURM_JOB_CPUS_PER_NODE": "2", "SLURM_MEM_PER_NODE": "1024",
			"SLURM_MEM_PER_CPU": "512", "SLURM_GPUS_ON_NODE": "2", "SLURM_JOB_GPUS": "1,3",
			"SLURM_RESTART_COUNT": unset, "SLURM_SUBMIT_DIR": unset, "SLURM_SUBMIT_HOST": unset,
			"SLURM_ARRAY_TASK_ID": unset, "SLURM_STEP_ID": unset, "SLURM_JOB_ACCOUNT": unset,
			"OMPI_MCA_plm": "^slurm", "HYDRA_LAUNCHER": "fork",
		}},
		{"one that was submitted from a shell, and tried again", order(func(o *api.Order) {
			o.Run.Spec.SubmitDir, o.Run.Spec.SubmitHost, o.Task.Attempt = "/home/ann/work", "login", 3
			o.Run.Spec.Resources = job.Resources{CPU: 500}
		}), map[string]string{
			"SLURM_SUBMIT_DIR": "/home/ann/work", "SLURM_SUBMIT_HOST": "login", "SLURM_RESTART_COUNT": "2",
			"SLURM_CPUS_PER_TASK": unset, "SLURM_CPUS_ON_NODE": unset, "SLURM_MEM_PER_NODE": unset, "SLURM_MEM_PER_CPU": unset,
		}},
		{"one that is tried for the first time since a restore", order(func(o *api.Order) {
			o.Task.Attempt, o.Run.Try = 100002, 1
		}), map[string]string{"SLURM_RESTART_COUNT": unset, "BERTH_ATTEMPT": "1"}},
		{"an element", array("1-9:2%3", 5), map[string]string{
			"SLURM_JOB_ID": "17_5", "SLURM_JOBID": "17_5", "SLURM_ARRAY_JOB_ID": "17", "SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_COUNT": "5",
			"SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "9", "SLURM_ARRAY_TASK_STEP": "2",
		}},
		{"an element of an array without a step", array("0,2,7", 0), map[string]string{
			"SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_MAX": "7", "SLURM_ARRAY_TASK_STEP": unset,
		}},
		{"one of a gang", order(func(o *api.Order) {
			o.Run.Names = []string{"n1", "n2", "n1", "n1", "n3"}
			o.Run.Hosts = o.Run.Names
			o.Task.Rank = 2
		}), map[string]string{
			"SLURM_NTASKS": "5", "SLURM_NPROCS": "5", "SLURM_PROCID": "2", "SLURM_LOCALID": "1", "SLURM_NODEID": "0", "SLURM_NNODES": "3",
			"SLURM_JOB_NUM_NODES": "3", "SLURM_JOB_NODELIST": "n1,n2,n3", "SLURM_TASKS_PER_NODE": "3,1(x2)", "SLURM_CPUS_ON_NODE": "6",
			"SLURM_JOB_CPUS_PER_NODE": "6,2(x2)", "SLURM_MEM_PER_NODE": unset, "HYDRA_LAUNCHER": unset, "OMPI_MCA_ras": "^slurm",
			"SLURM_MEM_PER_CPU": "512", "SLURM_GPUS_ON_NODE": unset, "SLURM_JOB_GPUS": unset,
		}},
		{"one of a gang, alone on its node", order(func(o *api.Order) {
			o.Run.Names = []string{"n2", "n1"}
			o.Run.Hosts = o.Run.Names
			o.Task.Rank = 1
		}), map[string]string{"SLURM_GPUS_ON_NODE": "2", "SLURM_JOB_GPUS": "1,3"}},
		{"one without devices", order(func(o *api.Order) { o.Run.GPUs = nil }), map[string]string{"SLURM_GPUS_ON_NODE": unset, "SLURM_JOB_GPUS": unset}},
		{"a user who tries", order(func(o *api.Order) {
			o.Run.Spec.Env = map[string]string{"SLURM_JOB_ID": "1", "SLURM_STEP_ID": "0", "SLURMD_NODENAME": "x", "OMPI_MCA_plm": "ssh"}
		}), map[string]string{"SLURM_JOB_ID": "17", "SLURM_STEP_ID": unset, "SLURMD_NODENAME": "n1", "OMPI_MCA_plm": "ssh"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := map[string]string{}
			for _, line := range environment(c.order, place{node: "n1", who: who, work: "/work"}) {
				name, value, _ := strings.Cut(line, "=")
				got[name] = value
			}
			for name, want := range c.want {
				value, ok := got[name]
				if !ok {
					value = unset
				}
				require.Equal(t, want, value, name)
			}
		})
	}
}

// TestTaskSees is what a real task finds: its environment and nothing of the agent's,
// no files of its shim, its own session, and its working directory.
func TestTaskSees(t *testing.T) {
	t.Setenv("SECRET_OF_THE_AGENT", "x")
	n := newNode(t, nil)
	o := script(1, `env; ls /proc/self/fd; echo; echo session $(cut -d' ' -f6 /proc/$$/stat) $$; pwd; echo args "$@"; umask`)
	o.Run.Spec.Args = []string{"one", "two words"}
	require.Equal(t, job.Completed, n.run(o).State)
	out := n.log(o.Task, "stdout")
	require.Contains(t, out, "BERTH_TASK_ID=1_0.1.0\n")
	require.NotContains(t, out, "SECRET_OF_THE_AGENT")
	require.NotContains(t, out, "GOGC")
	require.Contains(t, out, "\n0\n1\n2\n3\n\nsession", "3 is that of ls itself")
	var session, pid string
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "session" {
			session, pid = f[1], f[2]
		}
	}
	require.Equal(t, pid, session)
	require.Contains(t, out, filepath.Join(n.dir, "work", o.Task.String(), "dir")+"\n")
	require.Contains(t, out, "args one two words\n0022\n")
}

// TestLookupAccount: names that are none never reach a program or a file.
func TestLookupAccount(t *testing.T) {
	for _, name := range []string{"", "-x", "a b", "../x", "a:b", "a\nb", "berth-no-such-user"} {
		_, err := lookupAccount(t.Context(), name)
		require.Error(t, err, name)
	}
	for _, c := range []struct{ line, groups, problem string }{
		{"ann:x:1000:100:Ann:/home/ann:/bin/sh\n", "100 27\n", ""},
		{"bob:x:1000:100:Ann:/home/ann:/bin/sh\n", "100", "is not the account"},
		{"ann:x:1000:100:/home/ann:/bin/sh\n", "100", "is not the account"},
		{"ann:x:-1:100:Ann:/home/ann:/bin/sh\n", "100", "no good numbers"},
		{"ann:x:1000:4294967295:Ann:/home/ann:/bin/sh\n", "100", "no good numbers"},
		{"ann:x:1000:100:Ann:/home/ann:/bin/sh\n", "100 x", "no good numbers"},
	} {
		p, err := parsePasswd("ann", c.line, c.groups)
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, []uint32{100, 27}, p.Groups)
		require.Equal(t, "/home/ann", p.Home)
		require.Equal(t, "/bin/sh", p.Shell)
		require.Equal(t, uint32(1000), p.UID)
	}
}

// TestUsableShell: programs that start a shell start one that works.
func TestUsableShell(t *testing.T) {
	for shell, want := range map[string]string{
		"/bin/zsh": "/bin/zsh", "/usr/sbin/nologin": "", "/bin/false": "", "": "", "zsh": "",
	} {
		require.Equal(t, want, usableShell(shell), shell)
	}
}

// TestHookEnvironment: a prolog, which may run as root, gets nothing of the user's.
func TestHookEnvironment(t *testing.T) {
	got := hookEnvironment([]string{"BERTH_NODE=n1", "BERTH_CONFIG=/home/ann/x", "BERTH_ADDR=x", "BASH_FUNC_f%%=() { :; }", "PATH=/x"})
	require.Equal(t, []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "BERTH_NODE=n1"}, got)
}

// asRoot skips tests that need to be root, with an account to run tasks as.
func asRoot(t *testing.T) *user.User {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("running tasks as other accounts needs root")
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("there is no account nobody")
	}
	return u
}

// TestOtherAccount: tasks run as their account, with its groups and its rights, and
// no others.
func TestOtherAccount(t *testing.T) {
	u := asRoot(t)
	n := newNode(t, func(c *Config) { c.Accounts = AccountsUsers })
	shared := sharedFolder(t)
	secret := filepath.Join(openFolder(t), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	as := func(number int, text string) api.Order {
		o := script(number, text)
		o.Run.User = u.Username
		return o
	}

	o := as(1, "id -u; id -g; id -G; echo x >f; echo $TMPDIR >$TMPDIR/f; ls -ld . | cut -d' ' -f1; echo $USER; cat "+secret)
	r := n.run(o)
	require.Equal(t, job.Failed, r.State)
	groups, err := exec.Command("id", "-G", u.Username).Output()
	require.NoError(t, err)
	require.Equal(t, u.Uid+"\n"+u.Gid+"\n"+string(groups)+"drwx------\n"+u.Username+"\n", n.log(o.Task, "stdout"))
	require.Contains(t, n.log(o.Task, "stderr"), "Permission denied")

	t.Run("it may not see other tasks", func(t *testing.T) {
		o := as(2, "ls "+n.dir+"/work; cat "+n.dir+"/tasks/*/task.json "+n.dir+"/tasks/2_0.1.0/task.json")
		require.Equal(t, job.Failed, n.run(o).State)
		require.Empty(t, n.log(o.Task, "stdout"))
	})
	t.Run("its output is written with its rights", func(t *testing.T) {
		o := as(3, "echo mine")
		o.Run.Spec.Output = filepath.Join(shared, "%u")
		require.Equal(t, job.Completed, n.run(o).State)
		require.Equal(t, "mine", file(t, filepath.Join(shared, u.Username)))
		info, err := os.Stat(filepath.Join(shared, u.Username))
		require.NoError(t, err)
		require.Equal(t, u.Uid, uidOf(info))
	})
	for name, path := range map[string]string{
		"a file of root":             secret,
		"a new file where it is not": filepath.Join(filepath.Dir(secret), "new"),
		"through a linked folder":    filepath.Join(shared, "link", "new"),
	} {
		t.Run("its output may not go to "+name, func(t *testing.T) {
			os.Symlink(filepath.Dir(secret), filepath.Join(shared, "link"))
			o := as(100+len(name), "echo stolen")
			o.Run.Spec.Output = path
			r := n.run(o)
			require.Equal(t, job.Failed, r.State)
			require.Contains(t, r.Message, "permission denied")
			text, err := os.ReadFile(secret)
			require.NoError(t, err)
			require.Equal(t, "secret", string(text))
		})
	}
	t.Run("it is killed with its shim", func(t *testing.T) {
		o := as(300, "exec sleep 600")
		n.server.order(o)
		n.server.running(t, o.Task)
		pid := n.status(o.Task).PID
		require.NoError(t, unix.Kill(parentOf(t, pid), unix.SIGKILL))
		require.Equal(t, job.NodeFail, n.server.ended(t, o.Task).State)
		require.False(t, lives(itoa(pid)))
	})
}

// TestPrologAndEpilog: they run around each task with what it is, and their failure
// makes the node unhealthy.
func TestPrologAndEpilog(t *testing.T) {
	dir := sharedFolder(t)
	notes := filepath.Join(dir, "notes")
	hook := func(name, more string) Hook {
		return Hook{Command: []string{"/bin/sh", "-c", "echo " + name + " $BERTH_TASK_ID $BERTH_NODE $MINE >>" + notes + "; " + more}}
	}
	t.Run("around a task", func(t *testing.T) {
		n := newNode(t, func(c *Config) { c.Prolog, c.Epilog = hook("prolog", ""), hook("epilog", "") })
		o := script(1, "echo task >>"+notes)
		o.Run.Spec.Env = map[string]string{"MINE": "no", "BERTH_NODE": "no"}
		require.Equal(t, job.Completed, n.run(o).State)
		require.Equal(t, "prolog 1_0.1.0 n1\ntask\nepilog 1_0.1.0 n1", file(t, notes))
	})
	unhealthy := func(t *testing.T, n *node, text string) {
		n.server.until(t, "a complaint", func() bool {
			return strings.Contains(n.server.polls[len(n.server.polls)-1].Unhealthy, text)
		})
	}
	t.Run("the prolog fails", func(t *testing.T) {
		n := newNode(t, func(c *Config) { c.Prolog, c.Epilog = hook("prolog", "echo no licence; exit 3"), hook("epilog", "") })
		r := n.run(script(2, "echo task >>"+notes))
		require.Equal(t, job.BootFail, r.State)
		require.Contains(t, r.Message, "exit status 3: no licence")
		unhealthy(t, n, "prolog: task 2_0.1.0: /bin/sh: exit status 3: no licence")
		require.True(t, strings.HasSuffix(file(t, notes), "prolog 2_0.1.0 n1\nepilog 2_0.1.0 n1"))
	})
	t.Run("the prolog takes too long", func(t *testing.T) {
		n := newNode(t, func(c *Config) {
			c.Prolog = hook("prolog", "sleep 600 & wait")
			c.Prolog.Limit = 200 * time.Millisecond
		})
		require.Contains(t, n.run(script(3, "true")).Message, "took longer than 200ms")
	})
	t.Run("the epilog fails", func(t *testing.T) {
		n := newNode(t, func(c *Config) { c.Epilog = hook("epilog", "exit 1") })
		require.Equal(t, job.Completed, n.run(script(4, "true")).State)
		unhealthy(t, n, "epilog: task 4_0.1.0")
	})
	t.Run("slow prologs do not hold up other tasks", func(t *testing.T) {
		gate := filepath.Join(dir, "gate")
		n := newNode(t, func(c *Config) {
			c.Prolog = hook("prolog", "[ $BERTH_JOB_ID != 5 ] || while [ ! -e "+gate+" ]; do sleep 0.02; done")
		})
		n.server.order(script(5, "true"))
		require.Equal(t, job.Completed, n.run(script(6, "true")).State)
		require.NoError(t, os.WriteFile(gate, nil, 0o666))
		require.Equal(t, job.Completed, n.server.ended(t, taskID(5)).State)
	})
}

// TestMaxStarts: no more prologs run at once than the configuration says.
func TestMaxStarts(t *testing.T) {
	dir := sharedFolder(t)
	n := newNode(t, func(c *Config) {
		c.MaxStarts = 2
		c.Prolog.Command = []string{"/bin/sh", "-c", "mkdir " + dir + "/a || mkdir " + dir + "/b || touch " + dir + "/third; sleep 0.05; rmdir " + dir + "/b || rmdir " + dir + "/a"}
	})
	const count = 10
	for i := range count {
		n.server.order(script(i+1, "true"))
	}
	for i := range count {
		require.Equal(t, job.Completed, n.server.ended(t, taskID(i+1)).State)
	}
	require.NoFileExists(t, filepath.Join(dir, "third"))
}

// TestHealthScript: what it complains of is told at once, and when it stops.
func TestHealthScript(t *testing.T) {
	sick := filepath.Join(sharedFolder(t), "sick")
	n := newNode(t, func(c *Config) {
		c.HealthEvery = 20 * time.Millisecond
		c.Health.Command = []string{"/bin/sh", "-c", "echo looking; [ ! -e " + sick + " ] || { echo disk is slow; exit 1; }"}
	})
	last := func(text string) func() bool {
		return func() bool {
			return len(n.server.polls) > 0 && strings.Contains(n.server.polls[len(n.server.polls)-1].Unhealthy, text)
		}
	}
	require.NoError(t, os.WriteFile(sick, nil, 0o666))
	n.server.until(t, "the complaint", last("health script: /bin/sh: exit status 1: disk is slow"))
	require.NoError(t, os.Remove(sick))
	n.server.until(t, "the end of it", func() bool { return !last("disk")() })
}

// TestOutputFiles: where a task's output goes, and whether the file is emptied: not where
// that would take what another task of the job, or an earlier try, has written.
func TestOutputFiles(t *testing.T) {
	alone := func(*api.Order) {}
	gang := func(o *api.Order) { o.Run.Hosts = []string{"10.0.0.1", "10.0.0.2"} }
	array := func(o *api.Order) { o.Run.Array, o.Task.Element = 3, 2 }
	for _, c := range []struct {
		output  string
		mode    job.OpenMode
		change  func(*api.Order)
		path    string
		emptied bool
	}{
		{"out", job.OpenTruncate, alone, "/work/out", true},
		{"out", job.OpenAppend, alone, "/work/out", false},
		{"out", "", alone, "/work/out", false}, // it was submitted to an older server
		{"./logs/%4j", job.OpenTruncate, alone, "/work/logs/0017", true},
		{"../logs/out", job.OpenTruncate, alone, "/work/../logs/out", true},
		{"/data/%x", job.OpenTruncate, alone, "/data/test", true},
		{"out", job.OpenTruncate, gang, "/work/out", false},
		{"out.%t", job.OpenTruncate, gang, "/work/out.0", true},
		{"out.%n", job.OpenTruncate, gang, "/work/out.n1", false},
		{"out-%j", job.OpenTruncate, array, "/work/out-17", false},
		{"out-%3a", job.OpenTruncate, array, "/work/out-002", true},
		{"out", job.OpenTruncate, func(o *api.Order) { o.Task.Attempt = 2 }, "/work/out", false},
		{"out", job.OpenTruncate, func(o *api.Order) { o.Task.Attempt, o.Run.Try = 100_001, 1 }, "/work/out", true},
	} {
		o := script(17, "")
		o.Run.Spec.Dir, o.Run.Spec.Output, o.Run.Spec.Error, o.Run.Spec.OpenMode = "/work", c.output, "/dev/null", c.mode
		c.change(&o)
		a := &Agent{cfg: Config{Node: "n1"}, folders: &folders{}}
		task, err := a.shimTask(o, person{}, nil)
		require.NoError(t, err)
		require.Equal(t, c.path, task.Stdout)
		require.Equal(t, c.emptied, task.TruncateStdout, "%s %v", c.output, o.Task)
		require.Equal(t, "/dev/null", task.Stderr)
	}
}

// TestWarnTo: which processes get the signal before the time limit.
func TestWarnTo(t *testing.T) {
	a := &Agent{cfg: Config{Node: "n1"}, folders: &folders{}}
	for _, c := range []struct {
		spec job.Spec
		want shim.WarnTo
	}{
		{job.Spec{Script: "#!/bin/sh", Warn: &job.Warning{}}, shim.WarnOthers},
		{job.Spec{Script: "#!/bin/sh", Warn: &job.Warning{Shell: true}}, shim.WarnFirst},
		{job.Spec{Command: []string{"python"}, Warn: &job.Warning{}}, shim.WarnAll},
		{job.Spec{Command: []string{"python"}, Warn: &job.Warning{Shell: true}}, shim.WarnFirst},
	} {
		task, err := a.shimTask(api.Order{Run: api.Run{Spec: c.spec}}, person{}, nil)
		require.NoError(t, err)
		require.Equal(t, c.want, task.WarnTo)
		require.Equal(t, "USR1", task.WarnSignal)
	}
}

// A warning that no process is there for is not lost in silence.
func TestWarningThatNobodyHears(t *testing.T) {
	o := script(1, "exec sleep 600")
	o.Run.Spec.TimeLimit = job.Duration(time.Second)
	o.Run.Spec.Warn = &job.Warning{Signal: "USR1", Before: job.Duration(900 * time.Millisecond)}
	report := newNode(t, nil).run(o)
	require.Equal(t, job.Timeout, report.State)
	require.Contains(t, report.Message, "the signal USR1 before the time limit went to no process: its script had started none")
}
