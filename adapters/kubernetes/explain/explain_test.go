package explain_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/engine"
)

func tainted(n *v1.Node)  { n.Spec.Taints = []v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoSchedule}} }
func cordoned(n *v1.Node) { n.Spec.Unschedulable = true }

// A pod that waits is tried on all nodes: the answer has every plugin that rejects it,
// where it waits, why it failed last and what would have to go.
func TestExplainAPodThatWaits(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("full", "1")
		w.node("tainted", "1", tainted)
		w.node("cordoned", "8", cordoned)
		w.place(pod("low", "800m"))
		w.place(pod("high", "900m", priority(10), func(p *v1.Pod) {
			never := v1.PreemptNever
			p.Spec.PreemptionPolicy = &never
		}))
		time.Sleep(time.Minute)
		w.golden("pending.json", w.ask(http.MethodGet, "/explain/pods/default/high", "", ""))
	})
}

// A pod that got a node is explained by the decision as it was, whatever happened since.
func TestExplainAPodThatWasPlaced(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "4")
		w.node("b", "4")
		w.node("cordoned", "8", cordoned)
		w.place(pod("web", "1"))
		time.Sleep(time.Minute)
		w.apply(engine.RemoveNode("b"))
		w.golden("placed.json", w.ask(http.MethodGet, "/explain/pods/default/web?uid=uid-web", "", ""))
	})
}

// A constraint over a label that no node has is named.
func TestExplainAPodSpreadOverALabelThatNoNodeHas(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "4")
		w.place(pod("web", "1", func(p *v1.Pod) {
			p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: "floor", WhenUnsatisfiable: v1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			}}
		}))
		time.Sleep(time.Minute)
		w.golden("unlabelled.json", w.ask(http.MethodGet, "/explain/pods/default/web", "", ""))
	})
}

// Of a pod that was not tried yet the answer has what it would preempt; of one that
// was the node that it waits for.
func TestExplainWhatWouldHaveToGo(t *testing.T) {
	w := newWorld(t, explain.Options{}) // does not run
	w.node("a", "1")
	w.node("b", "1", cordoned, tainted)
	w.submit(pod("low", "800m", on("a")))
	w.submit(pod("another", "100m", on("a")))
	w.submit(pod("high", "1", priority(10)))
	x := get[api.PodExplanation](w, "/explain/pods/default/high")
	if x.Preemption == nil || x.Preemption.Node != "a" || len(x.Preemption.Victims) != 2 {
		t.Fatalf("both pods have to leave node a: %+v", x.Preemption)
	}
	if v := x.Preemption.Victims[1]; v.Name != "low" || v.UID != "uid-low" || v.Node != "a" {
		t.Errorf("the second victim is %+v", v)
	}
	if !slices.Equal(x.ClosestNodes, []string{"a"}) {
		t.Errorf("closest is %v", x.ClosestNodes)
	}

	run(t, explain.Options{}, func(w *world) {
		w.node("a", "1")
		w.place(pod("low", "800m"))
		w.place(pod("high", "900m", priority(10)))
		x := get[api.PodExplanation](w, "/explain/pods/default/high")
		if x.NominatedNode != "a" || x.Node != "" || x.Queue == nil || x.LastAttempt == nil || x.Preemption != nil {
			t.Errorf("it waits for node a: %+v", x)
		}
	})
}

func TestExplainAPodWhoseDecisionIsNotKnown(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "4")
		w.place(pod("adopted", "1", func(p *v1.Pod) { p.Spec.NodeName = "a" }))
		for _, name := range []string{"first", "second", "third"} { // two are remembered
			w.place(pod(name, "100m"))
		}
		for name, basis := range map[string]api.Basis{
			"adopted": api.BasisNone, "first": api.BasisNone, "second": api.BasisDecision, "third": api.BasisDecision,
		} {
			x := get[api.PodExplanation](w, "/explain/pods/default/"+name)
			if x.Basis != basis || x.Node != "a" || x.At.IsZero() || x.Pod.Name != name {
				t.Errorf("%s: basis is %s, not %s: %+v", name, x.Basis, basis, x)
			}
			if (len(x.Nodes) > 0) != (basis == api.BasisDecision) {
				t.Errorf("%s: %d nodes", name, len(x.Nodes))
			}
		}
	})
}

