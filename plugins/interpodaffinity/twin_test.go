package interpodaffinity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// twin answers as the plugin should, by going through everything.
type twin struct {
	view *extpointstest.View
	w    *extpoints.WorkloadInfo
}

// pair is a workload and the node it is on.
type pair struct {
	node *model.Node
	*extpoints.WorkloadInfo
}

func (t twin) placed() []pair {
	var all []pair
	for _, n := range t.view.NodeInfos {
		for _, w := range n.Workloads {
			all = append(all, pair{n.Node, w})
		}
	}
	return all
}

// means reports whether the incoming workload's term means the other.
func (t twin) means(term *model.AffinityTerm, other *extpoints.WorkloadInfo) bool {
	namespaces := slices.Clone(term.Namespaces)
	if selector := term.NamespaceSelector; selector == nil {
		if len(namespaces) == 0 {
			namespaces = append(namespaces, t.w.Namespace)
		}
	} else {
		if len(selector.Requirements) == 0 {
			namespaces = append(namespaces, other.Namespace)
		}
		for _, object := range t.view.Namespaces {
			if selector.Matches(object.Labels) {
				namespaces = append(namespaces, object.Name)
			}
		}
	}
	return slices.Contains(namespaces, other.Namespace) && term.Selector.Matches(other.Labels)
}

// meant reports whether the other's term means the incoming workload.
func (t twin) meant(term *model.AffinityTerm, other *extpoints.WorkloadInfo) bool {
	if !term.Selector.Matches(t.w.Labels) {
		return false
	}
	if term.NamespaceSelector == nil && len(term.Namespaces) == 0 {
		return t.w.Namespace == other.Namespace
	}
	var object model.Namespace
	if known := t.view.Namespace(t.w.Namespace); known != nil {
		object = *known
	}
	return slices.Contains(term.Namespaces, t.w.Namespace) || term.NamespaceSelector.Matches(object.Labels)
}

func together(a, b *model.Node, key string) bool {
	x, inX := a.Labels[key]
	y, inY := b.Labels[key]
	return inX && inY && x == y
}

// filter is a letter, see verdicts.
func (t twin) filter(node *model.Node) string {
	if !t.isNear(node) {
		return "A"
	}
	if own := t.w.AntiAffinity; own != nil {
		for _, term := range own.Required {
			for _, other := range t.placed() {
				if t.means(&term, other.WorkloadInfo) && together(node, other.node, term.TopologyKey) {
					return "X"
				}
			}
		}
	}
	if t.offends(node) {
		return "E"
	}
	return "."
}

// offends reports whether the node is near one that bars the workload; no node
// in particular where it is nil.
func (t twin) offends(node *model.Node) bool {
	for _, other := range t.placed() {
		if other.AntiAffinity == nil {
			continue
		}
		for _, term := range other.AntiAffinity.Required {
			at := node
			if at == nil {
				at = other.node
			}
			if t.meant(&term, other.WorkloadInfo) && together(at, other.node, term.TopologyKey) {
				return true
			}
		}
	}
	return false
}

func (t twin) isNear(node *model.Node) bool {
	if t.w.Affinity == nil || len(t.w.Affinity.Required) == 0 {
		return true
	}
	terms := t.w.Affinity.Required
	meansAll := func(other *extpoints.WorkloadInfo) bool {
		return !slices.ContainsFunc(terms, func(term model.AffinityTerm) bool { return !t.means(&term, other) })
	}
	somewhere, found := false, 0
	for _, term := range terms {
		if _, ok := node.Labels[term.TopologyKey]; !ok {
			return false
		}
		here := false
		for _, other := range t.placed() {
			if meansAll(other.WorkloadInfo) {
				somewhere = somewhere || together(other.node, other.node, term.TopologyKey)
				here = here || together(node, other.node, term.TopologyKey)
			}
		}
		if here {
			found++
		}
	}
	return found == len(terms) || !somewhere && meansAll(t.w)
}

