package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// A maintenance window is shown until it has passed.
func TestMaintenanceIsOver(t *testing.T) {
	from := time.Now()
	m := &api.Maintenance{From: from, To: from.Add(time.Hour)}
	require.Nil(t, notOver(nil, from))
	for after, want := range map[time.Duration]*api.Maintenance{-time.Hour: m, 0: m, time.Hour - 1: m, time.Hour: nil, 2 * time.Hour: nil} {
		require.Equal(t, want, notOver(m, from.Add(after)), after)
	}
	f := begun(t)
	op, node := f.as(oscar), f.agent("n1")
	op.must("POST", "/v1/nodes/n1/maintenance", api.Maintenance{From: from, To: from.Add(time.Hour)}, nil)
	var n api.Node
	op.must("GET", "/v1/nodes/"+node.name, nil, &n)
	require.NotNil(t, n.Maintenance)
	over := &api.Maintenance{From: from.Add(-time.Hour), To: from}
	_, err := f.server.propose(t.Context(), &state.Command{Node: &state.NodeChange{Node: "n1", Maintenance: over}})
	require.NoError(t, err)
	n = api.Node{}
	op.must("GET", "/v1/nodes/"+node.name, nil, &n)
	require.Nil(t, n.Maintenance)
	var line api.Timeline
	op.must("GET", "/v1/timeline", nil, &line)
	require.Nil(t, line.Nodes[0].Maintenance)
}

// A gang that ended before all of its tasks had a node is shown with the nodes that there were.
func TestNodesOfAGangThatWasNotAllPlaced(t *testing.T) {
	ended := func(nodes ...string) *state.Job { return &state.Job{Spec: &job.Spec{}, LastNodes: nodes} }
	require.Equal(t, []string{"n2", "n4"}, viewJob(nil, state.New(nil).View(), ended("", "n2", "", "n4")).Nodes)
	require.Nil(t, viewJob(nil, state.New(nil).View(), ended("")).Nodes)
}
