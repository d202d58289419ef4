package defaultpreemption

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// gang is a group of priority 5 of which all members that are to be placed are
// needed.
func gang(members ...*extpoints.WorkloadInfo) *extpoints.GroupInfo {
	g := &model.Group{ID: "gang", Priority: 5, Policy: model.Gang, MinCount: int32(len(members))}
	for _, w := range members {
		w.Group, w.Priority = g.ID, g.Priority
	}
	return &extpoints.GroupInfo{Group: g, Members: members}
}

// wants are members that want so many milli-CPU each.
func wants(cpu ...int64) works {
	var list works
	for i, n := range cpu {
		list = append(list, on(fmt.Sprint("m", i+1), 5, n, 0))
	}
	return list
}

// groupAttempt is one call of GroupPostFilter, with what came of it.
type groupAttempt struct {
	args    Args
	g       *extpoints.GroupInfo
	nodes   infos
	groups  []string
	budgets []*model.Budget
	engine  extpointstest.Preemption         // Filters default to fits
	trial   func(*extpointstest.GroupTrial)  // changes the trial
	view    func(*extpointstest.View)        // changes the view
	cycle   *extpoints.Cycle                 // afterwards
	result  *extpoints.GroupPostFilterResult // afterwards
}

func (a *groupAttempt) run(t testing.TB) *extpoints.Status {
	t.Helper()
	if a.engine.Filters == nil {
		a.engine.Filters = fits
	}
	view := extpointstest.NewView(a.nodes...)
	view.GroupList, view.BudgetList = append(groups(a.groups...), a.g.Group), a.budgets
	if a.view != nil {
		a.view(view)
	}
	p, err := New(a.args, handleOf(&a.engine))
	if err != nil {
		t.Fatal(err)
	}
	trial := extpointstest.NewGroupTrial(view, a.g, &a.engine)
	if a.trial != nil {
		a.trial(trial)
	}
	before := sums(a.nodes)
	a.cycle = extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: view, Now: now, Seed: 1})
	var st *extpoints.Status
	a.result, st = p.GroupPostFilter(a.cycle.State(), a.g, trial)
	if sums(a.nodes) != before {
		t.Error("the nodes of the view have changed")
	}
	return st
}

// String says what was asked for: "a b | m1=n1" is an eviction of a and b and a
// nomination of m1 to n1.
func (a *groupAttempt) String() string {
	var words []string
	for _, e := range a.cycle.Requests().Evictions {
		words = append(words, e.ID)
	}
	words = append(words, "|")
	if a.result != nil {
		for _, id := range slices.Sorted(maps.Keys(a.result.Nominations)) {
			words = append(words, id+"="+a.result.Nominations[id].Nominate)
		}
	} else {
		words = append(words, "-")
	}
	return strings.Join(words, " ")
}

