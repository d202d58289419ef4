package explain_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
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

// Of a pod that a quota holds back nobody says whom it would displace: room is not what it lacks.
func TestNobodyWouldBeDisplacedForAPodThatIsHeldBack(t *testing.T) {
	for quota, displaces := range map[int64]bool{1500: false, 2500: true} {
		w := newWorld(t, explain.Options{}, func(c *engine.Config) { c.Order = engine.OrderByQueues }) // does not run
		w.node("a", "1")
		w.apply(
			engine.PutObject(&model.Queue{Name: "research", Max: map[string]int64{model.CPU: quota}}),
			engine.PutObject(&model.Principal{Name: "default", Queue: "research"}),
		)
		research := func(m *model.Workload) { m.Principal = "default" }
		w.submit(pod("low", "1", on("a")), research)
		w.submit(pod("high", "1", priority(10)), research)
		x := get[api.PodExplanation](w, "/explain/pods/default/high")
		if (x.Preemption != nil) != displaces {
			t.Errorf("with a quota of %d: %+v", quota, x.Preemption)
		}
	}
}

// A scheduler that does not lead says so: it knows what waits, and tries nothing.
func TestStandby(t *testing.T) {
	for _, leads := range []bool{false, true} {
		run(t, explain.Options{Leads: func() bool { return leads }}, func(w *world) {
			if q := get[api.Queue](w, "/explain/queue"); q.Standby == leads {
				t.Errorf("it leads: %v, and answers %+v", leads, q)
			}
			if q := get[api.QueueTree](w, "/explain/queues"); q.Standby == leads {
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

// runQueues is run with a second document. Node a has room for 8 CPUs, and the namespaces are in
// the queues that the labels say; pod old of namespace default runs.
func runQueues(t *testing.T, labels map[string]string, f func(w *world)) {
	t.Helper()
	c, err := queueing.Load([]byte(`
apiVersion: berth-project.github.io/v1alpha1
kind: QueueingConfiguration
queues: [{name: research, max: {cpu: 2}}, {name: rest}]
defaultQueue: rest
limits:
- {name: pods, queue: rest, scope: EachNamespace, amount: 2}
- {name: each, queue: research, scope: EachPod, resource: cpu, amount: 1800m}
- {name: budget, namespace: metered, scope: Own, resource: cpu, amount: 1, overTime: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	run(t, explain.Options{Queueing: c}, func(w *world) {
		w.node("a", "8")
		for _, o := range c.Objects() {
			w.apply(engine.PutObject(o))
		}
		for name, queue := range labels {
			w.apply(engine.PutObject(&model.Principal{Name: name, Queue: queue}))
		}
		w.submitFor("default", 0, pod("old", "500m"))
		time.Sleep(time.Minute)
		f(w)
	}, func(cfg *engine.Config) { cfg.Order = c.Order() })
}

// in puts the objects of a text into the namespace.
func in(namespace, text string) string {
	return strings.ReplaceAll(text, "metadata: {", "metadata: {namespace: "+namespace+", ")
}

// What a quota or a limit would hold back is unplaced, takes no room, and counts for nobody.
func TestSimulateWithQueues(t *testing.T) {
	const member = "  schedulingGroup: {podGroupName: gang}"
	for _, c := range []struct {
		name, body string
		want       string
		says       map[string]string // by pod
	}{
		{"a quota", yamlPod("x", "1", "") + yamlPod("y", "1", "") + yamlPod("z", "500m", ""), "x a, y Unplaced, z a",
			map[string]string{"y": `queue "research": max: "default/y" asks for 500m cpu too much now`}},
		{"whom it could displace does not matter", yamlPod("x", "1600m", "  priority: 1000"), "x Unplaced",
			map[string]string{"x": `queue "research": max: "default/x" asks for 100m cpu too much now`}},
		{"a limit on each pod", yamlPod("x", "2", ""), "x Unplaced",
			map[string]string{"x": `limit "each": "default/x" asks for 200m cpu too much, whatever else runs`}},
		{"a namespace that is not there is in the default queue",
			in("new", yamlPod("x", "1", "")+yamlPod("y", "1", "")+yamlPod("z", "1", "")) + in("newer", yamlPod("x", "1", "")), "x a, y a, z Unplaced, x a",
			map[string]string{"z": `limit "pods": "new/z" is 1 too many now`}},
		{"a namespace of a queue that is not there", in("lost", yamlPod("x", "1", "")), "x Unplaced", map[string]string{"x": `there is no queue "nowhere"`}},
		{"deadlines count", in("metered", yamlPod("x", "1", "  activeDeadlineSeconds: 1800")+yamlPod("y", "2", "  activeDeadlineSeconds: 1800")+yamlPod("z", "1m", "")),
			"x a, y Unplaced, z Unplaced", map[string]string{"y": `limit "budget": "metered/y" asks for 500m cpu-hours too much now`, "z": `, whatever else runs`}},
		{"a gang is counted as a whole", fmt.Sprintf(group, 2, "") + yamlPod("x", "1", member) + yamlPod("y", "1", member) + yamlPod("z", "1", ""),
			"x Unplaced, y Unplaced, z a", map[string]string{"x": `queue "research": max: "default/gang" asks for 500m cpu too much now`}},
		{"a gang that may go", fmt.Sprintf(group, 2, "") + yamlPod("x", "1", member) + yamlPod("y", "500m", member), "x a, y a", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			runQueues(t, map[string]string{"default": "research", "metered": "rest", "lost": "nowhere"}, func(w *world) {
				w.unchanged(func() {
					s := simulation[api.Simulation](w, c.body)
					if got := outcomes(s); got != c.want || s.Fits != (c.says == nil) {
						t.Errorf("fits is %v\ngot  %s\nwant %s", s.Fits, got, c.want)
					}
					for _, p := range s.Pods {
						if !strings.Contains(p.Message, c.says[p.Name]) {
							t.Errorf("of %s it says\n%s\nand not\n%s", p.Name, p.Message, c.says[p.Name])
						}
					}
				})
			})
		})
	}
}

// The whole answer about a pod that is held back, a group that is, and a pod of another scheduler.
func TestSimulationsAnswerWithQueues(t *testing.T) {
	runQueues(t, map[string]string{"default": "research"}, func(w *world) {
		w.golden("held.json", w.ask(http.MethodPost, "/explain/simulate", "application/yaml",
			yamlPod("large", "2", "")+fmt.Sprintf(group, 1, "")+yamlPod("member", "1700m", "  schedulingGroup: {podGroupName: gang}")+
				yamlPod("other", "1", "  schedulerName: other")+yamlPod("small", "1", "")))
	})
}
