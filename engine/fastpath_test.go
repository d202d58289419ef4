package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/simulate"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/noderesources"
)

// fastHistory is a history of an engine with many nodes and a few kinds of workloads: what
// happens is drawn from the seed, so that engines with the same seed live through the same.
type fastHistory struct {
	r      *rand.Rand
	raw    *engine.Raw
	now    time.Time
	events []string
	nodes  int
	count  int
	placed []string
	gangs  bool // there are groups
	groups int
	// reports: plugins go by what is reported of nodes.
	reports bool
}

// newFastHistory makes the engine. Two profiles share the nodes, the second looks at all and packs.
func newFastHistory(t *testing.T, seed uint64, path engine.FastPath) *fastHistory {
	t.Helper()
	h := &fastHistory{r: rand.New(rand.NewPCG(seed, 51)), now: epoch}
	all := int32(100)
	second := plugins.DefaultProfile()
	second.Name, second.PercentageOfNodesToScore = "second", &all
	for i := range second.Plugins {
		if second.Plugins[i].Name == noderesources.Name {
			second.Plugins[i].Args = noderesources.FitArgs{Strategy: noderesources.Strategy{Type: noderesources.MostAllocated}}
		}
	}
	tell := simulate.EventLines(&h.events)
	rejected := tell.Rejected
	tell.Rejected = func(e engine.RejectedEvent) {
		rejected(e)
		for n, st := range e.Diagnosis.Nodes() {
			h.events = append(h.events, fmt.Sprint(n.Name, st.Plugin(), st))
		}
		h.events = append(h.events, fmt.Sprint(e.Diagnosis.Reasons(), e.Diagnosis.Status("n001"), e.Diagnosis.Status("nowhere")))
	}
	workers := 1 + int(seed%2)
	if workers == 1 { // several look ahead in the reference, which counts
		tell.PluginEvaluated = func(e engine.PluginEvaluatedEvent) { h.events = append(h.events, fmt.Sprintf("%+v", e)) }
	}
	cfg := engine.Config{
		Profiles: []extpoints.Profile{plugins.DefaultProfile(), second}, Orchestrator: &world{}, Listener: tell,
		FastPath: path, Seed: seed, TieBreak: engine.TieBreak(seed % 3), SampleEvery: 7, Workers: workers,
	}
	cfg.Profiles[0].Plugins = append([]extpoints.Entry(nil), cfg.Profiles[0].Plugins...)
	if h.reports = seed%2 == 1; h.reports {
		useReports(cfg.Profiles)
	}
	raw, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	h.raw = raw
	for range 101 + h.r.IntN(250) {
		h.apply(t, engine.PutNode(h.node(h.nodes)))
		h.nodes++
	}
	return h
}

func (h *fastHistory) apply(t *testing.T, changes ...engine.Change) {
	require.NoError(t, h.raw.Apply(h.now, changes...))
}

// one reports true once in n times.
func (h *fastHistory) one(n int) bool { return h.r.IntN(n) == 0 }

func (h *fastHistory) node(i int) *model.Node {
	n := &model.Node{
		Name: fmt.Sprintf("n%03d", i), Zone: fmt.Sprint("z", h.r.IntN(3)), Labels: map[string]string{"disk": fmt.Sprint("d", h.r.IntN(3))},
		Allocatable: model.Resources{CPU: int64(500 + 500*h.r.IntN(4)), Memory: int64(2+h.r.IntN(3)) << 30}, MaxWorkloads: int64(2 + h.r.IntN(6)),
		Unschedulable: h.one(15),
	}
	if h.one(3) {
		n.Labels["rack"] = fmt.Sprint("r", h.r.IntN(20))
	}
	if h.one(6) {
		n.Taints = append(n.Taints, model.Taint{Key: "gone", Effect: model.NoSchedule})
	}
	if h.one(40) {
		n.Taints = append(n.Taints, model.Taint{Key: "slow", Effect: model.PreferNoSchedule})
	}
	if h.one(3) {
		n.Images = append(n.Images, model.NodeImage{Names: []string{fmt.Sprint("image", h.r.IntN(3), ":latest")}, Size: int64(200+h.r.IntN(900)) << 20})
	}
	return n
}

