package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/daemon"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestNodes(t *testing.T) {
	tell(t, cluster.Options{Servers: 1, Agents: racks()}, []part{
		{"a drained node gets nothing, and what runs runs on", drain},
		{"a drain with a deadline moves what runs", drainDeadline},
		{"a maintenance window keeps away what could not end before it", maintenance},
		{"tasks outlive their agent, and the next one finds them", agentRestart},
		{"a lost node's tasks are tried elsewhere, and end when it is back", nodeLoss},
		{"a killed shim is a node's failure", shimKill},
		{"a node that is gone is removed", removeNode},
	})
}

func drain(t *testing.T, c *cluster.Cluster) {
	runs := sleeper(c, "-w", "n3")
	c.In(runs, job.Running)
	c.Berth("node", "drain", "n3", "--reason", "broken fan")
	require.Contains(t, c.Berth("nodes", "n3"), "broken fan")
	waits := c.Submit("-w", "n3", "--", "true")
	c.Waits(waits, job.ReasonResources)
	require.Contains(t, c.Berth("explain", waits.String()), "is drained: broken fan")
	require.Len(t, c.In(runs, job.Running).Attempts, 0)
	c.Berth("node", "resume", "n3")
	c.Ended(waits, job.Completed)
	end(c, runs)
}

func drainDeadline(t *testing.T, c *cluster.Cluster) {
	runs := sleeper(c, "-C", "rack=r1", "--prefer", "100:speed=5", "--retry-backoff", "0s")
	require.Equal(t, "n2", nodeOf(t, c.In(runs, job.Running)))
	c.Berth("node", "drain", "n2", "--deadline", "now+1s")
	c.Until("it runs on the other node", func() error {
		j, err := c.Job(runs)
		if err == nil && (j.State != job.Running || len(j.Nodes) != 1 || j.Nodes[0] != "n1") {
			err = fmt.Errorf("%s on %v, %+v", j.State, j.Nodes, j.Attempts)
		}
		return err
	})
	c.Berth("node", "resume", "n2")
	end(c, runs)
}

func maintenance(t *testing.T, c *cluster.Cluster) {
	c.Berth("node", "maintenance", "n3", "--from", "now+30m", "--to", "now+40m", "--reason", "new disks")
	long := c.Submit("-w", "n3", "-t", "1h", "--", "true")
	c.Waits(long, job.ReasonResources)
	endless := c.Submit("-w", "n3", "--", "true")
	c.Waits(endless, job.ReasonResources)
	require.Contains(t, c.Berth("explain", endless.String()), "maintenance")
	c.Ended(c.Submit("-w", "n3", "-t", "10m", "--", "true"), job.Completed)
	require.Contains(t, c.Try("node", "resume", "n3").Bad, "its maintenance window stays")
	c.Waits(long, job.ReasonResources)
	c.Berth("node", "maintenance", "n3", "--cancel")
	c.Ended(long, job.Completed)
	c.Ended(endless, job.Completed)

	runs := c.Submit("-w", "n3", "-t", "1s", "--kill-grace", "1s", "--cpu", "0.1", "--", "sleep", "600")
	c.Ended(runs, job.Timeout)
	runs = sleeper(c, "-w", "n3", "--retry-backoff", "0s")
	c.In(runs, job.Running)
	c.Berth("node", "maintenance", "n3", "--from", "now+1s", "--to", "now+4s")
	c.Until("it was ended, and runs again after the window", func() error {
		j, err := c.Job(runs)
		if err == nil && (j.State != job.Running || len(j.Attempts) != 1) {
			err = fmt.Errorf("%s %s %+v", j.State, j.Reason, j.Attempts)
		}
		return err
	})
	end(c, runs)
	c.Berth("node", "maintenance", "n3", "--cancel")
}

// agentRestart: by upgrade (SIGTERM) and by accident (SIGKILL).
func agentRestart(t *testing.T, c *cluster.Cluster) {
	p, dir := c.Process("n3"), t.TempDir()
	script := fmt.Sprintf("echo one; while ! test -e %s/$BERTH_NAME_OF_FILE; do sleep 0.1; done; echo two", dir)
	submit := func(file string) job.ID {
		return c.Submit("-w", "n3", "--cpu", "0.1", "--env", "NAME_OF_FILE="+file, "--", "sh", "-c", strings.Replace(script, "BERTH_", "", 1))
	}
	runs, ends := submit("runs"), submit("ends")
	c.In(runs, job.Running)
	c.In(ends, job.Running)
	require.NoError(t, p.Stop())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ends"), nil, 0o600)) // it ends while there is no agent
	require.NoError(t, p.Start())
	require.Len(t, c.Ended(ends, job.Completed).Attempts, 1)
	require.Equal(t, "one\ntwo\n", log(c, ends))
	c.In(runs, job.Running)
	p.Kill()
	require.NoError(t, p.Start())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "runs"), nil, 0o600))
	require.Len(t, c.Ended(runs, job.Completed).Attempts, 1, "the same attempt")
	require.Equal(t, "one\ntwo\n", log(c, runs))
}

