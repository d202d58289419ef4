package scheduler

import (
	"container/heap"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// dueKind says what is due.
type dueKind uint8

const (
	dueJob      dueKind = iota // a job may begin
	dueElement                 // an element may be tried again
	dueGang                    // an attempt should be complete
	dueDeadline                // a job's deadline
	dueNode                    // something of a node's drain or maintenance
	dueNever                   // a job may wait for what can never be
	dueHolds                   // an interval of a reservation is over
	duePurge
)

// due is something to look at, at a time. To look too often does no harm.
type due struct {
	kind    dueKind
	element state.ElementID // its job alone for dueJob, dueDeadline and dueNever
	attempt int32           // of dueGang
	node    string
}

// timers are what is due, by time. The zero value has none.
type timers struct {
	heap dueHeap
	next map[due]time.Time // the earliest entry of each
}

// set has something looked at, at the time or before.
func (t *timers) set(at time.Time, d due) {
	if t.next == nil {
		t.next = map[due]time.Time{}
	}
	if old, ok := t.next[d]; ok && !at.Before(old) {
		return
	}
	t.next[d] = at
	heap.Push(&t.heap, dueEntry{at, d})
}

// wait is the time until something is due, at most an hour.
func (t *timers) wait(now time.Time) time.Duration {
	if len(t.heap) == 0 {
		return time.Hour
	}
	return min(max(0, t.heap[0].at.Sub(now)), time.Hour)
}

// due takes what is due.
func (t *timers) due(now time.Time) []due {
	var out []due
	for len(t.heap) > 0 && !t.heap[0].at.After(now) {
		e := heap.Pop(&t.heap).(dueEntry)
		if at, ok := t.next[e.due]; ok && at.Equal(e.at) {
			delete(t.next, e.due)
			out = append(out, e.due)
		}
	}
	return out
}

type dueEntry struct {
	at  time.Time
	due due
}

// dueHeap implements heap.Interface.
type dueHeap []dueEntry

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) { *h = append(*h, x.(dueEntry)) }

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}

// jobDue names a job, where the kind is about all of it.
func jobDue(kind dueKind, id job.ID) due { return due{kind: kind, element: state.ElementID{Job: id}} }
