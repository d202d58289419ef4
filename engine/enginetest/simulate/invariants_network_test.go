package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// talking is sound, with b-assumed on n1 of an application that talks to two others: d-bound on the same node, and
// e-confirmed in another zone, to which it costs as much as may be.
func talking() *observed {
	o := sound()
	o.nodes["n1"].Zone = "z1"
	o.nodes["n2"] = &model.Node{Name: "n2", Zone: "z2", Labels: map[string]string{"region": "r2"}}
	o.graphs = map[string]*model.AppGraph{"a": {ID: "a", Components: []model.AppComponent{
		{Name: "db"}, {Name: "web", Needs: []model.AppNeed{{Component: "db", MaxCost: 5}}},
	}}}
	o.costs = costsFrom("z1", "z2", 5)
	o.makeOf("b-assumed", "web", "n1")
	o.makeOf("d-bound", "db", "n1")
	o.makeOf("e-confirmed", "db", "n2")
	return o
}

func costsFrom(from, to string, cost int64) *model.NetworkCosts {
	return &model.NetworkCosts{Levels: []model.CostLevel{{Key: model.ByZone, Costs: []model.NetworkCost{{From: from, To: to, Cost: cost}}}}}
}

// makeOf has the workload be of the component, and on the node.
func (o *observed) makeOf(id, component, node string) {
	o.edit(id, func(w *model.WorkloadRecord) {
		w.Labels, w.Node = map[string]string{"app": "a", componentLabel: component}, node
	})
}

// Each case changes what b-assumed talks to, or what is known of it.
func TestNearCheckerFindsWhatIsFar(t *testing.T) {
	dear := func(o *observed) { o.costs = costsFrom("z1", "z2", 6) }
	for _, c := range []struct {
		name, want string
		change     func(before, o *observed)
	}{
		{"near enough", "", func(*observed, *observed) {}},
		{"as many near as far", "", func(_, o *observed) { dear(o) }},
		{"more far than near", "too far from 1 whom it talks to, and close to 0", func(_, o *observed) {
			dear(o)
			o.makeOf("d-bound", "web", "n1")
		}},
		{"two of three far", "too far from 2 whom it talks to, and close to 1", func(before, o *observed) {
			dear(o)
			for _, state := range []*observed{before, o} {
				state.makeOf("f-leaving", "db", "n2")
			}
		}},
		{"two of three far, one of whom came in the same attempt", "", func(_, o *observed) {
			dear(o)
			o.makeOf("f-leaving", "db", "n2")
		}},
		{"one that is on no node", "", func(_, o *observed) {
			dear(o)
			o.makeOf("g-finished", "db", "")
		}},
		{"not known", "", func(_, o *observed) {
			o.costs = costsFrom("z2", "z1", 6)
			o.makeOf("d-bound", "web", "n1")
		}},
		{"a node in no place", "too far from 1", func(_, o *observed) {
			o.nodes["n2"].Zone = ""
			o.makeOf("d-bound", "web", "n1")
		}},
		{"two nodes of one place, which cost more than may be", "", func(_, o *observed) {
			o.graphs["a"].Components[1].Needs[0].MaxCost, o.nodes["n2"].Zone = 0, "z1"
			o.makeOf("d-bound", "web", "n1")
		}},
		{"a level before in which nothing is known", "", func(_, o *observed) {
			dear(o)
			o.costs.Levels = append([]model.CostLevel{{Key: "region"}}, o.costs.Levels...)
			o.makeOf("d-bound", "web", "n1")
		}},
		{"another application", "", func(_, o *observed) {
			dear(o)
			o.makeOf("d-bound", "web", "n1")
			o.edit("e-confirmed", func(w *model.WorkloadRecord) { w.Labels["app"] = "b" })
		}},
		{"no application", "", func(_, o *observed) {
			dear(o)
			o.makeOf("d-bound", "web", "n1")
			delete(o.graphs, "a")
		}},
		{"no costs", "", func(_, o *observed) {
			o.makeOf("d-bound", "web", "n1")
			o.costs = nil
		}},
		{"a node that is not there", "", func(_, o *observed) {
			dear(o)
			o.makeOf("d-bound", "web", "n1")
			delete(o.nodes, "n2")
		}},
	} {
		before, o := talking(), talking()
		c.change(before, o)
		row := o.rows["b-assumed"]
		if got := strings.Join(o.checkNear(before, &row), "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want something with %q", c.name, got, c.want)
		}
	}
}

// The order is by priority, then an application as a whole, where it was created, and in it by components; what is of none
// goes by when it came.
func TestAppsHaveTheirOrder(t *testing.T) {
	o := talking()
	o.byApps = true
	o.graphs["a"].CreatedAt = simEpoch
	add := func(id, component string, priority int32, since time.Duration) {
		w := &model.Workload{ID: id, Priority: priority, Labels: map[string]string{componentLabel: component}}
		if component != "" {
			w.Labels["app"] = "a"
		}
		o.rows[id] = model.WorkloadRecord{Workload: w, Phase: model.Pending}
		o.positions[id] = queue.Position{ID: id, Place: queue.Active, Timestamp: simEpoch.Add(since)}
	}
	isBefore := func(id, other string) bool {
		_, before := o.turnBefore(id, other, false)
		return before
	}
	want := []string{"first", "unknown", "db", "web", "later web", "alone"}
	add("first", "", 1, 9)
	add("unknown", missing, 0, 8)
	add("db", "db", 0, 7)
	add("web", "web", 0, 5)
	add("later web", "web", 0, 6)
	add("alone", "", 0, 1)
	for i, id := range want {
		for j, other := range want {
			if got := isBefore(id, other); got != (i < j) {
				t.Errorf("%s before %s: %v", id, other, got)
			}
		}
	}
	o.toldGraphs = simEpoch.Add(1)
	if isBefore("db", "web") || !isBefore("first", "db") {
		t.Error("an application has changed since, and more than the priority counts")
	}
}
