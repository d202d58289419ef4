package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// base is an extender that has a say in nothing.
type base struct {
	name      string
	ignorable bool
}

func (b base) Name() string                    { return b.name }
func (b base) Interested(*model.Workload) bool { return true }
func (b base) Ignorable() bool                 { return b.ignorable }

// filterer answers with its function.
type filterer struct {
	base
	answer func(ctx context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error)
}

func (f filterer) Filter(ctx context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
	return f.answer(ctx, w, nodes)
}

type weigher struct {
	base
	weight int64
}

func (weigher) Prioritize(context.Context, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) (map[string]int64, error) {
	return nil, nil
}
func (w weigher) Weight() int64 { return w.weight }

type binderOutside struct{ base }

func (binderOutside) Bind(context.Context, *model.Workload, model.Binding) error { return nil }

// nothing has all methods and serves none.
type nothing struct {
	weigher
	binderOutside
}

func (n nothing) Name() string                    { return n.weigher.name }
func (n nothing) Interested(*model.Workload) bool { return true }
func (n nothing) Ignorable() bool                 { return false }
func (nothing) Verbs() extpoints.ExtenderVerbs    { return 0 }

func TestExtendersListEveryProblem(t *testing.T) {
	cfg := config(&world{})
	cfg.Extenders = []extpoints.Extender{
		base{name: "a"}, nil, base{name: "a"}, base{}, weigher{base{name: "w"}, 0},
		binderOutside{base{name: "b1"}}, binderOutside{base{name: "b2"}},
		nothing{weigher: weigher{base{name: "n"}, -1}},
	}
	_, err := engine.New(cfg)
	require.EqualError(t, err, strings.Join([]string{
		`config: Extenders[1]: is nil`,
		`config: Extenders[2].Name: "a" is there twice`,
		`config: Extenders[3].Name: is empty`,
		`config: Extenders[4].Weight: extender "w" prioritizes with a weight of 0; it must be positive`,
		`config: Extenders: only one may bind, got ["b1" "b2"]`,
	}, "\n"))

	cfg.Extenders = []extpoints.Extender{base{name: "a"}}
	require.NoError(t, cfg.Registry.Register(extpoints.ExtenderPlugin, func(any, extpoints.Handle) (extpoints.Plugin, error) { return namedExtender{}, nil }))
	cfg.Profiles[0].Plugins.PreEnqueue.Enabled = []extpoints.PluginRef{{Name: extpoints.ExtenderPlugin}}
	_, err = engine.New(cfg)
	require.EqualError(t, err, `profile "default-scheduler": plugin "Extender": the name stands for the extenders where there are any`)
}

type namedExtender struct{ otherSort }

func (namedExtender) Name() string { return extpoints.ExtenderPlugin }

// answerNothing is an answer that is none.
func answerNothing(context.Context, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
	return nil, nil
}

// An error says whose it is and what it is about, and can be looked into.
func TestExtenderErrors(t *testing.T) {
	var events []engine.RejectedEvent
	cfg := config(&world{})
	cfg.Extenders = []extpoints.Extender{filterer{base{name: "x"}, answerNothing}}
	cfg.Listener = engine.Listener{Rejected: func(e engine.RejectedEvent) { events = append(events, e) }}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	w := &model.Workload{ID: "id", Namespace: "shop", Name: "web"}
	require.NoError(t, r.Apply(epoch, node("n1", 1000), engine.Change{Submit: w}))
	require.True(t, r.Schedule(epoch))
	require.Len(t, events, 1)
	require.EqualError(t, events[0].Err, `extender "x": filter workload "shop/web": there is no answer`)
	var failed *engine.ExtenderError
	require.ErrorAs(t, events[0].Err, &failed)
	require.Equal(t, []string{"x", "filter", "id"}, []string{failed.Extender, failed.Verb, failed.Workload})
	pos, ok := r.Queue("id")
	require.True(t, ok)
	require.EqualValues(t, 1, pos.ConsecutiveErrors)
}