// workload draws one of some 40 kinds: some fit nowhere.
func (h *fastHistory) workload() *model.Workload {
	h.count++
	w := &model.Workload{
		ID: fmt.Sprintf("w%04d", h.count), Namespace: "default", Labels: map[string]string{"n": fmt.Sprint(h.count)},
		Requests: model.Resources{CPU: int64(100 + 200*h.r.IntN(3)), Memory: 256 << 20},
	}
	switch h.r.IntN(14) {
	case 0:
		w.Requests.CPU = 100_000
	case 1:
		w.NodeSelector = map[string]string{"disk": fmt.Sprint("d", h.r.IntN(4))}
	case 2:
		w.Tolerations = []model.Toleration{{Key: "gone", Operator: model.Exists}}
	case 3:
		w.Images = []string{fmt.Sprint("image", h.r.IntN(3))}
	case 4:
		w.NodeAffinity = &model.NodeAffinity{Preferred: []model.PreferredNodeTerm{{Weight: 5, NodeTerm: model.NodeTerm{
			Labels: []model.Requirement{{Key: "disk", Operator: model.In, Values: []string{"d1"}}}}}}}
	case 5:
		w.Ports = []model.HostPort{{Port: 80}}
	case 6:
		if h.one(4) {
			w.AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{{TopologyKey: "disk", Selector: model.SelectLabels(map[string]string{"n": fmt.Sprint(h.count - 1)})}}}
		}
	case 7:
		if h.one(8) {
			w.Priority = 10 // it makes room, which makes nominations
		}
	case 8:
		w.Gates, w.Priority, w.Requests.CPU = []string{"never"}, int32(h.r.IntN(3)-1), int64(200+500*h.r.IntN(3))
	case 9, 10, 11, 12, 13:
		h.amongOthers(w)
	}
	if h.reports {
		h.measured(w)
	}
	if h.one(3) {
		w.Profile = "second"
	}
	return w
}

// amongOthers makes the workload one that wants something of the others.
func (h *fastHistory) amongOthers(w *model.Workload) {
	app := func() *model.Selector {
		return model.SelectLabels(map[string]string{"app": fmt.Sprint("a", h.r.IntN(3))})
	}
	key := func() string { return []string{"disk", model.ByZone, model.ByNode, "rack"}[h.r.IntN(4)] }
	terms := func() *model.WorkloadAffinity {
		a := &model.WorkloadAffinity{}
		if h.one(2) {
			a.Required = []model.AffinityTerm{{TopologyKey: key(), Selector: app()}}
		}
		for range h.r.IntN(3) {
			a.Preferred = append(a.Preferred, model.WeightedAffinityTerm{Weight: int32(1 + h.r.IntN(9)), AffinityTerm: model.AffinityTerm{TopologyKey: key(), Selector: app()}})
		}
		return a
	}
	w.Labels["app"] = fmt.Sprint("a", h.r.IntN(3))
	switch h.r.IntN(6) {
	case 0, 1:
		for _, mode := range []model.SpreadMode{model.SpreadRequired, model.SpreadPreferred} {
			c := model.SpreadConstraint{TopologyKey: key(), MaxSkew: int32(1 + h.r.IntN(3)), Mode: mode, Selector: app()}
			if !h.one(3) {
				w.Spread = append(w.Spread, c)
			}
		}
	case 2:
		w.OwnerSelector = app()
	case 3:
		w.Affinity = terms()
	case 4:
		w.AntiAffinity = terms()
	}
}

// step is something that happens.
func (h *fastHistory) step(t *testing.T) {
	h.now = h.now.Add(time.Duration(h.r.IntN(3000)) * time.Millisecond)
	if h.reports {
		for range h.r.IntN(4) {
			h.apply(t, h.report(true))
		}
	}
	switch k := h.r.IntN(20); {
	case h.gangs && k < 6:
		h.gang(t)
	case k < 12:
		for range 1 + h.r.IntN(3) {
			w := h.workload()
			h.placed = append(h.placed, w.ID)
			h.apply(t, engine.Submit(w))
			if len(w.Gates) > 0 { // it keeps its room until it is removed
				h.apply(t, engine.Nominate(w.ID, fmt.Sprintf("n%03d", h.r.IntN(h.nodes))))
			}
		}
	case k < 15 && len(h.placed) > 0:
		i := h.r.IntN(len(h.placed))
		h.apply(t, engine.Remove(h.placed[i]))
		h.placed = append(h.placed[:i], h.placed[i+1:]...)
	case k < 18:
		h.apply(t, engine.PutNode(h.node(h.r.IntN(h.nodes))))
	case k == 18 && h.one(3):
		name := fmt.Sprintf("n%03d", h.r.IntN(h.nodes))
		if _, there := h.raw.View().Node(name); there {
			h.apply(t, engine.RemoveNode(name))
		}
	case k == 19:
		h.plan(t)
	}
	for h.raw.Schedule(h.now) {
		for task := h.raw.NextTask(); task != nil; task = h.raw.NextTask() {
			task.Run(context.Background())
			h.raw.Finish(h.now, task)
		}
	}
}

