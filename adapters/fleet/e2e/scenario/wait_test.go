package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestWait(t *testing.T) {
	tell(t, cluster.Options{Servers: 1, Agents: racks()}, []part{
		{"what is held waits until it is released", holdAndRelease},
		{"a job does not begin before its time", begin},
		{"dependencies of every kind", dependencies},
		{"aftercorr is by index", afterCorr},
		{"singleton is one after the other", singleton},
		{"higher priority goes first", priority},
		{"queues have limits and rules", queues},
		{"queues can be stopped, and removed when they are empty", stoppedQueue},
	})
}

func holdAndRelease(t *testing.T, c *cluster.Cluster) {
	id := c.Submit("--hold", "--", "true")
	c.Waits(id, job.ReasonHeldUser)
	c.Berth("release", id.String())
	c.Ended(id, job.Completed)

	other := sleeper(c, "--begin", "now+1h")
	c.Waits(other, job.ReasonBeginTime)
	c.Berth("hold", other.String())
	c.Waits(other, job.ReasonHeldUser)
	eves := c.Bearer(c.Berth("token", "create", "eve")).Submit("--hold", "--", "true")
	c.Berth("hold", eves.String())
	c.Waits(eves, job.ReasonHeldAdmin)
	end(c, other, eves)
}

func begin(t *testing.T, c *cluster.Cluster) {
	before := time.Now()
	id := c.Submit("--begin", "now+3s", "--", "true")
	c.Waits(id, job.ReasonBeginTime)
	j := c.Ended(id, job.Completed)
	require.False(t, j.Started.Before(before.Add(3*time.Second)), "it began at %s, and was submitted at %s", j.Started, before)
}

func dependencies(t *testing.T, c *cluster.Cluster) {
	good, bad := c.Submit("--", "true"), c.Submit("--", "false")
	c.Ended(good, job.Completed)
	c.Ended(bad, job.Failed)
	runs := sleeper(c)
	c.In(runs, job.Running)
	waits := c.Submit("--begin", "now+1h", "--", "true")
	type want struct {
		kind   string
		on     job.ID
		reason job.Reason // none: it runs
	}
	for _, w := range []want{
		{"afterok", good, ""}, {"afterok", bad, job.ReasonNever}, {"afterok", runs, job.ReasonDependency},
		{"afternotok", good, job.ReasonNever}, {"afternotok", bad, ""}, {"afternotok", runs, job.ReasonDependency},
		{"afterany", good, ""}, {"afterany", bad, ""}, {"afterany", runs, job.ReasonDependency},
		{"after", runs, ""}, {"after", waits, job.ReasonDependency},
	} {
		id := c.Submit("-d", fmt.Sprintf("%s:%s", w.kind, w.on), "--cpu", "0.1", "--", "true")
		if w.reason == "" {
			c.Ended(id, job.Completed)
			continue
		}
		c.Waits(id, w.reason)
		end(c, id)
	}
	both := c.Submit("-d", fmt.Sprintf("afterany:%s:%s", good, runs), "--", "true")
	c.Waits(both, job.ReasonDependency)
	end(c, runs, waits)
	c.Ended(both, job.Completed)
}

func afterCorr(t *testing.T, c *cluster.Cluster) {
	first := c.Submit("--array", "1-3", "--cpu", "0.1", "--", "sh", "-c", "test $BERTH_ARRAY_INDEX != 2")
	second := c.Submit("--array", "1-3", "--cpu", "0.1", "-d", "aftercorr:"+first.String(), "--", "true")
	c.Until("two elements have completed and one never will", func() error {
		j, err := c.Job(second)
		if err == nil && (j.Counts[job.Completed] != 2 || j.Reason != job.ReasonNever) {
			err = fmt.Errorf("%v %s", j.Counts, j.Reason)
		}
		return err
	})
	end(c, second)
}

