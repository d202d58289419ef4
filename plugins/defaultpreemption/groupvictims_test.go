package defaultpreemption

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// in makes the workload a member of the group.
func in(group string, w *extpoints.WorkloadInfo) *extpoints.WorkloadInfo {
	w.Group = group
	return w
}

// groups are written "id parent priority", with a parent of "-" for none, and
// then "all" where it leaves as one, "composite" where it is a group of groups.
func groups(texts ...string) []*model.Group {
	var list []*model.Group
	for _, text := range texts {
		g := &model.Group{}
		if _, err := fmt.Sscan(text, &g.ID, &g.Parent, &g.Priority); err != nil {
			panic(err)
		}
		if g.Parent == "-" {
			g.Parent = ""
		}
		if strings.Contains(text, " all") {
			g.Disruption = model.DisruptAll
		}
		g.Composite = strings.Contains(text, " composite")
		list = append(list, g)
	}
	return list
}

func withGroups(texts ...string) func(*extpointstest.View) {
	return func(v *extpointstest.View) { v.GroupList = groups(texts...) }
}

// Which victims have to leave the node n1 of 1000, and what leaves with them, so that a
// workload of priority 5 fits.
func TestVictimsInGroups(t *testing.T) {
	elsewhere := func(list ...*extpoints.WorkloadInfo) *extpoints.NodeInfo { return node("n2", 9000, list...) }
	for _, c := range []struct {
		name    string
		cpu     int64
		groups  []string
		on      works
		other   *extpoints.NodeInfo
		budgets []*model.Budget
		want    string
		breaks  int
	}{
		{"the group's priority counts: too important", 300, []string{"g - 7"},
			works{in("g", on("a", 1, 900, 1))}, nil, nil, "UnschedulableAndUnresolvable: No preemption victims found for incoming workload", 0},
		{"and not important enough", 300, []string{"g - 1"}, works{in("g", on("a", 7, 900, 1))}, nil, nil, "a", 0},
		{"the same priority will not do", 300, []string{"g - 5"},
			works{in("g", on("a", 1, 900, 1))}, nil, nil, "UnschedulableAndUnresolvable: No preemption victims found for incoming workload", 0},
		{"the priority of the highest counts", 300, []string{"g mid 7", "mid top 7 composite", "top - 1 composite"},
			works{in("g", on("a", 7, 900, 1))}, nil, nil, "a", 0},
		{"where it is not there, that of the one below", 300, []string{"g mid 7", "mid top 2 composite"},
			works{in("g", on("a", 7, 900, 1))}, nil, nil, "a", 0},
		{"where there is none, the workload's own", 300, nil, works{in("g", on("a", 4, 500, 1)), in("g", on("b", 5, 500, 1))}, nil, nil, "a", 0},
		{"a group of groups has no workloads", 300, []string{"g - 9 composite"}, works{in("g", on("a", 4, 900, 1))}, nil, nil, "a", 0},
		{"nor has a group of workloads groups", 300, []string{"g top 1", "top - 9"}, works{in("g", on("a", 9, 900, 1))}, nil, nil, "a", 0},
		{"above the fourth there is nothing", 300, []string{"a b 9", "b c 9 composite", "c d 9 composite", "d e 1 composite", "e - 9 composite"},
			works{in("a", on("a", 9, 900, 1))}, nil, nil, "a", 0},
		{"in a circle the lowest counts", 300, []string{"g x 1", "x y 9 composite all", "y x 9 composite all"}, works{in("g", on("a", 9, 900, 1))}, nil, nil, "a", 0},

		{"members leave one by one", 500, []string{"g - 1"}, works{in("g", on("a", 1, 500, 1)), in("g", on("b", 1, 500, 2))}, elsewhere(in("g", on("c", 1, 1, 1))), nil, "a", 0},
		{"or all together, wherever they are", 500, []string{"g - 1 all"},
			works{in("g", on("b", 1, 500, 1)), in("g", on("d", 1, 500, 2))}, elsewhere(in("g", on("a", 1, 1, 1)), on("x", 1, 1, 1), in("g", on("c", 1, 1, 1))), nil, "a b c d", 0},
		{"as the highest group wants it that wants it", 500, []string{"g1 mid 1 all", "g2 mid 1", "mid top 1 all composite", "g3 top 1 all", "top - 1 composite"},
			works{in("g1", on("a", 1, 900, 1))}, elsewhere(in("g2", on("b", 1, 1, 1)), in("g3", on("c", 1, 1, 1))), nil, "a b", 0},
		{"also where none below does", 500, []string{"g1 mid 1", "g2 mid 1", "mid top 1 composite", "g3 top 1", "top - 1 all composite"},
			works{in("g1", on("a", 1, 900, 1))}, elsewhere(in("g3", on("c", 1, 1, 1)), in("g2", on("b", 1, 1, 1))), nil, "c a b", 0},
		{"four groups above each other", 500, []string{"g g3 1", "g3 g2 1 composite", "g2 g1 1 composite", "g1 - 1 all composite"},
			works{in("g", on("a", 1, 900, 1))}, elsewhere(in("g", on("b", 1, 1, 1))), nil, "a b", 0},
		{"the group itself, where none above does", 500, []string{"g1 top 1 all", "g2 top 1 all", "top - 1 composite"},
			works{in("g1", on("a", 1, 900, 1))}, elsewhere(in("g1", on("b", 1, 1, 1)), in("g2", on("c", 1, 1, 1))), nil, "a b", 0},
		{"a group stays as a whole", 400, []string{"g - 1 all"},
			works{in("g", on("a", 1, 300, 1)), in("g", on("b", 1, 300, 1)), on("c", 1, 300, 9)}, nil, nil, "c", 0},
		{"or leaves as a whole, though one would do", 300, []string{"g - 1 all"},
			works{in("g", on("a", 1, 300, 1)), in("g", on("b", 1, 300, 1)), on("c", 2, 300, 9)}, nil, nil, "a b", 0},

		{"the higher priority stays", 300, []string{"g - 1 all"}, works{in("g", on("a", 4, 500, 9)), on("b", 2, 500, 1)}, nil, nil, "a", 0},
		{"of the same priority groups stay before workloads", 300, []string{"g - 1 all"}, works{on("a", 1, 500, 9), in("g", on("b", 1, 500, 1))}, nil, nil, "a", 0},
		{"also where the member leaves alone", 300, []string{"g - 1"}, works{on("a", 1, 500, 9), in("g", on("b", 1, 500, 1))}, nil, nil, "a", 0},
		{"or its group is not there", 300, nil, works{on("a", 1, 500, 9), in("g", on("b", 1, 500, 1))}, nil, nil, "a", 0},
		{"groups of groups stay before groups, however many are in those", 300, []string{"g top 1", "top - 1 all composite", "h - 1 all"},
			works{in("h", on("a", 1, 500, 9)), in("g", on("b", 1, 500, 1))}, elsewhere(in("h", on("c", 1, 1, 9))), nil, "a c", 0},
		{"what leaves as one group counts as one, whatever is above", 300, []string{"g top 1 all", "top - 1 composite", "h - 1 all"},
			works{in("h", on("a", 1, 500, 9)), in("g", on("b", 1, 500, 1))}, nil, nil, "b", 0},
		{"the larger group stays", 300, []string{"g - 1 all", "h - 1 all"},
			works{in("h", on("a", 1, 500, 9)), in("g", on("b", 1, 500, 1))}, elsewhere(in("g", on("c", 1, 1, 1))), nil, "a", 0},
		{"of two that are equal the one that started first", 300, []string{"g - 1 all", "h - 1 all"},
			works{in("h", on("a", 1, 500, 3)), in("g", on("b", 1, 500, 2))}, elsewhere(in("g", on("c", 1, 1, 4)), in("h", on("d", 1, 1, 1))), nil, "a d", 0},
		{"which is now where it has no start time", 300, []string{"g - 1 all", "h - 1 all"},
			works{in("h", on("a", 1, 500, 0)), in("g", on("b", 1, 500, 0))}, elsewhere(in("g", on("c", 1, 1, 1)), in("h", on("d", 1, 1, 0))), nil, "a d", 0},
		{"which may be before others start", 300, []string{"g - 1 all", "h - 1 all"},
			works{in("h", on("a", 1, 500, -1)), in("g", on("b", 1, 500, 0))}, elsewhere(in("g", on("c", 1, 1, -5)), in("h", on("d", 1, 1, -5))), nil, "a d", 0},
		{"the later on the node if neither has", 300, []string{"g - 1 all", "h - 1 all"},
			works{in("h", on("a", 1, 500, 0)), in("g", on("b", 1, 500, 0))}, nil, nil, "b", 0},

		{"a budget protects the group of one that it protects", 300, []string{"g - 1 all"},
			works{in("g", on("a", 1, 500, 1)), on("b", 4, 500, 1)}, elsewhere(in("g", labelled(on("c", 1, 1, 1), "web"))), []*model.Budget{budget("x", "web", 0)}, "b", 0},
		{"and counts each that must leave all the same", 1000, []string{"g - 1 all"},
			works{in("g", labelled(on("a", 1, 500, 1), "web")), on("b", 4, 500, 1)}, elsewhere(in("g", on("c", 1, 1, 1)), in("g", labelled(on("d", 1, 1, 1), "web")), in("g", labelled(on("e", 1, 1, 1), "web"))),
			[]*model.Budget{budget("x", "web", 1)}, "b a c d e", 2},
		{"what the budget allows it does not protect", 300, []string{"g - 1 all"},
			works{in("g", labelled(on("a", 1, 500, 1), "web")), on("b", 4, 500, 1)}, elsewhere(in("g", labelled(on("c", 1, 1, 1), "web"))), []*model.Budget{budget("x", "web", 2)}, "a c", 0},
	} {
		n := node("n1", 1000, c.on...)
		view := extpointstest.NewView(n)
		if c.other != nil {
			view = extpointstest.NewView(c.other, n)
		}
		view.GroupList, view.BudgetList = groups(c.groups...), c.budgets
		s := extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: view, Now: now, Seed: 1}).State()
		victims, st := newTrial(&extpointstest.Preemption{Filters: fits}, s, on("w", 5, c.cpu, 0), nil).victimsOn(n)
		got, breaks := st.String(), 0
		if victims != nil {
			got, breaks = ids(victims.Workloads), victims.BudgetViolations
		}
		if got != c.want || breaks != c.breaks {
			t.Errorf("%s: %s with %d violations, want %s with %d", c.name, got, breaks, c.want, c.breaks)
		}
	}
}

