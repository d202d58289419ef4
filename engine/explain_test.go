package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

// mixedFleet has one node for each reason not to take a small workload with a
// node selector.
func mixedFleet(t *testing.T) *engine.Raw {
	t.Helper()
	r := newRaw(t, &world{})
	full := node("full", 10)
	tainted := node("tainted", 10)
	nodeOf(tainted).Taints = []model.Taint{{Key: "gpu", Effect: model.NoSchedule}}
	cordoned := node("cordoned", 1000)
	nodeOf(cordoned).Unschedulable = true
	require.NoError(t, r.Apply(epoch, full, tainted, cordoned))
	return r
}

func TestExplainAPendingWorkload(t *testing.T) {
	r := mixedFleet(t)
	require.NoError(t, r.Apply(epoch, task("a", 100)))
	settle(r, epoch)

	e, err := r.Explain(epoch, "a", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, model.Pending, e.Phase)
	require.Empty(t, e.Node)
	require.Equal(t, "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable.", e.Message)
	require.Equal(t, e.Message+" preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.", e.Last.Message)
	require.Equal(t, []string{plugins.NodeResourcesFit, plugins.NodeUnschedulable, plugins.TaintToleration}, e.Last.Plugins)
	require.Equal(t, queue.Unschedulable, e.Waiting.Place)
	require.Equal(t, "[full NodeResourcesFit][tainted TaintToleration][cordoned NodeUnschedulable]", verdicts(e))

	e, err = r.Explain(epoch, "a", engine.ExplainOptions{AllFilters: true})
	require.NoError(t, err)
	require.Equal(t, "[full NodeResourcesFit][tainted TaintToleration NodeResourcesFit][cordoned NodeUnschedulable]", verdicts(e))
}

// A node may have room for a workload, and keep it for one that goes before it and is nominated
// there. Then the filters have nothing against the node as it is, and the verdict says why not.
func TestExplainRoomThatIsKeptForAnother(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n", 100),
		engine.Submit(&model.Workload{ID: "first", Priority: 10, Requests: model.Resources{CPU: 80}}), engine.Nominate("first", "n"),
		engine.Submit(&model.Workload{ID: "second", Requests: model.Resources{CPU: 50}})))
	e, err := r.Explain(epoch, "second", engine.ExplainOptions{AllFilters: true})
	require.NoError(t, err)
	require.Equal(t, "0/1 nodes are available: 1 Insufficient cpu.", e.Message)
	require.Equal(t, []engine.Verdict{{Plugin: plugins.NodeResourcesFit, Code: extpoints.Unschedulable, Reasons: []string{
		"Insufficient cpu (with others that are nominated to the node)",
	}}}, e.Nodes[0].Verdicts)
}

// By queues a workload leaves one of another queue the room that it is nominated to, whatever their priorities are.
// Of a workload with a node that goes by the queues as they were when it got there.
func TestExplainRoomThatIsKeptByQueues(t *testing.T) {
	theirs := inQueue("a", &model.Workload{ID: "theirs", Gates: []string{"later"}, Requests: model.Resources{CPU: 1000}})
	r := byQueues(t, engine.Backfill{}, engine.PutObject(&model.Principal{Name: "us", Queue: "b"}), engine.Submit(theirs), engine.Nominate("theirs", "n"),
		engine.Submit(&model.Workload{ID: "mine", Principal: "us", Priority: 10, Requests: model.Resources{CPU: 1200}}))
	e, err := r.Explain(epoch, "mine", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, "0/1 nodes are available: 1 Insufficient cpu.", e.Message)

	require.NoError(t, r.Apply(epoch, node("small", 1500)))
	r.Tick(after(60))
	settle(r, after(60))
	require.NoError(t, r.Apply(after(60), engine.PutObject(&model.Principal{Name: "us", Queue: "a"})))
	e, err = r.Explain(after(60), "mine", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, "small", e.Node)
	require.Equal(t, "[n NodeResourcesFit][small]", verdicts(e))
}

