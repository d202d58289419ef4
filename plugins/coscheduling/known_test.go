package coscheduling

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// Known answers of the upstream plugin: coscheduling_test.go, TestLess, all rows (commit 903da7df).
// "Is" is the group that the workload names, and made when a group of that name was created; 0:
// it is not there. Where nothing is said of a time all times are the same.
func TestKnownOrder(t *testing.T) {
	type one struct {
		priority int32
		came     int
		is       string
		made     int
	}
	const low, high = 10, 100
	for _, c := range []struct {
		name string
		a, b one
		want bool // a goes before b
	}{
		{"the lower priority", one{priority: low}, one{priority: high}, false},
		{"the higher priority", one{priority: high}, one{priority: low}, true},
		{"came first", one{high, 1, "", 0}, one{high, 2, "", 0}, true},
		{"came second", one{high, 2, "", 0}, one{high, 1, "", 0}, false},
		{"the lower priority, in a group", one{low, 0, "ns1/pg1", 0}, one{priority: high}, false},
		{"the higher priority, in a group", one{high, 0, "ns1/pg1", 0}, one{priority: low}, true},
		{"came first, in a group", one{high, 1, "ns1/pg1", 1}, one{high, 2, "", 0}, true},
		{"came second, in a group", one{high, 2, "ns1/pg1", 2}, one{high, 1, "", 0}, false},
		{"the lower priority, of two groups", one{low, 0, "ns1/pg1", 1}, one{high, 0, "ns2/pg2", 2}, false},
		{"the higher priority, of two groups of which one is not there", one{high, 0, "ns1/pg1", 1}, one{low, 0, "ns2/pg1", 0}, true},
		{"the older group", one{high, 1, "ns1/pg1", 1}, one{high, 2, "ns2/pg2", 2}, true},
		{"the lower priority, of the newer group", one{low, 1, "ns/pg2", 2}, one{high, 2, "ns/pg1", 1}, false},
		{"came when the other did, and its group is not there", one{high, 1, "ns1/pg2", 0}, one{high, 1, "ns2/pg2", 2}, true},
		{"came when the other did, whose group is newer", one{high, 1, "", 0}, one{high, 1, "ns2/pg2", 2}, true},
	} {
		p, view := ordered(t)
		view.GroupList = nil
		queue := func(id string, o one) *extpoints.Queued {
			if o.made > 0 {
				view.GroupList = append(view.GroupList, &model.Group{ID: o.is, CreatedAt: at(o.made)})
			}
			return &extpoints.Queued{Workload: &model.Workload{ID: id, Group: o.is}, Priority: o.priority, Timestamp: at(o.came), AddedAt: at(o.came)}
		}
		a, b := queue("ns1/p1", c.a), queue("ns2/p2", c.b)
		if got := p.Less(a, b); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Known answers of the upstream plugin: core/core_test.go, TestPreFilter, all rows (commit 903da7df),
// on two nodes of four cores. Where the answer is another one here, "here" says why.
func TestKnownPreFilters(t *testing.T) {
	for _, c := range []struct {
		name     string
		of       string // the group of the one that is asked about
		others   int    // members besides it
		gated    int    // of them
		minCount int32
		cores    int64 // that the group needs in all
		pass     bool  // upstream
		here     string
	}{
		{name: "in no group", others: 2, minCount: 1, pass: true},
		{name: "the group is not there", of: "none", minCount: 1, pass: true, here: "it waits for the group"},
		{name: "less than enough", of: "g", minCount: 2},
		{name: "enough", of: "g", others: 2, minCount: 2, pass: true},
		{name: "more than enough", of: "g", others: 2, minCount: 2, pass: true},
		{name: "enough without the gated one", of: "g", others: 2, gated: 1, minCount: 2, pass: true},
		{name: "too few without the gated one", of: "g", others: 2, gated: 1, minCount: 3, here: "one with gates is a member"},
		{name: "all others are gated", of: "g", others: 2, gated: 2, minCount: 2, here: "one with gates is a member"},
		{name: "the nodes have enough left", of: "g", others: 2, minCount: 2, cores: 6, pass: true},
		{name: "the nodes have too little left", of: "g", others: 2, minCount: 2, cores: 10},
	} {
		w := newWorld(c.minCount)
		w.view.GroupList[0].MinResources = model.Resources{CPU: 1000 * c.cores}
		w.view.NodeInfos = nil
		for _, name := range []string{"node-a", "node-b"} {
			node := &model.Node{Name: name, Allocatable: model.Resources{CPU: model.Cores(4)}, MaxWorkloads: model.Unlimited}
			w.view.NodeInfos = append(w.view.NodeInfos, extpointstest.NodeWith(node))
		}
		w.view.Number()
		asked := &model.Workload{ID: "p", Group: c.of}
		w.view.PendingMembers = []*model.Workload{asked}
		for i := range c.others {
			other := member(string(rune('a' + i))).Workload
			if i < c.gated {
				other.Gates = []string{"example-gate"}
			}
			w.view.PendingMembers = append(w.view.PendingMembers, other)
		}
		_, st := w.plugin(t).PreFilter(w.state(), &extpoints.WorkloadInfo{Workload: asked})
		if got, want := st == nil, c.pass != (c.here != ""); got != want {
			t.Errorf("%s (here %q): %v", c.name, c.here, st)
		}
	}
}
