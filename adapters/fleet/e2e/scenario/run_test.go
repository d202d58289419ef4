package scenario

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/agent"
	"github.com/berth-project/berth/adapters/fleet/daemon"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestRun(t *testing.T) {
	tell(t, cluster.Options{Servers: 1, Agents: racks()}, []part{
		{"a command has its arguments as they are", commandArguments},
		{"a script has its directives and its arguments", berthScript},
		{"a script for Slurm is understood", slurmScript},
		{"a job file has several jobs", jobFile},
		{"the environment is what was asked for, and what Berth says", environment},
		{"the working directory is a new one, or the one that was named", workingDirectory},
		{"output goes to the files that were named", outputFiles},
		{"output that is kept is rotated", rotation},
		{"exit codes are passed on", exitCodes},
		{"a command that is not there says so", noCommand},
		{"a submission with a key is made once", submitKey},
		{"what is wrong is said of every field at once", invalidJob},
		{"a check submits nothing", submitCheck},
	})
}

func commandArguments(t *testing.T, c *cluster.Cluster) {
	require.Equal(t, "a b|$HOME|*||\n|", hello(t, c, "--", "printf", "%s|", "a b", "$HOME", "*", "", "\n"))
}

func berthScript(t *testing.T, c *cluster.Cluster) {
	id := c.SubmitFile("#!/bin/sh\n#BERTH --name=scripted --cpu=250m --env=COLOUR=red\n#BERTH --time=1m\necho \"$COLOUR\"\n")[0]
	j := c.Ended(id, job.Completed)
	require.Equal(t, "scripted", j.Name)
	require.Equal(t, job.MilliCPU(250), j.Spec.Resources.CPU)
	require.Equal(t, "red\n", log(c, id))

	path := filepath.Join(t.TempDir(), "greet.sh")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n#BERTH --cpu=0.1\nprintf '%s|' \"$@\"\n"), 0o600))
	id = c.Submit("--label", "a=b", path, "x", "y z")
	j = c.Ended(id, job.Completed)
	require.Equal(t, "greet.sh", j.Name)
	require.Equal(t, "x|y z|", log(c, id))
}

func slurmScript(t *testing.T, c *cluster.Cluster) {
	id := c.SubmitFile("#!/bin/bash\n#SBATCH --job-name=old\n#SBATCH -c 1\n#SBATCH --mem=16\n#SBATCH --time=00:02:00\n#SBATCH --array=1-2\n" +
		"#SBATCH --account=biology\ntest $SLURM_ARRAY_TASK_ID = $BERTH_ARRAY_INDEX && echo $SLURM_ARRAY_TASK_ID\n")[0]
	j := c.Ended(id, job.Completed)
	require.Equal(t, "old", j.Name)
	require.Equal(t, job.Bytes(16<<20), j.Spec.Resources.Memory)
	require.Equal(t, "2m", j.Spec.TimeLimit.String())
	require.Equal(t, "2\n", c.Berth("logs", id.String()+"_2"))

	a := c.TryWith("#!/bin/bash\n#SBATCH --parsable --wait -A biology\nexit 3\n", "submit", "-")
	require.Equal(t, 3, a.Code)
	_, err := strconv.Atoi(strings.TrimSpace(a.Out))
	require.NoError(t, err, "scripts read the number: %s", a.Out)
	require.Contains(t, a.Bad, "berth: warning: line 2: #SBATCH: --account: means nothing")
	a = c.TryWith("#!/bin/bash\n#SBATCH --mail-type=END\ntrue\n", "submit", "-")
	require.Equal(t, 2, a.Code)
	require.Contains(t, a.Bad, "line 2: #SBATCH: --mail-type: Berth sends no mail")
}

func jobFile(t *testing.T, c *cluster.Cluster) {
	ids := c.SubmitFile("jobs:\n- name: first\n  command: [echo, one]\n- name: second\n  command: [echo, two]\n  after: [{kind: afterok, job: \"@first\"}]\n")
	require.Len(t, ids, 2)
	require.Empty(t, c.Berth("wait", ids[0].String(), ids[1].String()))
	require.Equal(t, "two\n", log(c, ids[1]))
	first, second := c.Ended(ids[0], job.Completed), c.Ended(ids[1], job.Completed)
	require.False(t, second.Started.Before(first.Attempts[0].Ended.Add(-1)), "the second waits for the first")
}

