package defaultpreemption

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

type (
	infos = []*extpoints.NodeInfo
	works = []*extpoints.WorkloadInfo
)

// preempting is a handle whose filters want an empty node.
func preempting() extpoints.Handle {
	h := extpointstest.NewHandle()
	h.Preempting = &extpointstest.Preemption{Filters: func(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
		if len(n.Workloads) > 0 {
			return insufficient
		}
		return nil
	}}
	return h
}

// withVictims is a situation in which the workload may displace most others.
func withVictims(r *rand.Rand) *extpointstest.Situation {
	s := extpointstest.RandomSituation(r)
	s.Workload.Priority = 1 << 30
	return s
}

// nothingUnderWay is why PreEnqueue accepts in the kit.
var nothingUnderWay = map[string]string{"PreEnqueue": "no evictions are under way here; they are in the engine's transcripts"}

func TestContract(t *testing.T) {
	for _, args := range []Args{{}, {TieBreak: RandomNode, Synchronous: true}} {
		extpointstest.TestPlugin(t, extpointstest.Suite{
			Name: Name, Factory: extpoints.FactoryOf(New), Args: args, Handle: preempting, Random: withVictims, OneSided: nothingUnderWay,
		})
	}
}

// The outcomes of an attempt, and what each says.
func TestPostFilter(t *testing.T) {
	never := on("w", 5, 600, 0)
	never.Preemption = model.PreemptNever
	nominated := on("w", 5, 600, 0)
	nominated.Nominated = "n1"
	w := on("w", 5, 600, 0)
	boom := errors.New("boom")
	for _, c := range []struct {
		name string
		attempt
		want, says string
	}{
		{"room is made by the one workload of lower priority",
			attempt{w: w, nodes: infos{node("n1", 1000, on("a", 1, 900, 1))}},
			"n1: a", "Success: preemption: found a potential placement for workload on node n1, preempting 1 victims"},
		{"nobody is of lower priority",
			attempt{w: w, nodes: infos{node("n1", 1000, on("a", 5, 900, 1)), node("n2", 1000, on("b", 6, 900, 1))}},
			":", "Unschedulable: preemption: 0/2 nodes are available: 2 No preemption victims found for incoming workload."},
		{"it would not help: the workloads of lower priority take too little",
			attempt{w: w, nodes: infos{node("n1", 1000, on("a", 1, 100, 1), on("b", 5, 800, 1)), node("n2", 1000, on("c", 9, 900, 1))}},
			":", "Unschedulable: preemption: 0/2 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming workload."},
		{"a node where nothing helps is no candidate",
			attempt{w: w, nodes: infos{node("n1", 500, on("a", 1, 100, 1)), node("n2", 500)}},
			":", "Unschedulable: preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."},
		{"nor is one that was not rejected for want of room: reasons are sorted as text",
			attempt{w: w, nodes: infos{node("n1", 1000, on("a", 9, 900, 1)), node("n2", 1000, on("b", 9, 900, 1)), node("n3", 1000, on("c", 1, 900, 1))},
				other: map[string]*extpoints.Status{"n3": extpoints.NewStatus(extpoints.Pending, "soon")}},
			":", "Unschedulable: preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming workload."},
		{"policy Never",
			attempt{w: never, nodes: infos{node("n1", 1000, on("a", 1, 900, 1))}},
			"", "Unschedulable: preemption: not eligible due to preemptionPolicy=Never."},
		{"a workload that was displaced is still leaving the nominated node",
			attempt{w: nominated, nodes: infos{node("n1", 1000, displaced(on("a", 1, 900, 1))), node("n2", 1000, on("b", 1, 900, 1))}},
			"", "Unschedulable: preemption: not eligible due to a terminating workload on the nominated node."},
		{"who leaves the nominated node leaves too little room by now: room is made elsewhere",
			attempt{w: nominated, nodes: infos{node("n1", 1000, displaced(on("a", 1, 400, 1)), on("c", 9, 500, 1)), node("n2", 1000, on("b", 1, 900, 1))}},
			"n2: b", "Success: preemption: found a potential placement for workload on node n2, preempting 1 victims"},
		{"or more room there",
			attempt{w: nominated, nodes: infos{node("n1", 1000, displaced(on("a", 1, 400, 1)), on("b", 1, 600, 1))}},
			"n1: b", "Success: preemption: found a potential placement for workload on node n1, preempting 1 victims"},
		{"or the nomination is given up",
			attempt{w: nominated, nodes: infos{node("n1", 1000, displaced(on("a", 1, 400, 1)), on("c", 9, 500, 1))}},
			":", "Unschedulable: preemption: 0/1 nodes are available: 1 Insufficient cpu."},
		{"another leaves it by itself as well, and then there is room",
			attempt{w: nominated, nodes: infos{node("n1", 1000, displaced(on("a", 1, 400, 1)), terminating(on("c", 9, 500, 1))), node("n2", 1000, on("b", 1, 900, 1))}},
			"", "Unschedulable: preemption: not eligible due to a terminating workload on the nominated node."},
		{"one of the same priority does not count",
			attempt{w: nominated, nodes: infos{node("n1", 1000, displaced(on("a", 5, 900, 1))), node("n2", 1000, on("b", 1, 900, 1))}},
			"n2: b", "Success: preemption: found a potential placement for workload on node n2, preempting 1 victims"},
		{"nor does one that leaves by itself",
			attempt{w: nominated, nodes: infos{node("n1", 1000, terminating(on("a", 1, 900, 1)))}},
			"n1:", "Success: preemption: found a potential placement for workload on node n1, preempting 1 victims"},
		{"nor where the nominated node will not do whoever leaves",
			attempt{w: nominated, nodes: infos{node("n1", 500, displaced(on("a", 1, 900, 1))), node("n2", 1000, on("b", 1, 900, 1))}},
			"n2: b", "Success: preemption: found a potential placement for workload on node n2, preempting 1 victims"},
		{"nor where the nominated node has gone",
			attempt{w: nominated, nodes: infos{node("n2", 1000, on("b", 1, 900, 1))}, other: map[string]*extpoints.Status{"n1": insufficient}},
			"n2: b", "Success: preemption: found a potential placement for workload on node n2, preempting 1 victims"},
		{"a node fails: others do",
			attempt{w: w, nodes: infos{node("n1", 1000, on("a", 1, 900, 1)), node("n2", 1000, on("b", 1, 900, 1))},
				engine: extpointstest.Preemption{Filters: failOn(boom, "n1")}},
			"n2: b", "Success: preemption: found a potential placement for workload on node n2, preempting 1 victims"},
		{"all fail: it is an error, which says everything once",
			attempt{w: w, nodes: infos{node("n1", 1000, on("a", 1, 900, 1)), node("n2", 1000, on("b", 1, 900, 1))},
				engine: extpointstest.Preemption{Filters: failOn(boom, "n1", "n2")}},
			"", "Error: preemption: boom"},
		{"where nobody has to leave something is wrong",
			attempt{w: w, nodes: infos{node("n1", 1000, on("a", 1, 100, 1)), node("n2", 1000, on("b", 1, 100, 1))},
				other: map[string]*extpoints.Status{"n1": insufficient, "n2": insufficient}},
			"", `Error: preemption: [expected at least one victim on node "n1", expected at least one victim on node "n2"]`},
		{"no node could be a candidate",
			attempt{w: w}, ":", "Unschedulable: preemption: 0/0 nodes are available:"},
	} {
		st := c.run(t)
		if got := c.String(); got != c.want || st.String() != c.says {
			t.Errorf("%s: %q, %s\nwant %q, %s", c.name, got, st, c.want, c.says)
		}
		if st.Code() == extpoints.Error && st.Message() != "preemption: [expected at least one victim on node \"n1\", expected at least one victim on node \"n2\"]" && !errors.Is(st.AsError(), boom) {
			t.Errorf("%s: %v is not what went wrong", c.name, st.AsError())
		}
	}
}

