package podtopologyspread

import (
	"math"
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// scoresOf are the scores of all nodes of the situation but those of the names,
// and whether PreScore says Skip.
func scoresOf(t *testing.T, p *PodTopologySpread, s *extpointstest.Situation, infeasible ...string) (raw, normalized []int64, skipped bool) {
	t.Helper()
	var nodes []*extpoints.NodeInfo
	for _, n := range s.View.NodeInfos {
		if !slices.Contains(infeasible, n.Node.Name) {
			nodes = append(nodes, n)
		}
	}
	state := s.State()
	if status := p.PreScore(state, s.Workload, nodes); status != nil {
		return nil, nil, status.Code() == extpoints.Skip
	}
	for _, n := range nodes {
		score, status := p.Score(state, s.Workload, n)
		if status != nil {
			t.Fatal(status)
		}
		raw = append(raw, score)
	}
	normalized = slices.Clone(raw)
	p.NormalizeScore(state, s.Workload, nodes, normalized)
	return raw, normalized, false
}

func TestScore(t *testing.T) {
	list := &Args{DefaultingType: List, DefaultConstraints: []model.SpreadConstraint{
		{TopologyKey: hostKey, Mode: model.SpreadPreferred, MaxSkew: 3}, {TopologyKey: zoneKey, Mode: model.SpreadPreferred, MaxSkew: 5},
	}}
	owned := web("w")
	owned.OwnerSelector = model.SelectLabels(labelled("app=web"))
	picky := web("w", preferred("zone", 1))
	picky.NodeSelector = labelled("disk=ssd")
	// What is terminating does not count; the one on n3 does not count
	// either, because its namespace is another.
	busy := []*extpoints.NodeInfo{on("n1", 3, "host=n1"), on("n2", 2, "host=n2"), on("n3", 1, "host=n3")}
	busy[1].Workloads[0].Terminating = true
	busy[2].Workloads[0].Namespace = "other"
	for _, c := range []struct {
		name       string
		args       any
		w          *model.Workload
		nodes      []*extpoints.NodeInfo
		infeasible []string
		raw, want  []int64
	}{
		{"no constraints", nil, web("w"), threeOneNone(), nil, nil, nil},
		{"only a required constraint", nil, web("w", required("zone", 1)), threeOneNone(), nil, nil, nil},
		// 3, 1 and 0 times ln(3+2), rounded.
		{"zones", nil, web("w", preferred("zone", 1)), threeOneNone(), nil, []int64{5, 5, 2, 2, 0}, []int64{0, 0, 60, 60, 100}},
		// The skew adds 2 to all.
		{"a larger skew waters it down", nil, web("w", preferred("zone", 3)), threeOneNone(), nil, []int64{7, 7, 4, 4, 2}, []int64{28, 28, 71, 71, 100}},
		// Workloads on nodes that are not feasible count; the number of zones is
		// that of the feasible nodes: ln(2+2).
		{"some nodes are not feasible", nil, web("w", preferred("zone", 1)), threeOneNone(), []string{"a1", "c1"}, []int64{4, 1, 1}, []int64{25, 100, 100}},
		{"nothing anywhere", nil, web("w", preferred("zone", 1, selecting(nil))), threeOneNone(), nil, []int64{0, 0, 0, 0, 0}, []int64{100, 100, 100, 100, 100}},
		{"a selector without requirements counts nothing", nil, web("w", preferred("zone", 1, selecting(&model.Selector{}))), threeOneNone(), nil,
			[]int64{0, 0, 0, 0, 0}, []int64{100, 100, 100, 100, 100}},
		// 2, 1, 1, 0 and 0 times ln(5+2) more than the zones.
		{"zones and hosts", nil, web("w", preferred("zone", 1), preferred("host", 1)), threeOneNone(), nil, []int64{9, 7, 4, 2, 0}, []int64{0, 22, 55, 77, 100}},
		{"on its way out, or elsewhere", nil, web("w", preferred("host", 1)), busy, nil, []int64{5, 2, 0}, []int64{0, 60, 100}},
		{"a node without the label has no score", nil, web("w", preferred("zone", 1)),
			[]*extpoints.NodeInfo{on("a1", 1, "zone=a"), on("b1", 0, "zone=b"), on("x1", 0)}, nil, []int64{1, 0, 0}, []int64{0, 100, 0}},
		{"nor has one that lacks one of two", nil, web("w", preferred("zone", 1), preferred("host", 1)),
			[]*extpoints.NodeInfo{on("a1", 0, "zone=a", "host=a1"), on("b1", 0, "zone=b"), on("x1", 0)}, nil, []int64{0, 0, 0}, []int64{100, 0, 0}},
		// The node selector leaves out the node of zone a, so nothing counts there.
		{"node affinity is honored", nil, picky,
			[]*extpoints.NodeInfo{on("a1", 3, "zone=a", "disk=hdd"), on("b1", 1, "zone=b", "disk=ssd")}, nil, []int64{0, 1}, []int64{100, 0}},
		// kubernetes.io/hostname: the node's own count, whatever its value.
		{"hosts that share a name", nil, web("w", preferred(hostKey, 1)),
			[]*extpoints.NodeInfo{on("a1", 2, hostKey+"=same"), on("a2", 0, hostKey+"=same")}, nil, []int64{3, 0}, []int64{0, 100}},
		// 2 ln(3+2) + 2 for the host, 2 ln(2+2) + 4 for the zone.
		{"System defaults score nodes without a zone", nil, owned,
			[]*extpoints.NodeInfo{on("a1", 2, hostKey+"=a1", zoneKey+"=a"), on("x1", 1, hostKey+"=x1"), on("y1", 0)}, nil, []int64{12, 4, 0}, []int64{0, 66, 100}},
		{"those of a list do not", list, owned,
			[]*extpoints.NodeInfo{on("a1", 2, hostKey+"=a1", zoneKey+"=a"), on("x1", 1, hostKey+"=x1"), on("y1", 0)}, nil, []int64{10, 0, 0}, []int64{100, 0, 0}},
		// Nodes without a zone count towards the zone without a name.
		{"System defaults and a zone without a name", nil, owned,
			[]*extpoints.NodeInfo{on("e1", 0, zoneKey+"="), on("x1", 2)}, nil, []int64{6, 0}, []int64{0, 100}},
		{"without an owner there are no defaults", nil, web("w"), threeOneNone(), nil, nil, nil},
	} {
		raw, got, skipped := scoresOf(t, newPlugin(t, c.args), extpointstest.NewSituation(c.w, c.nodes...), c.infeasible...)
		if !slices.Equal(raw, c.raw) || !slices.Equal(got, c.want) || skipped != (c.raw == nil) {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, raw, got, c.raw, c.want)
		}
	}
}

// That one constraint's domains have all been seen does not end the search for the other's.
func TestWeighSeesEveryDomain(t *testing.T) {
	zones := &extpoints.Topology{Of: []int32{1, 2, 1, 2, 1, 2}, Values: []string{"", "a", "b"}, Nodes: []int32{0, 3, 3}}
	racks := &extpoints.Topology{Of: []int32{1, 1, 1, 1, 2, 3}, Values: []string{"", "r", "s", "t"}, Nodes: []int32{0, 4, 1, 1}}
	f := &preference{terms: []term{{of: zones.Of}, {of: racks.Of}, {perNode: true}}}
	f.weigh(6, []*extpoints.Topology{zones, racks, nil}, 6, func(i int) int32 { return int32(i) })
	for i, domains := range []float64{2, 3, 6} {
		if want := math.Log(domains + 2); f.terms[i].weight != want {
			t.Errorf("weight %d is %v and not that of %v domains", i, f.terms[i].weight, domains)
		}
	}
}