// A panic while an extender is asked whether it is interested is its failure.
func TestInterestedPanics(t *testing.T) {
	for _, ignorable := range []bool{false, true} {
		var failed []string
		o := &world{}
		cfg := config(o)
		x := shy{filterer{base{name: "x", ignorable: ignorable}, answerNothing}}
		cfg.Extenders = []extpoints.Extender{x}
		cfg.Listener = engine.Listener{Failed: func(e engine.FailedEvent) { failed = append(failed, e.Err.Error()) }}
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), task("w", 1)))
		settle(r, epoch)
		if !ignorable {
			require.Empty(t, o.nodesOf("w"))
			require.Empty(t, failed)
			continue
		}
		require.Len(t, o.nodesOf("w"), 1)
		require.Equal(t, []string{
			`extender "x": interested workload "w": panic: shy`, // filtering
			`extender "x": interested workload "w": panic: shy`, // prioritizing
			`extender "x": interested workload "w": panic: shy`, // binding
		}, failed)
	}
}

type shy struct{ filterer }

func (shy) Interested(*model.Workload) bool { panic("shy") }
func (shy) Bind(context.Context, *model.Workload, model.Binding) error {
	return errors.New("not asked")
}

// What is no text in an answer is made one before it is used, so that a record
// can keep it.
func TestExtenderAnswersAreText(t *testing.T) {
	answers := []func() (*extpoints.ExtenderFilterResult, error){
		func() (*extpoints.ExtenderFilterResult, error) { return nil, errors.New("out\xff of order") },
		func() (*extpoints.ExtenderFilterResult, error) { return nil, errors.New("") },
		func() (*extpoints.ExtenderFilterResult, error) {
			return &extpoints.ExtenderFilterResult{Nodes: []string{"n\xff1"}}, nil
		},
		func() (*extpoints.ExtenderFilterResult, error) {
			return &extpoints.ExtenderFilterResult{Failed: map[string]string{"n1": "<\xff>", "n\xff": "gone"}}, nil
		},
	}
	asked := 0
	var events, again []string
	var log, copied bytes.Buffer
	cfg := config(&world{})
	cfg.Extenders = []extpoints.Extender{filterer{base{name: "x"}, func(context.Context, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
		asked++
		return answers[asked-1]()
	}}}
	cfg.Listener, cfg.Recorder = enginetest.EventLines(&events), engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000)))
	for i := range answers {
		require.NoError(t, r.Apply(epoch, task(fmt.Sprint("w", i), 1)))
		require.True(t, r.Schedule(epoch))
	}
	require.Contains(t, strings.Join(events, "\n"), "out\uFFFD of order")
	require.Contains(t, strings.Join(events, "\n"), "an error without a text")
	require.Contains(t, strings.Join(events, "\n"), "1 <\uFFFD>")

	cfg.Listener, cfg.Recorder = enginetest.EventLines(&again), engine.NewRecorder(&copied)
	_, err = engine.Replay(cfg, bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	require.Equal(t, len(answers), asked, "a replay asks nobody")
	requireSameLines(t, events, again, "replay")
	requireSameLog(t, log.Bytes(), copied.Bytes(), "replay")
}

// A record and a configuration that do not belong together are found out.
func TestReplayWithOtherExtenders(t *testing.T) {
	var log bytes.Buffer
	cfg := config(&world{})
	all := func(_ context.Context, _ *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
		return &extpoints.ExtenderFilterResult{Nodes: []string{nodes[0].Node.Name}}, nil
	}
	cfg.Extenders = []extpoints.Extender{filterer{base{name: "x"}, all}}
	cfg.Recorder = engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("w", 1)))
	require.True(t, r.Schedule(epoch))

	cfg.Recorder = nil
	for name, want := range map[string]string{
		"x": "", "y": `replay: line 2: there is no answer of extender "y" to filter workload "w" on record`,
	} {
		cfg.Extenders = []extpoints.Extender{filterer{base{name: name}, all}}
		_, err := engine.Replay(cfg, bytes.NewReader(log.Bytes()))
		if want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
	}
	cfg.Extenders = nil
	_, err = engine.Replay(cfg, bytes.NewReader(log.Bytes()))
	require.EqualError(t, err, `replay: line 2: the answer of extender "x" to filter workload "w" was not asked for`)
}

