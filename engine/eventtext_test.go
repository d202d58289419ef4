package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

func TestEventsSayWhatHasHappened(t *testing.T) {
	t.Parallel()
	w := &model.Workload{ID: "a"}
	placed := func(stage string) engine.PlacedEvent {
		return engine.PlacedEvent{Stage: stage, Workload: w, Binding: model.Binding{Node: "n1"}}
	}
	left := func(stage string) engine.LeavingEvent {
		return engine.LeavingEvent{Stage: stage, Workload: w, Phase: model.Bound, Node: "n1"}
	}
	two := errors.Join(errors.New("one"), errors.New("two"))
	for _, c := range []struct {
		event fmt.Stringer
		want  string
	}{
		{engine.SubmittedEvent{Workload: w}, `workload "a" is submitted`},
		{engine.QueuedEvent{Move: queue.Move{ID: "a", To: queue.Gated, Event: extpoints.ClusterEvent{Label: "GroupChanged"}, Plugin: "Window"}}, `workload "a" goes from None to Gated: GroupChanged, by Window`},
		{engine.PoppedEvent{Workload: w, Attempt: 2}, `attempt 2 to place workload "a" begins`},
		{engine.FilteredEvent{Workload: w, Evaluated: 3, Feasible: 1}, `1 of 3 nodes are feasible for workload "a"`},
		{engine.ScoredEvent{Workload: w, Nodes: 3, Best: 7}, `3 nodes are scored for workload "a": the highest total is 7`},
		{engine.SelectedEvent{Workload: w, Node: "n1", Ties: 2}, `node "n1" is selected for workload "a", of 2 with the same total`},
		{placed("Reserved"), `workload "a" gets room on node "n1"`},
		{placed("Permitted"), `workload "a" is being bound to node "n1"`},
		{placed("Bound"), `workload "a" is bound to node "n1"`},
		{placed("Confirmed"), `workload "a" is seen on node "n1"`},
		{placed(""), `workload "a" has node "n1"`},
		{engine.WaitingEvent{PlacedEvent: placed("Waiting"), Plugins: []string{"X", "Y"}, Until: epoch}, `workload "a" waits on Permit with node "n1" for X, Y, until ` + epoch.Format(time.RFC3339)},
		{engine.RejectedEvent{Workload: w, Message: "no room", Nominated: "n1"}, `workload "a" is not placed: no room (nominated to node "n1")`},
		{engine.RejectedEvent{Workload: w, Message: "no room", Err: two}, `workload "a" is not placed: one; two`},
		{engine.GroupEvent{Group: &model.Group{ID: "g"}, Code: extpoints.Unschedulable, Unplaced: 2, Preempting: true, Message: "no room"}, `group "g": Unschedulable, 0 placed, 2 not, room is made: no room`},
		{engine.EvictingEvent{Workload: w, Node: "n1", Reason: "drain"}, `workload "a" is to leave node "n1": drain`},
		{engine.EvictingEvent{Workload: w, Node: "n1", Reason: "why", By: "b"}, `workload "a" is to leave node "n1": why (room for workload "b")`},
		{engine.EvictingEvent{Workload: w, Node: "n1", Reason: "why", ByGroup: "g"}, `workload "a" is to leave node "n1": why (room for group "g")`},
		{engine.UnnominatedEvent{Workload: w, Node: "n1"}, `workload "a" is not nominated to node "n1" any more`},
		{left("Terminating"), `workload "a" is terminating: it was Bound on node "n1"`},
		{left("Finished"), `workload "a" has ended: it was Bound on node "n1"`},
		{left("Requeued"), `workload "a" is to be placed again: it was Bound on node "n1"`},
		{engine.LeavingEvent{Stage: "Removed", Workload: w}, `workload "a" is removed: it was Pending`},
		{engine.LimitReachedEvent{Limit: &model.Limit{Name: "l"}, Principal: "p"}, `principal "p" has reached limit "l"`},
		{engine.LimitReachedEvent{Limit: &model.Limit{Name: "l"}}, `limit "l" is reached`},
		{engine.FailedEvent{Workload: "a", Err: two}, `workload "a": one; two`},
		{engine.MisusedEvent{Workload: w, Message: "it waits"}, `workload "a": it waits`},
		{engine.FailedEvent{Err: two}, `one; two`},
		{engine.PluginRanEvent{Point: "Filter", Plugin: "X", Profile: "p", Took: time.Second}, `Filter of X (profile "p") took 1s: Success`},
		{engine.PluginEvaluatedEvent{Point: "Filter", Plugin: "X", Profile: "p", Times: 2}, `Filter of X (profile "p") was asked 2 times`},
		{engine.HintRanEvent{Plugin: "X", Event: extpoints.ClusterEvent{Label: "L"}, Took: time.Second, Err: two}, `the hint of X for L took 1s: Skip, one; two`},
		{engine.ChangeOfferedEvent{Event: extpoints.ClusterEvent{Label: "L"}, Took: time.Second}, `the queue was told of L in 1s`},
		{engine.PreemptionEndedEvent{Took: time.Second}, `all evictions of a preemption were accepted, 1s after they were asked for`},
		{engine.PreemptionEndedEvent{Group: &model.Group{ID: "g"}, Failed: true, Took: time.Second}, `an eviction of a preemption has failed (for group "g"), 1s after they were asked for`},
		{engine.PlacementsGeneratedEvent{Profile: "p", Count: 2}, `there are 2 placements to try (profile "p")`},
		{engine.PlacementTriedEvent{Profile: "p", Took: time.Second}, `a placement was tried in 1s (profile "p"): the group does not fit`},
	} {
		require.Equal(t, c.want, c.event.String())
	}
}

