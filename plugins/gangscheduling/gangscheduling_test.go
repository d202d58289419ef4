package gangscheduling

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New),
		Handle: func() extpoints.Handle {
			h := extpointstest.NewHandle()
			h.Cluster = world("gang g 2: a b@n0 | basic k: c | gang h 3: d").view
			return h
		},
		Random: func(r *rand.Rand) *extpointstest.Situation {
			s := extpointstest.RandomSituation(r)
			s.Workload.Group = []string{"", "g", "k", "h"}[r.IntN(4)]
			return s
		},
		OneSided: map[string]string{"Hints": "no member comes or goes here; TestNoChangeIsSleptThrough"},
	})
}

// fixture is a cluster of groups.
type fixture struct {
	view    *extpointstest.View
	waiting *extpointstest.Waiting
}

// world makes groups from their description: "gang|basic[*] <id> [<minCount>]
// [< <parent>]: <members>", groups apart by "|". A * makes a group of groups.
// A member is an ID for a waiting one, ID@node for one on a node, and ID!node for
// one that waits there on Permit.
func world(text string) *fixture {
	n0 := extpointstest.NodeWith(&model.Node{Name: "n0"})
	f := &fixture{view: extpointstest.NewView(n0), waiting: &extpointstest.Waiting{}}
	for i, line := range strings.Split(text, "|") {
		head, members, _ := strings.Cut(line, ":")
		words := strings.Fields(head)
		if len(words) == 0 {
			continue
		}
		kind, composite := strings.CutSuffix(words[0], "*")
		g := &model.Group{ID: words[1], Composite: composite, Policy: model.Basic, CreatedAt: extpointstest.Now.Add(time.Duration(i))}
		if kind == "gang" {
			g.Policy = model.Gang
			fmt.Sscan(words[2], &g.MinCount)
		}
		if j := slices.Index(words, "<"); j > 0 {
			g.Parent = words[j+1]
		}
		f.view.GroupList = append(f.view.GroupList, g)
		for _, member := range strings.Fields(members) {
			id, _, placed := strings.Cut(strings.ReplaceAll(member, "!", "@"), "@")
			info := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Group: g.ID}}
			switch {
			case !placed:
				f.view.PendingMembers = append(f.view.PendingMembers, info.Workload)
			default:
				n0.AddWorkload(info)
				if strings.Contains(member, "!") {
					f.waiting.Workloads = append(f.waiting.Workloads, extpointstest.WaitingOn{Info: info, On: "n0", Plugins: []string{Name}})
				}
			}
		}
	}
	return f
}

// plugin makes the plugin for the fixture.
func (f *fixture) plugin(t *testing.T) (*GangScheduling, *extpointstest.Handle) {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Cluster, h.Wait = f.view, f.waiting
	p, err := New(extpoints.NoArgs{}, h)
	if err != nil {
		t.Fatal(err)
	}
	return p, h
}

const (
	noGroup  = `UnschedulableAndUnresolvable: waiting for workload's group "none" to appear in scheduling queue`
	fewer    = "UnschedulableAndUnresolvable: waiting for minCount workloads from a gang to appear in scheduling queue"
	notReady = `UnschedulableAndUnresolvable: waiting for composite group "top" tree to meet quorum`
	noParent = "UnschedulableAndUnresolvable: failed to build hierarchy snapshot: there is no composite group /"
	success  = "Success"
)

