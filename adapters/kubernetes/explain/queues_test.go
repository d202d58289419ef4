package explain_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// withTree is about a tree in which pods run and wait, are held back by a quota and a limit, and are
// in no queue and in one that is not there. Node a has room for 16 CPUs.
func withTree(t *testing.T, f func(w *world)) {
	t.Helper()
	c, err := queueing.Load([]byte(`
apiVersion: berth-project.github.io/v1alpha1
kind: QueueingConfiguration
queues:
- {name: all, weight: 3}
- {name: research, parent: all, weight: 3, guaranteed: {cpu: 2}, max: {cpu: 4, memory: 8Gi}}
- {name: production, parent: all, weight: 1}
- {name: idle, parent: all, weight: 4}
- {name: labs, weight: 1, policy: Usage, halfLife: 1h}
- {name: lab-a, parent: labs, weight: 1}
- {name: lab-b, parent: labs, weight: 1}
- {name: lines, policy: FIFO, priority: -1}
- {name: line, parent: lines}
limits:
- {name: pods, queue: production, scope: EachNamespace, amount: 2}
- {name: each, queue: research, scope: EachPod, resource: cpu, amount: 3}
- {name: budget, namespace: team-b, scope: Own, resource: cpu, amount: 10, overTime: true}
- {name: gpus, queue: research, scope: Own, resource: nvidia.com/gpu, amount: 2, overTime: true}
- {name: whole, queue: all, scope: Subtree, resource: memory, amount: 12Gi}
- {name: none, queue: idle, scope: EachNamespace, amount: 0}
`))
	if err != nil {
		t.Fatal(err)
	}
	run(t, explain.Options{Queueing: c}, func(w *world) {
		w.node("a", "16", func(n *v1.Node) { n.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("4") })
		for _, o := range c.Objects() {
			w.apply(engine.PutObject(o))
		}
		for name, queue := range map[string]string{"team-a": "research", "team-b": "production", "team-c": "production", "lab": "lab-a", "former": "labs", "stray": "", "typo": "reserch"} {
			w.apply(engine.PutObject(&model.Principal{Name: name, Queue: queue}))
		}
		gpu := func(p *v1.Pod) {
			p.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"] = resource.MustParse("1")
			p.Spec.Containers[0].Resources.Requests[v1.ResourceMemory] = resource.MustParse("1536Mi")
		}
		submit := func(namespace string, limit time.Duration, name, cpu string, change ...func(*v1.Pod)) {
			p := pod(name, cpu, change...)
			p.Namespace = namespace
			w.submitFor(namespace, limit, p)
			time.Sleep(time.Second)
		}
		submit("former", time.Hour, "gone", "2")
		time.Sleep(10 * time.Minute)
		w.apply(engine.Remove("uid-gone"))
		submit("team-a", 30*time.Minute, "r1", "3", gpu)
		submit("team-a", time.Hour, "r2", "2")
		submit("team-a", time.Hour, "r3", "1")
		submit("team-b", time.Hour, "p1", "1")
		submit("team-b", time.Hour, "p2", "500m")
		submit("team-b", time.Hour, "p3", "500m")
		submit("team-c", 0, "p4", "100m")
		submit("lab", 0, "l1", "1")
		submit("stray", 0, "s1", "250m")
		submit("stray", 0, "s2", "100")
		submit("typo", 0, "t1", "100m")
		submit("typo", 0, "t2", "100m")
		w.apply(engine.Confirm(model.Binding{Workload: "uid-t1", Node: "a"}))
		time.Sleep(time.Minute)
		f(w)
	}, func(cfg *engine.Config) { cfg.Order = c.Order() })
}

// The tree of queues in order, and the limits, first what is used most.
func TestQueues(t *testing.T) {
	withTree(t, func(w *world) {
		w.golden("tree.json", w.ask(http.MethodGet, "/explain/queues", "", ""))

		tree := get[api.QueueTree](w, "/explain/queues")
		used := map[string]v1.ResourceList{}
		for _, q := range tree.Queues {
			used[q.Name] = q.Used
		}
		for _, l := range w.engine.Queues() {
			if l.Limit != "" || l.Principal != "" {
				continue
			}
			got := used[l.Queue]
			if len(got) != len(l.Use) {
				t.Errorf("queue %s uses %v, and the engine charges it %v", l.Queue, got, l.Use)
			}
			for _, name := range slices.Sorted(maps.Keys(l.Use)) {
				want := convert.Quantity(name, l.Use[name])
				if amount := got[v1.ResourceName(name)]; amount.Cmp(want) != 0 {
					t.Errorf("queue %s uses %s %s, and the engine charges it %s", l.Queue, amount.String(), name, want.String())
				}
			}
		}
	})
}

