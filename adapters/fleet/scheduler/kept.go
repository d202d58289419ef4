package scheduler

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler/backfill"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

const backfillName = "Backfill"

// startTime is how long it takes, at most, from the decision about a task until it
// runs. Its time limit begins then.
const startTime = 5 * time.Second

// overrun is how long a task that should have ended is expected to do so any moment.
// One that is still there is taken for one that never ends.
const overrun = time.Minute

// reservation is the room that is kept for an attempt. It does not change.
type reservation struct {
	id       job.TaskID // its task of rank 0
	priority int32
	want     backfill.Want
	plan     backfill.Plan
	parts    map[string]int64 // tasks, by node
	prefix   string           // of the IDs of its tasks
	message  string           // for those who are kept off
}

func newReservation(id job.TaskID, priority int32, want backfill.Want, plan backfill.Plan) *reservation {
	r := &reservation{
		id: id, priority: priority, want: want, plan: plan, parts: map[string]int64{}, prefix: groupID(id) + ".",
		message: fmt.Sprintf("is kept for job %d, which goes first", id.Job),
	}
	for _, p := range plan.Parts {
		r.parts[p.Node] = p.Tasks
	}
	return r
}

// endOf is the latest moment at which a workload ends that got its node at a moment;
// zero: it may run for ever.
func endOf(w *model.Workload, placed, now time.Time) time.Time {
	limit, ok := secondsIn(w, limitLabel)
	if !ok {
		return time.Time{}
	}
	grace, ok := secondsIn(w, graceLabel)
	if !ok {
		grace = time.Duration(job.DefaultKillGrace)
	}
	end := placed.Add(startTime + limit + grace)
	switch {
	case !end.Before(now):
		return end
	case end.Add(overrun).Before(now):
		return time.Time{}
	}
	return now
}

// secondsIn reads a label with a number of seconds.
func secondsIn(w *model.Workload, label string) (time.Duration, bool) {
	text, ok := w.Labels[label]
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Duration(n) * time.Second, err == nil
}

// holds reports whether the tasks for which room is kept on a node still have it at
// their moment, if another is there besides. The other may be nil.
func (r *reservation) holds(node *extpoints.NodeInfo, other *model.Workload, now time.Time) bool {
	left := r.parts[node.Node.Name]
	then, present := backfill.NewRoom(node.Node), backfill.NewRoom(node.Node)
	for _, w := range node.Workloads {
		present.Take(&w.Requests, w.Shares)
		if strings.HasPrefix(w.ID, r.prefix) {
			left-- // it has got there
		} else if end := endOf(w.Workload, w.PlacedAt, now); !end.IsZero() && !end.After(r.plan.At) {
			continue
		}
		then.Take(&w.Requests, w.Shares)
	}
	if other != nil {
		then.TakeWorst(&present, &other.Requests, deviceOf(other), &r.want)
	}
	return left <= 0 || then.Fits(&r.want, left) >= left
}

// deviceOf is what a workload wants of devices, nil for nothing. The controller's
// workloads have one request at most.
func deviceOf(w *model.Workload) *model.DeviceRequest {
	if len(w.Devices) == 0 {
		return nil
	}
	return &w.Devices[0]
}

// keeper is the plugin that keeps room: it rejects a node for workloads that come
// after one for which room is kept there, where they would still be there at its moment
// and be in its way. Whose room is kept is decided by the reserver.
type keeper struct {
	handle       extpoints.Handle // nil: no engine has the plugin
	reservations atomic.Pointer[[]*reservation]
	// head is the first that was tried and not placed, until the reserver has begun.
	head  atomic.Pointer[blockedAttempt]
	begun atomic.Bool
	last  struct { // the last answer of left; only for the engine's goroutine
		gone *extpoints.WorkloadInfo
		list *[]*reservation
		hint extpoints.Hint
	}
}

var (
	_ extpoints.PreFilterPlugin   = (*keeper)(nil)
	_ extpoints.FilterPlugin      = (*keeper)(nil)
	_ extpoints.EnqueueExtensions = (*keeper)(nil)
)

// Name implements extpoints.Plugin.
func (*keeper) Name() string { return backfillName }

// use makes the plugin an engine's.
func (k *keeper) use(_ any, h extpoints.Handle) (extpoints.Plugin, error) {
	k.handle = h
	return k, nil
}

// set says for whom room is kept.
func (k *keeper) set(list ...*reservation) { k.reservations.Store(&list) }

