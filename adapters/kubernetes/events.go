package kubernetes

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record/util"

	"github.com/berth-project/berth/model"
)

const (
	// eventWriters is how many events are written at once.
	eventWriters = 4
	// eventDelay is how long events stand back while pods are bound or evicted.
	eventDelay = 5 * time.Second
	// eventPatience is how long the API server may be away without an event being
	// lost (client-go tools/events/event_broadcaster.go, 0.37.1, where an event is
	// tried 12 times, 10 seconds apart).
	eventPatience = 2 * time.Minute
	// seriesPause is after how long without a repetition a series of events has
	// ended (client-go tools/events/event_broadcaster.go finishTime, 0.37.1).
	seriesPause = 6 * time.Minute
	// maxNote is how long the text of an event may be, in bytes (kube-scheduler
	// pkg/scheduler/schedule_one.go truncateMessage, 1.37.1).
	maxNote = 1024
)

// events writes the cluster's events, events.k8s.io/v1. Bindings and evictions, which
// others wait for, go first, but none is lost: they wait in memory. An event that is repeated becomes a series, whose
// count is written when it begins and when it has ended. Another note ends it: a series has the note of its first event.
//
// Rules: client-go tools/events, 0.37.1; reasons, actions and texts are those of
// kube-scheduler 1.37.1.
type events struct {
	a        *Adapter
	instance string // of the host
	stamped  atomic.Int64

	mu     sync.Mutex
	queue  []queuedEvent
	series map[seriesKey]*eventsv1.Event
	wake   chan struct{} // holds at most one
	idle   chan struct{} // closed, and replaced, when nothing urgent is under way any more
}

// queuedEvent is an event to write, or to write the series of.
type queuedEvent struct {
	event *eventsv1.Event
	at    time.Time
}

// seriesKey is what events of one series have in common.
type seriesKey struct {
	kind, reason, action, controller string
	regarding, related               types.UID
}

func newEvents(a *Adapter) *events {
	host, _ := os.Hostname()
	return &events{
		a: a, instance: host, series: map[seriesKey]*eventsv1.Event{},
		wake: make(chan struct{}, 1), idle: make(chan struct{}),
	}
}

// scheduled tells that a pod was bound. That happens once.
func (e *events) scheduled(w *model.Workload, node string) {
	note := fmt.Sprintf("Successfully assigned %s/%s to %s", w.Namespace, w.Name, node)
	e.put(e.about(podReference(w), nil, w.Profile, v1.EventTypeNormal, "Scheduled", "Binding", note))
}

// failed tells that a pod was not placed, and why.
func (e *events) failed(w *v1.ObjectReference, scheduler, message string) {
	e.repeated(e.about(w, nil, scheduler, v1.EventTypeWarning, "FailedScheduling", "Scheduling", shortened(message)))
}

// preempted tells that a pod had to make room. How says how, where it was not deleted.
func (e *events) preempted(victim *v1.ObjectReference, by *preemptor, node, how string) {
	note := fmt.Sprintf("Preempted by %s %s on node %s%s", by.kind, by.id, node, how)
	e.repeated(e.about(victim, by.object, by.scheduler, v1.EventTypeNormal, "Preempted", "Preempting", note))
}

// shortened is a text that is not too long for an event.
func shortened(text string) string {
	const suffix = " ..."
	if len(text) <= maxNote {
		return text
	}
	return text[:maxNote-len(suffix)] + suffix
}

// about makes an event.
func (e *events) about(regarding, related *v1.ObjectReference, scheduler, kind, reason, action, note string) *eventsv1.Event {
	now := time.Now()
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: util.GenerateEventName(regarding.Name, e.stamp(now)), Namespace: regarding.Namespace},
		EventTime:  metav1.NewMicroTime(now), Type: kind, Reason: reason, Action: action, Note: note,
		ReportingController: scheduler, ReportingInstance: scheduler + "-" + e.instance,
		Regarding: *regarding, Related: related,
	}
}

// stamp is a time in nanoseconds that no other event's name has: of two events with one
// name the second would be taken for the first.
func (e *events) stamp(now time.Time) int64 {
	for {
		last := e.stamped.Load()
		next := max(now.UnixNano(), last+1)
		if e.stamped.CompareAndSwap(last, next) {
			return next
		}
	}
}

// repeated writes the event, or counts it where the last one like it had the same note.
func (e *events) repeated(event *eventsv1.Event) {
	key := seriesKey{kind: event.Type, reason: event.Reason, action: event.Action, controller: event.ReportingController, regarding: event.Regarding.UID}
	if event.Related != nil {
		key.related = event.Related.UID
	}
	e.mu.Lock()
	first := e.series[key]
	var ended *eventsv1.Event
	if first != nil && first.Note != event.Note {
		ended, first = first, nil
	}
	switch {
	case first == nil:
		e.series[key] = event
		event = event.DeepCopy()
	case first.Series != nil:
		first.Series.Count++
		first.Series.LastObservedTime = event.EventTime
		event = nil
	default:
		first.Series = &eventsv1.EventSeries{Count: 2, LastObservedTime: event.EventTime}
		event = first.DeepCopy()
	}
	e.mu.Unlock()
	if ended != nil && uncounted(ended) {
		e.put(ended)
	}
	if event != nil {
		e.put(event)
	}
}

