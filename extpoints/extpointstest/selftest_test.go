package extpointstest

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// twisted is a plugin at every point. It keeps the contract, except for what
// its test makes it do wrong. It rejects nodes with an odd number of workloads,
// and signs nothing but its own name.
type twisted struct {
	bad string // which rule it breaks
	// What follows is memory, which it should not have. It is locked, so that
	// the kit must find it out, and not the race detector.
	mu    *sync.Mutex
	calls int
	seen  map[string]bool
}

var twistedState = extpoints.NewStateKey[*twist]("twisted")

type twist struct{ filtered map[string]int }

func (t *twist) Clone() *twist {
	c := &twist{filtered: map[string]int{}}
	for k, v := range t.filtered {
		c.filtered[k] = v
	}
	return c
}

func (p *twisted) Name() string {
	p.calls++
	if p.bad == "name changes" && p.calls > 1 {
		return "Other"
	}
	return "Twisted"
}

func (p *twisted) is(bad string) bool { return p.bad == bad }

func (p *twisted) PreEnqueue(w *model.Workload) *extpoints.Status {
	if p.is("PreEnqueue says Skip") {
		return extpoints.NewStatus(extpoints.Skip)
	}
	if len(w.Gates) > 0 {
		return extpoints.NewStatus(extpoints.Pending, "gated")
	}
	return nil
}

func (p *twisted) Less(a, b *extpoints.Queued) bool {
	if p.is("Less is no order") {
		return a.Priority >= b.Priority
	}
	return a.Priority > b.Priority
}

func (p *twisted) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	// What is on each node, so that the extensions have something to do.
	t := &twist{filtered: map[string]int{}}
	for _, n := range s.View().(*View).NodeInfos {
		t.filtered[n.Node.Name] = len(n.Workloads)
	}
	twistedState.Set(s, t)
	switch p.bad {
	case "PreFilter says Wait":
		return nil, extpoints.NewStatus(extpoints.Wait)
	case "PreFilter says Skip":
		return nil, extpoints.NewStatus(extpoints.Skip)
	case "PreFilter leaves out good nodes":
		return &extpoints.PreFilterResult{Nodes: map[string]struct{}{"n0": {}}}, nil
	case "PreFilter changes the workload":
		w.Priority++
	}
	return nil, nil
}

var odd = extpoints.NewStatus(extpoints.Unschedulable, "odd number")

func (p *twisted) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	state, _ := twistedState.Get(s)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.bad {
	case "Filter follows no pointer":
		var nowhere *model.Workload
		return extpoints.NewStatus(extpoints.Unschedulable, nowhere.ID)
	case "Filter gives no reason":
		return extpoints.NewStatus(extpoints.Unschedulable)
	case "Filter says Skip":
		return extpoints.NewStatus(extpoints.Skip)
	case "Filter remembers":
		if p.calls++; p.calls%3 == 0 {
			return nil
		}
	case "Filter changes the node":
		node.Requested.CPU++
	}
	if state.filtered[node.Node.Name]%2 == 1 {
		return odd
	}
	return nil
}

func (p *twisted) AddWorkload(s *extpoints.CycleState, _, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if !p.is("AddWorkload does nothing") {
		state, _ := twistedState.Get(s)
		state.filtered[node.Node.Name]++
	}
	return nil
}

func (p *twisted) RemoveWorkload(s *extpoints.CycleState, _, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	state, _ := twistedState.Get(s)
	state.filtered[node.Node.Name]--
	if p.is("RemoveWorkload rejects") {
		return odd
	}
	return nil
}

func (p *twisted) PostFilter(*extpoints.CycleState, *extpoints.WorkloadInfo, extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	if p.is("PostFilter nominates nothing there is") {
		return &extpoints.PostFilterResult{Nominate: "nowhere"}, nil
	}
	return nil, odd
}

func (p *twisted) PreScore(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) *extpoints.Status {
	if p.is("PreScore rejects") {
		return odd
	}
	return nil
}

func (p *twisted) Score(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	switch p.bad {
	case "Score is too high":
		return 101, nil
	case "Score rejects":
		return 0, odd
	case "Score changes the state":
		p.mu.Lock()
		defer p.mu.Unlock()
		state, _ := twistedState.Get(s)
		state.filtered["new"] = 1
	}
	return int64(len(node.Workloads)), nil
}