// What an attempt comes to where groups are on the nodes.
func TestPostFilterWithGroups(t *testing.T) {
	nominated := on("w", 5, 600, 0)
	nominated.Nominated = "n1"
	w := on("w", 5, 600, 0)
	marked := on("a", 1, 900, 1)
	marked.Displaced = true
	for _, c := range []struct {
		name string
		attempt
		want, says string
	}{
		{"the whole group is evicted, and counted",
			attempt{w: w, nodes: infos{node("n1", 1000, in("g", on("a", 1, 900, 1))), node("n2", 600, in("g", on("b", 1, 600, 1)), on("c", 9, 0, 1))}, view: withGroups("g - 1 all")},
			"n1: a b", "Success: preemption: found a potential placement for workload on node n1, preempting 2 victims"},
		{"of two nodes that with fewer workloads that leave, wherever they are",
			attempt{w: w, nodes: infos{node("n1", 1000, in("g", on("a", 1, 900, 1))), node("n2", 1000, on("b", 1, 900, 9)), node("n3", 100, in("g", on("c", 1, 100, 1)))}, view: withGroups("g - 1 all")},
			"n2: b", "Success: preemption: found a potential placement for workload on node n2, preempting 1 victims"},
		{"there it is the workloads' own priority that counts",
			attempt{w: w, nodes: infos{node("n1", 1000, in("g", on("a", 3, 900, 1))), node("n2", 1000, in("h", on("b", 2, 900, 1)))}, view: withGroups("g - 1", "h - 4")},
			"n2: b", "Success: preemption: found a potential placement for workload on node n2, preempting 1 victims"},
		{"that of the first member of a group that leaves as one",
			attempt{w: w, nodes: infos{node("n1", 1000, in("g", on("b", 2, 900, 1))), node("n2", 1000, in("h", on("d", 2, 900, 1))), node("n3", 100, in("g", on("a", 3, 0, 1)), in("h", on("e", 3, 0, 1)), on("full", 9, 100, 1))}, view: withGroups("g - 1 all", "h - 1 all")},
			"n2: d e", "Success: preemption: found a potential placement for workload on node n2, preempting 2 victims"},
		{"a member that was displaced is still leaving the nominated node, and its group is less important",
			attempt{w: nominated, nodes: infos{node("n1", 1000, displaced(in("g", on("a", 9, 900, 1))))}, view: withGroups("g - 1")},
			"", "Unschedulable: preemption: not eligible due to a terminating workload on the nominated node."},
		{"one that is to leave and does not yet does not count",
			attempt{w: nominated, nodes: infos{node("n1", 1000, marked, on("x", 9, 100, 1)), node("n2", 1000, on("b", 0, 900, 1))}},
			"n2: b", "Success: preemption: found a potential placement for workload on node n2, preempting 1 victims"},
		{"nor one whose group is not less important",
			attempt{w: nominated, nodes: infos{node("n1", 1000, displaced(in("g", on("a", 1, 900, 1)))), node("n2", 1000, on("b", 1, 900, 1))}, view: withGroups("g - 5")},
			"n2: b", "Success: preemption: found a potential placement for workload on node n2, preempting 1 victims"},
	} {
		st := c.run(t)
		if got := c.String(); got != c.want || st.String() != c.says {
			t.Errorf("%s: %q, %s\nwant %q, %s", c.name, got, st, c.want, c.says)
		}
	}
}