// Branches and explanations ask, and nothing of it is recorded.
func TestBranchesAskLive(t *testing.T) {
	var log bytes.Buffer
	asked := 0
	cfg := config(&world{})
	cfg.Extenders = []extpoints.Extender{filterer{base{name: "x"}, func(_ context.Context, _ *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
		asked++
		return &extpoints.ExtenderFilterResult{Nodes: []string{nodes[asked%len(nodes)].Node.Name}}, nil
	}}}
	cfg.Recorder = engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), task("w", 1)))
	before := log.Len()
	d, err := r.Branch().Schedule(epoch, "w")
	require.NoError(t, err)
	require.Equal(t, "n2", d.Binding.Node)
	e, err := r.Explain(epoch, "w", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, "n1", e.Node)
	require.Equal(t, 3, asked, "an explanation asks once about the node, once about the rest")
	require.Equal(t, before, log.Len())
	require.NotContains(t, log.String(), "Answers")
}

// An engine that stops does not wait for an extender.
func TestStopEndsExtenders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(&world{})
		cfg.Extenders = []extpoints.Extender{filterer{base{name: "x"}, func(ctx context.Context, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}}
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("n1", 1000), task("w", 1)))
		synctest.Wait()
		began := time.Now()
		require.NoError(t, stop())
		require.Equal(t, began, time.Now(), "by the fake clock: at once")
		w, ok := e.View().Workload("w")
		require.True(t, ok)
		require.Equal(t, model.Pending, w.Phase, "it is not lost")
	})
}

// preemptOutside is a PostFilter that wants everything on every node displaced,
// and asks the extenders about it.
type preemptOutside struct {
	handle extpoints.Handle
	heard  *[]string
}

func (preemptOutside) Name() string { return "PreemptOutside" }

func (p preemptOutside) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	nodes := s.View().Nodes()
	candidates := map[string]*extpoints.Victims{}
	for i := range nodes.Len() {
		if n := nodes.At(i); len(n.Workloads) > 0 {
			candidates[n.Node.Name] = &extpoints.Victims{Workloads: n.Workloads}
		}
	}
	for _, x := range p.handle.Preemption().Extenders() {
		if !x.Interested(w.Workload) {
			continue
		}
		chosen, err := x.Preempt(s.Context(), w, candidates, nodes)
		if err != nil {
			*p.heard = append(*p.heard, err.Error())
			return nil, extpoints.AsStatus(err)
		}
		candidates = chosen
	}
	for _, name := range []string{"n1", "n2", "n3"} {
		v, ok := candidates[name]
		*p.heard = append(*p.heard, fmt.Sprint(name, " ", ok, " ", v != nil))
		if v != nil {
			for _, victim := range v.Workloads {
				*p.heard = append(*p.heard, fmt.Sprint(victim.ID, " ", v.BudgetViolations, " ", victim.PlacedAt.IsZero()))
			}
		}
	}
	return nil, extpoints.NewStatus(extpoints.Unschedulable)
}

// preempting is an extender that answers with its function.
type preempting struct {
	base
	answer func(candidates map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error)
}

func (p *preempting) Preempt(_ context.Context, _ *extpoints.WorkloadInfo, candidates map[string]*extpoints.Victims, _ extpoints.Nodes) (map[string]*extpoints.Victims, error) {
	return p.answer(candidates)
}