// Of a queue there are those below it, and the limits of both and of the namespaces in them.
func TestQueuesBelowOne(t *testing.T) {
	withTree(t, func(w *world) {
		for path, want := range map[string]string{
			"/explain/queues?queue=labs":       "labs lab-a lab-b",
			"/explain/queues?queue=production": "production; pods pods budget",
			"/explain/queues?queue=all":        "all idle production research; none pods pods gpus budget whole each",
			"/explain/queues?queue=line":       "line",
			"/explain/queues?queue=reserch":    "reserch",
			"/explain/queues?queue=":           "all idle production research labs lab-a lab-b lines line reserch ; none pods pods gpus budget whole each",
		} {
			tree := get[api.QueueTree](w, path)
			var queues, limits []string
			for _, q := range tree.Queues {
				queues = append(queues, q.Name)
			}
			for _, l := range tree.Limits {
				limits = append(limits, l.Name)
			}
			got := strings.Join(queues, " ")
			if limits != nil {
				got += "; " + strings.Join(limits, " ")
			}
			if got != want {
				t.Errorf("%s\ngot  %s\nwant %s", path, got, want)
			}
		}
		w.refuses(http.MethodGet, "/explain/queues?queue=nowhere", "", "", http.StatusNotFound, `there is no queue "nowhere"`)
		w.refuses(http.MethodGet, "/explain/queues?limit=1", "", "", http.StatusBadRequest, `there is no parameter "limit": known are queue`)
		w.refuses(http.MethodPost, "/explain/queues", "", "", http.StatusMethodNotAllowed, "it must be GET")
	})
}

// A queue that goes by prices has used no resource, but the cluster for some time.
func TestQueuesByPrices(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "4")
		w.apply(
			engine.PutObject(&model.Queue{Name: "all", Policy: model.OrderUsage, HalfLife: 1000 * time.Hour, Prices: map[string]int64{model.CPU: 1}}),
			engine.PutObject(&model.Queue{Name: "research", Parent: "all"}),
			engine.PutObject(&model.Principal{Name: "default", Queue: "research"}),
		)
		w.submitFor("default", 0, pod("runs", "2"))
		time.Sleep(time.Hour)
		q := get[api.QueueTree](w, "/explain/queues?queue=research").Queues[0]
		if p := q.Past; p == nil || p.Resource != "" || p.Used != nil || p.WholeCluster.Round(time.Minute) != 30*time.Minute {
			t.Errorf("half of the cluster for an hour: %+v", q.Past)
		}
	}, func(c *engine.Config) { c.Order = engine.OrderByQueues })
}

// What is in no queue may be held back by what others are guaranteed.
func TestQueuesHoldWhatIsInNone(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "4")
		w.apply(engine.PutObject(&model.Queue{Name: "keeps", Guaranteed: map[string]int64{model.CPU: 3000}, Lend: map[string]int64{model.CPU: 0}}))
		w.submit(pod("web", "2"))
		time.Sleep(time.Second)
		list := get[api.QueueTree](w, "/explain/queues").Queues
		if n := len(list); n != 2 || list[1].Name != "" || list[1].Held != 1 || list[1].Waiting != 1 {
			t.Errorf("one pod in no queue is held back: %+v", list)
		}
	}, func(c *engine.Config) { c.Order = engine.OrderByQueues })
}

// Without queues the answer has none.
func TestNoQueues(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "4")
		w.place(pod("web", "1"))
		w.golden("noqueues.json", w.ask(http.MethodGet, "/explain/queues", "", ""))
		w.refuses(http.MethodGet, "/explain/queues?queue=all", "", "", http.StatusNotFound, "the configuration has no document of kind QueueingConfiguration with queues")
	})
}