func environment(t *testing.T, c *cluster.Cluster) {
	id := c.Submit("--name", "env", "--cpu", "1500m", "--memory", "16Mi", "--env", "A=1 2", "--env", "BERTHA=x", "--", "env")
	j := c.Ended(id, job.Completed)
	vars := map[string]string{}
	for line := range strings.Lines(log(c, id)) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), "=")
		vars[name] = value
	}
	for name, want := range map[string]string{
		"A": "1 2", "BERTHA": "x", "BERTH_JOB_ID": id.String(), "BERTH_TASK_ID": id.String() + "_0.1.0", "BERTH_ATTEMPT": "1",
		"BERTH_RANK": "0", "BERTH_SIZE": "1", "BERTH_NODE": nodeOf(t, j), "BERTH_NODES": nodeOf(t, j), "BERTH_CPUS": "2",
		"BERTH_MEMORY": fmt.Sprint(16 << 20), "BERTH_JOB_NAME": "env", "BERTH_OWNER": "admin", "BERTH_GPUS": "",
	} {
		require.Equal(t, want, vars[name], name)
	}
	require.NotContains(t, vars, "BERTH_ARRAY_INDEX")
	for name := range vars {
		require.NotContains(t, []string{"BERTH_TOKEN", "BERTH_ADDR", "BERTH_CLIENT_CERT"}, name, "nothing of the agent or of who submits")
	}
	c.Refused(2, []string{"BERTH_"}, "submit", "--env", "BERTH_RANK=7", "--", "true")
}

func workingDirectory(t *testing.T, c *cluster.Cluster) {
	require.Equal(t, "/usr\n", hello(t, c, "--dir", "/usr", "--", "pwd"))
	own := strings.TrimSpace(hello(t, c, "--dir", "own", "--", "pwd"))
	require.True(t, filepath.IsAbs(own))
	require.NoDirExists(t, own, "it goes with the task")
	c.Refused(2, []string{`"out.txt" would be in the task's own folder`}, "submit", "--dir", "own", "--output", "out.txt", "--", "true")

	here := c.Submit("--output", "result-%j.txt", "--", "sh", "-c", "pwd; echo $SLURM_SUBMIT_DIR")
	spec := c.Ended(here, job.Completed).Spec
	text, err := os.ReadFile(filepath.Join(spec.SubmitDir, "result-"+here.String()+".txt"))
	require.NoError(t, err, "it is where the job was submitted")
	require.Equal(t, spec.SubmitDir+"\n"+spec.SubmitDir+"\n", string(text))
	id := c.Submit("--dir", "/nosuch", "--", "true")
	j := c.Ended(id, job.Failed)
	require.Len(t, j.Attempts, 3, "two more nodes have confirmed it")
	require.Contains(t, j.Attempts[0].Message, "working directory /nosuch: there is no such folder; ")
}

func outputFiles(t *testing.T, c *cluster.Cluster) {
	dir := t.TempDir()
	id := c.Submit("--name", "out", "--array", "3-4", "--output", dir+"/%j-%a-%n.%t.%%", "--error", dir+"/%j-%a.err", "--", "sh", "-c", "echo out; echo err >&2")
	c.Ended(id, job.Completed)
	for _, element := range []string{"3", "4"} {
		out, err := filepath.Glob(fmt.Sprintf("%s/%s-%s-n?.0.%%", dir, id, element))
		require.NoError(t, err)
		require.Len(t, out, 1)
		text, err := os.ReadFile(out[0])
		require.NoError(t, err)
		require.Equal(t, "out\n", string(text))
		text, err = os.ReadFile(fmt.Sprintf("%s/%s-%s.err", dir, id, element))
		require.NoError(t, err)
		require.Equal(t, "err\n", string(text))
	}
}

// The last of what a task writes is kept, as much as the node is set to keep.
func rotation(t *testing.T, c *cluster.Cluster) {
	small := cluster.Node("small", map[string]string{"logs": "small"})
	small.LogFile, small.LogFiles = 4096, 3
	p := c.AddAgent(small)
	defer func() {
		c.Berth("node", "drain", "small")
		require.NoError(t, p.Stop())
	}()
	id := c.Submit("-C", "logs=small", "--", "sh", "-c", "seq 1 10000; echo 'the error' >&2")
	c.Ended(id, job.Completed)
	text := log(c, id)
	require.True(t, strings.HasSuffix(text, "\n9999\n10000\n"), "the end is there")
	require.LessOrEqual(t, len(text), 3*4096)
	require.Greater(t, len(text), 4096)
	require.Equal(t, "000\n", log(c, id, "--tail", "4"))
	require.Equal(t, "the error\n", log(c, id, "--stderr"))
}

func exitCodes(t *testing.T, c *cluster.Cluster) {
	for _, x := range []struct {
		script string
		code   int
	}{{"exit 0", 0}, {"exit 7", 7}, {"kill -9 $$", 137}, {"kill -TERM $$", 143}} {
		a := c.Try("submit", "--wait", "--", "sh", "-c", x.script)
		require.Equal(t, x.code, a.Code, "%s: %s%s", x.script, a.Out, a.Bad)
	}
	id := c.Submit("--", "sh", "-c", "exit 9")
	j := c.Ended(id, job.Failed)
	require.Equal(t, 9, j.Attempts[0].Exit.Code)
	c.Refused(9, []string{"FAILED"}, "wait", id.String())
	c.Refused(125, []string{"no job"}, "wait", "99999")
}

