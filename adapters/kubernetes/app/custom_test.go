package app

import (
	"errors"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
)

var (
	topologies    = schema.GroupVersionResource{Group: "topology.node.k8s.io", Version: "v1alpha2", Resource: "noderesourcetopologies"}
	elasticQuotas = schema.GroupVersionResource{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "elasticquotas"}
)

// customInMemory is an API server in memory with custom resources.
func customInMemory() dynamic.Interface {
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		topologies: "NodeResourceTopologyList", elasticQuotas: "ElasticQuotaList",
	})
}

const aligned = `
profiles:
- plugins: {multiPoint: {enabled: [{name: NodeResourceTopologyMatch, weight: 5}]}}
  pluginConfig: [{name: NodeResourceTopologyMatch, args: {scoringStrategy: {type: LeastNUMANodes}}}]
`

const (
	confined = "profiles: [{plugins: {multiPoint: {enabled: [{name: SySched}]}}}]\n"
	capacity = "profiles: [{plugins: {multiPoint: {enabled: [{name: CapacityScheduling}]}}}]\n"
)

// A profile with a plugin that goes by custom resources needs their definition.
func TestCustomResourcesThatAreNotInstalled(t *testing.T) {
	for text, kind := range map[string]customresources.Kind{aligned: customresources.NodeTopologies, confined: customresources.SeccompProfiles, capacity: customresources.ElasticQuotas} {
		s := inMemory(t, kubetest.NewServer(node()), config.Registry{}, "--leader-elect=false", "--config="+file(t, text))
		err := (&tenure{scheduler: s}).run(t.Context())
		if !errors.Is(err, customresources.ErrNotInstalled) || !strings.Contains(err.Error(), string(kind)) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// A plugin of an operator's own that has the name of ours reads for itself.
func TestOwnPluginsHaveNothingReadForThem(t *testing.T) {
	own := config.Registry{config.CapacityScheduling: config.OutOfTree()[config.CapacityScheduling]}
	s := inMemory(t, kubetest.NewServer(node()), own, "--leader-elect=false", "--config="+file(t, capacity))
	if len(s.customKinds) > 0 || s.queueing() != nil {
		t.Errorf("%q are read, queues are %+v", s.customKinds, s.queueing())
	}
}

// The objects' quotas are at hand before the first decision.
func TestElasticQuotaObjects(t *testing.T) {
	client := kubetest.NewServer(node(), &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	client.Resources = []*metav1.APIResourceList{{GroupVersion: "scheduling.x-k8s.io/v1alpha1", APIResources: []metav1.APIResource{{Name: "elasticquotas"}}}}
	s := inMemory(t, client, config.Registry{}, "--leader-elect=false", "--config="+file(t, capacity))
	quota := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": map[string]any{"name": "q", "namespace": "default"},
		"spec": map[string]any{"max": map[string]any{"cpu": "1"}},
	}}
	if _, err := s.clients.custom.Resource(elasticQuotas).Namespace("default").Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: v1.PodSpec{
			SchedulerName: v1.DefaultSchedulerName, Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}}}},
		}}
		if _, err := client.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	running := start(t.Context(), (&tenure{scheduler: s}).run)
	held := func() (placed int, message string) {
		list, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if p := &list.Items[i]; p.Spec.NodeName != "" {
				placed++
			} else if at, ok := s.engine.Queue(string(p.UID)); ok && at.Standing != nil && at.Standing.Held != nil {
				message = at.Standing.Held.String()
			}
		}
		return placed, message
	}
	for placed, message := held(); placed == 0 || message == ""; placed, message = held() {
		select {
		case <-running.ended():
			t.Fatal(running.err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if placed, message := held(); placed != 1 || !strings.Contains(message, `queue "elasticquotas/default": max`) {
		t.Errorf("%d are placed, the other waits for %q", placed, message)
	}
	if err := running.end(); err != nil {
		t.Error(err)
	}
}

// What the node says of its zones decides where a pod goes: it is at hand before the first
// decision.
func TestCustomResources(t *testing.T) {
	client := kubetest.NewServer(node())
	client.Resources = []*metav1.APIResourceList{{GroupVersion: "topology.node.k8s.io/v1alpha2", APIResources: []metav1.APIResource{{Name: "noderesourcetopologies"}}}}
	s := inMemory(t, client, config.Registry{}, "--leader-elect=false", "--config="+file(t, aligned))
	zone := func(name string) any {
		return map[string]any{"name": name, "type": "Node", "resources": []any{map[string]any{"name": "cpu", "capacity": "4", "allocatable": "4", "available": "4"}}}
	}
	report := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "topology.node.k8s.io/v1alpha2", "kind": "NodeResourceTopology", "metadata": map[string]any{"name": "n1"},
		"attributes": []any{map[string]any{"name": "topologyManagerPolicy", "value": "single-numa-node"}},
		"zones":      []any{zone("node-0"), zone("node-1")},
	}}
	if _, err := s.clients.custom.Resource(topologies).Create(t.Context(), report, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, cpu := range map[string]string{"fits": "2", "split": "5"} {
		r := v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse("1Mi")}
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: v1.PodSpec{
			SchedulerName: v1.DefaultSchedulerName, Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: r, Limits: r}}},
		}}
		if _, err := client.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	running := start(t.Context(), (&tenure{scheduler: s}).run)
	pod := func(name string) *v1.Pod {
		p, err := client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for pod("fits").Spec.NodeName == "" || len(pod("split").Status.Conditions) == 0 {
		select {
		case <-running.ended():
			t.Fatal(running.err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := running.end(); err != nil {
		t.Error(err)
	}
	if p := pod("split"); p.Spec.NodeName != "" || !strings.HasPrefix(p.Status.Conditions[0].Message, "0/1 nodes are available: 1 cannot align container.") {
		t.Errorf("%q, %+v", p.Spec.NodeName, p.Status.Conditions)
	}
}