// all are those for whom room is kept: one, but for moments.
func (k *keeper) all() []*reservation {
	if p := k.reservations.Load(); p != nil {
		return *p
	}
	return nil
}

// expected is the reservation of an element, or below 0 of any of the job; nil where
// there is none.
func (k *keeper) expected(id job.ID, element int32) *reservation {
	for _, r := range k.all() {
		if r.id.Job == id && (element < 0 || r.id.Element == element) {
			return r
		}
	}
	return nil
}

// rejected is told by the engine. The room that an earlier leader kept must not be gone
// before this one has found out: until then nothing goes ahead of the first that was
// tried and not placed.
func (k *keeper) rejected(e engine.RejectedEvent) {
	if k.begun.Load() {
		return
	}
	id, err := job.ParseTaskID(e.Workload.ID)
	if err != nil || e.Code == extpoints.Error {
		return
	}
	a := &blockedAttempt{id: attemptOf(id), priority: e.Workload.Priority}
	if head := k.head.Load(); head == nil || a.compare(head, job.TaskID{}) < 0 {
		k.head.Store(a)
		if k.begun.Load() { // meanwhile
			k.head.Store(nil)
		}
	}
}

// begin lets others go ahead of the first, as far as they do no harm.
func (k *keeper) begin() {
	k.begun.Store(true)
	k.head.Store(nil)
}

// inWay are the reservations that a workload may not get in the way of, and when it
// would have ended.
type inWay struct {
	reservations []*reservation
	ends         time.Time // zero: never
}

var inWayKey = extpoints.NewStateKey[*inWay]("fleet/" + backfillName)

// PreFilter implements extpoints.PreFilterPlugin.
func (k *keeper) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	all, head := k.all(), k.head.Load()
	if len(all) == 0 && head == nil {
		return nil, extpoints.NewStatus(extpoints.Skip)
	}
	id, err := job.ParseTaskID(w.ID)
	if err != nil {
		return nil, extpoints.AsStatus(err)
	}
	if head != nil && inOrder(head.priority, head.id, w.Priority, attemptOf(id)) < 0 {
		return nil, extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable,
			fmt.Sprintf("the scheduler has just begun, and looks when job %d fits, which goes first", head.id.Job))
	}
	way := &inWay{ends: endOf(w.Workload, s.Now(), s.Now())}
	for _, r := range all {
		if inOrder(r.priority, r.id, w.Priority, attemptOf(id)) < 0 {
			way.reservations = append(way.reservations, r)
		}
	}
	if len(way.reservations) == 0 {
		return nil, extpoints.NewStatus(extpoints.Skip)
	}
	inWayKey.Set(s, way)
	return nil, nil
}

// Filter implements extpoints.FilterPlugin.
func (k *keeper) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	way, ok := inWayKey.Get(s)
	if !ok {
		return nil
	}
	for _, r := range way.reservations {
		if r.parts[node.Node.Name] == 0 || !way.ends.IsZero() && !way.ends.After(r.plan.At) {
			continue
		}
		if !r.holds(node, w.Workload, s.Now()) {
			return extpoints.NewStatus(extpoints.Unschedulable, r.message)
		}
	}
	return nil
}

// EventsToRegister implements extpoints.EnqueueExtensions. That the reservation is
// another by now is no event: the reserver has those tried again whom that may help.
func (k *keeper) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource,
			Action: extpoints.Add | extpoints.UpdateNodeAllocatable | extpoints.UpdateNodeDevices}},
		{Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete}, Hint: k.left},
	}, nil
}

// left is the hint about a workload that has left its node: it leaves more room beside
// what is kept if it need not have ended by then. All who were kept off are asked about
// the same one, so the answer is remembered.
func (k *keeper) left(_ *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
	list := k.reservations.Load()
	if list == nil || len(*list) == 0 {
		return extpoints.HintSkip, nil
	}
	gone := c.OldWorkload
	if k.last.gone == gone && k.last.list == list {
		return k.last.hint, nil
	}
	k.last.gone, k.last.list, k.last.hint = gone, list, extpoints.HintSkip
	for _, r := range *list {
		if end := endOf(gone.Workload, gone.PlacedAt, gone.PlacedAt); end.IsZero() || end.After(r.plan.At) {
			k.last.hint = extpoints.HintQueue
		}
	}
	return k.last.hint, nil
}