// skipsFilter is what PreFilter should say.
func (t twin) skipsFilter() bool {
	own := t.w.Affinity != nil && len(t.w.Affinity.Required) > 0 || t.w.AntiAffinity != nil && len(t.w.AntiAffinity.Required) > 0
	return !own && !t.offends(nil)
}

// score adds up one preference after the other; counted says whether there was
// any.
func (t twin) score(p *InterPodAffinity, node *model.Node) (score int64, counted bool) {
	own := t.w.Affinity != nil && len(t.w.Affinity.Preferred) > 0 || t.w.AntiAffinity != nil && len(t.w.AntiAffinity.Preferred) > 0
	if p.ignoreExisting && !own {
		return 0, false
	}
	for _, other := range t.placed() {
		count := func(weight int32, term *model.AffinityTerm, yes bool) {
			counted = counted || yes && together(other.node, other.node, term.TopologyKey)
			if yes && together(node, other.node, term.TopologyKey) {
				score += int64(weight)
			}
		}
		extpointstest.EachTerm(t.w.Workload, func(kind extpoints.TermKind, weight int32, term *model.AffinityTerm) {
			switch kind {
			case extpoints.PreferredAffinityTerm:
				count(weight, term, t.means(term, other.WorkloadInfo))
			case extpoints.PreferredAntiAffinityTerm:
				count(-weight, term, t.means(term, other.WorkloadInfo))
			}
		})
		extpointstest.EachTerm(other.Workload, func(kind extpoints.TermKind, weight int32, term *model.AffinityTerm) {
			switch yes := t.meant(term, other.WorkloadInfo); kind {
			case extpoints.RequiredAffinityTerm:
				count(p.hardWeight, term, yes && p.hardWeight > 0)
			case extpoints.PreferredAffinityTerm:
				count(weight, term, yes)
			case extpoints.PreferredAntiAffinityTerm:
				count(-weight, term, yes)
			}
		})
	}
	return score, counted
}

// twinNormalize is the formula of the reference.
func twinNormalize(scores []int64) []int64 {
	out := make([]int64, len(scores))
	for i, score := range scores {
		if low, high := slices.Min(scores), slices.Max(scores); high != low {
			out[i] = int64(math.Trunc(100 * (float64(score-low) / float64(high-low))))
		}
	}
	return out
}

func scores(t *testing.T, p *InterPodAffinity, w *extpoints.WorkloadInfo, state *extpoints.CycleState, nodes []*extpoints.NodeInfo) []int64 {
	t.Helper()
	out := make([]int64, len(nodes))
	for i, n := range nodes {
		score, status := p.Score(state, w, n)
		if status != nil {
			t.Fatal(status)
		}
		out[i] = score
	}
	return out
}

// worlds calls f for random situations, always the same ones.
func worlds(t *testing.T, n int, f func(r *rand.Rand, s *extpointstest.Situation)) {
	t.Helper()
	if testing.Short() {
		n /= 10
	}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := randomWorld(r)
		s.Name = fmt.Sprintf("seed %d", seed)
		f(r, s)
		if t.Failed() {
			t.Fatalf("seed %d:\n%v", seed, s)
		}
	}
}

func TestFilterIsItsTwin(t *testing.T) {
	p := newPlugin(t, Args{})
	seen := map[string]int{}
	worlds(t, 20000, func(_ *rand.Rand, s *extpointstest.Situation) {
		state, twin := s.State(), twin{s.View, s.Workload}
		_, status := p.PreFilter(state, s.Workload)
		if status.Code() == extpoints.Skip != twin.skipsFilter() {
			t.Errorf("PreFilter says %v", status)
		}
		if status.Code() == extpoints.Skip {
			seen["skip"]++
		}
		compareFilter(t, p, state, s, seen)
	})
	for _, what := range []string{"skip", ".", "A", "X", "E"} {
		if seen[what] < 50 {
			t.Errorf("the random situations have too little of %q: %v", what, seen)
		}
	}
}