// lost is a view in which more members are on nodes that are not there.
type lost struct {
	*extpointstest.View
	members []extpoints.PlacedMember
}

// lostOf is one in which two of the group are.
func lostOf(group string, nodes ...*extpoints.NodeInfo) lost {
	return lost{extpointstest.NewView(nodes...), []extpoints.PlacedMember{
		{WorkloadInfo: in(group, on("y", 9, 1, 1)), Node: "gone"}, {WorkloadInfo: in(group, on("z", 9, 1, 1)), Node: "also gone"},
	}}
}

func (v lost) Groups() extpoints.Groups { return lostGroups{v.View.Groups(), v.members} }

type lostGroups struct {
	extpoints.Groups
	members []extpoints.PlacedMember
}

func (g lostGroups) Placed(id string) []extpoints.PlacedMember {
	list := g.Groups.Placed(id)
	if id == g.members[0].Group {
		list = append(list, g.members...)
	}
	return list
}

// Part of a group that leaves as one is on a node that is not there: it stays, and the message
// says so; others leave, from the same node too. In kube-scheduler the nodes that have others
// of it are no candidates, however important it is.
func TestMemberOnNoNode(t *testing.T) {
	const (
		says  = `failed to get node info for node "gone" from snapshot: nodeinfo not found for node name "gone"`
		stays = `; group "g" stays: workload "y" of it is on node "gone", which is not there`
		found = "Success: preemption: found a potential placement for workload on node %s, preempting 1 victims"
	)
	for _, c := range []struct {
		name, group string
		nodes       infos
		want, kube  string
	}{
		{"another node will do", "g - 1 all", infos{node("n1", 1000, in("g", on("a", 1, 900, 1))), node("n2", 1000, on("b", 1, 900, 1))},
			fmt.Sprintf(found, "n2") + stays, fmt.Sprintf(found, "n2")},
		{"another on the node will do", "g - 1 all", infos{node("n1", 1000, on("b", 1, 900, 1), in("g", on("a", 1, 10, 1)))},
			fmt.Sprintf(found, "n1") + stays, "Error: preemption: " + says},
		{"nobody else will do", "g - 1 all", infos{node("n1", 1000, on("b", 1, 10, 1), in("g", on("a", 1, 900, 1)))},
			"Unschedulable: preemption: 0/1 nodes are available: 1 Insufficient cpu." + stays, "Error: preemption: " + says},
		{"it is more important", "g - 9 all", infos{node("n1", 1000, on("b", 1, 900, 1), in("g", on("a", 1, 10, 1)))},
			fmt.Sprintf(found, "n1"), "Error: preemption: " + says},
		{"members that leave one by one are not in the way", "g - 1", infos{node("n1", 1000, in("g", on("a", 1, 900, 1)))},
			fmt.Sprintf(found, "n1"), fmt.Sprintf(found, "n1")},
	} {
		for compat, want := range map[extpoints.Compat]string{extpoints.Improved: c.want, extpoints.KubeScheduler137: c.kube} {
			view := lostOf("g", c.nodes...)
			view.GroupList = groups(c.group)
			p := &DefaultPreemption{args: Args{}.WithDefaults(), handle: handleOf(&extpointstest.Preemption{Filters: fits}), compat: compat}
			s := extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: view, Now: now, Seed: 1}).State()
			w := on("w", 5, 600, 0)
			_, st := p.PostFilter(s, w, statuses{view, w, nil})
			require.Equal(t, want, st.String(), "%s, %v", c.name, compat)
		}
	}
}