func singleton(t *testing.T, c *cluster.Cluster) {
	first := sleeper(c, "--name", "one")
	second := c.Submit("--name", "one", "--singleton", "--", "true")
	c.Waits(second, job.ReasonDependency)
	other := c.Submit("--name", "two", "--singleton", "--", "true")
	c.Ended(other, job.Completed)
	end(c, first)
	c.Ended(second, job.Completed)
}

// fill takes all processor time of n3, and the jobs after it are for n3.
func fill(t *testing.T, c *cluster.Cluster, options ...string) job.ID {
	t.Helper()
	n := c.NodeIs("n3", api.NodeReady)
	id := c.Submit(append(options, "-w", "n3", "--cpu", fmt.Sprintf("%dm", n.Machine.CPU), "--kill-grace", "5s", "--", "sleep", "600")...)
	c.In(id, job.Running)
	return id
}

func priority(t *testing.T, c *cluster.Cluster) {
	full := fill(t, c)
	n := c.NodeIs("n3", api.NodeReady)
	cpu := fmt.Sprintf("%dm", n.Machine.CPU)
	var ids []job.ID
	for _, p := range []string{"1", "10", "5"} {
		ids = append(ids, c.Submit("-w", "n3", "--cpu", cpu, "--priority", p, "--", "true"))
	}
	for _, id := range ids {
		c.Waits(id, job.ReasonResources)
	}
	end(c, full)
	var started []time.Time
	for _, id := range ids {
		started = append(started, c.Ended(id, job.Completed).Attempts[0].Started)
	}
	require.True(t, started[1].Before(started[2]) && started[2].Before(started[0]), "priorities 1, 10, 5 started at %v", started)
}

func setQueue(c *cluster.Cluster, t *testing.T, text string) {
	t.Helper()
	a := c.TryWith(text, "queue", "set", "-")
	require.Zero(t, a.Code, a.Bad)
}

func queues(t *testing.T, c *cluster.Cluster) {
	setQueue(c, t, "name: small\ndefaultTime: 5m\nmaxTime: 10m\nmaxRunning: 2\nmaxQueued: 4\nnodes: [{label: rack, values: [r2]}]\nusers: [eve, admin]\n")
	eve, mallory := c.Bearer(c.Berth("token", "create", "eve")), c.Bearer(c.Berth("token", "create", "mallory"))
	submit := []string{"-p", "small", "--cpu", "0.1", "--kill-grace", "5s", "--", "sleep", "600"}
	var ids []job.ID
	for range 4 {
		ids = append(ids, eve.Submit(submit...))
	}
	j := c.In(ids[0], job.Running)
	require.Equal(t, "n3", nodeOf(t, j), "the queue's nodes")
	require.Equal(t, "5m", j.Spec.TimeLimit.String())
	c.In(ids[1], job.Running)
	c.Waits(ids[2], job.ReasonQueueLimit)
	eve.Refused(1, []string{"small", "4"}, append([]string{"submit"}, submit...)...)
	mallory.Refused(4, []string{"small"}, append([]string{"submit"}, submit...)...)
	eve.Refused(2, []string{"10m"}, "submit", "-p", "small", "-t", "11m", "--", "true")
	eve.Refused(2, []string{"priority"}, "submit", "--priority", "1", "--", "true")
	end(c, ids[0])
	c.In(ids[2], job.Running)
	c.Refused(1, []string{"small"}, "queue", "remove", "small")
	end(c, ids[1:]...)
}

func stoppedQueue(t *testing.T, c *cluster.Cluster) {
	setQueue(c, t, "name: night\nstopped: true\n")
	id := c.Submit("-p", "night", "--", "true")
	c.Waits(id, job.ReasonQueueStopped)
	require.Contains(t, c.Berth("queue"), "stopped")
	setQueue(c, t, "name: night\n")
	c.Ended(id, job.Completed)
	c.Berth("queue", "remove", "night")
	c.Refused(2, []string{"night"}, "submit", "-p", "night", "--", "true")
}