func noCommand(t *testing.T, c *cluster.Cluster) {
	says := "program /nosuch/program: there is no such file"
	a := c.Try("submit", "--wait", "--", "/nosuch/program")
	require.Equal(t, 127, a.Code)
	require.Contains(t, a.Bad, says)
	id := c.Submit("--", "/nosuch/program")
	require.Len(t, c.Ended(id, job.Failed).Attempts, 3, "two more nodes have confirmed it")
	for _, command := range []string{"job", "explain"} {
		require.Contains(t, c.Berth(command, id.String()), says)
	}
	require.Contains(t, c.Berth("jobs"), "("+says+")")
}

func submitKey(t *testing.T, c *cluster.Cluster) {
	one := c.Submit("--key", "k1", "--", "true")
	two := c.Submit("--key", "k1", "--", "true")
	three := c.Submit("--key", "k2", "--", "true")
	require.Equal(t, one, two)
	require.NotEqual(t, one, three)
	require.Contains(t, c.Berth("submit", "--key", "k1", "--", "true"), "was submitted before with the same key")
}

func invalidJob(t *testing.T, c *cluster.Cluster) {
	a := c.TryWith("command: [true]\nresources: {memory: 900Ti}\npriority: 5000\ntasks: -1\n", "submit", "-")
	require.Equal(t, 2, a.Code)
	for _, field := range []string{"resources.memory", "priority", "tasks"} {
		require.Contains(t, a.Bad, field)
	}
	c.Refused(2, []string{"queue", "nosuch"}, "submit", "-p", "nosuch", "--", "true")
	c.Refused(2, []string{"job"}, "submit", "-d", "afterok:99999", "--", "true")
	a = c.TryWith("jobs:\n- {name: a, command: [x], after: [{kind: afterok, job: '@b'}]}\n- {name: b, command: [x], after: [{kind: afterany, job: '@a'}]}\n", "submit", "-")
	require.Equal(t, 2, a.Code)
	require.Contains(t, a.Bad, "circle")
	c.Refused(2, []string{"berth submit -- "}, "submit", "nosuchfile")
}

func submitCheck(t *testing.T, c *cluster.Cluster) {
	before := c.Berth("jobs", "-o", "name")
	require.Contains(t, c.Berth("submit", "--check", "--", "true"), "can be submitted")
	require.Contains(t, c.Try("submit", "--check", "--cpu", "10000", "--", "true").Bad, "no node is large enough")
	require.Equal(t, before, c.Berth("jobs", "-o", "name"))
}

// Tasks run as their owners, where the agent is root and set so.
func TestUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("running tasks as others needs root")
	}
	n := cluster.Node("n1", nil)
	n.Accounts = agent.AccountsUsers
	tell(t, cluster.Options{Servers: 1, Agents: []daemon.AgentSettings{n}}, []part{
		{"a job runs as the account that it names", func(t *testing.T, c *cluster.Cluster) {
			require.Equal(t, "nobody /nonexistent nobody\n", hello(t, c, "--user", "nobody", "--", "sh", "-c", "echo $(id -un) $HOME $BERTH_USER"))
			mine := hello(t, c, "--user", "nobody", "--dir", "own", "--", "sh", "-c", "touch x $TMPDIR/y && stat -c %U . x")
			require.Equal(t, "nobody\nnobody\n", mine)
		}},
		{"a user's job runs as the user", func(t *testing.T, c *cluster.Cluster) {
			u := c.Bearer(c.Berth("token", "create", "nobody"))
			id := u.Submit("--", "id", "-un")
			c.Ended(id, job.Completed)
			require.Equal(t, "nobody\n", u.Berth("logs", id.String()))
			u.Refused(2, []string{"user"}, "submit", "--user", "daemon", "--", "id")
		}},
		{"a script's relative output is in its directory, and the user's", func(t *testing.T, c *cluster.Cluster) {
			dir, err := os.MkdirTemp("", "results-")
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			nobody, err := user.Lookup("nobody")
			require.NoError(t, err)
			uid, err := strconv.Atoi(nobody.Uid)
			require.NoError(t, err)
			require.NoError(t, os.Chown(dir, uid, -1))
			u := c.Bearer(c.Berth("token", "create", "nobody"))
			id := u.SubmitFile("#!/bin/bash\n#SBATCH -D " + dir + "\n#SBATCH -o out-%j.txt\necho important result\n")[0]
			c.Ended(id, job.Completed)
			path := filepath.Join(dir, "out-"+id.String()+".txt")
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, "important result\n", string(text))
			about, err := os.Stat(path)
			require.NoError(t, err)
			require.EqualValues(t, uid, about.Sys().(*syscall.Stat_t).Uid)
		}},
		{"nothing runs as root, nor as an account that is not there", func(t *testing.T, c *cluster.Cluster) {
			for name, text := range map[string]string{
				"root": "account root: node n1 runs no tasks as it", "nosuchaccount": "account nosuchaccount: node n1 has no account of this name",
			} {
				j := c.Ended(c.Submit("--user", name, "--", "id"), job.Failed)
				require.Len(t, j.Attempts, 2, "there is no other node")
				require.Contains(t, j.Attempts[0].Message, text)
			}
		}},
	})
}