// A node is passed over for the sake of a reservation. That is still said of a workload that has started elsewhere, when
// the reservation has gone.
func TestExplainANodeThatWasReserved(t *testing.T) {
	cfg := config(&world{})
	cfg.Backfill = engine.Backfill{Mode: engine.EASY}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("empty", 2000),
		engine.Adopt(limited("runs", 1500, 10), model.Binding{Node: "empty", Since: epoch}), engine.Submit(limited("first", 1800, 5))))
	settle(r, epoch)
	require.NoError(t, r.Apply(epoch, node("other", 450), engine.Submit(limited("small", 400, 50))))
	settle(r, epoch)
	require.NoError(t, r.Apply(epoch, engine.Remove("first")))

	e, err := r.Explain(epoch, "small", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, "other", e.Node)
	require.Equal(t, "[empty Backfill][other]", verdicts(e))
	require.Contains(t, e.Nodes[0].Verdicts[0].Reasons[0], `would delay "first"`)
}

func verdicts(e *engine.Explanation) string {
	text := ""
	for _, n := range e.Nodes {
		text += "[" + n.Node
		for _, v := range n.Verdicts {
			text += " " + v.Plugin
		}
		text += "]"
	}
	return text
}

func TestExplainAPendingWorkloadThatFitsByNow(t *testing.T) {
	r := mixedFleet(t)
	require.NoError(t, r.Apply(epoch, task("a", 100)))
	settle(r, epoch)
	require.NoError(t, r.Apply(epoch, node("new", 1000)))
	e, err := r.Explain(epoch, "a", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, "new", e.Node)
	require.Empty(t, e.Message)
	require.NotNil(t, e.Last, "the last attempt has failed all the same")
	require.True(t, e.Nodes[3].Feasible)
	require.Positive(t, e.Nodes[3].Total)
}

func TestExplainNodesThatPreFilterLeftOut(t *testing.T) {
	r := mixedFleet(t)
	picky := task("a", 100)
	spec(picky).NodeName = "full"
	require.NoError(t, r.Apply(epoch, picky))
	settle(r, epoch)
	e, err := r.Explain(epoch, "a", engine.ExplainOptions{AllFilters: true})
	require.NoError(t, err)
	require.Equal(t, "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeName].", e.Message)
	require.Equal(t, extpoints.UnschedulableAndUnresolvable, e.Nodes[2].Verdicts[0].Code)
}

func TestExplainAPlacedWorkload(t *testing.T) {
	r := newRaw(t, &world{})
	for i := range 4 {
		require.NoError(t, r.Apply(epoch, node(fmt.Sprintf("n%d", i), 1000)))
	}
	tainted := node("soft", 1000)
	nodeOf(tainted).Taints = []model.Taint{{Key: "k", Effect: model.PreferNoSchedule}}
	require.NoError(t, r.Apply(epoch, tainted, task("a", 100)))
	settle(r, epoch)
	// What happens later does not change what is explained.
	require.NoError(t, r.Apply(epoch, engine.RemoveNode("n3"), task("b", 100)))
	settle(r, epoch)

	e, err := r.Explain(epoch, "a", engine.ExplainOptions{})
	require.NoError(t, err)
	w, _ := r.View().Workload("a")
	require.Equal(t, w.Node, e.Node)
	require.Len(t, e.Nodes, 5)
	require.Equal(t, []string{"n0", "n1", "n2", "n3"}, e.Ties)
	require.Equal(t, engine.TieBreakHeap, e.TieBreak)
	require.Contains(t, e.Ties, e.Node)
	for _, n := range e.Nodes {
		require.Len(t, n.Scores, len(e.Scores))
		var total int64
		for i, s := range n.Scores {
			require.Equal(t, s.Normalized*e.Scores[i].Weight, s.Weighted)
			total += s.Weighted
		}
		require.Equal(t, total, n.Total)
	}
	soft, taint := e.Nodes[4], indexOf(e.Scores, plugins.TaintToleration)
	require.Equal(t, "soft", soft.Node)
	require.Equal(t, engine.PluginScore{Raw: 1, Normalized: 0}, soft.Scores[taint])
	require.Equal(t, engine.PluginScore{Raw: 0, Normalized: 100, Weighted: 300}, e.Nodes[0].Scores[taint])
}

func indexOf(list []engine.PluginWeight, plugin string) int {
	for i := range list {
		if list[i].Plugin == plugin {
			return i
		}
	}
	return -1
}