// plan schedules some workloads on a branch, and some of them on a branch of that.
func (h *fastHistory) plan(t *testing.T) {
	branches := []*engine.Branch{h.raw.Branch()}
	for range 12 {
		b := branches[h.r.IntN(len(branches))]
		if h.one(4) {
			branches = append(branches, b.Branch())
		}
		if h.reports {
			require.NoError(t, b.Apply(h.now, h.report(false)))
		}
		w := h.workload()
		require.NoError(t, b.Apply(h.now, engine.Submit(w)))
		d, err := b.Schedule(h.now, w.ID)
		h.events = append(h.events, fmt.Sprintf("planned %+v %v", d, err))
	}
}

// Engines that decide fast and slowly say the same of everything, and the fast one is fast
// mostly. Unlike with Verify, what the fast one answers is what comes true.
func TestFastPathAgainstReference(t *testing.T) {
	t.Parallel()
	seeds, steps := uint64(6), 250
	if testing.Short() {
		seeds, steps = 3, 60
	}
	for seed := range seeds {
		slow, fast := newFastHistory(t, seed, engine.FastPathOff), newFastHistory(t, seed, engine.FastPathAuto)
		verify := newFastHistory(t, seed, engine.FastPathVerify)
		for step := range steps {
			for _, h := range []*fastHistory{slow, fast, verify} {
				h.events = h.events[:0]
				h.step(t)
			}
			require.Equal(t, slow.events, fast.events, "seed %d, step %d", seed, step)
			require.Equal(t, slow.events, verify.events, "seed %d, step %d", seed, step)
		}
		t.Logf("seed %d: %d fast answers", seed, fast.raw.FastAnswers())
		require.Greater(t, fast.raw.FastAnswers(), steps/5)
		require.Zero(t, slow.raw.FastAnswers())
	}
}

// The next search may begin behind the last node, where nodes have left since the last one.
func TestFastPathAfterNodesLeave(t *testing.T) {
	for _, path := range []engine.FastPath{engine.FastPathAuto, engine.FastPathVerify} {
		raw, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: &world{}, FastPath: path})
		require.NoError(t, err)
		place := func(count int) {
			t.Helper()
			for range count {
				raw.Schedule(epoch)
			}
		}
		var nodes, leave, first, second []engine.Change
		for i := range 400 {
			name := fmt.Sprintf("n%03d", i)
			nodes = append(nodes, engine.PutNode(&model.Node{Name: name, Allocatable: model.Resources{CPU: 1000}, MaxWorkloads: 10}))
			if i >= 130 {
				leave = append(leave, engine.LoseNode(name))
			}
		}
		for i := range 3 {
			first = append(first, engine.Submit(&model.Workload{ID: fmt.Sprint("a", i), Requests: model.Resources{CPU: 1}}))
			second = append(second, engine.Submit(&model.Workload{ID: fmt.Sprint("b", i), Requests: model.Resources{CPU: 1}}))
		}
		require.NoError(t, raw.Apply(epoch, append(nodes, first...)...))
		place(3) // 188 nodes are enough for one, so the next search begins at the 165th
		require.NoError(t, raw.Apply(epoch, append(leave, second...)...))
		place(6)
		for i := range 3 {
			w, ok := raw.View().Workload(fmt.Sprint("b", i))
			require.True(t, ok)
			require.NotEqual(t, model.Pending, w.Phase, "%v: %s", path, w.ID)
		}
	}
}

