package kubernetes

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// ReasonHeldByQueue is the reason of the condition PodScheduled of a pod that a quota or a limit
// of the queues holds back. It is another than that of a pod which fits nowhere, for which
// autoscalers add nodes: here they would not help.
const ReasonHeldByQueue = "HeldByQueue"

const (
	// heldPeriod is how often the adapter looks for pods that are held back. Nobody waits for
	// it: it is for people who wonder why a pod waits.
	heldPeriod = 5 * time.Second
	// heldPause is for how long what was said of a pod stands, though something else holds it
	// back by now: thousands may wait behind one whose turn it is, and with the next one it is
	// another limit for all of them.
	heldPause = 5 * time.Minute
)

// heldPods says of pods that a quota or a limit of the queues holds back why they wait: the engine
// does not try them, and so reports nothing of them.
type heldPods struct {
	a    *Adapter
	mu   sync.Mutex
	said map[string]saidOfHeld // of pods that wait and that nothing else was said of since, by ID
}

// saidOfHeld is what was said of a pod, and when.
type saidOfHeld struct {
	message string
	at      time.Time
}

func newHeldPods(a *Adapter) *heldPods { return &heldPods{a: a, said: map[string]saidOfHeld{}} }

// run says so until ctx ends, from when this scheduler leads.
func (p *heldPods) run(ctx context.Context) {
	if !p.a.byQueues() {
		return
	}
	for _, begun := range []<-chan struct{}{p.a.ready, p.a.opts.Leads} {
		select {
		case <-begun:
		case <-ctx.Done():
			return
		}
	}
	for pause(ctx, heldPeriod) {
		p.look(time.Now())
	}
}

// look says it of those of whom it has not been said yet.
func (p *heldPods) look(now time.Time) {
	held, view := p.a.engine.HeldBack(), p.a.engine.View()
	for _, id := range slices.Sorted(maps.Keys(held)) {
		w, ok := view.Workload(id)
		if !ok {
			continue
		}
		if message := heldMessage(view, held[id]); p.isNew(id, message, now, held[id].Never || held[id].Absent != "") {
			p.a.heldBack(w.Workload, message)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.said, func(id string, _ saidOfHeld) bool {
		w, ok := view.Workload(id)
		return !ok || w.Phase != model.Pending
	})
}

// isNew reports whether the message is to be said of the pod, and notes that it is. One that lasts
// until somebody changes the queues is said at once.
func (p *heldPods) isNew(id, message string, now time.Time, lasts bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, ok := p.said[id]; ok && (last.message == message || !lasts && now.Sub(last.at) < heldPause) {
		return false
	}
	p.said[id] = saidOfHeld{message, now}
	return true
}

// forget is told that something else is said of the pod.
func (p *heldPods) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.said, id)
}

// heldMessage says what holds a pod back. By how much the first of those that wait is too much
// changes all the time, and is left out, but where it is too much for ever.
func heldMessage(view *engine.View, h *queue.Held) string {
	switch {
	case h.Absent != "":
		return words.HeldBy(h)
	case h.Never:
		name := h.Workload
		if w, ok := view.Workload(name); ok {
			name = w.DisplayName()
		}
		return words.Held(h, name)
	}
	return "held back by " + words.HeldBy(h)
}

// waits reports whether the pod waits to be tried. One that does not may be about to be bound, and
// then [statuses.forget] comes before: who looks here after a write has begun, and finds that it
// waits, writes before that.
func (a *Adapter) waits(id types.UID) bool {
	w, ok := a.engine.View().Workload(string(id))
	return ok && w.Phase == model.Pending
}
