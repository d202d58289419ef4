package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// extenders is about HTTP extenders.
var extenders = []Scenario{
	{Name: "extender/it has a say in which nodes, and in which is best", Run: extenderChooses},
	{Name: "extender/nodes are sent whole to one that has no cache", Run: extenderWholeNodes},
	{Name: "extender/it binds", Run: extenderBinds},
	{Name: "extender/it has a say in preemption", Run: extenderPreempts},
	{Name: "extender/one that fails", Run: extenderFails},
	{Name: "extender/it is asked about its own resources alone", Run: extenderManages},
}

// serve answers at /verb what the function says, until the end of the test. It
// returns the URL.
func serve[Args, Result any](t *testing.T, mux *http.ServeMux, verb string, f func(Args) Result) {
	t.Helper()
	mux.HandleFunc("POST /"+verb, func(w http.ResponseWriter, r *http.Request) {
		var args Args
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(f(args)) // the scheduler may have gone
	})
}

// extenderServer is a server without verbs, and its address.
func extenderServer(t *testing.T) (*http.ServeMux, string) {
	t.Helper()
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return mux, s.URL
}

func extenderChooses(t *testing.T, e *Env) {
	mux, url := extenderServer(t)
	serve(t, mux, "filter", func(a extenderv1.ExtenderArgs) extenderv1.ExtenderFilterResult {
		if a.Pod.Name == "hopeless" {
			return extenderv1.ExtenderFilterResult{NodeNames: &[]string{}, FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{
				"a": "it is not to be", "b": "it is not to be", "c": "it is not to be",
			}}
		}
		return extenderv1.ExtenderFilterResult{NodeNames: &[]string{"b", "c"}, FailedNodes: extenderv1.FailedNodesMap{"a": "not that one"}}
	})
	serve(t, mux, "prioritize", func(a extenderv1.ExtenderArgs) extenderv1.HostPriorityList {
		return extenderv1.HostPriorityList{{Host: "b", Score: 0}, {Host: "c", Score: 10}}
	})
	e.Create(t, cluster.Node("a").Obj(), cluster.Node("b").Obj(), cluster.Node("c").Obj())
	e.Schedule(t, fmt.Sprintf(`
extenders:
- {urlPrefix: %q, filterVerb: filter, prioritizeVerb: prioritize, weight: 5, nodeCacheCapable: true}
`, url))
	e.Create(t, cluster.Pod("p").Obj())
	e.BoundTo(t, "p", "c")
	e.Create(t, cluster.Pod("hopeless").Obj())
	e.Unschedulable(t, "hopeless", "0/3 nodes are available: 3 it is not to be. preemption: 0/3 nodes are available: "+
		"3 Preemption is not helpful for scheduling.")
}

func extenderWholeNodes(t *testing.T, e *Env) {
	mux, url := extenderServer(t)
	serve(t, mux, "filter", func(a extenderv1.ExtenderArgs) extenderv1.ExtenderFilterResult {
		good := &corev1.NodeList{}
		for _, n := range a.Nodes.Items {
			if n.Labels["rack"] == "r2" {
				good.Items = append(good.Items, n)
			}
		}
		return extenderv1.ExtenderFilterResult{Nodes: good}
	})
	e.Create(t, cluster.Node("a").Label("rack", "r1").Obj(), cluster.Node("b").Label("rack", "r2").Obj())
	e.Schedule(t, fmt.Sprintf("extenders:\n- {urlPrefix: %q, filterVerb: filter}", url))
	e.Create(t, cluster.Pod("p").Obj())
	e.BoundTo(t, "p", "b")
}