func TestExplainForgetsTheOldestDecisions(t *testing.T) {
	cfg := config(&world{})
	cfg.RememberDecisions = 2
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000)))
	for _, id := range []string{"a", "b", "c"} {
		require.NoError(t, r.Apply(epoch, task(id, 1)))
		settle(r, epoch)
	}
	for id, undecided := range map[string]bool{"a": true, "b": false} {
		e, err := r.Explain(epoch, id, engine.ExplainOptions{})
		require.NoError(t, err)
		require.Equal(t, undecided, e.Undecided)
		require.False(t, e.Adopted)
		require.Equal(t, "n", e.Node)
		require.Equal(t, epoch, e.Since)
	}
	_, err = r.Explain(epoch, "nobody", engine.ExplainOptions{})
	require.ErrorIs(t, err, engine.ErrNotFound)
}

func TestExplainWhatNobodyDecided(t *testing.T) {
	r := newRaw(t, &world{})
	later := epoch.Add(time.Hour)
	closed := node("n", 100)
	nodeOf(closed).Unschedulable = true
	require.NoError(t, r.Apply(epoch, closed, node("m", 1000), running("a", "n", 200), running("gone", "lost", 1), running("fits", "m", 1000),
		engine.Adopt(&model.Workload{ID: "foreign", Profile: "of somebody else"}, model.Binding{Node: "n"}),
		running("leaves", "n", 1), engine.Terminate("leaves"), running("ended", "n", 1), engine.Finish("ended")))
	since := epoch.Format(time.RFC3339)
	for id, want := range map[string]string{
		"a": `workload "a" is Confirmed on node "n" since ` + since + "\n" +
			"  it was found there: the node was not chosen here\n" +
			"  it would not fit there now:\n" +
			"  1 node: Insufficient cpu (NodeResourcesFit)\n" +
			"  1 node: node(s) were unschedulable (NodeUnschedulable)",
		"fits":    `workload "fits" is Confirmed on node "m" since ` + since + "\n  it was found there: the node was not chosen here",
		"gone":    `workload "gone" is Confirmed on node "lost" since ` + since + "\n  it was found there: the node was not chosen here",
		"foreign": `workload "foreign" is Confirmed on node "n" since ` + since + "\n  it was found there: the node was not chosen here",
		"leaves": `workload "leaves" is Terminating on node "n" since ` + since + "\n  it was found there: the node was not chosen here\n" +
			"  it is terminating since " + since,
		"ended": `workload "ended" is Finished`,
	} {
		e, err := r.Explain(later, id, engine.ExplainOptions{})
		require.NoError(t, err)
		require.True(t, e.Undecided)
		require.Equal(t, later, e.At)
		require.Equal(t, want, e.String())
	}
}

// Explanations of what waits print what speaks against nodes, and what is awaited.
func TestExplanationsPrintThemselves(t *testing.T) {
	r := mixedFleet(t)
	urgent := task("urgent", 900)
	spec(urgent).Priority = 10
	spec(urgent).Spread = []model.SpreadConstraint{{TopologyKey: "floor", MaxSkew: 1, Mode: model.SpreadPreferred, Selector: model.SelectLabels(nil)}}
	since := epoch.Format(time.RFC3339)
	text := func(id string) string {
		e, err := r.Explain(epoch, id, engine.ExplainOptions{})
		require.NoError(t, err)
		return "\n" + e.String()
	}
	apply(t, r, epoch, node("n", 1000), task("v", 500))
	require.Equal(t, `
workload "v" is Pending, and would go to node "n"
  waits in place Active; 0 go before it
  1 node: Insufficient cpu (NodeResourcesFit)
  1 node: node(s) were unschedulable (NodeUnschedulable)
  1 node: node(s) had untolerated taint(s) (TaintToleration)
  it fits on n`, text("v"))
	settle(r, epoch)
	apply(t, r, epoch, urgent)
	require.True(t, r.Schedule(epoch))
	e, err := r.Explain(epoch, "urgent", engine.ExplainOptions{})
	require.NoError(t, err)
	last := e.Last
	require.Contains(t, last.Message, "preemption: ")
	require.Equal(t, `
workload "urgent" is Pending: 0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient cpu.
  waits in place Unschedulable until something changes for NodeResourcesFit, NodeUnschedulable, TaintToleration
  1 node: Insufficient cpu (NodeResourcesFit); others there may leave
  1 node: Insufficient cpu (NodeResourcesFit)
  1 node: node(s) were unschedulable (NodeUnschedulable)
  1 node: node(s) had untolerated taint(s) (TaintToleration)
  no node has a value for topology key "floor"
  workload "v" on node "n" is being asked to leave since `+since+`
`+"  the last attempt, at "+since+": "+last.Message, text("urgent"))
	require.Equal(t, `
workload "v" is Bound on node "n" since `+since+`
  1 node: Insufficient cpu (NodeResourcesFit)
  1 node: node(s) were unschedulable (NodeUnschedulable)
  1 node: node(s) had untolerated taint(s) (TaintToleration)
  it is being asked to leave since `+since, text("v"))
}