// The outcomes of an attempt, and what each says.
func TestGroupPostFilter(t *testing.T) {
	never := gang(wants(500)...)
	never.Preemption = model.PreemptNever
	unwilling := func() *extpoints.WorkloadInfo {
		return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "m1", Preemption: model.PreemptNever, Requests: model.Resources{CPU: 500}}}
	}
	lower := gang(unwilling())
	lower.Preemption = model.PreemptLower
	boom := extpoints.AsStatus(errors.New("boom"))
	nominated := func() works {
		list := wants(500, 500)
		list[1].Nominated = "n1"
		return list
	}
	tree := func(children ...*extpoints.GroupInfo) *extpoints.GroupInfo {
		return &extpoints.GroupInfo{Group: &model.Group{ID: "tree", Composite: true, Priority: 5}, Children: children}
	}
	top := tree(never)
	top.Preemption = model.PreemptLower
	const found = "Success: group preemption: found a placement for group, preempting "
	const leaving = "Success: group preemption: ongoing preemption on nominated nodes"
	full := func() infos { return infos{node("n1", 1000, on("a", 1, 900, 1)), node("n2", 1000, on("b", 2, 900, 1))} }
	for _, c := range []struct {
		name string
		groupAttempt
		want, says string
	}{
		{"room is made on several nodes", groupAttempt{g: gang(wants(600, 600)...), nodes: full()},
			"b a | m1=n1 m2=n2", found + "2 victims"},
		{"what need not leave is put back, the more important first",
			groupAttempt{g: gang(wants(600)...), nodes: infos{node("n1", 1000, on("a", 2, 300, 1), on("b", 1, 300, 1), on("c", 3, 300, 1)), node("n2", 1000, on("d", 1, 900, 1))}},
			"a b | m1=n1", found + "2 victims"},
		{"nodes are not compared: the group stays where it was placed with everything gone",
			groupAttempt{g: gang(wants(600)...), nodes: infos{node("n1", 1000, on("a", 4, 900, 1)), node("n2", 1000, on("b", 1, 500, 1))}},
			"a | m1=n1", found + "1 victims"},
		{"several members on one node need room together",
			groupAttempt{g: gang(wants(400, 400)...), nodes: infos{node("n1", 1000, on("a", 1, 500, 1), on("b", 1, 200, 1))}},
			"a | m1=n1 m2=n1", found + "1 victims"},
		{"everything can be put back", groupAttempt{g: gang(wants(500)...), nodes: infos{node("n1", 1000, on("a", 1, 400, 1))}},
			"| m1=n1", found + "0 victims"},
		{"nobody is of lower priority", groupAttempt{g: gang(wants(500)...), nodes: infos{node("n1", 1000, on("a", 5, 900, 1))}},
			"| -", "UnschedulableAndUnresolvable: group preemption: No preemption victims found for incoming preemptor"},
		{"it would not help", groupAttempt{g: gang(wants(600, 600)...), nodes: infos{node("n1", 1000, on("a", 1, 900, 1)), node("n2", 1000, on("b", 5, 900, 1))}},
			"| -", "Unschedulable: group preemption: group is unschedulable"},
		{"that it fails is an error", groupAttempt{g: gang(wants(500)...), nodes: full(), trial: func(t *extpointstest.GroupTrial) { t.Fails = boom }},
			"| -", "Error: group preemption: boom"},
		{"it says nothing", groupAttempt{g: gang(wants(500)...), nodes: full(), trial: func(t *extpointstest.GroupTrial) { t.Fails = extpoints.NewStatus(extpoints.Unschedulable) }},
			"| -", "Unschedulable"},
		{"policy Never", groupAttempt{g: never, nodes: full()}, "| -", "Unschedulable: group preemption: not eligible due to preemptionPolicy=Never."},
		{"members' own policy does not count where the group has one", groupAttempt{g: lower, nodes: full()[:1]}, "a | m1=n1", found + "1 victims"},
		{"where it has none it does", groupAttempt{g: gang(unwilling()), nodes: full()[:1]},
			"| -", "Unschedulable: group preemption: not eligible due to preemptionPolicy=Never."},
		{"the highest group's counts", groupAttempt{g: top, nodes: full()[:1]}, "a | m1=n1", found + "1 victims"},

		{"a workload that was displaced is still leaving a nominated node: nominations stay",
			groupAttempt{g: gang(nominated()...), nodes: infos{node("n1", 1000, displaced(on("a", 1, 900, 1))), node("n2", 1000, on("b", 1, 900, 1))}},
			"| m1= m2=n1", leaving},
		{"it is still leaving, and the node is too small by now: others are displaced",
			groupAttempt{g: gang(nominated()...), nodes: infos{node("n1", 100, displaced(on("a", 1, 900, 1))), node("n2", 1000, on("b", 1, 900, 1))}},
			"b | m1=n2 m2=n2", found + "1 victims"},
		{"nor is there room elsewhere: nominations are taken back",
			groupAttempt{g: gang(nominated()...), nodes: infos{node("n1", 100, displaced(on("a", 1, 900, 1))), node("n2", 100, on("b", 1, 90, 1))}},
			"|", "Unschedulable: group preemption: group is unschedulable"},
		{"a member would fit elsewhere only, and moves on",
			groupAttempt{g: gang(nominated()...), nodes: infos{node("n1", 1000, displaced(on("a", 1, 900, 1)), on("lord", 9, 500, 1)), node("n2", 1000), node("n3", 1000, on("b", 1, 900, 1))}},
			"| m1= m2=n2", leaving},
		{"it is in a group whose priority is lower",
			groupAttempt{g: gang(nominated()...), groups: []string{"g - 1"}, nodes: infos{node("n1", 1000, displaced(in("g", on("a", 9, 900, 1)))), node("n2", 1000, on("b", 1, 900, 1))}},
			"| m1= m2=n1", leaving},
		{"and whose priority is not",
			groupAttempt{g: gang(nominated()...), groups: []string{"g - 5"}, nodes: infos{node("n1", 1000, displaced(in("g", on("a", 1, 900, 1)))), node("n2", 1000, on("b", 1, 900, 1))}},
			"b | m1=n2 m2=n2", found + "1 victims"},
		{"one that leaves by itself does not count",
			groupAttempt{g: gang(nominated()...), nodes: infos{node("n1", 1000, terminating(on("a", 1, 900, 1)))}},
			"| m1=n1 m2=n1", found + "1 victims"},
		{"nor one on another node",
			groupAttempt{g: gang(nominated()...), nodes: infos{node("n1", 1000, on("a", 1, 900, 1)), node("n2", 1000, displaced(on("b", 1, 900, 1)))}},
			"a | m1=n1 m2=n1", found + "1 victims"},
		{"nor where the nominated node has gone",
			groupAttempt{g: gang(nominated()...), nodes: infos{node("n2", 1000, on("b", 1, 900, 1))}},
			"b | m1=n2 m2=n2", found + "1 victims"},
		{"policy Never comes before that", groupAttempt{g: &extpoints.GroupInfo{Group: never.Group, Members: nominated()}, nodes: infos{node("n1", 1000, displaced(on("a", 1, 900, 1)))}},
			"| -", "Unschedulable: group preemption: not eligible due to preemptionPolicy=Never."},

		{"the whole of a group leaves that leaves as one", groupAttempt{g: gang(wants(600)...), groups: []string{"g - 1 all"},
			nodes: infos{node("n1", 1000, in("g", on("b", 1, 900, 1))), node("n2", 1000, in("g", on("a", 1, 1, 1)), on("c", 1, 900, 1))}},
			"a b | m1=n1", found + "2 victims"},
		{"or none of it, where it need not", groupAttempt{g: gang(wants(600)...), groups: []string{"g - 1 all"},
			nodes: infos{node("n1", 1000, in("g", on("b", 1, 300, 1)), on("d", 1, 300, 9)), node("n2", 1000, in("g", on("a", 1, 1, 1)), on("c", 1, 900, 1))}},
			"d | m1=n1", found + "1 victims"},
		{"the priority of a member is that of the highest group", groupAttempt{g: gang(wants(600)...), groups: []string{"g top 1", "top - 5 composite"},
			nodes: infos{node("n1", 1000, in("g", on("b", 1, 900, 1))), node("n2", 1000, on("c", 4, 900, 1))}},
			"c | m1=n2", found + "1 victims"},
		{"the group's own members on nodes stay", groupAttempt{g: gang(wants(600)...),
			nodes: infos{node("n1", 1000, in("gang", on("b", 1, 900, 1))), node("n2", 1000, on("c", 4, 900, 1))}},
			"c | m1=n2", found + "1 victims"},
		{"a budget protects", groupAttempt{g: gang(wants(600)...), budgets: []*model.Budget{budget("x", "web", 0)},
			nodes: infos{node("n1", 1000, labelled(on("a", 1, 400, 1), "web"), on("b", 4, 400, 1))}},
			"b | m1=n1", found + "1 victims"},
		{"a group of which one is protected stays before others", groupAttempt{g: gang(wants(600)...), groups: []string{"g - 1 all"}, budgets: []*model.Budget{budget("x", "web", 0)},
			nodes: infos{node("n1", 1000, in("g", on("a", 1, 400, 1)), on("b", 4, 400, 1)), node("n2", 100, in("g", labelled(on("c", 1, 100, 1), "web")))}},
			"b | m1=n1", found + "1 victims"},
		{"those that are leaving are counted but left alone", groupAttempt{g: gang(wants(900)...), nodes: infos{node("n1", 1000, on("a", 1, 500, 1), terminating(on("b", 2, 500, 1)))}},
			"a | m1=n1", found + "2 victims"},
		{"a group of groups: members of all of them are nominated", groupAttempt{
			g: tree(&extpoints.GroupInfo{Group: &model.Group{ID: "x", Parent: "tree"}, Members: works{in("x", on("m1", 5, 600, 0))}},
				&extpoints.GroupInfo{Group: &model.Group{ID: "y", Parent: "tree"}, Members: works{in("y", on("m2", 5, 600, 0))}}), nodes: full()},
			"b a | m1=n1 m2=n2", found + "2 victims"},
		{"its priority is that of the whole", groupAttempt{
			g: tree(&extpoints.GroupInfo{Group: &model.Group{ID: "x", Parent: "tree", Priority: 1}, Members: works{in("x", on("m1", 1, 600, 0))}}), nodes: full()[1:]},
			"b | m1=n2", found + "1 victims"},
		{"a member in a group below waits for one that is leaving", groupAttempt{
			g: tree(&extpoints.GroupInfo{Group: &model.Group{ID: "x", Parent: "tree"}, Members: nominated()}), nodes: infos{node("n1", 1000, displaced(on("a", 1, 900, 1)))}},
			"| m1= m2=n1", leaving},
	} {
		st := c.run(t)
		if got := c.String(); got != c.want || st.String() != c.says {
			t.Errorf("%s: %q, %s\nwant %q, %s", c.name, got, st, c.want, c.says)
		}
		if len(c.cycle.Requests().Unnominations) > 0 || c.cycle.Requests().AwaitEvictions {
			t.Errorf("%s: unnominations %v, awaits %v", c.name, c.cycle.Requests().Unnominations, c.cycle.Requests().AwaitEvictions)
		}
		for _, e := range c.cycle.Requests().Evictions {
			if e.Reason != "preempted by group "+c.g.ID {
				t.Errorf("%s: reason %q", c.name, e.Reason)
			}
		}
	}
}