func extenderBinds(t *testing.T, e *Env) {
	mux, url := extenderServer(t)
	var bound atomic.Int32
	serve(t, mux, "bind", func(a extenderv1.ExtenderBindingArgs) extenderv1.ExtenderBindingResult {
		bound.Add(1)
		binding := &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: a.PodName, Namespace: a.PodNamespace, UID: a.PodUID, Annotations: map[string]string{"by": "extender"}},
			Target:     corev1.ObjectReference{Kind: "Node", Name: a.Node},
		}
		if err := e.Client.CoreV1().Pods(a.PodNamespace).Bind(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			return extenderv1.ExtenderBindingResult{Error: err.Error()}
		}
		return extenderv1.ExtenderBindingResult{}
	})
	e.Create(t, cluster.Node("n").Obj())
	e.Schedule(t, fmt.Sprintf("extenders:\n- {urlPrefix: %q, bindVerb: bind}", url))
	e.Create(t, cluster.Pod("p").Obj())
	e.BoundTo(t, "p", "n")
	e.AwaitPod(t, "p", "was bound by the extender", func(p *corev1.Pod) error {
		if p.Annotations["by"] != "extender" {
			return fmt.Errorf("its annotations are %v", p.Annotations)
		}
		return nil
	})
	if n := bound.Load(); n != 1 {
		t.Errorf("the extender was asked %d times to bind, want once", n)
	}
}

func extenderPreempts(t *testing.T, e *Env) {
	mux, url := extenderServer(t)
	serve(t, mux, "preempt", func(a extenderv1.ExtenderPreemptionArgs) extenderv1.ExtenderPreemptionResult {
		return extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{
			"a": a.NodeNameToMetaVictims["a"], // b it will not have
		}}
	})
	classes(t, e)
	e.Create(t, smallNode("a", "2").Obj(), smallNode("b", "2").Obj(),
		on("a", withPriority("middle-a", "middle", "2")), on("b", withPriority("low-b", "low", "2")))
	e.Schedule(t, fmt.Sprintf("extenders:\n- {urlPrefix: %q, preemptVerb: preempt, nodeCacheCapable: true}", url))
	e.Create(t, withPriority("high", "high", "2"))
	e.BoundTo(t, "high", "a")
	e.Gone(t, "middle-a")
	e.BoundTo(t, "low-b", "b")
}

func extenderFails(t *testing.T, e *Env) {
	mux, url := extenderServer(t)
	var works atomic.Bool
	mux.HandleFunc("POST /filter", func(w http.ResponseWriter, r *http.Request) {
		if !works.Load() {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(extenderv1.ExtenderFilterResult{NodeNames: &[]string{"n"}})
	})
	e.Create(t, cluster.Node("n").Obj())
	e.Schedule(t, fmt.Sprintf(`
extenders:
- {urlPrefix: "http://127.0.0.1:1", filterVerb: filter, ignorable: true}
- {urlPrefix: %q, filterVerb: filter, nodeCacheCapable: true}
`, url))
	e.Create(t, cluster.Pod("p").Obj())
	e.Condition(t, "p", corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonSchedulerError,
		fmt.Sprintf("failed filter with extender at URL %s/filter, code 503", url))
	works.Store(true)
	e.BoundTo(t, "p", "n") // and the one that may be ignored is
}

func extenderManages(t *testing.T, e *Env) {
	mux, url := extenderServer(t)
	serve(t, mux, "filter", func(a extenderv1.ExtenderArgs) extenderv1.ExtenderFilterResult {
		return extenderv1.ExtenderFilterResult{NodeNames: &[]string{"b"}}
	})
	e.Create(t, cluster.Node("a").Obj(), smallNode("b", "1").Obj()) // a is the better one
	e.Schedule(t, fmt.Sprintf(`
extenders:
- urlPrefix: %q
  filterVerb: filter
  nodeCacheCapable: true
  managedResources: [{name: %s, ignoredByScheduler: true}]
`, url, gpu))
	e.Create(t, cluster.Pod("plain").Req(cluster.CPU("500m")).Obj(), cluster.Pod("managed").Res(cluster.Resources{gpu: "1"}).Obj())
	e.BoundTo(t, "plain", "a")
	e.BoundTo(t, "managed", "b") // no node has the resource, but that is the extender's business
}