// The extensions of PreFilter are told of every member of a group that leaves as
// one, with the node that it is on. Only the node that is being tried changes.
func TestExtensionsHearOfWholeGroups(t *testing.T) {
	main := node("n1", 1000, in("g", on("b", 1, 500, 1)), on("c", 2, 500, 1))
	other := node("n2", 1000, in("g", on("a", 1, 500, 1)), in("g", on("d", 1, 500, 1)))
	var heard []string
	engine := &extpointstest.Preemption{Filters: fits}
	engine.Extensions = func(_ *extpoints.CycleState, _, added, removed *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
		sign, w := "+", added
		if w == nil {
			sign, w = "-", removed
		}
		heard = append(heard, sign+w.ID)
		if on := slices.Contains(n.Workloads, w); (w.ID == "a" || w.ID == "d") != (n == other) || on != (n == other || added != nil) {
			t.Errorf("%s%s: node %s with %s", sign, w.ID, n.Node.Name, ids(n.Workloads))
		}
		return nil
	}
	view := extpointstest.NewView(main, other)
	view.GroupList = groups("g - 1 all")
	s := extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: view, Now: now, Seed: 1}).State()
	victims, st := newTrial(engine, s, on("w", 5, 500, 0), nil).victimsOn(main)
	if st != nil || ids(victims.Workloads) != "a b d" {
		t.Fatalf("%v, %v", victims, st)
	}
	if got := strings.Join(heard, " "); got != "-a -b -d -c +c +a +b +d -a -b -d" {
		t.Errorf("heard %s", got)
	}
}

// A group that was met on one node is met again on the next.
func TestGroupOnSeveralCandidates(t *testing.T) {
	n1, n2 := node("n1", 1000, in("g", on("a", 1, 900, 1))), node("n2", 1000, in("g", on("b", 1, 900, 1)))
	view := extpointstest.NewView(n1, n2)
	view.GroupList = groups("g - 1 all")
	trial := newTrial(&extpointstest.Preemption{Filters: fits}, extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: view, Now: now, Seed: 1}).State(), on("w", 5, 500, 0), nil)
	for _, n := range view.NodeInfos {
		if victims, st := trial.victimsOn(n); st != nil || ids(victims.Workloads) != "a b" {
			t.Errorf("%s: %v, %v", n.Node.Name, victims, st)
		}
	}
}