func nodeLoss(t *testing.T, c *cluster.Cluster) {
	ledger := t.TempDir()
	script := fmt.Sprintf("echo start $BERTH_TASK_ID $BERTH_NODE >> %[1]s/log; trap 'echo end $BERTH_TASK_ID >> %[1]s/log; exit 1' TERM; while :; do sleep 0.1; done", ledger)
	id := c.Submit("--prefer", "100:disk=fast", "--cpu", "0.1", "--retry-backoff", "0s", "--kill-grace", "5s", "--", "sh", "-c", script)
	stays := c.Submit("--prefer", "100:disk=fast", "--cpu", "0.1", "--no-requeue", "--kill-grace", "5s", "--", "sleep", "600")
	require.Equal(t, "n3", nodeOf(t, c.In(id, job.Running)))
	require.Equal(t, "n3", nodeOf(t, c.In(stays, job.Running)))
	p := c.Process("n3")
	p.Pause()
	c.NodeIs("n3", api.NodeUnreachable)
	require.Empty(t, c.In(id, job.Running).Attempts, "an unreachable node keeps its tasks for a while")
	c.Until("it runs elsewhere", func() error {
		j, err := c.Job(id)
		if err == nil && (j.State != job.Running || len(j.Nodes) != 1 || j.Nodes[0] == "n3") {
			err = fmt.Errorf("%s on %v", j.State, j.Nodes)
		}
		return err
	})
	require.Equal(t, job.NodeFail, c.In(id, job.Running).Attempts[0].State)
	c.Ended(stays, job.NodeFail)
	p.Resume()
	c.NodeIs("n3", api.NodeReady)
	c.Until("what ran on the lost node was ended there", func() error {
		text, err := os.ReadFile(ledger + "/log")
		if err == nil && !strings.Contains(string(text), fmt.Sprintf("end %s_0.1.0\n", id)) {
			err = fmt.Errorf("%s", text)
		}
		return err
	})
	c.Until("nothing is left on it", func() error {
		if left := p.Shims(); len(left) > 0 {
			return fmt.Errorf("%v", left)
		}
		return nil
	})
	end(c, id)
}

func shimKill(t *testing.T, c *cluster.Cluster) {
	id := sleeper(c, "--retry-backoff", "0s")
	node := nodeOf(t, c.In(id, job.Running))
	require.True(t, c.Process(node).SignalShim(id.String()+"_0.1.0", syscall.SIGKILL))
	var j api.JobDetail
	c.Until("the second attempt runs", func() (err error) {
		if j, err = c.Job(id); err == nil && (j.State != job.Running || len(j.Attempts) != 1) {
			err = fmt.Errorf("%s %+v", j.State, j.Attempts)
		}
		return err
	})
	require.Equal(t, job.NodeFail, j.Attempts[0].State)
	require.NotEqual(t, node, nodeOf(t, j), "the last node is left out")
	end(c, id)
}

func removeNode(t *testing.T, c *cluster.Cluster) {
	runs := sleeper(c, "-w", "n3")
	c.In(runs, job.Running)
	c.Refused(1, []string{"drain it first"}, "node", "remove", "n3")
	end(c, runs)
	require.NoError(t, c.Process("n3").Stop())
	c.Berth("node", "remove", "n3")
	c.Refused(3, []string{"n3"}, "nodes", "n3")
	require.NoError(t, c.Process("n3").Start())
	c.NodeIs("n3", api.NodeReady)
}

// Prolog, epilog and health script are the operator's.
func TestHooks(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) []string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
		return []string{path}
	}
	n := cluster.Node("n1", nil)
	n.Prolog.Command = write("prolog", fmt.Sprintf("echo prolog $BERTH_TASK_ID >> %[1]s/log; test ! -e %[1]s/bad-prolog", dir))
	n.Epilog.Command = write("epilog", fmt.Sprintf("echo epilog $BERTH_TASK_ID >> %s/log", dir))
	n.Health.Command = write("health", fmt.Sprintf("test ! -e %[1]s/sick || { cat %[1]s/sick; exit 1; }", dir))
	n.HealthEvery = job.Duration(200 * time.Millisecond)
	tell(t, cluster.Options{Servers: 1, Agents: []daemon.AgentSettings{n}}, []part{
		{"prolog before, epilog after", func(t *testing.T, c *cluster.Cluster) {
			id := c.Submit("--", "sh", "-c", fmt.Sprintf("echo task $BERTH_TASK_ID >> %s/log", dir))
			c.Ended(id, job.Completed)
			text, err := os.ReadFile(dir + "/log")
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("prolog %[1]s_0.1.0\ntask %[1]s_0.1.0\nepilog %[1]s_0.1.0\n", id), string(text))
		}},
		{"a sick node gets nothing until it is well", func(t *testing.T, c *cluster.Cluster) {
			require.NoError(t, os.WriteFile(dir+"/sick", []byte("fever\n"), 0o600))
			c.Until("the node complains", func() error {
				if n := c.NodeIs("n1", api.NodeReady); !strings.Contains(n.Unhealthy, "fever") {
					return fmt.Errorf("%q", n.Unhealthy)
				}
				return nil
			})
			id := c.Submit("--", "true")
			c.Waits(id, job.ReasonResources)
			require.NoError(t, os.Remove(dir+"/sick"))
			c.Ended(id, job.Completed)
		}},
		{"a prolog that fails keeps the task from running, and the node from more", func(t *testing.T, c *cluster.Cluster) {
			require.NoError(t, os.WriteFile(dir+"/bad-prolog", nil, 0o600))
			j := c.Ended(c.Submit("--no-requeue", "--", "true"), job.BootFail)
			require.Contains(t, j.Attempts[0].Message, "prolog")
			c.Until("the node complains", func() error {
				if n := c.NodeIs("n1", api.NodeReady); !strings.Contains(n.Unhealthy, "prolog") {
					return fmt.Errorf("%q", n.Unhealthy)
				}
				return nil
			})
			require.NoError(t, os.Remove(dir+"/bad-prolog"))
			require.NoError(t, c.Process("n1").Stop())
			require.NoError(t, c.Process("n1").Start())
			c.Ended(c.Submit("--", "true"), job.Completed)
		}},
	})
}
