package scenario

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/daemon"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestMain(m *testing.M) {
	code := m.Run()
	cluster.Finish()
	os.Exit(code)
}

// part is one story.
type part struct {
	name string
	tell func(*testing.T, *cluster.Cluster)
}

// tell starts a fleet and has the parts told on it, one after the other.
func tell(t *testing.T, o cluster.Options, parts []part) {
	c := cluster.Start(t, o)
	for _, p := range parts {
		ok := t.Run(p.name, func(t *testing.T) { p.tell(t, c.For(t)) })
		if !ok {
			restore(c)
		}
	}
}

// restore undoes what a part that failed has left, for the sake of the next.
func restore(c *cluster.Cluster) {
	for _, id := range strings.Fields(c.Try("jobs", "-o", "name", "--state", "PENDING,STARTING,RUNNING").Out) {
		c.Try("cancel", id)
	}
	for _, name := range c.Agents() {
		c.Process(name).Resume()
		_ = c.Process(name).Start() // the next part tells
		c.Try("node", "resume", name)
	}
}

// racks are three nodes in two racks; n1 has three licences, n3 has none of it and is
// the only one with a fast disk.
func racks() []daemon.AgentSettings {
	n1 := cluster.Node("n1", map[string]string{"rack": "r1", "speed": "3"})
	n1.Other = map[string]int64{"licence": 3}
	n2 := cluster.Node("n2", map[string]string{"rack": "r1", "speed": "5"})
	n3 := cluster.Node("n3", map[string]string{"rack": "r2", "speed": "9", "disk": "fast"})
	return []daemon.AgentSettings{n1, n2, n3}
}

// log is what a job has written.
func log(c *cluster.Cluster, id job.ID, args ...string) string {
	return c.Berth(append([]string{"logs", id.String()}, args...)...)
}

// hello runs a command, and is what it has written.
func hello(t *testing.T, c *cluster.Cluster, args ...string) string {
	t.Helper()
	id := c.Submit(args...)
	c.Ended(id, job.Completed)
	return log(c, id)
}

// nodeOf is where a job runs, or has run last.
func nodeOf(t *testing.T, j api.JobDetail) string {
	t.Helper()
	require.Len(t, j.Nodes, 1)
	return j.Nodes[0]
}

// ran is where a job with the options runs, once it has.
func ran(t *testing.T, c *cluster.Cluster, options ...string) string {
	t.Helper()
	id := c.Submit(append(options, "--cpu", "0.1", "--", "true")...)
	return nodeOf(t, c.Ended(id, job.Completed))
}

// sleeper is a job that runs until it is cancelled.
func sleeper(c *cluster.Cluster, options ...string) job.ID {
	return c.Submit(append(append([]string{"--cpu", "0.1", "--kill-grace", "5s"}, options...), "--", "sleep", "600")...)
}

// end cancels jobs, and waits for their end.
func end(c *cluster.Cluster, ids ...job.ID) {
	for _, id := range ids {
		c.Berth("cancel", id.String())
	}
	for _, id := range ids {
		c.Until(fmt.Sprintf("job %s has ended", id), func() error {
			j, err := c.Job(id)
			if err == nil && j.Ended.IsZero() {
				err = fmt.Errorf("it is %s", j.State)
			}
			return err
		})
	}
}
