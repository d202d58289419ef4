package scenario

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestEnd(t *testing.T) {
	tell(t, cluster.Options{Servers: 1, Agents: racks()}, []part{
		{"a time limit warns, asks, and kills", timeLimit},
		{"a deadline ends what runs and what waits", deadline},
		{"a cancelled job is asked to end, and killed if it does not", cancel},
		{"failures are retried by exit code, with pauses, elsewhere", retryByExitCode},
		{"failures are retried by signal", retryBySignal},
		{"a job that runs is requeued, and one that has ended", requeue},
		{"a queue that preempts takes room", preemption},
	})
}

func timeLimit(t *testing.T, c *cluster.Cluster) {
	script := `trap 'echo warned' USR1; trap 'echo asked' TERM; while :; do sleep 0.1; done`
	id := c.Submit("--cpu", "0.1", "-t", "3s", "--signal", "USR1@2s", "--kill-grace", "1s", "--", "sh", "-c", script)
	j := c.Ended(id, job.Timeout)
	require.Equal(t, "warned\nasked\n", log(c, id))
	at := j.Attempts[0]
	require.Equal(t, "KILL", at.Exit.Signal)
	require.GreaterOrEqual(t, at.Ended.Sub(at.Started), 4*time.Second, "the limit and the grace")
	c.Refused(124, []string{"TIMEOUT"}, "wait", id.String())

	polite := c.Submit("--cpu", "0.1", "-t", "1s", "--", "sh", "-c", `trap 'echo bye; exit 3' TERM; while :; do sleep 0.1; done`)
	require.Equal(t, 3, c.Ended(polite, job.Timeout).Attempts[0].Exit.Code)
	require.Equal(t, "bye\n", log(c, polite))
}

func deadline(t *testing.T, c *cluster.Cluster) {
	runs := sleeper(c, "--deadline", "now+8s")
	waits := c.Submit("--hold", "--deadline", "now+8s", "--", "true")
	c.In(runs, job.Running)
	c.Ended(waits, job.Deadline)
	c.Ended(runs, job.Deadline)
	c.Refused(124, nil, "wait", runs.String())
}

func cancel(t *testing.T, c *cluster.Cluster) {
	stubborn := c.Submit("--cpu", "0.1", "--kill-grace", "1s", "--", "sh", "-c", `trap 'echo no' TERM; echo ready; while :; do sleep 0.1; done`)
	c.Until("the job is ready", func() error {
		if a := c.Try("logs", stubborn.String()); a.Out != "ready\n" {
			return fmt.Errorf("%q %s", a.Out, a.Bad)
		}
		return nil
	})
	c.Berth("cancel", stubborn.String(), "--reason", "enough")
	at := c.Ended(stubborn, job.Cancelled).Attempts[0]
	require.Equal(t, "KILL", at.Exit.Signal)
	require.Equal(t, "enough", at.Message)
	require.Equal(t, "ready\nno\n", log(c, stubborn))

	withSignal := c.Submit("--cpu", "0.1", "--", "sh", "-c", `trap 'exit 5' INT; echo ready; while :; do sleep 0.1; done`)
	c.In(withSignal, job.Running)
	c.Until("the job is ready", func() error {
		if a := c.Try("logs", withSignal.String()); a.Out != "ready\n" {
			return fmt.Errorf("%q %s", a.Out, a.Bad)
		}
		return nil
	})
	c.Berth("cancel", withSignal.String(), "--signal", "INT")
	require.Equal(t, 5, c.Ended(withSignal, job.Cancelled).Attempts[0].Exit.Code)
	c.Refused(1, nil, "wait", withSignal.String())
	require.Contains(t, c.Berth("cancel", withSignal.String()), "there was nothing to be cancelled", "it has ended")
}

