package adaptertest

import (
	"errors"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// checkPlace: workloads and nodes come before the session, in it, and in either
// order.
func checkPlace(w *world) {
	w.node("n1", 1)
	w.submit("before-1", "before-2")
	w.start(nil)
	w.until("one of the two is confirmed and the other waits", func(v *engine.View, _ map[string][]string) bool {
		count := map[model.Phase]int{}
		for r := range v.Workloads() {
			count[r.Phase]++
		}
		return count[model.Confirmed] == 1 && count[model.Pending] == 1
	})
	w.submit("later")
	w.node("n2", 3)
	w.running("before-1", "before-2", "later")
	w.submit("last")
	w.running("last")
	w.once("before-1", "before-2", "later", "last")
}

func checkFinish(w *world) {
	w.node("n1", 1)
	w.submit("first")
	w.start(nil)
	w.running("first")
	w.submit("second")
	w.must("finish workload first", w.h.Finish("first"))
	w.running("second")
	w.until("first is finished or forgotten", func(v *engine.View, _ map[string][]string) bool {
		r, ok := workload(v, "first")
		return !ok || r.Phase == model.Finished
	})
	w.must("finish workload second", w.h.Finish("second"))
	w.gone("second")
	w.once("first", "second")
}

func checkEvict(w *world) {
	w.node("n1", 1)
	w.submit("old")
	w.start(nil)
	w.running("old")
	w.submit("new")
	w.probe.bar("old") // it may be wanted again, but not here
	w.must("evict workload old", w.engine.Evict(w.record("old").ID, "the check wants its room"))
	w.running("new")
	w.once("old", "new")
}

// checkEvictTwice calls the adapter past the engine: a preempting plugin, an
// operator and a retry may all want the same workload to leave.
func checkEvictTwice(w *world) {
	w.node("n1", 2)
	w.submit("leaves", "stays")
	w.start(nil)
	w.running("leaves", "stays")
	w.probe.bar("leaves")
	leaves := w.record("leaves").Workload
	ctx, cancel := w.direct()
	defer cancel()
	evict := func() error { return w.orchestrator().Evict(ctx, leaves, "the check wants its room") }
	accepted := false
	for _, err := range together(3, evict) {
		accepted = accepted || err == nil
	}
	if !accepted {
		w.tb.Fatalf("of three calls of Evict none was accepted")
	}
	w.gone("leaves")
	// Success or an error is the answer for what has left, as the adapter likes.
	for _, err := range together(3, evict) {
		if errors.Is(err, errPanicked) {
			w.tb.Errorf("Evict of what has left: %v", err)
		}
	}
	w.submit("new")
	w.running("new", "stays")
	w.once("leaves", "stays", "new")
}