func TestPreemptExtenders(t *testing.T) {
	victim := func(id string) *extpoints.WorkloadInfo {
		return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id}}
	}
	for _, test := range []struct {
		name   string
		answer func(candidates map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error)
		want   []string
	}{
		{"as it is", func(c map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) { return c, nil },
			[]string{"n1 true true", "a 0 false", "b 0 false", "n2 true true", "c 0 false", "n3 false false"}},
		{"fewer nodes and victims", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			return map[string]*extpoints.Victims{"n1": {Workloads: []*extpoints.WorkloadInfo{victim("b")}, BudgetViolations: 7}}, nil
		}, []string{"n1 true true", "b 7 false", "n2 false false", "n3 false false"}},
		{"nil", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) { return nil, nil },
			[]string{"n1 false false", "n2 false false", "n3 false false"}},
		{"no victims", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			return map[string]*extpoints.Victims{"n1": nil, "n2": {}}, nil
		}, []string{"n1 true false", "n2 true true", "n3 false false"}},
		{"changes what it is given", func(c map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			clear(c)
			return c, nil
		}, []string{"n1 false false", "n2 false false", "n3 false false"}},
		{"a node that there is not", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			return map[string]*extpoints.Victims{"n9": {Workloads: []*extpoints.WorkloadInfo{victim("a")}}}, nil
		}, []string{`extender "x": preempt workload "w": the answer claims to preempt on node "n9", which there is not`}},
		{"a workload that is elsewhere", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			return map[string]*extpoints.Victims{"n2": {Workloads: []*extpoints.WorkloadInfo{victim("a")}}}, nil
		}, []string{`extender "x": preempt workload "w": the answer claims to preempt workload "a" on node "n2", but it is not found on that node`}},
		{"an error", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			return nil, errors.New("out of order")
		}, []string{`extender "x": preempt workload "w": out of order`}},
		{"a panic", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) { panic("oh") },
			[]string{`extender "x": preempt workload "w": panic: oh`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var heard, again []string
			var log bytes.Buffer
			x := &preempting{base{name: "x"}, test.answer}
			cfg := preemptConfig(t, x, &heard)
			cfg.Recorder = engine.NewRecorder(&log)
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			adopt := func(id, node string) engine.Change {
				return engine.Change{Adopt: &engine.Placement{Workload: &model.Workload{ID: id, Requests: model.Resources{CPU: 1000}}, Node: node, Since: epoch}}
			}
			require.NoError(t, r.Apply(epoch, node("n1", 2000), node("n2", 1000), adopt("a", "n1"), adopt("b", "n1"), adopt("c", "n2"), task("w", 500)))
			require.True(t, r.Schedule(epoch))
			require.Equal(t, test.want, heard)

			x.answer = func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
				t.Error("a replay asks nobody")
				return nil, nil
			}
			_, err = engine.Replay(preemptConfig(t, x, &again), bytes.NewReader(log.Bytes()))
			require.NoError(t, err)
			require.Equal(t, heard, again)
		})
	}
}

func preemptConfig(t *testing.T, x extpoints.Extender, heard *[]string) engine.Config {
	t.Helper()
	cfg := config(&world{})
	cfg.Extenders = []extpoints.Extender{x}
	require.NoError(t, cfg.Registry.Register("PreemptOutside", func(_ any, h extpoints.Handle) (extpoints.Plugin, error) {
		return preemptOutside{h, heard}, nil
	}))
	cfg.Profiles[0].Plugins.PostFilter = extpoints.PluginSet{
		Enabled: []extpoints.PluginRef{{Name: "PreemptOutside"}}, Disabled: []string{extpoints.AllPlugins},
	}
	return cfg
}

// Two workloads that look the same are not interchangeable where somebody
// outside may tell them apart.
func TestNoSignatureWithExtenders(t *testing.T) {
	for _, list := range [][]extpoints.Extender{nil, {base{name: "x"}}} {
		cfg := config(&world{})
		cfg.Extenders = list
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		require.NoError(t, r.Apply(epoch, node("n1", 1000), task("w", 1)))
		e, err := r.Explain(epoch, "w", engine.ExplainOptions{})
		require.NoError(t, err)
		require.Equal(t, list != nil, e.Signature == "")
	}
}

// lot is an extender that answers by lot. What it says of a workload and a node is
// always the same, so that a decision can be explained; of some workloads it says
// nothing sensible until it is calm.
type lot struct {
	base
	seed         uint64
	calm         *bool
	orchestrator extpoints.Orchestrator
	deaf         func()
}

func (x *lot) Interested(w *model.Workload) bool { return x.draw(3, w.ID) > 0 }
func (x *lot) Weight() int64                     { return 1 + int64(x.seed%5) }

// draw returns a number below n that depends on the keys.
func (x *lot) draw(n uint64, keys ...string) uint64 {
	h := fnv.New64a()
	for _, k := range keys {
		fmt.Fprintf(h, "%d %s;", x.seed, k)
	}
	return h.Sum64() >> 20 % n
}