// watched is a plugin of Filter and Score, or of PreScore alone, that counts how it is called.
type watched struct{ local, preScores int }

func (*watched) Name() string { return "Watched" }
func (*watched) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	return nil
}
func (*watched) Score(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) (int64, *extpoints.Status) {
	return 0, nil
}
func (p *watched) PreScore(*extpoints.CycleState, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) *extpoints.Status {
	p.preScores++
	return nil
}
func (p *watched) NodeLocal(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	p.local++
	return key, true
}

// decideAlike has an engine with the plugin decide on workloads that are alike, and returns how
// many of the decisions were fast.
func decideAlike(t *testing.T, p *watched, decisions int, points ...extpoints.Point) int {
	t.Helper()
	profile := plugins.DefaultProfile()
	profile.Plugins = append([]extpoints.Entry(nil), profile.Plugins...)
	extpoints.Use(&profile, func(extpoints.NoArgs, extpoints.Handle) (*watched, error) { return p, nil }, extpoints.NoArgs{}, extpoints.Only(points...))
	raw, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: &world{}})
	require.NoError(t, err)
	for i := range 5 {
		require.NoError(t, raw.Apply(epoch, node(fmt.Sprint("n", i), 10_000)))
	}
	require.NoError(t, raw.Apply(epoch, tasks(decisions, 100)...))
	for raw.Schedule(epoch) {
	}
	return raw.FastAnswers()
}

// A plugin that is asked whether it is node-local is asked once in a cycle, whichever of Filter
// and Score it serves.
func TestNodeLocalIsAskedOnce(t *testing.T) {
	for _, points := range [][]extpoints.Point{{"Filter", "Score"}, {"Score"}, {"Filter"}} {
		p := &watched{}
		require.Positive(t, decideAlike(t, p, 10, points...), "%v", points)
		require.Equal(t, 10, p.local, "%v", points)
	}
}

// A plugin of PreScore that does not score is called in every cycle that scores: it cannot say
// that it is node-local.
func TestPreScoreWithoutScoreIsNotRemembered(t *testing.T) {
	p := &watched{}
	require.Zero(t, decideAlike(t, p, 10, "PreScore"))
	require.Equal(t, 10, p.preScores)
}

// What looks at other workloads is asked by slot, and all else about the workload is remembered:
// wherever it goes, the other plugins are not asked again.
func TestFastPathAmongOthers(t *testing.T) {
	alike := model.SelectLabels(map[string]string{"app": "a"})
	near := []model.AffinityTerm{{TopologyKey: "zone", Selector: alike}}
	for name, want := range map[string]func(*model.Workload){
		"required spread": func(w *model.Workload) {
			w.Spread = []model.SpreadConstraint{{TopologyKey: "zone", MaxSkew: 1, Mode: model.SpreadRequired, Selector: alike}}
		},
		"default spread":    func(w *model.Workload) { w.OwnerSelector = alike },
		"required affinity": func(w *model.Workload) { w.Affinity = &model.WorkloadAffinity{Required: near} },
		"required anti-affinity": func(w *model.Workload) {
			w.AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{{TopologyKey: model.ByNode, Selector: alike}}}
		},
		"preferred anti-affinity": func(w *model.Workload) {
			w.AntiAffinity = &model.WorkloadAffinity{Preferred: []model.WeightedAffinityTerm{{Weight: 1, AffinityTerm: near[0]}}}
		},
	} {
		raw, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: &world{}})
		require.NoError(t, err)
		for i := range 20 {
			n := &model.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"zone": fmt.Sprint("z", i%3)}, Allocatable: model.Resources{CPU: 1000}, MaxWorkloads: 10}
			require.NoError(t, raw.Apply(epoch, engine.PutNode(n)))
		}
		for i := range 12 {
			w := &model.Workload{ID: fmt.Sprint("w", i), Labels: map[string]string{"app": "a"}, Requests: model.Resources{CPU: 1}}
			want(w)
			require.NoError(t, raw.Apply(epoch, engine.Submit(w)))
			require.True(t, raw.Schedule(epoch))
		}
		// The first of a kind is not remembered; to the very first a preference means nothing, as
		// nobody is there, which makes it another kind.
		require.GreaterOrEqual(t, raw.FastAnswers(), 10, name)
	}
}
