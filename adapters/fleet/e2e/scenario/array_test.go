package scenario

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestArraysAndGangs(t *testing.T) {
	tell(t, cluster.Options{Servers: 1, Agents: racks()}, []part{
		{"an array has its elements", array},
		{"no more elements run than its limit", arrayLimit},
		{"parts of an array are cancelled, held, released and requeued", arrayParts},
		{"a large array is there at once", largeArray},
		{"a gang knows its members", gang},
		{"a gang starts whole or not at all", gangWhole},
		{"when a task of a gang fails, the others are ended", gangFails},
		{"a gang that keeps going ends when all have", gangKeepsGoing},
		{"a gang goes to one rack", gangSameLabel},
	})
}

// counts waits until the elements of a job are in so many states.
func counts(c *cluster.Cluster, id job.ID, want map[job.State]int32) api.JobDetail {
	var j api.JobDetail
	c.Until(fmt.Sprintf("job %s has elements %v", id, want), func() (err error) {
		if j, err = c.Job(id); err != nil {
			return err
		}
		for state, n := range want {
			if j.Counts[state] != n {
				return fmt.Errorf("%v", j.Counts)
			}
		}
		return nil
	})
	return j
}

func array(t *testing.T, c *cluster.Cluster) {
	id := c.Submit("--array", "1,5-9:2", "--cpu", "0.1", "--", "sh", "-c", "echo $BERTH_ARRAY_INDEX of $BERTH_ARRAY_COUNT; test $BERTH_ARRAY_INDEX != 7")
	j := counts(c, id, map[job.State]int32{job.Completed: 3, job.Failed: 1})
	require.EqualValues(t, 4, j.Job.Elements)
	require.Len(t, j.Attempts, 4)
	for _, index := range []string{"1", "5", "7", "9"} {
		require.Equal(t, index+" of 4\n", c.Berth("logs", id.String()+"_"+index))
	}
	c.Refused(1, nil, "wait", id.String())
	c.Refused(3, nil, "logs", id.String()+"_2")
}

func arrayLimit(t *testing.T, c *cluster.Cluster) {
	id := c.Submit("--array", "0-5%2", "--cpu", "0.1", "--kill-grace", "5s", "--", "sleep", "600")
	counts(c, id, map[job.State]int32{job.Running: 2, job.Pending: 4})
	require.Equal(t, job.ReasonArrayLimit, c.Waiting(id).Reason)
	c.Berth("cancel", id.String()+"_0")
	counts(c, id, map[job.State]int32{job.Running: 2, job.Pending: 3, job.Cancelled: 1})
	end(c, id)
}

func arrayParts(t *testing.T, c *cluster.Cluster) {
	id := c.Submit("--array", "0-9", "--hold", "--cpu", "0.1", "--", "true")
	c.Berth("cancel", id.String()+"_[2-4,9]")
	counts(c, id, map[job.State]int32{job.Pending: 6, job.Cancelled: 4})
	c.Berth("release", id.String())
	counts(c, id, map[job.State]int32{job.Completed: 6, job.Cancelled: 4})
	c.Berth("requeue", id.String()+"_[2-3]")
	counts(c, id, map[job.State]int32{job.Completed: 8, job.Cancelled: 2})

	parts := c.Submit("--array", "0-5", "--begin", "now+4s", "--cpu", "0.1", "--", "true")
	c.Berth("hold", parts.String()+"_[1-2]")
	counts(c, parts, map[job.State]int32{job.Completed: 4, job.Pending: 2})
	c.Berth("release", parts.String()+"_2")
	counts(c, parts, map[job.State]int32{job.Completed: 5, job.Pending: 1})
	c.Berth("release", parts.String()+"_1")
	c.Ended(parts, job.Completed)
}

func largeArray(t *testing.T, c *cluster.Cluster) {
	id := c.Submit("--array", "0-999999%3", "--cpu", "0.1", "--", "true")
	c.Until("some have completed", func() error {
		j, err := c.Job(id)
		if err == nil && j.Counts[job.Completed] < 5 {
			err = fmt.Errorf("%v", j.Counts)
		}
		return err
	})
	c.Berth("cancel", id.String()+"_[500000-999999]")
	end(c, id)
	j, err := c.Job(id)
	require.NoError(t, err)
	require.EqualValues(t, 1_000_000, j.Counts[job.Completed]+j.Counts[job.Cancelled])
}