// What waits in an engine that does not run is not tried, and its explanation says so.
func TestExplainWhereTheEngineDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.New(config(&world{}))
		require.NoError(t, err)
		require.NoError(t, e.Apply(node("n", 1000), task("a", 100), task("b", 5000)))
		explain := func(id string) *engine.Explanation {
			x, err := e.Explain(id, engine.ExplainOptions{})
			require.NoError(t, err)
			return x
		}
		idle := func(id string) {
			x := explain(id)
			require.False(t, e.Running())
			require.True(t, x.NotRunning)
			require.Contains(t, x.String(), "the engine does not run")
		}
		idle("a")
		require.Contains(t, explain("a").Message, "the engine does not run")
		require.Equal(t, "n", explain("a").Node, "where it would go")
		idle("b")
		require.Contains(t, explain("b").Message, "Insufficient cpu")
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- e.Run(ctx) }()
		synctest.Wait()
		require.True(t, e.Running())
		require.False(t, explain("b").NotRunning)
		require.Equal(t, "n", explain("a").Node)
		stop()
		require.NoError(t, <-ended)
		idle("b")
	})
}

// Where nothing is tried for a while, whatever waits, that is said of what would fit.
func TestExplainWhereNothingIsTried(t *testing.T) {
	for name, c := range map[string]struct {
		begin func(t *testing.T, e *engine.Engine)
		want  string
	}{
		"all places are taken": {
			func(t *testing.T, e *engine.Engine) { require.NoError(t, e.Apply(task("b", 100))) },
			"nothing is tried before a binding has returned: all 1 places are taken (Config.MaxBindings)",
		},
		"a recording is to begin": {
			func(t *testing.T, e *engine.Engine) {
				go func() { _ = e.StartRecording(t.Context(), engine.NewRecorder(io.Discard)) }()
			},
			"nothing is tried before the recording begins that Engine.StartRecording waits for",
		},
		"evictions are awaited": {
			func(t *testing.T, e *engine.Engine) {
				require.NoError(t, e.Apply(node("full", 1000), running("v", "full", 900), urgent("u", 900)))
			},
			"nothing is tried before the evictions have been accepted that are under way",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				slow := func(context.Context, string) error { <-release; return nil }
				o := &reluctant{world: world{onBind: slow}, onEvict: slow}
				cfg := synchronous(config(o))
				cfg.MaxBindings = 1
				e, stop := start(t, cfg)
				require.NoError(t, e.Apply(node("n", 400), task("a", 100)))
				synctest.Wait()
				c.begin(t, e)
				synctest.Wait()
				require.NoError(t, e.Apply(task("w", 100), task("large", 100_000)))
				synctest.Wait()
				explain := func(id string) *engine.Explanation {
					x, err := e.Explain(id, engine.ExplainOptions{})
					require.NoError(t, err)
					return x
				}
				require.Equal(t, c.want, explain("w").Message)
				require.Equal(t, "n", explain("w").Node, "where it would go")
				require.Contains(t, explain("large").Message, "Insufficient cpu")
				close(release)
				synctest.Wait()
				require.Equal(t, model.Bound, explain("w").Phase)
				require.NoError(t, stop())
			})
		})
	}
}

func TestExplainWithoutNodes(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, task("a", 1)))
	e, err := r.Explain(epoch, "a", engine.ExplainOptions{AllFilters: true})
	require.NoError(t, err)
	require.Equal(t, engine.ErrNoNodes.Error(), e.Message)
	require.Empty(t, e.Nodes)
}

// Why an earlier attempt failed is of no interest once the workload is there, even
// if the answer of Bind was lost.
func TestExplainForgetsWhyOnceThereIsANode(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 10), task("w", 100)))
	require.True(t, r.Schedule(epoch))
	require.NoError(t, r.Apply(epoch, node("n1", 1000)))
	later := epoch.Add(time.Minute)
	r.Tick(later)
	require.True(t, r.Schedule(later))
	bind := r.NextTask()
	require.NoError(t, r.Apply(later, engine.Confirm(model.Binding{Workload: "w", Node: "n1"})))
	bind.Settle(errors.New("the answer was lost"))
	r.Finish(later, bind)
	e, err := r.Explain(later, "w", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Nil(t, e.Last)
}