func compareFilter(t *testing.T, p *InterPodAffinity, state *extpoints.CycleState, s *extpointstest.Situation, seen map[string]int) {
	t.Helper()
	got := verdicts(t, p, state, s)
	for i, n := range s.View.NodeInfos {
		want := twin{s.View, s.Workload}.filter(n.Node)
		seen[want]++
		if got[i:i+1] != want {
			t.Errorf("node %s: %s, want %s", n.Node.Name, got[i:i+1], want)
		}
	}
}

// After a row of workloads that come and go, on clones of clones, Filter says
// what it would say had things been so from the start.
func TestExtensionsAreTheirTwin(t *testing.T) {
	p := newPlugin(t, Args{})
	turned := 0
	worlds(t, 5000, func(r *rand.Rand, s *extpointstest.Situation) {
		state := s.State()
		if _, status := p.PreFilter(state, s.Workload); status.Code() == extpoints.Skip {
			return
		}
		at := pick(r, s.View.NodeInfos) // most are on one node, as in preemption
		before := verdicts(t, p, state, s)
		now, clone := &extpointstest.Situation{Workload: s.Workload, View: withNodes(s.View, s.View.NodeInfos)}, state
		for step := range 1 + r.IntN(8) {
			if r.IntN(6) == 0 {
				at = pick(r, now.View.NodeInfos)
			}
			node := now.View.Nodes().Get(at.Node.Name).Clone()
			clone = clone.Clone()
			if len(node.Workloads) > 0 && r.IntN(2) == 0 {
				gone := pick(r, node.Workloads)
				node.RemoveWorkload(gone.ID)
				p.RemoveWorkload(clone, s.Workload, gone, node)
			} else {
				new := &extpoints.WorkloadInfo{Workload: randomOther(r, fmt.Sprint("new-", step))}
				node.AddWorkload(new)
				p.AddWorkload(clone, s.Workload, new, node)
			}
			now.View = withNodes(now.View, now.View.NodeInfos)
			now.View.NodeInfos[slices.IndexFunc(now.View.NodeInfos, func(n *extpoints.NodeInfo) bool { return n.Slot == node.Slot })] = node
			compareFilter(t, p, clone, now, map[string]int{})
			if t.Failed() {
				t.Fatalf("%s, after step %d:\n%v", s.Name, step, now)
			}
		}
		if verdicts(t, p, clone, s) != before {
			turned++
		}
		if verdicts(t, p, state, s) != before {
			t.Error("what was done to clones changed the state")
		}
	})
	if turned < 20 {
		t.Errorf("only %d rows made a difference", turned)
	}
}

func withNodes(v *extpointstest.View, nodes []*extpoints.NodeInfo) *extpointstest.View {
	c := *v
	c.NodeInfos = slices.Clone(nodes)
	return &c
}

func TestScoreIsItsTwin(t *testing.T) {
	for _, args := range []Args{{}, hard(0), hard(100), ignoring} {
		p := newPlugin(t, args)
		skipped, scored := 0, 0
		worlds(t, 5000, func(_ *rand.Rand, s *extpointstest.Situation) {
			state := s.State()
			status := p.PreScore(state, s.Workload, s.View.NodeInfos)
			_, counted := twin{s.View, s.Workload}.score(p, s.View.NodeInfos[0].Node)
			if status.Code() == extpoints.Skip == counted {
				t.Errorf("PreScore says %v", status)
			}
			if status.Code() == extpoints.Skip {
				skipped++
				return
			}
			scored++
			got := scores(t, p, s.Workload, state, s.View.NodeInfos)
			for i, n := range s.View.NodeInfos {
				if want, _ := (twin{s.View, s.Workload}).score(p, n.Node); got[i] != want {
					t.Errorf("node %s: %d, want %d", n.Node.Name, got[i], want)
				}
			}
			want := twinNormalize(got)
			p.NormalizeScore(state, s.Workload, s.View.NodeInfos, got)
			if !slices.Equal(got, want) {
				t.Errorf("normalized %v, want %v", got, want)
			}
		})
		if skipped < 20 || scored < 20 {
			t.Errorf("%d skipped and %d scored are too few", skipped, scored)
		}
	}
}