func gang(t *testing.T, c *cluster.Cluster) {
	script := `echo $BERTH_RANK $BERTH_SIZE $BERTH_NODE $BERTH_NODES $BERTH_HOSTS $BERTH_LEADER_ADDRESS $RANK $WORLD_SIZE $MASTER_ADDR $MASTER_PORT`
	id := c.Submit("--tasks", "3", "--cpu", "0.1", "--spread", "rack", "--", "sh", "-c", script)
	j := c.Ended(id, job.Completed)
	nodes := j.Attempts[0].Nodes
	require.Len(t, nodes, 3)
	var hosts []string
	for _, n := range nodes {
		host, _, _ := strings.Cut(c.Process(n).Address, ":")
		hosts = append(hosts, host)
	}
	var port string
	for rank := range 3 {
		f := strings.Fields(log(c, id, "--rank", fmt.Sprint(rank)))
		require.Len(t, f, 10)
		if port == "" {
			port = f[9]
		}
		r := fmt.Sprint(rank)
		require.Equal(t, []string{r, "3", nodes[rank], strings.Join(nodes, ","), strings.Join(hosts, ","), hosts[0], r, "3", hosts[0], port}, f)
	}
}

func gangWhole(t *testing.T, c *cluster.Cluster) {
	full := fill(t, c)
	cpu := fmt.Sprintf("%dm", c.NodeIs("n1", api.NodeReady).Machine.CPU)
	id := c.Submit("--tasks", "3", "--cpu", cpu, "--", "true")
	c.Waits(id, job.ReasonResources)
	for _, n := range []string{"n1", "n2"} {
		require.Zero(t, c.NodeIs(n, api.NodeReady).Used.Tasks, "no part of the gang has a place on %s", n)
	}
	end(c, full)
	j := c.Ended(id, job.Completed)
	require.Len(t, j.Attempts, 1)
}

func gangFails(t *testing.T, c *cluster.Cluster) {
	id := c.Submit("--tasks", "3", "--cpu", "0.1", "--kill-grace", "5s", "--", "sh", "-c", "test $BERTH_RANK != 1 || exit 4; exec sleep 600")
	at := c.Ended(id, job.Failed).Attempts[0]
	require.EqualValues(t, 1, at.Rank)
	require.Equal(t, 4, at.Exit.Code)
	c.Refused(4, nil, "wait", id.String())
}

func gangKeepsGoing(t *testing.T, c *cluster.Cluster) {
	dir := t.TempDir()
	// Rank 0 does not end before rank 1 has failed and that has been seen.
	script := fmt.Sprintf("test $BERTH_RANK = 0 || exit 4; while ! test -e %s/go; do sleep 0.1; done; echo through", dir)
	id := c.Submit("--tasks", "2", "--keep-going", "--cpu", "0.1", "--", "sh", "-c", script)
	c.Until("rank 1 has ended", func() error {
		j, err := c.Job(id)
		if err == nil && (len(j.Elements) != 1 || len(j.Elements[0].Tasks) != 1) {
			err = fmt.Errorf("%+v", j.Elements)
		}
		return err
	})
	require.NoError(t, os.WriteFile(dir+"/go", nil, 0o600))
	c.Ended(id, job.Failed)
	require.Equal(t, "through\n", log(c, id, "--rank", "0"))
}

func gangSameLabel(t *testing.T, c *cluster.Cluster) {
	n := c.NodeIs("n1", api.NodeReady)
	cpu := fmt.Sprintf("%dm", n.Machine.CPU)
	id := c.Submit("--tasks", "2", "--cpu", cpu, "--same-label", "rack", "--", "true")
	require.ElementsMatch(t, []string{"n1", "n2"}, c.Ended(id, job.Completed).Attempts[0].Nodes)
	three := c.Submit("--tasks", "3", "--cpu", cpu, "--same-label", "rack", "--", "true")
	c.Waits(three, job.ReasonBadConstraints)
	end(c, three)
}
