package coscheduling

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

func at(seconds int) time.Time { return extpointstest.Now.Add(time.Duration(seconds) * time.Second) }

func queued(id, group string, priority int32, seconds int) *extpoints.Queued {
	return &extpoints.Queued{Workload: &model.Workload{ID: id, Group: group}, Priority: priority, Timestamp: at(seconds), AddedAt: at(seconds - 1)}
}

// ordered makes the plugin, with groups old, new and twin (as old as old).
func ordered(t *testing.T) (*Coscheduling, *extpointstest.View) {
	t.Helper()
	w := newWorld(1)
	w.view.GroupList = []*model.Group{{ID: "old", CreatedAt: at(10)}, {ID: "new", CreatedAt: at(20)}, {ID: "twin", CreatedAt: at(10)}, {ID: "timeless"}}
	return w.plugin(t), w.view
}

func TestLess(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b *extpoints.Queued
		want bool // a goes before b; and b not before a
	}{
		{"the higher priority, whatever else", queued("a", "new", 2, 99), queued("b", "old", 1, 1), true},
		{"the older group, whoever waits longer", queued("a", "old", 1, 99), queued("b", "new", 1, 1), true},
		{"of equally old groups by ID", queued("a", "old", 1, 99), queued("b", "twin", 1, 1), true},
		{"in a group who waits longer", queued("a", "old", 1, 5), queued("b", "old", 1, 6), true},
		{"without a group who waits longer", queued("a", "", 1, 5), queued("b", "", 1, 6), true},
		{"one without a group before a group", queued("a", "", 1, 9), queued("b", "old", 1, 1), true},
		{"one without a group after a group", queued("b", "old", 1, 99), queued("a", "", 1, 11), true},
		{"a group that is not there: by when its member came", queued("a", "none", 1, 10), queued("b", "old", 1, 1), true},
		{"and the other way round", queued("b", "old", 1, 99), queued("a", "none", 1, 12), true},
		{"a group that does not say when: the same", queued("b", "old", 1, 99), queued("a", "timeless", 1, 12), true},
	} {
		p, _ := ordered(t)
		if p.Less(c.a, c.b) != c.want || p.Less(c.b, c.a) == c.want {
			t.Errorf("%s: %v and %v", c.name, p.Less(c.a, c.b), p.Less(c.b, c.a))
		}
	}
	p, _ := ordered(t)
	if a, b := queued("a", "old", 1, 5), queued("b", "old", 1, 5); p.Less(a, b) || p.Less(b, a) {
		t.Error("two that agree in everything are not equal")
	}
}

// Sorted, the members of a group are next to each other.
func TestGroupsStayTogether(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		p, _ := ordered(t)
		var list []*extpoints.Queued
		for range 20 {
			list = append(list, queued("w", []string{"old", "new", "twin", "timeless", "none"}[r.IntN(5)], 1, r.IntN(40)))
		}
		for range 5 {
			list = append(list, queued("w", "", 1, r.IntN(40)))
		}
		slices.SortFunc(list, func(a, b *extpoints.Queued) int {
			switch {
			case p.Less(a, b):
				return -1
			case p.Less(b, a):
				return 1
			}
			return 0
		})
		var order []string
		for _, q := range list {
			if g := q.Workload.Group; g != "" && (len(order) == 0 || order[len(order)-1] != g) {
				if slices.Contains(order, g) {
					t.Fatalf("seed %d: %s again after %s", seed, g, strings.Join(order, " "))
				}
				order = append(order, g)
			}
		}
	}
}

// The order of those in the queue does not change when a group comes or goes, or
// is made anew.
func TestOrderDoesNotChange(t *testing.T) {
	p, view := ordered(t)
	a, b, c := queued("a", "old", 1, 1), queued("b", "none", 1, 16), queued("c", "new", 1, 1)
	view.PendingMembers = []*model.Workload{a.Workload, b.Workload, c.Workload}
	if !p.Less(a, b) || !p.Less(b, c) {
		t.Fatal("not in the order that is meant")
	}
	view.GroupList = []*model.Group{{ID: "old", CreatedAt: at(90)}, {ID: "none", CreatedAt: at(50)}}
	if !p.Less(a, b) || !p.Less(b, c) || !p.Less(a, c) {
		t.Error("the order has changed")
	}
}

func BenchmarkLess(b *testing.B) {
	w := newWorld(1)
	w.view.GroupList = []*model.Group{{ID: "old", CreatedAt: at(10)}, {ID: "new", CreatedAt: at(20)}}
	h := extpointstest.NewHandle()
	h.Cluster = w.view
	p, err := New(Args{}, h)
	if err != nil {
		b.Fatal(err)
	}
	x, y := queued("x", "old", 1, 1), queued("y", "new", 1, 1)
	b.ReportAllocs()
	for b.Loop() {
		p.Less(x, y)
	}
}