func failOn(err error, names ...string) func(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	return func(s *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
		for _, name := range names {
			if n.Node.Name == name {
				return extpoints.AsStatus(err)
			}
		}
		return fits(s, w, n)
	}
}

// The extensions of PreFilter are told what is taken off and put back, on a copy
// of the state, and their failure is the node's.
func TestExtensionsFollow(t *testing.T) {
	var heard []string
	a := attempt{w: on("w", 5, 500, 0), nodes: infos{node("n1", 1000, on("a", 1, 400, 3), on("b", 2, 400, 2), on("c", 1, 200, 1))}}
	a.engine.Extensions = func(s *extpoints.CycleState, _, added, removed *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
		if s == a.cycle.State() {
			t.Error("the state of the cycle is used to try things out")
		}
		if added != nil {
			heard = append(heard, "+"+added.ID)
			if n.Workloads[len(n.Workloads)-1] != added {
				t.Errorf("%s is not on the node yet", added.ID)
			}
		} else {
			heard = append(heard, "-"+removed.ID)
		}
		return nil
	}
	if st := a.run(t); a.String() != "n1: a c" {
		t.Errorf("%s, %v", a.String(), st)
	}
	want := []string{"-a", "-b", "-c", "+b", "+a", "-a", "+c", "-c"}
	if len(heard) != len(want) {
		t.Fatalf("heard %v, want %v", heard, want)
	}
	for i := range want {
		if heard[i] != want[i] {
			t.Fatalf("heard %v, want %v", heard, want)
		}
	}
	for _, when := range []string{"-a", "+b", "-c"} {
		last := ""
		b := attempt{w: a.w, nodes: a.nodes}
		b.engine.Extensions = func(_ *extpoints.CycleState, _, added, removed *extpoints.WorkloadInfo, _ *extpoints.NodeInfo) *extpoints.Status {
			if added != nil {
				last = "+" + added.ID
			} else {
				last = "-" + removed.ID
			}
			if last == when {
				return extpoints.AsStatus(errors.New("confused by " + when))
			}
			return nil
		}
		if st := b.run(t); st.String() != "Error: preemption: confused by "+when {
			t.Errorf("%s: %v", when, st)
		}
	}
}

