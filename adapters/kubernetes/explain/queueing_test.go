package explain_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// With queues the answers say which queue a pod is in, how many go before it, and what
// holds it back, by the pod's name.
func TestExplainAPodInAQueue(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "4")
		w.apply(
			engine.PutObject(&model.Queue{Name: "all"}),
			engine.PutObject(&model.Queue{Name: "research", Parent: "all", Max: map[string]int64{model.CPU: 1500}}),
			engine.PutObject(&model.Principal{Name: "default", Queue: "research"}),
		)
		for _, name := range []string{"first", "second", "third"} {
			w.submitFor("default", 0, pod(name, "1"))
		}
		time.Sleep(time.Minute)
		w.golden("queues.json", w.ask(http.MethodGet, "/explain/queue", "", ""))
		w.golden("queued.json", w.ask(http.MethodGet, "/explain/pods/default/third", "", ""))
	}, func(c *engine.Config) { c.Order = engine.OrderByQueues })
}

// A pod that its queue can never hold is gated, with its name in the reason, and amounts as
// quantities. It is in the queue all the same.
func TestExplainAPodThatIsTooMuchForItsQueue(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "4")
		w.apply(
			engine.PutObject(&model.Queue{Name: "research", Max: map[string]int64{model.CPU: 1500}}),
			engine.PutObject(&model.Principal{Name: "default", Queue: "research"}),
		)
		w.submitFor("default", 0, pod("large", "2"))
		x := get[api.PodExplanation](w, "/explain/pods/default/large")
		const why = `queue "research": max: "default/large" asks for 500m cpu too much, whatever else runs`
		if q := x.Queue; q == nil || q.Place != "Gated" || q.GateMessage != why || q.HeldBy != why || x.Message != why || !slices.Equal(q.QueuePath, []string{"research"}) {
			t.Errorf("it is at %+v, %s", x.Queue, x.Message)
		}
	}, func(c *engine.Config) { c.Order = engine.OrderByQueues })
}

// A pod that finds no room has a queue, and nothing holds it back.
func TestExplainAPodThatFitsNowhereInAQueue(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "1")
		w.apply(engine.PutObject(&model.Queue{Name: "research"}), engine.PutObject(&model.Principal{Name: "default", Queue: "research"}))
		w.submitFor("default", 0, pod("large", "2"))
		time.Sleep(time.Minute)
		x := get[api.PodExplanation](w, "/explain/pods/default/large")
		if q := x.Queue; q == nil || q.Place != "Unschedulable" || q.HeldBy != "" || !slices.Equal(q.QueuePath, []string{"research"}) {
			t.Errorf("it is at %+v", x.Queue)
		}
	}, func(c *engine.Config) { c.Order = engine.OrderByQueues })
}

// A scheduler that does not lead says so: it knows what waits, and tries nothing.
func TestStandby(t *testing.T) {
	for _, leads := range []bool{false, true} {
		run(t, explain.Options{Leads: func() bool { return leads }}, func(w *world) {
			if q := get[api.Queue](w, "/explain/queue"); q.Standby == leads {
				t.Errorf("it leads: %v, and answers %+v", leads, q)
			}
		})
	}
}

// Where the scheduler plans ahead the answers say when a pod is to start, and why that was
// moved.
func TestExplainAPodWithAPromise(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "4")
		w.submitFor("", time.Hour, pod("runs", "4"))
		time.Sleep(time.Second)
		w.submitFor("", time.Hour, pod("waits", "4"))
		time.Sleep(time.Second)
		w.submitFor("", time.Hour, pod("overtakes", "4", priority(10)))
		time.Sleep(time.Minute)
		w.golden("plan.json", w.ask(http.MethodGet, "/explain/queue", "", ""))
		w.golden("promise.json", w.ask(http.MethodGet, "/explain/pods/default/waits", "", ""))
	}, func(c *engine.Config) { c.Backfill = engine.Backfill{Mode: engine.Conservative} })
}