// put writes the event when it is its turn.
func (e *events) put(event *eventsv1.Event) {
	e.a.opts.Meter.Queued("event")
	e.mu.Lock()
	e.queue = append(e.queue, queuedEvent{event, time.Now()})
	e.a.opts.Meter.EventsWaiting(len(e.queue))
	e.mu.Unlock()
	poke(e.wake)
}

// proceed is called when no binding and no eviction is under way any more.
func (e *events) proceed() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.idle)
	e.idle = make(chan struct{})
}

// proceeds is closed when no binding and no eviction is under way any more.
func (e *events) proceeds() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.idle
}

// run writes until ctx ends, and then what is left, for a few seconds at most.
func (e *events) run(ctx context.Context) {
	work, stop := lasting(ctx)
	defer stop()
	var all sync.WaitGroup
	for range eventWriters {
		all.Go(func() { workOff(ctx, work, e.wake, func() bool { return e.writeNext(ctx, work) }) })
	}
	all.Go(func() { e.endSeries(ctx) })
	all.Wait()
	if n := e.left(); n > 0 {
		e.a.opts.Meter.EventsLost(n, ctx.Err())
		e.a.log.Error(nil, "Events are left that were not written", "events", n)
	}
}

// writeNext writes the next event, and reports whether there was one. It stands back
// until ctx ends, and writes until work does.
func (e *events) writeNext(ctx, work context.Context) bool {
	next, ok := e.take()
	if !ok {
		return false
	}
	poke(e.wake) // there may be more for another
	e.standBack(ctx, next.at)
	e.write(work, next.event)
	return true
}

func (e *events) take() (queuedEvent, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) == 0 {
		e.queue = nil // give the memory of many back
		return queuedEvent{}, false
	}
	next := e.queue[0]
	e.queue[0] = queuedEvent{}
	e.queue = e.queue[1:]
	e.a.opts.Meter.EventsWaiting(len(e.queue))
	return next, true
}

// left is how many events are to be written.
func (e *events) left() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.queue)
}

// standBack waits while pods are bound or evicted, but for no longer than eventDelay from
// when the event came.
func (e *events) standBack(ctx context.Context, came time.Time) {
	rest := eventDelay - time.Since(came)
	idle := e.proceeds() // before the question, so that the answer is not missed
	if e.a.urgent.Load() == 0 || rest <= 0 {
		return
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// write writes the event, or the count of its series, for as long as eventPatience
// lasts and the API server may come back.
func (e *events) write(ctx context.Context, event *eventsv1.Event) {
	err := e.writeOnce(ctx, event)
	for start := time.Now(); passes(err) && time.Since(start) < eventPatience && pause(ctx, askAgain); {
		e.a.opts.Meter.Retried("event", err)
		e.a.opts.Meter.Queued("event")
		err = e.writeOnce(ctx, event)
	}
	if err != nil {
		e.a.opts.Meter.EventsLost(1, err)
		e.a.log.Error(err, "Cannot write an event", "object", event.Regarding.Namespace+"/"+event.Regarding.Name, "reason", event.Reason)
	}
}

func (e *events) writeOnce(ctx context.Context, event *eventsv1.Event) error {
	return e.a.send(ctx, "event", func(ctx context.Context) error {
		list := e.a.opts.EventClient.EventsV1().Events(event.Namespace)
		if event.Series != nil {
			single := event.DeepCopy()
			single.Series = nil
			patch, err := mergePatch(single, event)
			if err != nil {
				return err
			}
			if _, err = list.Patch(ctx, event.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); !apierrors.IsNotFound(err) {
				return err
			}
		}
		_, err := list.Create(ctx, event, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil // it was written before the connection broke
		}
		return err
	})
}

// endSeries ends the series that are not repeated any more, and writes how many there
// were.
func (e *events) endSeries(ctx context.Context) {
	ticker := time.NewTicker(seriesPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			for _, event := range e.ended(now) {
				e.put(event)
			}
		}
	}
}

// ended takes out the series that have ended, and returns those to write again.
func (e *events) ended(now time.Time) (list []*eventsv1.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, event := range e.series {
		last := event.EventTime
		if event.Series != nil {
			last = event.Series.LastObservedTime
		}
		if now.Sub(last.Time) < seriesPause {
			continue
		}
		delete(e.series, key)
		if uncounted(event) {
			list = append(list, event)
		}
	}
	return list
}

// uncounted reports whether the series has a count that was not written.
func uncounted(event *eventsv1.Event) bool { return event.Series != nil && event.Series.Count > 2 }