func (x *lot) Filter(_ context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
	if x.deaf != nil {
		x.deaf()
	}
	r := &extpoints.ExtenderFilterResult{Failed: map[string]string{}, Unresolvable: map[string]string{}}
	lot := x.draw(12, w.ID, "filter")
	if !*x.calm {
		switch lot {
		case 0:
			return nil, errors.New("out of order")
		case 1:
			panic("oh")
		case 2:
			return nil, nil
		case 3:
			r.Nodes = []string{"nobody"}
		}
	}
	if lot == 4 {
		r.Failed["n0"], r.Failed["nobody"] = "named unasked", "named unasked"
	}
	r.Bare = lot == 5
	for i := range nodes {
		name := nodes[len(nodes)-1-i].Node.Name
		switch {
		case lot < 4 || lot > 8 || x.draw(4, w.ID, name) > 0 || name == "spare": // where all must fit in the end
			r.Nodes = append(r.Nodes, name)
		case lot == 6:
			r.Unresolvable[name] = "no use"
		case lot == 7:
			r.Failed[name] = "busy"
		}
	}
	return r, nil
}

func (x *lot) Prioritize(_ context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (map[string]int64, error) {
	if x.deaf != nil {
		x.deaf()
	}
	points := map[string]int64{}
	switch x.draw(8, w.ID, "prioritize") {
	case 0:
		return nil, errors.New("out of order")
	case 1:
		panic("oh")
	case 2:
		points["nobody"] = 1 << 62
	}
	for _, n := range nodes {
		if x.draw(3, w.ID, n.Node.Name, "scored") > 0 {
			points[n.Node.Name] = int64(x.draw(4, w.ID, n.Node.Name, "points"))
		}
	}
	return points, nil
}

func (x *lot) Preempt(_ context.Context, w *extpoints.WorkloadInfo, candidates map[string]*extpoints.Victims, _ extpoints.Nodes) (map[string]*extpoints.Victims, error) {
	if x.deaf != nil {
		x.deaf()
	}
	switch x.draw(8, w.ID, "preempt") {
	case 0:
		return nil, errors.New("out of order")
	case 1:
		panic("oh")
	}
	maps.DeleteFunc(candidates, func(node string, _ *extpoints.Victims) bool { return x.draw(4, w.ID, node, "preempt") == 0 })
	return candidates, nil
}

// lotBinder is a lot that binds.
type lotBinder struct{ *lot }

func (x lotBinder) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	if !*x.calm && x.draw(4, w.ID, b.Node) == 0 {
		return errors.New("out of order")
	}
	return x.orchestrator.Bind(ctx, w, b)
}

// lots are three of them.
func lots(seed uint64, o extpoints.Orchestrator, calm *bool, deaf func()) []extpoints.Extender {
	x := func(name string, ignorable bool, seed uint64) *lot {
		return &lot{base: base{name, ignorable}, seed: seed, calm: calm, orchestrator: o, deaf: deaf}
	}
	return []extpoints.Extender{x("ignorable", true, seed), lotBinder{x("binder", seed%2 == 0, seed+1000)}, x("plain", false, seed+2000)}
}

// With extenders that fail in every way nothing is lost either, the number of
// workers does not show, and a replay, which asks nobody, does the same.
func TestHistoriesWithExtenders(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t, 32) {
		simulated := func(workers int) *enginetest.SimResult {
			o := enginetest.SimOptions{Record: true, Workers: workers, TieBreak: engine.TieBreak(seed % 3)}
			if seed%5 == 0 {
				o.Nodes, o.Steps = 110+int(seed%250), 60
			}
			calm := false
			o.Configure = func(cfg *engine.Config) {
				calm = false // a failure is looked into with more histories
				cfg.Extenders = lots(seed, cfg.Orchestrator, &calm, nil)
			}
			o.Calm = func() { calm = true }
			return enginetest.Simulate(t, seed, o)
		}
		one, many := simulated(1), simulated(16)
		require.Len(t, many.Lives, len(one.Lives), "seed %d", seed)
		for i, life := range one.Lives {
			requireSameLines(t, life.Events, many.Lives[i].Events, "seed %d, 1 and 16 workers", seed)
			requireSameLog(t, life.Log, many.Lives[i].Log, "seed %d, 1 and 16 workers", seed)

			var events []string
			var again bytes.Buffer
			cfg := one.Config(&events)
			cfg.Extenders = lots(seed, nil, new(bool), func() { t.Errorf("seed %d: a replay asks nobody", seed) })
			cfg.Recorder = engine.NewRecorder(&again)
			_, err := engine.Replay(cfg, bytes.NewReader(life.Log))
			require.NoError(t, err, "seed %d", seed)
			requireSameLines(t, life.Events, events, "seed %d, replay", seed)
			requireSameLog(t, life.Log, again.Bytes(), "seed %d, replay", seed)
		}
	}
}