// What is asked of the engine.
func TestWhatIsAskedFor(t *testing.T) {
	waiting := func(id string, priority int32) *extpoints.WorkloadInfo {
		w := on(id, priority, 100, 0)
		w.Nominated = "n1"
		return w
	}
	nominated := func(v *extpointstest.View) {
		v.Nominating = map[string][]*extpoints.WorkloadInfo{
			"n1": {waiting("low", 1), waiting("same", 5), waiting("lower", 0)}, "n2": {waiting("other", 0)},
		}
	}
	for _, c := range []struct {
		name string
		attempt
		want   string
		awaits bool
	}{
		{"the victims are evicted in the order of importance, and others give up the node",
			attempt{nodes: infos{node("n1", 1000, on("a", 1, 300, 1), on("b", 2, 300, 1), on("c", 1, 400, 2))}}, "n1: b c a -low -lower", false},
		{"those that are leaving are left alone",
			attempt{nodes: infos{node("n1", 1000, on("a", 1, 500, 1), terminating(on("b", 2, 500, 1)))}}, "n1: a -low -lower", false},
		{"where all are, so is everything",
			attempt{nodes: infos{node("n1", 1000, terminating(on("a", 1, 1000, 1)))}}, "n1:", false},
		{"except that in the synchronous way nominations go",
			attempt{args: Args{Synchronous: true}, nodes: infos{node("n1", 1000, terminating(on("a", 1, 1000, 1)))}}, "n1: -low -lower", true},
		{"the synchronous way",
			attempt{args: Args{Synchronous: true}, nodes: infos{node("n1", 1000, on("a", 1, 1000, 1))}}, "n1: a -low -lower", true},
	} {
		c.w, c.view = on("w", 5, 900, 0), nominated
		st := c.run(t)
		if got := c.String(); got != c.want || c.cycle.Requests().AwaitEvictions != c.awaits {
			t.Errorf("%s: %s (awaits %v), want %s (%v); %v", c.name, got, c.cycle.Requests().AwaitEvictions, c.want, c.awaits, st)
		}
		for _, e := range c.cycle.Requests().Evictions {
			if e.Reason != "preempted by workload w on node n1" {
				t.Errorf("%s: reason %q", c.name, e.Reason)
			}
		}
	}
}

func TestPreEnqueue(t *testing.T) {
	h := extpointstest.NewHandle()
	h.Preempting = &extpointstest.Preemption{Evicting: map[string]bool{"busy": true}}
	for _, c := range []struct {
		id          string
		synchronous bool
		want        string
	}{
		{"idle", false, "Success"},
		{"busy", false, "UnschedulableAndUnresolvable: waiting for the preemption for this workload to be finished"},
		{"busy", true, "Success"},
	} {
		p, err := New(Args{Synchronous: c.synchronous}, h)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.PreEnqueue(&model.Workload{ID: c.id}); got.String() != c.want {
			t.Errorf("%s, synchronous %v: %v, want %s", c.id, c.synchronous, got, c.want)
		}
	}
}

// A workload that was held back is tried when something leaves and nothing holds it
// back any more. To kube-scheduler that is for other plugins to say.
func TestHints(t *testing.T) {
	h := extpointstest.NewHandle()
	h.Preempting = &extpointstest.Preemption{Evicting: map[string]bool{"held": true}}
	events := func(args Args, compat extpoints.Compat) []extpoints.EventHint {
		h.Mode = compat
		p, err := New(args, h)
		if err != nil {
			t.Fatal(err)
		}
		events, err := p.EventsToRegister()
		if err != nil {
			t.Fatal(err)
		}
		return events
	}
	if list := events(Args{Synchronous: true}, extpoints.Improved); len(list) > 0 {
		t.Errorf("synchronous: %v", list)
	}
	for _, c := range []struct {
		id     string
		compat extpoints.Compat
		want   extpoints.Hint
	}{
		{"held", extpoints.Improved, extpoints.HintSkip},
		{"free", extpoints.Improved, extpoints.HintQueue},
		{"held", extpoints.KubeScheduler137, extpoints.HintSkip},
		{"free", extpoints.KubeScheduler137, extpoints.HintSkip},
	} {
		list := events(Args{}, c.compat)
		if len(list) != 1 || list[0].Event.String() != "AssignedWorkload/Delete" {
			t.Fatalf("%v", list)
		}
		hint, err := list[0].Hint(&model.Workload{ID: c.id}, &extpoints.Event{ClusterEvent: list[0].Event, OldWorkload: on("a", 0, 1, 1)})
		if hint != c.want || err != nil {
			t.Errorf("%s, %s: %s, %v", c.id, c.compat, hint, err)
		}
	}
}