// Every function of a Listener is given something that says what has happened.
func TestEveryEventIsAStringer(t *testing.T) {
	t.Parallel()
	listener := reflect.TypeFor[engine.Listener]()
	for i := range listener.NumField() {
		event := listener.Field(i).Type.In(0)
		require.True(t, event.Implements(reflect.TypeFor[fmt.Stringer]()), "%v", event)
	}
}

// At the lowest level the log has a line for each event, with keys to look for.
func TestTheLogHasTheEvents(t *testing.T) {
	var log bytes.Buffer
	told := 0
	add := func(fmt.Stringer) { told++ }
	leaves := func(e engine.LeavingEvent) { add(e) }
	placed := func(e engine.PlacedEvent) { add(e) }
	cfg := config(&world{})
	cfg.Logger = hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: &log, DisableTime: true})
	cfg.Listener = engine.Listener{
		Submitted: func(e engine.SubmittedEvent) { add(e) },
		Enqueued:  func(e engine.QueuedEvent) { add(e) },
		Popped:    func(e engine.PoppedEvent) { add(e) },
		Filtered:  func(e engine.FilteredEvent) { add(e) },
		Scored:    func(e engine.ScoredEvent) { add(e) },
		Selected:  func(e engine.SelectedEvent) { add(e) },
		Reserved:  placed, Permitted: placed, Bound: placed, Confirmed: placed,
		Rejected:    func(e engine.RejectedEvent) { add(e) },
		Terminating: leaves, Finished: leaves, Requeued: leaves, Removed: leaves,
	}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	apply(t, r, epoch, node("n1", 100), node("n2", 100), task("a", 100), task("b", 500))
	settle(r, epoch)
	apply(t, r, epoch, engine.Requeue("a"))
	settle(r, epoch)
	apply(t, r, epoch, engine.Terminate("a"), engine.Finish("a"), engine.Remove("b"))
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Greater(t, told, 15)
	require.Len(t, lines, told)
	for _, l := range lines {
		require.Regexp(t, ` workload=[ab] `, l+" ")
	}
}
