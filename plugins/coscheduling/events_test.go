package coscheduling

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

func TestHints(t *testing.T) {
	gang := func(id string, n int32) *model.Group { return &model.Group{ID: id, Policy: model.Gang, MinCount: n} }
	on := func(r model.ObjectKind, a extpoints.Action) extpoints.ClusterEvent {
		return extpoints.ClusterEvent{Resource: r, Action: a}
	}
	other := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "o", Group: "h"}}
	const queue, skip = extpoints.HintQueue, extpoints.HintSkip
	for _, c := range []struct {
		name   string
		group  string
		change extpoints.Event
		want   extpoints.Hint
		fails  bool
	}{
		{"a member is added", "g", extpoints.Event{ClusterEvent: on(extpoints.UnscheduledWorkload, extpoints.Add), NewWorkload: member("m")}, queue, false},
		{"a member is added on a node", "g", extpoints.Event{ClusterEvent: on(extpoints.AssignedWorkload, extpoints.Add), NewWorkload: member("m")}, queue, false},
		{"another's member is added", "g", extpoints.Event{ClusterEvent: on(extpoints.UnscheduledWorkload, extpoints.Add), NewWorkload: other}, skip, false},
		{"nobody's workload is added", "", extpoints.Event{ClusterEvent: on(extpoints.UnscheduledWorkload, extpoints.Add), NewWorkload: &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "o"}}}, skip, false},
		{"a member leaves", "g", extpoints.Event{ClusterEvent: on(extpoints.AssignedWorkload, extpoints.Delete), OldWorkload: member("m")}, skip, false},
		{"the group is added", "g", extpoints.Event{ClusterEvent: on(extpoints.GroupResource, extpoints.Add), NewGroup: gang("g", 3)}, queue, false},
		{"another group is added", "g", extpoints.Event{ClusterEvent: on(extpoints.GroupResource, extpoints.Add), NewGroup: gang("h", 3)}, skip, false},
		{"it needs fewer", "g", extpoints.Event{ClusterEvent: on(extpoints.GroupResource, extpoints.Update), OldGroup: gang("g", 3), NewGroup: gang("g", 2)}, queue, false},
		{"it needs as many", "g", extpoints.Event{ClusterEvent: on(extpoints.GroupResource, extpoints.Update), OldGroup: gang("g", 3), NewGroup: gang("g", 3)}, skip, false},
		{"it needs more", "g", extpoints.Event{ClusterEvent: on(extpoints.GroupResource, extpoints.Update), OldGroup: gang("g", 3), NewGroup: gang("g", 4)}, skip, false},
		{"it is no gang any more", "g", extpoints.Event{ClusterEvent: on(extpoints.GroupResource, extpoints.Update), OldGroup: gang("g", 1), NewGroup: &model.Group{ID: "g"}}, queue, false},
		{"another needs fewer", "g", extpoints.Event{ClusterEvent: on(extpoints.GroupResource, extpoints.Update), OldGroup: gang("h", 3), NewGroup: gang("h", 2)}, skip, false},
		{"a node is added", "g", extpoints.Event{ClusterEvent: on(extpoints.NodeResource, extpoints.Add)}, skip, false},
		{"no workload in the change", "g", extpoints.Event{ClusterEvent: on(extpoints.UnscheduledWorkload, extpoints.Add)}, queue, true},
		{"no group in the change", "g", extpoints.Event{ClusterEvent: on(extpoints.GroupResource, extpoints.Add)}, queue, true},
		{"no groups in the change", "g", extpoints.Event{ClusterEvent: on(extpoints.GroupResource, extpoints.Update)}, queue, true},
	} {
		hints, err := newWorld(1).plugin(t).EventsToRegister()
		if err != nil {
			t.Fatal(err)
		}
		got := skip
		for _, h := range hints {
			if h.Event.Matches(c.change.ClusterEvent) {
				got, err = h.Hint(&model.Workload{ID: "w", Group: c.group}, &c.change)
			}
		}
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}
