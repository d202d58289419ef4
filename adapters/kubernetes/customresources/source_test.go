package customresources_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clientfake "k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

var all = []customresources.Kind{customresources.NodeTopologies, customresources.AppGroups, customresources.NetworkTopologies}

const topology = `
apiVersion: topology.node.k8s.io/v1alpha2
kind: NodeResourceTopology
metadata: {name: node1}
topologyPolicies: [SingleNUMANodeContainerLevel]
attributes:
- {name: topologyManagerScope, value: pod}
- {name: topologyManagerMaxNUMANodes, value: "4"}
- {name: topologyManagerPolicy, value: nonsense}
zones:
- {name: node-1, type: Node, resources: [{name: cpu, capacity: "8", allocatable: "7500m", available: "3"}]}
- name: node-0
  type: Node
  resources: [{name: cpu, capacity: 8, allocatable: 8, available: 3500m}, {name: vendor/nic, capacity: 2, allocatable: 2, available: 1}]
  costs: [{name: node-0, value: 10}, {name: node-1, value: 21}, {name: socket-0, value: 1}]
- {name: node-75, type: Node}
- {name: core-0, type: Core}
`

const group = `
apiVersion: appgroup.diktyo.x-k8s.io/v1alpha1
kind: AppGroup
metadata: {name: shop, namespace: ns, creationTimestamp: "2026-06-01T12:00:00Z"}
spec:
  numMembers: 3
  workloads:
  - {workload: {kind: Deployment, name: web, selector: web}, dependencies: [{workload: {selector: db}, minBandwidth: 1Gi, maxNetworkCost: 7}]}
  - {workload: {selector: db}}
  - {workload: {selector: late}}
status: {topologyOrder: [{workload: {selector: db}, index: 1}, {workload: {selector: web}, index: 2}]}
`

const network = `
apiVersion: networktopology.diktyo.x-k8s.io/v1alpha1
kind: NetworkTopology
metadata: {name: nt-default, namespace: ns}
spec:
  weights:
  - name: UserDefined
    topologyList:
    - topologyKey: topology.kubernetes.io/zone
      originList: [{origin: a, costList: [{destination: b, networkCost: 5}, {destination: a, networkCost: 1}]}]
    - topologyKey: topology.kubernetes.io/region
      originList: [{origin: r, costList: [{destination: s, networkCost: 20}]}]
  - name: Broken
    topologyList: [{topologyKey: topology.kubernetes.io/zone, originList: [{origin: a, costList: [{destination: b, networkCost: -1}]}]}]
`

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return &o
}

// world is an API server with custom resources, and an engine beside it.
type world struct {
	*testing.T
	client *fake.FakeDynamicClient
	pods   cache.Indexer
	engine *engine.Engine
	source *customresources.Source

	mu       sync.Mutex
	problems []string
}

func newWorld(t *testing.T, objects ...string) *world {
	t.Helper()
	w := &world{T: t, pods: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	var there []runtime.Object
	for _, text := range objects {
		there = append(there, object(t, text))
	}
	w.client = fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		{Group: "topology.node.k8s.io", Version: "v1alpha2", Resource: "noderesourcetopologies"}:       "NodeResourceTopologyList",
		{Group: "appgroup.diktyo.x-k8s.io", Version: "v1alpha1", Resource: "appgroups"}:                "AppGroupList",
		{Group: "networktopology.diktyo.x-k8s.io", Version: "v1alpha1", Resource: "networktopologies"}: "NetworkTopologyList",
	}, there...)
	var err error
	if w.engine, err = engine.New(engine.Config{Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: nobody{}}); err != nil {
		t.Fatal(err)
	}
	w.source, err = customresources.New(customresources.Options{
		Client: w.client, Kinds: all, Apply: w.engine.Apply, Pods: corelisters.NewPodLister(w.pods),
		Failed: func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.problems = append(w.problems, err.Error())
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

type nobody struct{}

func (nobody) Bind(context.Context, *model.Workload, model.Binding) error { return nil }
func (nobody) Evict(context.Context, *model.Workload, string) error       { return nil }

// run runs the source of a world while the function does, in a bubble of time.
func run(t *testing.T, objects []string, f func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, objects...)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.source.Run(ctx) })
		<-w.source.Ready()
		f(t, w)
		stop()
		running.Wait()
	})
}

// of is the engine's object, nil where there is none.
func of[T model.Object](w *world, kind model.ObjectKind, id string) (none T) {
	if o, there := w.engine.View().Object(model.ObjectRef{Kind: kind, ID: id}); there {
		return o.Object.(T)
	}
	return none
}

