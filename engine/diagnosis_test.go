package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// rejections starts an engine with the nodes of mixedFleet, and returns it with the
// events of what it rejects; tell, where set, is told of them first.
func rejections(t *testing.T, tell func(*engine.RejectedEvent)) (*engine.Raw, *[]engine.RejectedEvent) {
	t.Helper()
	events := new([]engine.RejectedEvent)
	cfg := config(&world{})
	cfg.Listener.Rejected = func(e engine.RejectedEvent) {
		if tell != nil {
			tell(&e)
		}
		*events = append(*events, e)
	}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	tainted, cordoned := node("tainted", 10), node("cordoned", 1000)
	nodeOf(tainted).Taints = []model.Taint{{Key: "gpu", Effect: model.NoSchedule}}
	nodeOf(cordoned).Unschedulable = true
	require.NoError(t, r.Apply(epoch, node("full", 10), node("small", 20), tainted, cordoned))
	return r, events
}

func TestDiagnosis(t *testing.T) {
	r, events := rejections(t, nil)
	require.NoError(t, r.Apply(epoch, task("a", 100)))
	require.True(t, r.Schedule(epoch))
	d := (*events)[0].Diagnosis
	require.False(t, d.IsZero())
	require.Equal(t, (*events)[0].Message, d.Message())
	require.Equal(t, []string{plugins.NodeResourcesFit, plugins.NodeUnschedulable, plugins.TaintToleration}, d.Plugins())
	require.Equal(t, []engine.Reason{
		{Plugin: plugins.NodeResourcesFit, Code: extpoints.UnschedulableAndUnresolvable, Text: "Insufficient cpu", Nodes: 2},
		{Plugin: plugins.NodeUnschedulable, Code: extpoints.UnschedulableAndUnresolvable, Text: "node(s) were unschedulable", Nodes: 1},
		{Plugin: plugins.TaintToleration, Code: extpoints.UnschedulableAndUnresolvable, Text: "node(s) had untolerated taint(s)", Nodes: 1},
	}, d.Reasons())
	var nodes []string
	for n, st := range d.Nodes() {
		nodes = append(nodes, n.Name+" "+st.Plugin())
		require.Same(t, st, d.Status(n.Name))
	}
	require.Equal(t, []string{"full NodeResourcesFit", "small NodeResourcesFit", "tainted TaintToleration", "cordoned NodeUnschedulable"}, nodes)
	require.Equal(t, extpoints.UnschedulableAndUnresolvable, d.Status("no such node").Code())
	for range d.Nodes() {
		break // whoever has seen enough may stop
	}
}

// A diagnosis about no single node has the reason for all of them.
func TestDiagnosisOfPreFilter(t *testing.T) {
	r, events := rejections(t, nil)
	require.NoError(t, r.Apply(epoch, engine.Submit(&model.Workload{ID: "a", Namespace: "n", VolumeClaims: []model.VolumeClaimRef{{ID: "n/missing"}}})))
	require.True(t, r.Schedule(epoch))
	d := (*events)[0].Diagnosis
	require.Len(t, d.Reasons(), 1)
	require.Equal(t, plugins.VolumeRestrictions, d.Reasons()[0].Plugin)
	require.Equal(t, 4, d.Reasons()[0].Nodes)
	require.Equal(t, d.Reasons()[0].Text, d.Status("").Message())
	for n := range d.Nodes() {
		t.Errorf("node %s was looked at", n.Name)
	}
}

func TestZeroDiagnosis(t *testing.T) {
	var d engine.Diagnosis
	require.True(t, d.IsZero())
	require.Empty(t, d.Message())
	require.Empty(t, d.Plugins())
	require.Empty(t, d.Reasons())
	require.True(t, d.Status("n").IsSuccess())
	for range d.Nodes() {
		t.Error("there is no node")
	}
}

// What a listener does with an event changes nothing in the engine.
func TestEventsAreTheListeners(t *testing.T) {
	scribble := func(e *engine.RejectedEvent) {
		for _, list := range [][]string{e.Plugins, e.Diagnosis.Plugins()} {
			for i := range list {
				list[i] = "scribbled"
			}
		}
		e.Diagnosis = engine.Diagnosis{}
	}
	var positions, reasons, moves []any
	for _, tell := range []func(*engine.RejectedEvent){nil, scribble} {
		r, _ := rejections(t, tell)
		require.NoError(t, r.Apply(epoch, task("a", 100)))
		require.True(t, r.Schedule(epoch))
		p, _ := r.Queue("a")
		e, err := r.Explain(epoch, "a", engine.ExplainOptions{})
		require.NoError(t, err)
		e.Last.Plugins[0] = "scribbled"
		again, err := r.Explain(epoch, "a", engine.ExplainOptions{})
		require.NoError(t, err)
		positions, reasons = append(positions, p), append(reasons, *again.Last)
		later := epoch.Add(time.Minute)
		require.NoError(t, r.Apply(later, node("full", 1000)))
		moves = append(moves, r.Schedule(later))
	}
	require.Equal(t, positions[0], positions[1])
	require.Equal(t, reasons[0], reasons[1])
	require.Equal(t, []any{true, true}, moves)
}