// Reasons say in data what the message says in words, and the nodes asked for are
// the best.
func TestExplainReasonsAndTheTopNodes(t *testing.T) {
	r := mixedFleet(t)
	require.NoError(t, r.Apply(epoch, task("a", 100), node("n1", 1000), node("n2", 4000)))
	e, err := r.Explain(epoch, "a", engine.ExplainOptions{AllFilters: true, Top: 3})
	require.NoError(t, err)
	require.Equal(t, []engine.Reason{
		{Plugin: plugins.NodeResourcesFit, Code: extpoints.UnschedulableAndUnresolvable, Text: "Insufficient cpu", Nodes: 2},
		{Plugin: plugins.NodeUnschedulable, Code: extpoints.UnschedulableAndUnresolvable, Text: "node(s) were unschedulable", Nodes: 1},
		{Plugin: plugins.TaintToleration, Code: extpoints.UnschedulableAndUnresolvable, Text: "node(s) had untolerated taint(s)", Nodes: 1},
	}, e.Reasons, "of all nodes, also those that are not listed")
	require.Equal(t, "[n2][n1][full NodeResourcesFit]", verdicts(e))
	e, err = r.Explain(epoch, "a", engine.ExplainOptions{Top: 100})
	require.NoError(t, err)
	require.Len(t, e.Nodes, 5)
}

// licence is a Permit plugin that has everybody wait.
type licence struct{}

func (licence) Name() string { return "Licence" }

func (licence) Permit(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (*extpoints.Status, time.Duration) {
	return extpoints.NewStatus(extpoints.Wait), 10 * time.Minute
}

// A workload that waits on Permit is explained for as long as it waits.
func TestExplainWaitingOnPermit(t *testing.T) {
	cfg := config(&world{})
	cfg.RememberDecisions = 1
	use(&cfg, licence{})
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000), task("a", 1), task("b", 1), task("c", 1)))
	for i := range 3 {
		require.True(t, r.Schedule(epoch.Add(time.Duration(i)*time.Second)))
	}
	for i, id := range []string{"a", "b", "c"} {
		e, err := r.Explain(epoch.Add(time.Minute), id, engine.ExplainOptions{})
		require.NoError(t, err)
		since := epoch.Add(time.Duration(i) * time.Second)
		require.Equal(t, []engine.PermitWait{{Plugin: "Licence", Since: since, Until: since.Add(10 * time.Minute)}}, e.Permit)
		require.Equal(t, model.Assumed, e.Phase)
		require.Equal(t, "n", e.Node)
		require.Equal(t, since, e.At)
		require.True(t, e.Nodes[0].Feasible)
	}
}

// A topology key that no node has is most likely a mistake, and is said so.
func TestExplainNamesTopologyThatNoNodeHas(t *testing.T) {
	r := newRaw(t, &world{})
	apply(t, r, epoch,
		engine.PutNode(&model.Node{Name: "n1", Labels: map[string]string{"rack": "r1"}, Allocatable: model.Resources{CPU: 4000, Memory: model.GiB(8)}}),
		engine.PutNode(&model.Node{Name: "n2", Zone: "a", Allocatable: model.Resources{CPU: 4000, Memory: model.GiB(8)}}))
	others := model.SelectLabels(map[string]string{"app": "web"})
	term := func(key string) model.AffinityTerm { return model.AffinityTerm{Selector: others, TopologyKey: key} }
	apply(t, r, epoch, engine.Submit(&model.Workload{
		ID: "w", Labels: map[string]string{"app": "web"},
		Spread: []model.SpreadConstraint{
			{TopologyKey: "floor", MaxSkew: 1, Mode: model.SpreadPreferred, Selector: others},
			{TopologyKey: model.ByZone, MaxSkew: 1, Mode: model.SpreadPreferred, Selector: others},
		},
		Affinity: &model.WorkloadAffinity{Preferred: []model.WeightedAffinityTerm{{Weight: 1, AffinityTerm: term("floor")}}},
		AntiAffinity: &model.WorkloadAffinity{Required: []model.AffinityTerm{
			term("building"), term(model.ByNode), term("rack"),
		}},
	}))
	e, err := r.Explain(epoch, "w", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"floor", "building"}, e.MissingTopology)
}