func (p *twisted) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	if p.is("NormalizeScore goes below 0") {
		scores[0] = -1
	}
	return nil
}

func (p *twisted) Reserve(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	if p.is("Reserve is not undone") {
		if p.seen[b.Node] {
			return odd
		}
		p.seen[b.Node] = true
	}
	return nil
}

func (p *twisted) Unreserve(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) {}

func (p *twisted) Permit(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (*extpoints.Status, time.Duration) {
	if p.is("Permit waits for no time") {
		return extpoints.NewStatus(extpoints.Wait), 0
	}
	if p.is("Permit waits too long") {
		return extpoints.NewStatus(extpoints.Wait), time.Hour
	}
	return nil, 0
}

func (p *twisted) PreBindPreFlight(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (extpoints.PreFlight, *extpoints.Status) {
	if p.is("PreBindPreFlight rejects") {
		return extpoints.PreFlight{}, odd
	}
	return extpoints.PreFlight{}, nil
}

func (p *twisted) PreBind(_ context.Context, _ *extpoints.CycleState, _ *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	if p.is("PreBind changes the binding") {
		b.Node = "elsewhere"
	}
	return nil
}

func (p *twisted) Bind(context.Context, *extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) *extpoints.Status {
	if p.is("Bind says Wait") {
		return extpoints.NewStatus(extpoints.Wait)
	}
	return nil
}

func (p *twisted) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	value := ""
	if p.is("Sign says another thing each time") {
		p.calls++
		value = strings.Repeat("x", p.calls)
	}
	return []extpoints.SignFragment{{Key: "Twisted", Value: value}}, nil
}

func (p *twisted) EventsToRegister() ([]extpoints.EventHint, error) {
	hints := []extpoints.EventHint{
		{Event: event(extpoints.NodeResource, extpoints.Add)},
		{Event: event(extpoints.AssignedWorkload, extpoints.Add)},
		{Event: event(extpoints.TargetWorkload, extpoints.UpdateWorkloadGatesEliminated)},
	}
	if !p.is("sleeps through a workload that leaves") {
		hints = append(hints, extpoints.EventHint{Event: event(extpoints.AssignedWorkload, extpoints.Delete)})
	}
	if p.is("sleeps through the last gate") {
		hints = append(hints[:2], hints[3:]...)
	}
	return hints, nil
}

// choosy rejects what the signature of twisted does not show.
type choosy struct{ twisted }

func (p *choosy) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *extpoints.NodeInfo) *extpoints.Status {
	if len(w.Tolerations) == 1 {
		return odd
	}
	return nil
}

// local says that it depends on the node alone.
type local struct{ twisted }

func (p *local) NodeLocal(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	if p.is("NodeLocal says another thing each time") {
		p.calls++
	}
	return append(key, byte(p.calls)), true
}

func (p *local) PreFilter(*extpoints.CycleState, *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	return nil, nil
}

func (p *local) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	nodes := s.View().Nodes()
	switch {
	case p.is("NodeLocal leaves something out") && len(w.Tolerations) == 1,
		p.is("NodeLocal although it looks at the time") && s.Now().Hour() > 13,
		p.is("NodeLocal although it looks at ages itself") && s.Present().Sub(Now) > time.Hour,
		p.is("NodeLocal although it looks at others") && len(nodes.At(nodes.Len()-1).Workloads) > 0:
		return odd
	}
	return nil
}

func (p *local) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	for i := range scores {
		scores[i] = 0
		if p.is("NodeLocal although equal scores become different ones") {
			scores[i] = int64(i)
		}
	}
	return nil
}

// slotted says of slots what twisted says of nodes, or another thing.
type slotted struct{ twisted }

func (p *slotted) PreFilter(*extpoints.CycleState, *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	return nil, nil
}

func (p *slotted) PreScore(*extpoints.CycleState, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) *extpoints.Status {
	return nil
}

func (p *slotted) Filter(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if node.Slot%2 != 0 {
		return odd
	}
	return nil
}

func (p *slotted) Score(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	return int64(node.Slot), nil
}

func (p *slotted) FilterSlots(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, slots []int32) (accepted uint64, ok bool) {
	for i, slot := range slots {
		if slot%2 == 0 || p.is("Slots are accepted that hold what is not") {
			accepted |= 1 << i
		}
	}
	return accepted, true
}

