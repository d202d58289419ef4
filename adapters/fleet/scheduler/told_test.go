package scheduler

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// Every plugin of the profile that can rule out a node has words here, or what a fleet's
// job and nodes never have would be needed for it to say anything.
func TestEveryPluginHasWords(t *testing.T) {
	words := map[string]bool{plugins.NodeUnschedulable: true, plugins.NodeAffinity: true, maintenanceName: true, backfillName: true, reservedName: true, plugins.NodeHolds: true}
	for plugin := range told {
		words[plugin] = true
	}
	silent := map[string]string{
		plugins.NodeName: "jobs name nodes by constraints", plugins.TaintToleration: "nodes have no taints", plugins.NodePorts: "tasks have no ports",
		plugins.VolumeRestrictions: "tasks have no volumes", plugins.NodeVolumeLimits: "tasks have no volumes",
		plugins.VolumeBinding: "tasks have no volumes", plugins.VolumeZone: "tasks have no volumes",
		plugins.DynamicResources: "tasks have no claims", plugins.NodeDeclaredFeatures: "tasks need no features",
	}
	c, err := New(Config{})
	require.NoError(t, err)
	x := explained(t, c)
	require.NotEmpty(t, x.Filters)
	for _, plugin := range x.Filters {
		require.True(t, words[plugin] != (silent[plugin] != ""), "%s has no words, or is said to need none", plugin)
	}
	for _, p := range x.Scores {
		require.NotEqual(t, p.Plugin, scoreName(p.Plugin), "what it is called is Kubernetes' name")
	}
}

// explained is how the engine looked at a workload and a node.
func explained(t *testing.T, c *Controller) *engine.Explanation {
	require.NoError(t, c.eng.Load().Apply(
		engine.PutNode(&model.Node{Name: "n1", Allocatable: model.Resources{CPU: 1000}}),
		engine.Submit(&model.Workload{ID: "1_0.1.0", Data: dataOf("1_0.1.0"), Namespace: "ann"}),
	))
	x, err := c.eng.Load().Explain("1_0.1.0", engine.ExplainOptions{})
	require.NoError(t, err)
	return x
}

// What has no words is passed on as what it is: somebody else's.
func TestUnknownWords(t *testing.T) {
	w, node := &model.Workload{}, &model.Node{}
	require.Equal(t, []string{`NodePorts says "node(s) didn't have free ports"`},
		inWords(w, node, plugins.NodePorts, []string{"node(s) didn't have free ports"}, false))
	require.Equal(t, []string{`NodeAffinity says "workload affinity terms conflict"`},
		inWords(w, node, plugins.NodeAffinity, []string{"workload affinity terms conflict"}, false))
	require.Equal(t, "the operator says so", evictionWords(state.New(nil).View(), 1, "the operator says so"))
	require.Equal(t, "it makes room for job 7, which has a higher priority", evictionWords(state.New(nil).View(), 1, "preempted by group 7_3.1"))
	require.Equal(t, `the scheduler says "something else"`, groupWords(&engine.GroupEvent{Message: "something else"}))
}

// What happens after a node was chosen is no verdict on nodes, and a failure says what
// users can do with it. What is told of one try of a gang is not mixed with the next.
func TestRejectionsOtherThanByNodes(t *testing.T) {
	id := func(rank int32) job.TaskID { return job.TaskID{Job: 1, Attempt: 1, Rank: rank} }
	event := func(rank int32, group string, code extpoints.Code, err error, message string) engine.RejectedEvent {
		return engine.RejectedEvent{
			At: time.Unix(1, 0), Workload: &model.Workload{ID: id(rank).String(), Data: dataOf(id(rank).String()), Group: group}, Code: code, Err: err, Message: message,
		}
	}
	of := func(r *reasons, tasks int32) string {
		text, never, tried := r.of(id(0), &job.Spec{Tasks: tasks})
		require.True(t, tried)
		require.False(t, never)
		return text
	}
	r := newReasons()
	refused := &api.Error{Code: api.CodeConflict, Message: "place task 1_0.1.0 on node \"n1\": the node takes no tasks now"}
	r.rejected(event(0, "", extpoints.Error, errors.Join(errors.New("bind"), refused), "bind"))
	require.Equal(t, "its place was taken back, and it is tried again: "+refused.Message, of(r, 1))
	r.rejected(event(0, "", extpoints.Error, errors.New("all pods in a single pod group should have the same priority"), "x"))
	require.Equal(t, "the scheduler failed to place it, and tries again; the log of the server that leads says why", of(r, 1))

	const g = "1_0.1"
	ended := func(plugin, message string) {
		r.decided(engine.GroupEvent{Group: &model.Group{ID: g, TopologyKey: "rack"}, Plugin: plugin, Message: message})
	}
	for range 2 { // at the same moment
		r.rejected(event(0, g, extpoints.Unschedulable, nil, "x"))
		r.rejected(event(1, g, extpoints.Unschedulable, nil, "x"))
		ended(plugins.TopologyPlacementGenerator, "none")
	}
	require.Equal(t, "no node has the label rack, of which all of its tasks are to have the same value (sameLabel)", of(r, 2))
	r.rejected(event(0, g, extpoints.Unschedulable, nil, engine.ErrNoNodes.Error()))
	ended(plugins.GangScheduling, "too few")
	require.Equal(t, "no node of the fleet is up", of(r, 2))
	for plugin, want := range map[string]string{
		plugins.GangScheduling: "not all of its tasks wait to be placed yet", "": `the scheduler says "too few"`,
	} {
		r.rejected(event(0, g, extpoints.Unschedulable, nil, "x"))
		ended(plugin, "too few")
		require.Equal(t, want, of(r, 2))
	}
}