func TestPreEnqueue(t *testing.T) {
	for _, c := range []struct{ name, world, group, want string }{
		{"no group", "", "", success},
		{"a group that is not there", "gang g 1: a", "none", noGroup},
		{"a group of groups has no workloads", "gang* none 1", "none", noGroup},
		{"a gang with too few", "gang g 3: a b", "g", fewer},
		{"a gang with enough", "gang g 3: a b c", "g", success},
		{"those on nodes count, too", "gang g 3: a b@n0 c!n0", "g", success},
		{"members of others do not", "gang g 3: a b | gang h 1: c d", "g", fewer},
		{"a basic group needs nobody", "basic g", "g", success},

		{"a tree that is ready", "gang* top 2 | gang g 2 < top: a b | gang h 1 < top: c", "g", success},
		{"a tree with a child that is not", "gang* top 2 | gang g 2 < top: a b | gang h 2 < top: c", "g", notReady},
		{"one child is enough", "gang* top 1 | gang g 2 < top: a b | gang h 2 < top: c", "g", success},
		{"even where it is another one", "gang* top 1 | gang g 2 < top: a | gang h 1 < top: c", "g", success},
		{"a basic group of groups needs one child", "basic* top | gang g 2 < top: a | gang h 2 < top: c", "g", notReady},
		{"a basic child needs one member", "gang* top 2 | gang g 1 < top: a | basic h < top", "g", notReady},
		{"and has it", "gang* top 2 | gang g 1 < top: a | basic h < top: b", "g", success},
		{"what is higher decides", "gang* top 2 | basic* mid < top | gang g 1 < mid: a | gang h 1 < top", "g", notReady},
		{"a middle group that is not ready", "gang* top 1 | gang* mid 2 < top | gang g 1 < mid: a", "g", notReady},
		{"a parent that is not there", "gang g 1 < top: a", "g", noParent + "top"},
		{"a grandparent that is not there", "basic* mid < top | gang g 1 < mid: a", "g", noParent + "top"},
	} {
		p, _ := world(c.world).plugin(t)
		if got := p.PreEnqueue(&model.Workload{ID: "w", Group: c.group}).String(); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestPlacementFeasible(t *testing.T) {
	gang := func(n int32) model.Group { return model.Group{Policy: model.Gang, MinCount: n} }
	for _, c := range []struct {
		group                model.Group
		scheduled, remaining int
		want                 string
	}{
		{gang(3), 0, 3, "Wait: minCount (3) is not yet satisfied: 0 scheduled, 3 remaining"},
		{gang(3), 1, 2, "Wait: minCount (3) is not yet satisfied: 1 scheduled, 2 remaining"},
		{gang(3), 1, 1, "Unschedulable: minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"},
		{gang(3), 2, 0, "Unschedulable: minCount (3) cannot be satisfied: 2 scheduled, 0 remaining"},
		{gang(3), 3, 0, "Success"},
		{gang(3), 3, 5, "Success"},
		{gang(3), 4, 0, "Success"},
		{model.Group{}, 0, 0, "Unschedulable: minCount (1) cannot be satisfied: 0 scheduled, 0 remaining"},
		{model.Group{Policy: model.Basic}, 0, 2, "Wait: minCount (1) is not yet satisfied: 0 scheduled, 2 remaining"},
		{model.Group{Policy: model.Basic}, 1, 2, "Success"},
		{model.Group{Policy: model.Gang, MinCount: 2, Composite: true}, 1, 0, "Unschedulable: minCount (2) cannot be satisfied: 1 scheduled, 0 remaining"},
		{model.Group{Composite: true}, 1, 0, "Success"},
	} {
		p, _ := world("").plugin(t)
		got := p.PlacementFeasible(nil, &extpoints.GroupInfo{Group: &c.group}, extpoints.PlacementProgress{Scheduled: c.scheduled, Remaining: c.remaining})
		if got.String() != c.want {
			t.Errorf("%+v, %d scheduled, %d remaining: %v\nwant %s", c.group, c.scheduled, c.remaining, got, c.want)
		}
	}
}

// The workload that is asked about is w; its node is reserved already.
func TestPermit(t *testing.T) {
	const (
		wait     = "Wait: waiting for minCount workloads from a gang to be scheduled"
		waitTree = `Wait: waiting for composite group "top" tree to meet quorum`
	)
	for _, c := range []struct{ name, world, group, want, allowed, activated string }{
		{"no group", "", "", "Success", "", ""},
		{"a basic group", "basic g: a w@n0", "g", "Success", "", ""},
		{"a gang of one", "gang g 1: w@n0", "g", "Success", "", ""},
		{"the first of three", "gang g 3: a b w@n0", "g", wait, "", "a b"},
		{"the second", "gang g 3: a b!n0 w@n0", "g", wait, "", "a"},
		{"the third lets the others through", "gang g 3: a!n0 b!n0 w@n0 c", "g", "Success", "a b", ""},
		{"those that run count", "gang g 3: a@n0 b@n0 w@n0", "g", "Success", "", ""},
		{"a late one goes through at once", "gang g 2: a@n0 b@n0 c@n0 w@n0 d", "g", "Success", "", ""},
		{"others' members are left alone", "gang g 2: a!n0 w@n0 | gang h 2: x!n0 y", "g", "Success", "a", ""},
		{"a group that is gone", "", "none", `Error: failed to get group /none: group not found`, "", ""},

		{"a tree: the other child has nobody on a node", "gang* top 2 | gang g 1 < top: w@n0 a | gang h 1 < top: b", "g", waitTree, "", "a b"},
		{"a tree: both are there", "gang* top 2 | gang g 1 < top: w@n0 a | gang h 1 < top: b!n0", "g", "Success", "b", ""},
		{"a tree: one is enough", "gang* top 1 | gang g 2 < top: w@n0 a!n0 | gang h 1 < top: b", "g", "Success", "a", ""},
		{"a tree of three", "basic* top | gang* mid 2 < top | gang g 1 < mid: w@n0 | basic h < mid: b!n0 | basic k < top: c!n0 d", "g", "Success", "b c", ""},
		{"a tree with a basic child waits, too", "gang* top 2 | basic g < top: w@n0 | gang h 1 < top: b", "g", waitTree, "", "b"},
		{"a tree without its top", "gang g 1 < top: w@n0", "g", "Error: failed to build hierarchy snapshot: there is no composite group /top", "", ""},
	} {
		f := world(c.world)
		p, h := f.plugin(t)
		w := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w", Group: c.group}}
		status, timeout := p.Permit(nil, w, &model.Binding{Workload: "w", Node: "n0"})
		if status.String() != c.want {
			t.Errorf("%s: %v\nwant %s", c.name, status, c.want)
		}
		if want := map[bool]time.Duration{true: 5 * time.Minute}[status.Code() == extpoints.Wait]; timeout != want {
			t.Errorf("%s: timeout %v, want %v", c.name, timeout, want)
		}
		var allowed []string
		for _, id := range strings.Fields(c.allowed) {
			allowed = append(allowed, "allow "+id+" by GangScheduling")
		}
		if !slices.Equal(f.waiting.Said(), allowed) {
			t.Errorf("%s: %q, want %q", c.name, f.waiting.Said(), allowed)
		}
		if got := strings.Join(h.Activated(), " "); got != c.activated {
			t.Errorf("%s: activates %q, want %q", c.name, got, c.activated)
		}
	}
}

// Groups from Kubernetes are called by their names in messages.
func TestNames(t *testing.T) {
	for _, c := range []struct{ id, namespace, want string }{
		{"g", "", "g"},
		{"g", "ns", "g"},
		{"ns/g", "ns", "g"},
		{"composite/ns/g", "ns", "g"},
		{"other/g", "ns", "other/g"},
		{"xns/g", "ns", "xns/g"},
		{"a/b", "", "a/b"},
	} {
		if got := nameOf(c.id, c.namespace); got != c.want {
			t.Errorf("%q in %q is called %q, want %q", c.id, c.namespace, got, c.want)
		}
	}
	p, _ := world("gang ns/g 1 < composite/ns/top").plugin(t)
	p.handle.View().Groups().Get("ns/g").Namespace = "ns"
	for group, want := range map[string]string{
		"ns/none": noGroup,
		"ns/g":    strings.TrimSuffix(noParent, "/") + "ns/top",
	} {
		if got := p.PreEnqueue(&model.Workload{ID: "w", Namespace: "ns", Group: group}); got.String() != want {
			t.Errorf("%v\nwant %s", got, want)
		}
	}
}