func (p *slotted) ScoreSlots(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, slots []int32, scores []int64) *extpoints.Status {
	for i, slot := range slots {
		if p.is("Slots are given more") {
			scores[i] += int64(slot)
			continue
		}
		scores[i] = int64(slot)
	}
	if p.is("Slots are skipped") {
		return extpoints.NewStatus(extpoints.Skip)
	}
	return nil
}

func (p *slotted) NormalizeScore(*extpoints.CycleState, *extpoints.WorkloadInfo, []*extpoints.NodeInfo, []int64) *extpoints.Status {
	return nil
}

// violations are what a part of the contract finds in a plugin.
func violations(t *testing.T, s Suite, name string) []string {
	t.Helper()
	seed := modeltest.Seed(t)
	for _, part := range parts {
		if part.name == name {
			tr, err := newTrial(s, seed)
			if err != nil {
				t.Fatal(err)
			}
			tr.run(part.try)
			return tr.problems
		}
	}
	t.Fatalf("the contract has no part %s", name)
	return nil
}

func suiteOf(bad string) Suite {
	return Suite{Name: "Twisted", Rounds: 400, Factory: func(args any, _ extpoints.Handle) (extpoints.Plugin, error) {
		if args != nil && !strings.Contains(bad, "arguments") {
			return nil, errors.New("takes no arguments")
		}
		p := &twisted{bad: bad, mu: &sync.Mutex{}, seen: map[string]bool{}}
		if bad == "Sign leaves something out" {
			return &choosy{*p}, nil
		}
		if strings.HasPrefix(bad, "NodeLocal") {
			return &local{*p}, nil
		}
		if strings.HasPrefix(bad, "Slots") {
			return &slotted{*p}, nil
		}
		return p, nil
	}}
}

func TestGoodPluginPasses(t *testing.T) {
	s := suiteOf("")
	TestPlugin(t, s)
}

func TestEachViolationIsFound(t *testing.T) {
	for _, c := range []struct{ bad, part, text string }{
		{"name changes", "Factory", `is called "Twisted" (and then "Other")`},
		{"takes any arguments", "Factory", "took arguments of a type that it cannot know"},
		{"PreEnqueue says Skip", "PreEnqueue", "PreEnqueue says Skip, which it may not"},
		{"Less is no order", "QueueSort", "goes before itself"},
		{"PreFilter says Wait", "Filter", "PreFilter says Wait, which it may not"},
		{"PreFilter says Skip", "Filter", "PreFilter says Skip, but Filter would say Unschedulable: odd number"},
		{"PreFilter leaves out good nodes", "Filter", "but Filter would accept it"},
		{"PreFilter changes the workload", "Filter", "a node or a workload was changed"},
		{"Filter follows no pointer", "Filter", "plugin Twisted panics: runtime error: invalid memory address"},
		{"Filter gives no reason", "Filter", "Filter says Unschedulable without a reason"},
		{"Filter says Skip", "Filter", "Filter says Skip, which it may not"},
		{"Filter remembers", "Filter", "asked again the plugin says|among others"},
		{"Filter changes the node", "Filter", "a node or a workload was changed"},
		{"AddWorkload does nothing", "Extensions", "after RemoveWorkload and AddWorkload"},
		{"RemoveWorkload rejects", "Extensions", "RemoveWorkload says Unschedulable: odd number, which it may not"},
		{"PostFilter nominates nothing there is", "PostFilter", `nominates node "nowhere"`},
		{"PreScore rejects", "Score", "PreScore says Unschedulable: odd number, which it may not"},
		{"Score is too high", "Score", "is 101 (raw 101), out of range"},
		{"Score changes the state", "Score", "Score changes the state"},
		{"Score rejects", "Score", "Score says Unschedulable: odd number, which it may not"},
		{"NormalizeScore goes below 0", "Score", "out of range"},
		{"Reserve is not undone", "Reserve", "Reserve after Unreserve says"},
		{"Permit waits for no time", "Binding", "Permit says Wait, but no longer than 0s"},
		{"Permit waits too long", "Binding", "Permit says Wait for 1h0m0s, which the engine cuts to 15m0s"},
		{"PreBindPreFlight rejects", "Binding", "PreBindPreFlight says Unschedulable: odd number, which it may not"},
		{"PreBind changes the binding", "Binding", "the binding was changed after Reserve"},
		{"Bind says Wait", "Binding", "Bind says Wait, which it may not"},
		{"Sign says another thing each time", "Sign", "asked again Sign says"},
		{"Sign leaves something out", "Sign", "signed like another workload, this one is told"},
		{"NodeLocal says another thing each time", "NodeLocal", "asked again NodeLocal says"},
		{"NodeLocal leaves something out", "NodeLocal", "NodeLocal gives the key of another workload, and Filter says"},
		{"NodeLocal although it looks at others", "NodeLocal", "NodeLocal gives the key of another workload, and Filter says"},
		{"NodeLocal although it looks at the time", "NodeLocal", "NodeLocal says yes, and Filter says of node"},
		{"NodeLocal although it looks at ages itself", "NodeLocal", "NodeLocal says yes, and Filter says of node"},
		{"NodeLocal although equal scores become different ones", "NodeLocal", "NormalizeScore makes"},
		{"Slots are accepted that hold what is not", "Slots", "FilterSlots says true of slot"},
		{"Slots are given more", "Slots", "ScoreSlots gives slot"},
		{"Slots are skipped", "Slots", "ScoreSlots says Skip, and PreScore Success"},
		{"sleeps through a workload that leaves", "Hints", "is deleted: the plugin now accepts node"},
		{"sleeps through the last gate", "Hints", "the plugin now accepts the workload into the queue"},
	} {
		t.Run(c.bad, func(t *testing.T) {
			found := violations(t, suiteOf(c.bad), c.part)
			for _, problem := range found {
				for text := range strings.SplitSeq(c.text, "|") {
					if strings.Contains(problem, text) {
						return
					}
				}
			}
			t.Errorf("part %s does not say %q; found %q", c.part, c.text, found)
		})
	}
}

