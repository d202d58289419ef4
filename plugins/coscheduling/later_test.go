package coscheduling

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// Known answers of the upstream plugin: coscheduling_test.go, TestPostFilterRejectThreshold, all
// rows. "Assigned" members wait on Permit, so that it can be seen whether they are rejected.
func TestRejectPercentage(t *testing.T) {
	for _, c := range []struct {
		name               string
		percentage         int32
		minCount, assigned int
		rejected           bool
	}{
		{"default 10%: 9/10 assigned (10% gap) → no rejection", 10, 10, 9, false},
		{"default 10%: 8/10 assigned (20% gap) → rejection", 10, 10, 8, true},
		{"0%: 9/10 assigned (10% gap) → rejection (always reject)", 0, 10, 9, true},
		{"100%: 0/10 assigned (100% gap) → no rejection (never reject)", 100, 10, 0, false},
		{"50%: 6/10 assigned (40% gap) → no rejection", 50, 10, 6, false},
		{"50%: 4/10 assigned (60% gap) → rejection", 50, 10, 4, true},
	} {
		members := []string{"x"}
		for i := range c.assigned {
			members = append(members, fmt.Sprintf("a%d!", i))
		}
		for i := len(members); i < c.minCount; i++ {
			members = append(members, fmt.Sprintf("p%d", i))
		}
		w := newWorld(int32(c.minCount), members...)
		p := w.plugin(t)
		p.args.RejectPercentage = c.percentage
		p.PostFilter(w.state(), member("x"), nil)
		if got := len(w.waiting.Said()); got != map[bool]int{true: c.assigned}[c.rejected] {
			t.Errorf("%s: %d were rejected", c.name, got)
		}
		if _, st := p.PreFilter(w.state(), member("x")); (st.Code() == extpoints.Error) != (c.rejected && c.assigned+1 < c.minCount) {
			t.Errorf("%s: then %v", c.name, st)
		}
		// One that loses its node again takes all with it.
		w = newWorld(int32(c.minCount), members...)
		p = w.plugin(t)
		p.args.RejectPercentage = c.percentage
		p.Unreserve(w.state(), member("x"), &model.Binding{})
		if got := len(w.waiting.Said()); got != c.assigned {
			t.Errorf("%s: %d were rejected because one lost its node", c.name, got)
		}
	}
}

// A gang is not tried while all nodes together have too little for it, by the rules of
// upstream but for the node with less than nothing.
func TestMinResources(t *testing.T) {
	cpu := func(n int64) model.Resources { return model.Resources{CPU: n} }
	for _, c := range []struct {
		name string
		min  model.Resources
		// the nodes: what each has, what is requested there, and how many it takes
		nodes [][3]int64
		own   int64 // that a member requests on the first node
		want  string
	}{
		{"enough on one", cpu(6), [][3]int64{{10, 4, 0}}, 0, ""},
		{"too little", cpu(7), [][3]int64{{10, 4, 0}}, 0, `group "g" lacks 1 of cpu on all nodes together`},
		{"enough on two", cpu(7), [][3]int64{{10, 4, 0}, {1, 0, 0}}, 0, ""},
		{"what its members have is its own", cpu(7), [][3]int64{{10, 4, 0}}, 2, ""},
		{"a node with less than nothing", cpu(6), [][3]int64{{10, 4, 0}, {1, 9, 0}}, 0, ""},
		{"too little room", cpu(6), [][3]int64{{10, 4, 3}}, 0, `group "g" lacks room for 1 members on all nodes together`},
		{"none of a scalar", model.Resources{}.With("gpu", 2), [][3]int64{{10, 4, 0}}, 0, `group "g" lacks 2 of gpu on all nodes together`},
		{"nothing is asked for", model.Resources{}, nil, 0, ""},
	} {
		w := newWorld(3, "a", "b", "c")
		w.view.GroupList[0].MinResources = c.min
		w.view.NodeInfos = nil
		for i, n := range c.nodes {
			node := extpointstest.NodeWith(&model.Node{Name: fmt.Sprint("n", i), Allocatable: cpu(n[0]), MaxWorkloads: n[2]})
			other := cpu(n[1])
			if i == 0 && c.own > 0 {
				node.AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "own", Group: "g", Requests: cpu(c.own)}})
				other.CPU -= c.own
			}
			node.AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "other", Requests: other}})
			w.view.NodeInfos = append(w.view.NodeInfos, node)
		}
		w.view.Number()
		p := w.plugin(t)
		_, st := p.PreFilter(w.state(), member("a"))
		if st.Message() != c.want || c.want != "" && st.Code() != extpoints.UnschedulableAndUnresolvable {
			t.Errorf("%s: got %v, want %q", c.name, st, c.want)
		}
		hint, err := p.afterRoom(member("a").Workload, nil)
		if want := c.want == "" && len(c.min.Names()) > 0; (hint == extpoints.HintQueue) != want || err != nil {
			t.Errorf("%s: hint %v, %v", c.name, hint, err)
		}
	}
	lower := func(was, is model.Resources) extpoints.Hint {
		h, _ := afterGroupUpdated(member("a").Workload, &extpoints.Event{OldGroup: &model.Group{ID: "g", MinResources: was}, NewGroup: &model.Group{ID: "g", MinResources: is}})
		return h
	}
	if lower(cpu(2), cpu(1)) != extpoints.HintQueue || lower(cpu(1), cpu(2)) != extpoints.HintSkip {
		t.Error("a group that needs less may do now")
	}
}
