package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestPlace(t *testing.T) {
	tell(t, cluster.Options{Servers: 1, Agents: racks()}, []part{
		{"resources are counted, and what does not fit waits", resources},
		{"a named resource is where it is", namedResource},
		{"what no node can serve waits, with a warning and a reason", tooLarge},
		{"constraints are kept", constraints},
		{"preferences are wishes", preferences},
		{"jobs go near others, or apart from them", nearAndApart},
		{"elements are spread", spread},
		{"explain says what speaks against each node", explain},
	})
}

func resources(t *testing.T, c *cluster.Cluster) {
	var nodes api.NodeList
	c.JSON(&nodes, "nodes")
	cores := int64(nodes.Nodes[0].Machine.CPU)
	all := fmt.Sprintf("%dm", cores)
	var ids []job.ID
	for range 3 {
		ids = append(ids, c.Submit("--cpu", all, "--", "sleep", "600"))
	}
	used := map[string]bool{}
	for _, id := range ids {
		used[nodeOf(t, c.In(id, job.Running))] = true
	}
	require.Len(t, used, 3, "each has a node of its own")
	fourth := c.Submit("--cpu", "100m", "--", "true")
	c.Waits(fourth, job.ReasonResources)
	var n api.Node
	c.JSON(&n, "nodes", "n2")
	require.Equal(t, cores, int64(n.Used.CPU))
	end(c, ids[0])
	c.Ended(fourth, job.Completed)
	end(c, ids[1:]...)
	c.JSON(&n, "nodes", "n2")
	require.Zero(t, n.Used.CPU)
	require.Zero(t, n.Used.Tasks)
}

func namedResource(t *testing.T, c *cluster.Cluster) {
	a, b := sleeper(c, "--resource", "licence=2"), sleeper(c, "--resource", "licence=1")
	require.Equal(t, "n1", nodeOf(t, c.In(a, job.Running)))
	require.Equal(t, "n1", nodeOf(t, c.In(b, job.Running)))
	third := c.Submit("--resource", "licence=1", "--", "true")
	c.Waits(third, job.ReasonResources)
	end(c, b)
	c.Ended(third, job.Completed)
	end(c, a)
}

func tooLarge(t *testing.T, c *cluster.Cluster) {
	a := c.Try("submit", "--memory", "500Ti", "-o", "name", "--", "true")
	require.Zero(t, a.Code)
	require.Contains(t, a.Bad, "no node is large enough")
	var id job.ID
	fmt.Sscan(a.Out, &id)
	c.Waits(id, job.ReasonBadConstraints)
	require.Contains(t, c.Berth("explain", id.String()), "has less memory than asked for")
	end(c, id)
	c.Refused(2, []string{"gpus"}, "submit", "--gpus", "100000", "--", "true")
}

func constraints(t *testing.T, c *cluster.Cluster) {
	for _, x := range []struct{ option, value, node string }{
		{"-C", "disk=fast", "n3"}, {"-C", "rack=r2", "n3"}, {"-C", "rack!=r1", "n3"}, {"-C", "speed>5", "n3"}, {"-C", "speed<4", "n1"},
		{"-C", "rack=r1&speed>4", "n2"}, {"-C", "disk", "n3"}, {"-C", "!disk&speed>3", "n2"},
		{"-w", "n2", "n2"}, {"-x", "n[1-2]", "n3"},
	} {
		require.Equal(t, x.node, ran(t, c, x.option, x.value), "%s %s", x.option, x.value)
	}
	a := c.Try("submit", "-C", "rack=r9", "-o", "name", "--", "true")
	require.Zero(t, a.Code)
	require.Contains(t, a.Bad, "constraint rack=r9: 0 of 3 nodes meet it; rack is r1 or r2")
	var id job.ID
	fmt.Sscan(a.Out, &id)
	c.Waits(id, job.ReasonBadConstraints)
	require.Contains(t, c.Berth("job", id.String()), "constraint rack=r9")
	c.Berth("node", "label", "n2", "rack=r9")
	require.Equal(t, "n2", nodeOf(t, c.Ended(id, job.Completed)), "a label that comes lets it start")
	c.Berth("node", "label", "n2", "rack-")
	require.Equal(t, "n2", ran(t, c, "-C", "rack=r1&speed>4"), "the machine's own label is back")
}

func preferences(t *testing.T, c *cluster.Cluster) {
	require.Equal(t, "n3", ran(t, c, "--prefer", "100:rack=r2"))
	require.Equal(t, "n2", ran(t, c, "--prefer", "100:speed=5"))
	ran(t, c, "--prefer", "100:rack=none") // it is but a wish
}

func nearAndApart(t *testing.T, c *cluster.Cluster) {
	server := sleeper(c, "--label", "part=db", "-w", "n2")
	c.In(server, job.Running)
	place := func(rule string) job.ID {
		return c.SubmitFile(fmt.Sprintf("command: [sleep, '600']\nresources: {cpu: 100m}\nkillGrace: 5s\n%s\n", rule))[0]
	}
	near := place("near: [{labels: {part: db}}]")
	require.Equal(t, "n2", nodeOf(t, c.In(near, job.Running)))
	sameRack := place("near: [{labels: {part: db}, sameLabel: rack}]\nexcludeNodes: [n2]")
	require.Equal(t, "n1", nodeOf(t, c.In(sameRack, job.Running)))
	apart := place("apart: [{labels: {part: db}, sameLabel: rack}]")
	require.Equal(t, "n3", nodeOf(t, c.In(apart, job.Running)))
	nowhere := place("apart: [{labels: {part: db}}]\nnodes: [n2]")
	c.Waits(nowhere, job.ReasonResources)
	end(c, server)
	require.Equal(t, "n2", nodeOf(t, c.In(nowhere, job.Running)))
	end(c, near, sameRack, apart, nowhere)
}

func spread(t *testing.T, c *cluster.Cluster) {
	id := c.Submit("--array", "0-5", "--cpu", "0.1", "--kill-grace", "5s", "--label", "a=b", "--spread", "rack", "--", "sleep", "600")
	var j api.JobDetail
	c.Until("all run", func() (err error) {
		if j, err = c.Job(id); err == nil && j.Counts[job.Running] != 6 {
			err = fmt.Errorf("%v", j.Counts)
		}
		return err
	})
	racks := map[string]int{}
	for _, e := range j.Elements {
		racks[map[string]string{"n1": "r1", "n2": "r1", "n3": "r2"}[e.Tasks[0].Node]]++
	}
	require.Equal(t, map[string]int{"r1": 3, "r2": 3}, racks)
	end(c, id)
}

func explain(t *testing.T, c *cluster.Cluster) {
	id := c.Submit("-C", "rack=r2", "--memory", "500Ti", "--", "true")
	c.Waits(id, job.ReasonBadConstraints)
	var e api.Explanation
	c.JSON(&e, "explain", id.String())
	require.Len(t, e.Nodes, 3)
	for _, n := range e.Nodes {
		require.False(t, n.Feasible)
		require.NotEmpty(t, n.Verdicts)
		var reasons []string
		for _, v := range n.Verdicts {
			reasons = append(reasons, v.Reasons...)
		}
		if n.Node == "n3" {
			require.Contains(t, strings.Join(reasons, " "), "has less memory than asked for")
		}
	}
	end(c, id)
	running := sleeper(c)
	c.In(running, job.Running)
	require.Contains(t, c.Berth("explain", running.String()), "RUNNING")
	end(c, running)
}
