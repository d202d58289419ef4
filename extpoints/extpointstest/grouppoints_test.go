package extpointstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model/modeltest"
)

// twistedGroups is twisted for the points of groups.
type twistedGroups struct {
	bad   string
	calls int
}

func (p *twistedGroups) Name() string { return "Twisted" }

func (p *twistedGroups) is(bad string) bool { return p.bad == bad }

func (p *twistedGroups) GeneratePlacements(s *extpoints.CycleState, g *extpoints.GroupInfo, parent *extpoints.Placement) ([]extpoints.Placement, *extpoints.Status) {
	nodes := parent.Nodes
	p.calls++
	switch p.bad {
	case "GeneratePlacements waits":
		return nil, extpoints.NewStatus(extpoints.Wait)
	case "GeneratePlacements changes the parent":
		parent.Name = "changed"
	case "GeneratePlacements changes the group":
		g.MinCount++
	case "GeneratePlacements makes two of a name":
		return []extpoints.Placement{*parent, *parent}, nil
	case "GeneratePlacements invents a node":
		nodes = []*extpoints.NodeInfo{nodes[0].Clone()}
	case "GeneratePlacements turns the nodes round":
		nodes = slices.Clone(nodes)
		slices.Reverse(nodes)
	case "GeneratePlacements remembers":
		return []extpoints.Placement{{Name: fmt.Sprint(p.calls)}}, nil
	}
	if s.Group() != g {
		return nil, extpoints.NewStatus(extpoints.Skip, "this is not the group's cycle")
	}
	return []extpoints.Placement{{Name: "one", Nodes: nodes[:1]}, {Name: "rest", Nodes: nodes[1:]}}, nil
}

func (p *twistedGroups) PlacementFeasible(_ *extpoints.CycleState, g *extpoints.GroupInfo, progress extpoints.PlacementProgress) *extpoints.Status {
	p.calls++
	switch {
	case p.is("PlacementFeasible fails"):
		return extpoints.NewStatus(extpoints.Error, "broken")
	case p.is("PlacementFeasible remembers") && p.calls%2 == 0:
		return nil
	}
	if progress.Scheduled == 0 {
		return extpoints.NewStatus(extpoints.Wait, "nobody yet")
	}
	return nil
}

func (p *twistedGroups) ScorePlacement(_ *extpoints.CycleState, _ *extpoints.GroupInfo, a *extpoints.Assignments) (int64, *extpoints.Status) {
	p.calls++
	switch p.bad {
	case "ScorePlacement rejects":
		return 0, odd
	case "ScorePlacement remembers":
		return int64(p.calls), nil
	case "ScorePlacement changes the proposals":
		a.Proposals = nil
	}
	return int64(len(a.Proposals)), nil
}

func (p *twistedGroups) NormalizePlacementScore(_ *extpoints.CycleState, _ *extpoints.GroupInfo, scores []int64) *extpoints.Status {
	p.calls++
	switch p.bad {
	case "NormalizePlacementScore goes too high":
		scores[0] = extpoints.MaxScore + 1
	case "NormalizePlacementScore remembers":
		scores[0] = int64(p.calls % 100)
	case "NormalizePlacementScore rejects":
		return odd
	}
	return nil
}

func (p *twistedGroups) GroupPostFilter(s *extpoints.CycleState, g *extpoints.GroupInfo, t extpoints.GroupTrial) (*extpoints.GroupPostFilterResult, *extpoints.Status) {
	p.calls++
	nominate := func(id, node string) (*extpoints.GroupPostFilterResult, *extpoints.Status) {
		return &extpoints.GroupPostFilterResult{Nominations: map[string]extpoints.PostFilterResult{id: {Nominate: node}}}, nil
	}
	node := t.View().Nodes().At(0).Node.Name
	var first string
	g.All(func(w *extpoints.WorkloadInfo) bool { first = w.ID; return false })
	switch p.bad {
	case "GroupPostFilter waits":
		return nil, extpoints.NewStatus(extpoints.Wait)
	case "GroupPostFilter nominates nothing there is":
		return nominate(first, "nowhere")
	case "GroupPostFilter nominates for a stranger":
		return nominate("stranger", node)
	case "GroupPostFilter evicts by turns":
		s.Evict(fmt.Sprint(p.calls), "room")
	}
	return nominate(first, node)
}