// slots is a Score plugin that compares the nodes with those of the view.
type slots struct{ seen map[string]string }

func (slots) Name() string { return "Slots" }
func (p slots) Score(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, n *extpoints.NodeInfo) (int64, *extpoints.Status) {
	of := s.View().Nodes().Get(n.Node.Name)
	p.seen[n.Node.Name] = fmt.Sprint(n.Slot == of.Slot, n.Node == of.Node, len(n.Workloads), len(of.Workloads), n.Requested.CPU)
	return 0, nil
}

// A bare node is the same node with nothing on it.
func TestBareNodes(t *testing.T) {
	p := slots{map[string]string{}}
	cfg := config(&world{})
	require.NoError(t, cfg.Registry.Register("Slots", func(any, extpoints.Handle) (extpoints.Plugin, error) { return p, nil }))
	cfg.Profiles[0].Plugins.Score = extpoints.PluginSet{Enabled: []extpoints.PluginRef{{Name: "Slots"}}}
	bare := false
	cfg.Extenders = []extpoints.Extender{filterer{base{name: "x"}, func(context.Context, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
		return &extpoints.ExtenderFilterResult{Nodes: []string{"n3", "n1"}, Bare: bare}, nil
	}}}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), node("n3", 1000),
		engine.Change{Adopt: &engine.Placement{Workload: &model.Workload{ID: "a", Requests: model.Resources{CPU: 300}}, Node: "n3"}}, task("v", 1)))
	require.True(t, r.Schedule(epoch))
	require.Equal(t, map[string]string{"n1": "true true 0 0 0", "n3": "true true 1 1 300"}, p.seen)
	bare = true
	require.NoError(t, r.Apply(epoch, engine.Change{Remove: "v"}, task("w", 1)))
	require.True(t, r.Schedule(epoch))
	require.Equal(t, map[string]string{"n1": "true true 0 0 0", "n3": "true true 0 1 0"}, p.seen)
}

// The points of an extender that nobody is interested in change nothing, and
// with one that gives none the decisions are those without it: the tie-break of
// kube-scheduler is the same where all nodes are scored as where none is.
func TestSilentExtendersChangeNothing(t *testing.T) {
	t.Parallel()
	decisions := func(list ...extpoints.Extender) map[string]string {
		cfg := config(&world{})
		cfg.Extenders = list
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		var changes []engine.Change
		for i := range 150 {
			changes = append(changes, node(fmt.Sprintf("n%03d", i), int64(1000+i%7*500)))
		}
		require.NoError(t, r.Apply(epoch, append(changes, tasks(200, 300)...)...))
		settle(r, epoch)
		placed := map[string]string{}
		for w := range r.View().Workloads() {
			placed[w.ID] = w.Node
		}
		return placed
	}
	without := decisions()
	for name, list := range map[string][]extpoints.Extender{
		"prioritizer": {weigher{base{name: "x"}, 5}},
		"filter": {filterer{base{name: "x"}, func(_ context.Context, _ *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
			r := &extpoints.ExtenderFilterResult{}
			for _, n := range nodes {
				r.Nodes = append(r.Nodes, n.Node.Name)
			}
			return r, nil
		}}},
		"nothing": {nothing{weigher: weigher{base{name: "x"}, 1}}},
	} {
		require.True(t, maps.Equal(without, decisions(list...)), name)
	}
}