// What is made from one seed is the same each time.
func TestRandomIsReproducible(t *testing.T) {
	run := func() uint64 {
		r := rand.New(rand.NewPCG(7, 0))
		var all []*Situation
		for range 50 {
			s := RandomSituation(r)
			all = append(all, s)
			if c := RandomChange(r, s); c != nil {
				all = append(all, c.After)
			}
		}
		return fingerprint(all)
	}
	if first, second := run(), run(); first != second {
		t.Error("two runs from one seed differ")
	}
}

// Random situations are sound: sums are right, before and after a change.
func TestRandomIsSound(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	situations := 300
	if testing.Short() {
		situations = 100
	}
	for range situations {
		s := RandomSituation(r)
		before := fingerprint(s)
		if err := s.Workload.Validate(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		TestView(t, s.View)
		for range 10 {
			c := RandomChange(r, s)
			if c == nil {
				continue
			}
			TestView(t, c.After.View)
			if len(c.Changes) == 0 {
				t.Errorf("seed %d: no event tells that %s", seed, c.What)
			}
		}
		if fingerprint(s) != before {
			t.Fatalf("seed %d: a change changed the situation that it started from", seed)
		}
	}
}

func TestViewProblems(t *testing.T) {
	twice := NodeWith(&model.Node{Name: "a"}, &model.Workload{ID: "w", Requests: model.Resources{CPU: 1}, Ports: []model.HostPort{{Port: 80}}})
	wrong := NodeWith(&model.Node{Name: "b"}, &model.Workload{ID: "v"})
	wrong.Requested.CPU = 5
	view := NewView(twice, twice, wrong)
	view.BudgetList = []*model.Budget{{ID: "x"}, {ID: "x"}}
	got := strings.Join(viewProblems(view), "; ")
	const want = "the node a is listed twice; the budgets are not in the order of their IDs; node b: Requested cpu is not the sum over the workloads"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if problems := viewProblems(NewView(NodeWith(&model.Node{Name: "a"}))); len(problems) != 0 {
		t.Errorf("%q", problems)
	}
}

var (
	_ extpoints.PreEnqueuePlugin    = (*twisted)(nil)
	_ extpoints.QueueSortPlugin     = (*twisted)(nil)
	_ extpoints.PreFilterExtensions = (*twisted)(nil)
	_ extpoints.FilterPlugin        = (*twisted)(nil)
	_ extpoints.PostFilterPlugin    = (*twisted)(nil)
	_ extpoints.PreScorePlugin      = (*twisted)(nil)
	_ extpoints.ScoreNormalizer     = (*twisted)(nil)
	_ extpoints.ReservePlugin       = (*twisted)(nil)
	_ extpoints.PermitPlugin        = (*twisted)(nil)
	_ extpoints.PreBindPlugin       = (*twisted)(nil)
	_ extpoints.BindPlugin          = (*twisted)(nil)
	_ extpoints.SignPlugin          = (*twisted)(nil)
	_ extpoints.NodeLocalPlugin     = (*local)(nil)
	_ extpoints.SlotPlugin          = (*slotted)(nil)
	_ extpoints.EnqueueExtensions   = (*twisted)(nil)
)

// agreeable is a plugin that always says yes, and likes all nodes the same.
type agreeable struct{}

func (agreeable) Name() string { return "Agreeable" }

func (agreeable) PreEnqueue(*model.Workload) *extpoints.Status { return nil }

func (agreeable) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	return nil
}