// Workloads of lower priority keep their nominations, unlike where room is made
// for one workload; and the synchronous way waits.
func TestGroupNominationsOfOthers(t *testing.T) {
	low := on("low", 1, 1, 0)
	low.Nominated = "n1"
	for _, synchronous := range []bool{false, true} {
		a := groupAttempt{args: Args{Synchronous: synchronous}, g: gang(wants(600)...), nodes: infos{node("n1", 1000, on("a", 1, 900, 1))},
			view: func(v *extpointstest.View) { v.Nominating = map[string][]*extpoints.WorkloadInfo{"n1": {low}} }}
		if st := a.run(t); a.String() != "a | m1=n1" || len(a.cycle.Requests().Unnominations) > 0 || a.cycle.Requests().AwaitEvictions != synchronous {
			t.Errorf("synchronous %v: %s, %v, awaits %v", synchronous, &a, st, a.cycle.Requests().AwaitEvictions)
		}
	}
}

// Part of a group that leaves as one is on a node that is not there: the group stays, and the
// message says so; others leave. In kube-scheduler no group can make room then.
func TestGroupMemberOnNoNode(t *testing.T) {
	const stays = `; group "h" stays: workload "y" of it is on node "gone", which is not there`
	lowers := infos{node("n1", 1000, in("h", on("a", 1, 900, 1))), node("n2", 1000, on("b", 1, 900, 1))}
	for _, c := range []struct {
		name, group string
		nodes       infos
		policy      model.PreemptionPolicy
		want, gone  string
	}{
		{"another will do", "h - 1 all", lowers, "", "Success: group preemption: found a placement for group, preempting 1 victims" + stays, "b"},
		{"it alone would do", "h - 1 all", lowers[:1], "", "UnschedulableAndUnresolvable: group preemption: No preemption victims found for incoming preemptor" + stays, ""},
		{"it is more important", "h - 9 all", lowers, "", "Success: group preemption: found a placement for group, preempting 1 victims", "b"},
		{"its members leave one by one", "h - 1", lowers[:1], "", "Success: group preemption: found a placement for group, preempting 1 victims", "a"},
		{"the policy is Never", "h - 9 all", lowers, model.PreemptNever, "Unschedulable: group preemption: not eligible due to preemptionPolicy=Never.", ""},
	} {
		for _, compat := range []extpoints.Compat{extpoints.Improved, extpoints.KubeScheduler137} {
			view := lostOf("h", c.nodes...)
			g := gang(wants(600)...)
			g.Preemption = c.policy
			view.GroupList = append(groups(c.group), g.Group)
			h := extpointstest.NewHandle()
			h.Preempting, h.Mode = &extpointstest.Preemption{Filters: fits}, compat
			p, err := New(Args{}, h)
			require.NoError(t, err)
			cycle := extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: view, Now: now, Seed: 1})
			_, st := p.GroupPostFilter(cycle.State(), g, extpointstest.NewGroupTrial(view.View, g, &extpointstest.Preemption{Filters: fits}))
			want := c.want
			if compat == extpoints.KubeScheduler137 && strings.HasSuffix(c.group, "all") {
				want = `Error: group preemption: failed to create domain: failed to get node info for node "gone" from snapshot: nodeinfo not found for node name "gone"`
			}
			require.Equal(t, want, st.String(), "%s, %v", c.name, compat)
			if want == c.want {
				var gone []string
				for _, e := range cycle.Requests().Evictions {
					gone = append(gone, e.ID)
				}
				require.Equal(t, c.gone, strings.Join(gone, " "), c.name)
			}
		}
	}
}

func TestPreEnqueueOfMembers(t *testing.T) {
	h := extpointstest.NewHandle()
	h.Preempting = &extpointstest.Preemption{Evicting: map[string]bool{"busy": true}}
	for _, c := range []struct {
		id          string
		synchronous bool
		want        string
	}{
		{"idle", false, "Success"},
		{"busy", false, "UnschedulableAndUnresolvable: waiting for the preemption for this group to be finished"},
		{"busy", true, "Success"},
	} {
		p, err := New(Args{Synchronous: c.synchronous}, h)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.PreEnqueue(&model.Workload{ID: c.id, Group: "g"}); got.String() != c.want {
			t.Errorf("%s, synchronous %v: %v, want %s", c.id, c.synchronous, got, c.want)
		}
	}
}