// What is there gets to the engine, and what cannot be read is reported.
func TestReading(t *testing.T) {
	run(t, []string{topology, group, network}, func(t *testing.T, w *world) {
		n := of[*model.NodeTopology](w, model.NodeTopologyKind, "node1")
		want := &model.NodeTopology{
			Node: "node1", At: n.At, Source: "NodeResourceTopology", Policy: model.AlignSingleZone, Scope: model.AlignWorkload, MaxZones: 4,
			Zones: []model.NodeZone{
				{ID: 0, Resources: []model.ZoneResource{{Name: "cpu", Allocatable: 8000, Available: 3500}, {Name: "vendor/nic", Allocatable: 2, Available: 1}}, Distances: map[int]int{0: 10, 1: 21}},
				{ID: 1, Resources: []model.ZoneResource{{Name: "cpu", Allocatable: 7500, Available: 3000}}},
			},
		}
		equal(t, n, want)
		if age := time.Since(n.At); age < 30*time.Second || age > 31*time.Second {
			t.Errorf("its age is %v", age)
		}
		equal(t, of[*model.AppGraph](w, model.AppGraphKind, "ns/shop"), &model.AppGraph{
			ID: "ns/shop", CreatedAt: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC).Local(),
			Components: []model.AppComponent{{Name: "late"}, {Name: "db"}, {Name: "web", Needs: []model.AppNeed{{Component: "db", MaxCost: 7}}}},
		})
		equal(t, of[*model.NetworkCosts](w, model.NetworkCostsKind, "ns/nt-default/UserDefined"), &model.NetworkCosts{
			Name: "ns/nt-default/UserDefined", Levels: []model.CostLevel{
				{Key: "topology.kubernetes.io/region", Costs: []model.NetworkCost{{From: "r", To: "s", Cost: 20}}},
				{Key: "topology.kubernetes.io/zone", Costs: []model.NetworkCost{{From: "a", To: "b", Cost: 5}}},
			},
		})
		if len(w.problems) != 1 || !strings.Contains(w.problems[0], "ns/nt-default: ") || !strings.Contains(w.problems[0], "cost: -1 is not between 0 and 1000000") {
			t.Errorf("problems: %q", w.problems)
		}
	})
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

