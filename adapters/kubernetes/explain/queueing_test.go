package explain_test

import (
	"net/http"
	"strings"
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

// A pod that its queue can never hold is gated, with its name in the reason.
func TestExplainAPodThatIsTooMuchForItsQueue(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "4")
		w.apply(
			engine.PutObject(&model.Queue{Name: "research", Max: map[string]int64{model.CPU: 1500}}),
			engine.PutObject(&model.Principal{Name: "default", Queue: "research"}),
		)
		w.submitFor("default", 0, pod("large", "2"))
		x := get[api.PodExplanation](w, "/explain/pods/default/large")
		if x.Queue == nil || x.Queue.Place != "Gated" || !strings.Contains(x.Queue.GateMessage, `queue "research": max: "default/large" asks for`) {
			t.Errorf("it is at %+v", x.Queue)
		}
	}, func(c *engine.Config) { c.Order = engine.OrderByQueues })
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