func retryByExitCode(t *testing.T, c *cluster.Cluster) {
	count := t.TempDir() + "/count"
	script := `echo x >> ` + count + `; test $(wc -l < ` + count + `) -ge 3 || exit 75`
	id := c.Submit("--cpu", "0.1", "--retries", "5", "--retry-on", "exit:70-80", "--retry-backoff", "500ms", "--", "sh", "-c", script)
	j := c.Ended(id, job.Completed)
	require.Len(t, j.Attempts, 3)
	for i, at := range j.Attempts[1:] {
		before := j.Attempts[i]
		require.NotEqual(t, before.Nodes, at.Nodes, "another node than that of the last attempt")
		require.GreaterOrEqual(t, at.Placed.Sub(before.Ended), 500*time.Millisecond<<i, "the pause doubles")
	}
	text, err := os.ReadFile(count)
	require.NoError(t, err)
	require.Equal(t, "x\nx\nx\n", string(text))

	other := c.Submit("--cpu", "0.1", "--retries", "5", "--retry-on", "exit:70-80", "--", "sh", "-c", "exit 81")
	require.Len(t, c.Ended(other, job.Failed).Attempts, 1, "another code is not retried")

	used := c.Submit("--cpu", "0.1", "--retries", "1", "--retry-backoff", "1s", "-w", "n2", "--retry-same-node", "--", "sh", "-c", "exit 1")
	c.Waits(used, job.ReasonBackoff)
	require.Len(t, c.Ended(used, job.Failed).Attempts, 2, "no more than the limit")
}

func retryBySignal(t *testing.T, c *cluster.Cluster) {
	script := `test $BERTH_ATTEMPT = 2 || kill -SEGV $$`
	id := c.Submit("--cpu", "0.1", "--retries", "2", "--retry-on", "signal:SEGV", "--retry-backoff", "0s", "--", "sh", "-c", script)
	j := c.Ended(id, job.Completed)
	require.Len(t, j.Attempts, 2)
	require.Equal(t, "SEGV", j.Attempts[0].Exit.Signal)
	other := c.Submit("--cpu", "0.1", "--retries", "2", "--retry-on", "signal:SEGV", "--", "sh", "-c", "kill -9 $$")
	require.Len(t, c.Ended(other, job.Failed).Attempts, 1)
}

func requeue(t *testing.T, c *cluster.Cluster) {
	id := sleeper(c)
	c.In(id, job.Running)
	c.Berth("requeue", id.String())
	c.Until("the second attempt runs", func() error {
		j, err := c.Job(id)
		if err == nil && (j.State != job.Running || len(j.Attempts) != 1 || j.Attempts[0].State != job.Requeued) {
			err = fmt.Errorf("%s %+v", j.State, j.Attempts)
		}
		return err
	})
	end(c, id)
	ended := c.Submit("--", "sh", "-c", "echo attempt $BERTH_ATTEMPT")
	c.Ended(ended, job.Completed)
	c.Berth("requeue", ended.String())
	c.Until("it has completed again", func() error {
		j, err := c.Job(ended)
		if err == nil && (j.State != job.Completed || len(j.Attempts) != 2) {
			err = fmt.Errorf("%s %+v", j.State, j.Attempts)
		}
		return err
	})
	require.Equal(t, "attempt 2\n", log(c, ended))
	require.Equal(t, "attempt 1\n", log(c, ended, "--attempt", "1"))
}

func preemption(t *testing.T, c *cluster.Cluster) {
	setQueue(c, t, "name: urgent\npriority: 100\npreempts: true\n")
	victim := fill(t, c)
	final := fmt.Sprintf("%dm", c.NodeIs("n3", api.NodeReady).Machine.CPU)
	urgent := c.Submit("-p", "urgent", "-w", "n3", "--cpu", final, "--", "true")
	c.Ended(urgent, job.Completed)
	j := c.In(victim, job.Running)
	require.Equal(t, job.Preempted, j.Attempts[0].State)
	end(c, victim)

	once := fill(t, c, "--no-requeue")
	urgent = c.Submit("-p", "urgent", "-w", "n3", "--cpu", final, "--", "true")
	c.Ended(urgent, job.Completed)
	c.Ended(once, job.Preempted)
	c.Berth("queue", "remove", "urgent")
}