// What goes is gone, and weights that go from a NetworkTopology are, too.
func TestRemoving(t *testing.T) {
	run(t, []string{topology, group, network}, func(t *testing.T, w *world) {
		ctx := context.Background()
		for _, r := range []schema.GroupVersionResource{
			{Group: "topology.node.k8s.io", Version: "v1alpha2", Resource: "noderesourcetopologies"}, {Group: "appgroup.diktyo.x-k8s.io", Version: "v1alpha1", Resource: "appgroups"},
		} {
			name, namespace := "shop", "ns"
			if r.Resource == "noderesourcetopologies" {
				name, namespace = "node1", ""
			}
			if err := w.client.Resource(r).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		r := schema.GroupVersionResource{Group: "networktopology.diktyo.x-k8s.io", Version: "v1alpha1", Resource: "networktopologies"}
		renamed := object(t, strings.Replace(network, "UserDefined", "Measured", 1))
		if _, err := w.client.Resource(r).Namespace("ns").Update(ctx, renamed, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if of[*model.NodeTopology](w, model.NodeTopologyKind, "node1") != nil || of[*model.AppGraph](w, model.AppGraphKind, "ns/shop") != nil ||
			of[*model.NetworkCosts](w, model.NetworkCostsKind, "ns/nt-default/UserDefined") != nil || of[*model.NetworkCosts](w, model.NetworkCostsKind, "ns/nt-default/Measured") == nil {
			t.Error("not all that is gone is gone")
		}
	})
}

// A report counts when its fingerprint is that of the pods: pod1 of namespace1, by a known answer
// of scheduler-plugins (pkg/noderesourcetopology/cache/overreserve_test.go, commit 903da7df).
func TestFingerprints(t *testing.T) {
	const right = "pfp0v0019e0420efb37746c6"
	with := func(fingerprint, cpu string) *unstructured.Unstructured {
		text := strings.Replace(topology, "attributes:", "attributes:\n- {name: nodeTopologyPodsFingerprint, value: "+fingerprint+"}", 1)
		return object(t, strings.Replace(text, "available: 3500m", "available: "+cpu, 1))
	}
	run(t, nil, func(t *testing.T, w *world) {
		put := func(o *unstructured.Unstructured) {
			r := w.client.Resource(schema.GroupVersionResource{Group: "topology.node.k8s.io", Version: "v1alpha2", Resource: "noderesourcetopologies"})
			_, err := r.Create(context.Background(), o, metav1.CreateOptions{})
			if err != nil {
				_, err = r.Update(context.Background(), o, metav1.UpdateOptions{})
			}
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		pod := func(name string, phase v1.PodPhase) {
			p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "namespace1", Name: name, UID: "uid-of-"}, Spec: v1.PodSpec{NodeName: "node1"}, Status: v1.PodStatus{Phase: phase}}
			p.UID += p.UID + "x"
			if err := w.pods.Update(p); err != nil {
				t.Fatal(err)
			}
		}
		is := func(what string, cpu int64, listed bool) {
			t.Helper()
			n := of[*model.NodeTopology](w, model.NodeTopologyKind, "node1")
			if got := n.Zones[0].Resources[0].Available; got != cpu || n.Listed != listed || listed && !slices.Equal(n.Workloads, []string{"uid-of-uid-of-x"}) {
				t.Errorf("%s: %d, %v %q", what, got, n.Listed, n.Workloads)
			}
		}
		put(with(right, "1"))
		is("the first one does not wait", 1000, false)
		put(with(right, "2"))
		is("the pod is not there", 1000, false)
		pod("pod1", v1.PodPending)
		pod("pod2", v1.PodPending)
		time.Sleep(6 * time.Second)
		is("it has not begun", 1000, false)
		pod("pod1", v1.PodRunning)
		time.Sleep(6 * time.Second)
		is("it has", 2000, true)
		put(with("pfp0v0010000000000000000", "4"))
		time.Sleep(6 * time.Second)
		is("another one does not agree", 2000, true)
		put(object(t, topology))
		is("one without says nothing", 3500, false)
		if len(w.problems) > 0 {
			t.Error(w.problems)
		}
	})
}

// Without the definitions nothing starts, and the error says which are missing.
func TestCheck(t *testing.T) {
	client := clientfake.NewClientset()
	client.Resources = []*metav1.APIResourceList{{
		GroupVersion: "topology.node.k8s.io/v1alpha2", APIResources: []metav1.APIResource{{Name: "noderesourcetopologies"}},
	}}
	w := newWorld(t)
	for _, c := range []struct {
		kinds []customresources.Kind
		want  []string
	}{
		{all[:1], nil},
		{all, []string{
			"custom resources: appgroups.appgroup.diktyo.x-k8s.io, version v1alpha1: the custom resource definition is not installed; install it, or disable the plugins that need it",
			"custom resources: networktopologies.networktopology.diktyo.x-k8s.io, version v1alpha1: the custom resource definition is not installed; install it, or disable the plugins that need it",
		}},
	} {
		s, err := customresources.New(customresources.Options{Client: w.client, Discovery: client.Discovery(), Kinds: c.kinds, Apply: w.engine.Apply, Pods: corelisters.NewPodLister(w.pods)})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Check()
		if c.want == nil {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || err.Error() != strings.Join(c.want, "\n") || !errors.Is(err, customresources.ErrNotInstalled) {
			t.Errorf("got %v", err)
		}
	}
}

func TestOptions(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		o    customresources.Options
		want string
	}{
		{customresources.Options{}, "client: must be set"},
		{customresources.Options{Client: w.client}, "apply: must be set"},
		{customresources.Options{Client: w.client, Apply: w.engine.Apply, Kinds: all}, "pods: must be set"},
		{customresources.Options{Client: w.client, Apply: w.engine.Apply, Kinds: []customresources.Kind{"x"}}, `kinds: "x" is none`},
	} {
		if _, err := customresources.New(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// The system calls of a profile are those that it lets through, each once; anything else about
// them is left out.
func TestSyscalls(t *testing.T) {
	const head = "apiVersion: security-profiles-operator.x-k8s.io/v1beta1\nkind: SeccompProfile\nmetadata: {name: p, namespace: ns}\nspec: "
	for spec, want := range map[string]string{
		"{defaultAction: SCMP_ACT_ERRNO}": "[]",
		"{syscalls: [{action: SCMP_ACT_ALLOW, names: [write, read]}, {action: SCMP_ACT_LOG, names: [open, read]}, {action: SCMP_ACT_ERRNO, names: [bind]}, {action: SCMP_ACT_TRACE, names: [clone]}]}": "[open read write]",
		"{baseProfileName: b, defaultAction: SCMP_ACT_ALLOW, syscalls: [{action: SCMP_ACT_KILL, names: [bind]}]}":                                                                                      "[]",
		"{syscalls: [{action: SCMP_ACT_ALLOW, names: ['']}]}":    "spec.syscalls: a name is empty",
		"{syscalls: [{action: SCMP_ACT_ALLOW, names: nothing}]}": "cannot unmarshal string",
	} {
		calls, err := customresources.Syscalls(object(t, head+spec))
		got := fmt.Sprint(calls)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
}