func (agreeable) Score(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) (int64, *extpoints.Status) {
	return 7, nil
}

// A point that never gave one of its answers is a problem, unless the suite says why.
func TestOneSidedPlugin(t *testing.T) {
	suite := Suite{Name: "Agreeable", Factory: func(any, extpoints.Handle) (extpoints.Plugin, error) { return agreeable{}, nil }}
	for part, want := range map[string]string{"PreEnqueue": "PreEnqueue never rejected", "Filter": "Filter never rejected", "Score": "Score never told nodes apart"} {
		suite.OneSided = nil
		if found := violations(t, suite, part); len(found) != 1 || !strings.HasPrefix(found[0], want) {
			t.Errorf("part %s: %q", part, found)
		}
		suite.OneSided = map[string]string{part: "it is meant to be"}
		if found := violations(t, suite, part); len(found) != 0 {
			t.Errorf("part %s: %q", part, found)
		}
	}
}

// labelled is a plugin that goes by a label of the workload and of the node, and registers what its test says.
type labelled struct{ registers []extpoints.EventHint }

func (labelled) Name() string { return "Labelled" }

func (labelled) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
	if w.Labels["license"] != n.Node.Labels["license"] {
		return extpoints.NewStatus(extpoints.Unschedulable, "no license")
	}
	return nil
}

func (c labelled) EventsToRegister() ([]extpoints.EventHint, error) { return c.registers, nil }

// What turns a rejection into acceptance must wake, whether it is the node or the workload that changes; that nothing
// did so proves nothing.
func TestHintsOfLabels(t *testing.T) {
	licenses := func(r *rand.Rand) *Situation {
		s := RandomSituation(r)
		s.Workload.Workload.Labels = map[string]string{"license": pick(r, apps)}
		for _, n := range s.View.NodeInfos {
			n.Node.Labels = map[string]string{"license": pick(r, apps)}
		}
		return s
	}
	add := extpoints.EventHint{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}}
	node := extpoints.EventHint{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeLabel}}
	target := extpoints.EventHint{Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadLabel}}
	for _, c := range []struct {
		what   string
		random func(*rand.Rand) *Situation
		hints  []extpoints.EventHint
		want   []string // in the problem; none where there is none
	}{
		{"all of it", licenses, []extpoints.EventHint{node, target}, nil},
		{"nothing", licenses, nil, []string{"but no hint says Queue", "registered    nothing"}},
		{"new nodes only", licenses, []extpoints.EventHint{add, target}, []string{"node n", "the change    Labels from", "the events    Node/UpdateNodeLabel", "registered    Node/Add, "}},
		{"nodes only", licenses, []extpoints.EventHint{node}, []string{"the workload changes", "the events    TargetWorkload/UpdateWorkloadLabel"}},
		{"situations without the label", nil, []extpoints.EventHint{node, target}, []string{"Hints never had to wake"}},
	} {
		suite := Suite{Name: "Labelled", Random: c.random, Factory: func(any, extpoints.Handle) (extpoints.Plugin, error) { return labelled{c.hints}, nil }}
		found := violations(t, suite, "Hints")
		if len(c.want) == 0 && len(found) == 0 {
			continue
		}
		if len(found) != 1 || len(found[0]) > 2500 {
			t.Errorf("%s: %q", c.what, found)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(found[0], want) {
				t.Errorf("%s: no %q in %s", c.what, want, found[0])
			}
		}
	}
}