func TestExplainAGatedPod(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "4")
		w.place(pod("gated", "1", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}} }))
		x := get[api.PodExplanation](w, "/explain/pods/default/gated")
		if x.Queue.Place != "Gated" || x.Queue.GatingPlugin != "SchedulingGates" || x.Node != "" || x.Message == "" || x.Message != x.Queue.GateMessage {
			t.Errorf("%+v, %+v", x, x.Queue)
		}
		if !x.Nodes[0].Feasible {
			t.Error("there is room on node a")
		}
	})
}

// What waits comes by priority, then by age.
func TestQueue(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "1", cordoned)
		in := func(namespace string) func(*v1.Pod) { return func(p *v1.Pod) { p.Namespace = namespace } }
		w.place(pod("first", "1"))
		time.Sleep(time.Second)
		w.place(pod("second", "1", in("other")))
		w.place(pod("gated", "1", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}} }))
		w.place(pod("important", "1", priority(5)))
		w.golden("queue.json", w.ask(http.MethodGet, "/explain/queue", "", ""))

		for path, want := range map[string]string{
			"/explain/queue?limit=1":                   "important, and 3 more of 4",
			"/explain/queue?limit=4":                   "important first second gated, and 0 more of 4",
			"/explain/queue?namespace=other":           "second, and 0 more of 4",
			"/explain/queue?namespace=default&limit=2": "important first, and 1 more of 4",
			"/explain/queue?namespace=nothing":         ", and 0 more of 4",
		} {
			q := get[api.Queue](w, path)
			var names []string
			for _, p := range q.Pods {
				names = append(names, p.Name)
			}
			got := fmt.Sprintf("%s, and %d more of %d", strings.Join(names, " "), q.Remaining, q.Counts.Unschedulable+q.Counts.Gated)
			if got != want {
				t.Errorf("%s: %s, not %s", path, got, want)
			}
		}
	})
}

func TestPodsThatCannotBeExplained(t *testing.T) {
	ready := make(chan struct{})
	run(t, explain.Options{Ready: ready}, func(w *world) {
		w.node("a", "4")
		w.place(pod("web", "1"))
		w.refuses(http.MethodGet, "/explain/pods/default/web", "", "", http.StatusServiceUnavailable, "does not know the cluster yet")
		close(ready)
		for _, p := range []*v1.Pod{
			pod("foreign", "1", func(p *v1.Pod) { p.Spec.SchedulerName = "someone-else" }),
			pod("odd", "1", func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"": "x"} }),
			pod("new", "1"),
		} {
			if err := w.pods.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			method, path string
			code         int
			says         string
		}{
			{"GET", "/explain/pods/default/nobody", 404, "there is no pod default/nobody, or it has ended"},
			{"GET", "/explain/pods/other/web", 404, "there is no pod other/web"},
			{"GET", "/explain/pods/default/web?uid=x", 409, "the UID of pod default/web is uid-web, not x"},
			{"GET", "/explain/pods/default/foreign", 404, `its spec.schedulerName is "someone-else", and the profiles are default-scheduler`},
			{"GET", "/explain/pods/default/new", 404, "has not taken in pod default/new yet"},
			{"GET", "/explain/pods/default/web?verbose=1", 400, `there is no parameter "verbose": known are uid`},
			{"GET", "/explain/pods/default/web?uid=a&uid=b", 400, `parameter "uid" is there 2 times`},
			{"POST", "/explain/pods/default/web", 405, "the method is POST: it must be GET"},
			{"GET", "/explain/simulate", 405, "the method is GET: it must be POST"},
			{"GET", "/explain/pods/default", 404, "there is nothing at /explain/pods/default"},
			{"GET", "/explain/", 404, "there is nothing at /explain/"},
			{"GET", "/explain/queue?limit=0", 400, `"0" is not a number from 1 to 5000`},
			{"GET", "/explain/queue?limit=many", 400, `"many" is not a number from 1 to 5000`},
			{"GET", "/explain/queue?limit=5001", 400, `"5001" is not a number from 1 to 5000`},
		} {
			w.refuses(c.method, c.path, "", "", c.code, c.says)
		}
	})
}

// Pods of one second that came in one batch are listed in the order in which they came.
func TestTheQueueIsInTheOrderOfArrival(t *testing.T) {
	w := newWorld(t, explain.Options{}) // does not run
	names := []string{"e", "a", "d", "c", "b"}
	var changes []engine.Change
	for _, name := range names {
		m, err := convert.Pod(pod(name, "1"))
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, engine.Submit(m))
	}
	w.apply(changes...)
	var got []string
	for _, p := range get[api.Queue](w, "/explain/queue").Pods {
		got = append(got, p.Name)
	}
	if !slices.Equal(got, names) {
		t.Errorf("listed %v, want %v", got, names)
	}
}
