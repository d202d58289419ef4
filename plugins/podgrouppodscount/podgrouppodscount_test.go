package podgrouppodscount

import (
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

// situation is a group g with two members on a node and a tree with three.
func situation() *extpointstest.GroupSituation {
	info := func(id, parent string, composite bool) *extpoints.GroupInfo {
		return &extpoints.GroupInfo{Group: &model.Group{ID: id, Parent: parent, Composite: composite}}
	}
	top := info("top", "", true)
	mid := info("mid", "top", true)
	top.Children, mid.Children = []*extpoints.GroupInfo{info("g", "top", false), mid}, []*extpoints.GroupInfo{info("low", "mid", false)}
	in := func(id, group string) *model.Workload { return &model.Workload{ID: id, Group: group} }
	s := extpointstest.NewGroupSituation(top, extpointstest.NodeWith(&model.Node{Name: "n"},
		in("a", "g"), in("b", "g"), in("c", "low"), in("d", "other"), in("e", "")))
	s.View.PendingMembers = append(s.View.PendingMembers, in("f", "g"))
	return s
}

func TestScorePlacement(t *testing.T) {
	for _, c := range []struct {
		group    string
		proposed int
		want     int64
	}{
		{"g", 0, 2},
		{"g", 3, 5},
		{"low", 1, 2},
		{"mid", 0, 1},
		{"top", 0, 3},
		{"top", 4, 7},
		{"empty", 1, 1},
	} {
		s := situation()
		g := s.View.Groups().Get(c.group)
		if g == nil {
			g = &model.Group{ID: c.group}
		}
		a := &extpoints.Assignments{Proposals: make([]extpoints.Proposal, c.proposed)}
		got, status := (&PodGroupPodsCount{}).ScorePlacement(s.State(), &extpoints.GroupInfo{Group: g}, a)
		if got != c.want || status != nil {
			t.Errorf("%+v: %d, %v", c, got, status)
		}
	}
}

func TestNormalizePlacementScore(t *testing.T) {
	for _, c := range []struct {
		raw, want []int64
		status    string
	}{
		{[]int64{5}, []int64{100}, "Success"},
		{[]int64{5, 10, 0}, []int64{50, 100, 0}, "Success"},
		{[]int64{1, 3, 2}, []int64{33, 100, 66}, "Success"},
		{[]int64{999, 1000}, []int64{99, 100}, "Success"},
		{[]int64{0, 0}, []int64{0, 0}, "Error: no workloads from group are assigned to any of the candidate placements"},
		{nil, nil, "Error: no workloads from group are assigned to any of the candidate placements"},
	} {
		scores := slices.Clone(c.raw)
		status := (&PodGroupPodsCount{}).NormalizePlacementScore(nil, nil, scores)
		if !slices.Equal(scores, c.want) || status.String() != c.status {
			t.Errorf("%v: %v, %v; want %v, %s", c.raw, scores, status, c.want, c.status)
		}
	}
}