func groupSuiteOf(bad string) Suite {
	return Suite{Name: "Twisted", Rounds: 100, Factory: extpoints.FactoryOf(func(extpoints.NoArgs, extpoints.Handle) (*twistedGroups, error) {
		return &twistedGroups{bad: bad}, nil
	})}
}

func TestGoodPluginOfGroupsPasses(t *testing.T) {
	for _, part := range []string{"PlacementGenerate", "PlacementFeasible", "PlacementScore", "GroupPostFilter"} {
		if found := violations(t, groupSuiteOf(""), part); len(found) > 0 {
			t.Errorf("%s: %q", part, found)
		}
	}
}

func TestEachViolationOfGroupsIsFound(t *testing.T) {
	for _, c := range []struct{ bad, part, text string }{
		{"GeneratePlacements waits", "PlacementGenerate", "GeneratePlacements says Wait, which it may not"},
		{"GeneratePlacements changes the parent", "PlacementGenerate", "changes the parent's placement"},
		{"GeneratePlacements changes the group", "PlacementGenerate", "a node, a group or a workload was changed"},
		{"GeneratePlacements makes two of a name", "PlacementGenerate", "there are two placements"},
		{"GeneratePlacements invents a node", "PlacementGenerate", "not among the parent's in its order"},
		{"GeneratePlacements turns the nodes round", "PlacementGenerate", "not among the parent's in its order"},
		{"GeneratePlacements remembers", "PlacementGenerate", "asked again GeneratePlacements says"},
		{"PlacementFeasible fails", "PlacementFeasible", "PlacementFeasible says Error: broken, which it may not"},
		{"PlacementFeasible remembers", "PlacementFeasible", "asked again about"},
		{"ScorePlacement rejects", "PlacementScore", "ScorePlacement says Unschedulable: odd number, which it may not"},
		{"ScorePlacement remembers", "PlacementScore", "asked again ScorePlacement says"},
		{"ScorePlacement changes the proposals", "PlacementScore", "changes what is proposed"},
		{"NormalizePlacementScore goes too high", "PlacementScore", "is 101 (raw"},
		{"NormalizePlacementScore remembers", "PlacementScore", "NormalizePlacementScore makes"},
		{"NormalizePlacementScore rejects", "PlacementScore", "NormalizePlacementScore says Unschedulable"},
		{"GroupPostFilter waits", "GroupPostFilter", "GroupPostFilter says Wait, which it may not"},
		{"GroupPostFilter nominates nothing there is", "GroupPostFilter", `nominates node "nowhere"`},
		{"GroupPostFilter nominates for a stranger", "GroupPostFilter", `for "stranger", which is no member`},
		{"GroupPostFilter evicts by turns", "GroupPostFilter", "asked again GroupPostFilter says"},
	} {
		found := violations(t, groupSuiteOf(c.bad), c.part)
		if !slices.ContainsFunc(found, func(problem string) bool { return strings.Contains(problem, c.text) }) {
			t.Errorf("%s: part %s does not say %q; found %q", c.bad, c.part, c.text, found)
		}
	}
}

// Situations that a suite gives are tried first.
func TestGivenGroupsAreTried(t *testing.T) {
	s := groupSuiteOf("PlacementFeasible fails")
	s.Groups = []*GroupSituation{RandomGroupSituation(rand.New(rand.NewPCG(1, 0)))}
	s.Groups[0].Name = "given"
	if found := violations(t, s, "PlacementFeasible"); len(found) == 0 || !strings.Contains(found[0], `situation "given"`) {
		t.Errorf("%q", found)
	}
}

// Random groups are sound: they are valid, the view knows them and their
// members, and the same seed makes the same.
func TestRandomGroupsAreSound(t *testing.T) {
	seed := modeltest.Seed(t)
	r, twin := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		s := RandomGroupSituation(r)
		if fingerprint(s) != fingerprint(RandomGroupSituation(twin)) {
			t.Fatalf("BERTH_SEED=%d: not the same again", seed)
		}
		TestView(t, s.View)
		for _, g := range s.View.GroupList {
			if err := g.Validate(); err != nil {
				t.Errorf("BERTH_SEED=%d: %v", seed, err)
			}
		}
		for _, w := range s.members() {
			if pending := s.View.Groups().Pending(w.Group); !slices.Contains(pending, w.ID) {
				t.Errorf("BERTH_SEED=%d: %s does not wait in %q", seed, w.ID, w.Group)
			}
		}
	}
}
