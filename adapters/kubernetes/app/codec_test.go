package app

import (
	"encoding/json"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

func TestCodec(t *testing.T) {
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	nodes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	noted := map[string]string{"note": "for the extender"}
	for _, err := range []error{
		pods.Add(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "u1", Annotations: noted}}),
		pods.Add(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "on", UID: "u2", Annotations: noted}, Spec: v1.PodSpec{NodeName: "n1"}}),
		nodes.Add(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Annotations: noted}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := codec{pods: corelisters.NewPodLister(pods), nodes: corelisters.NewNodeLister(nodes)}
	for _, tt := range []struct {
		name, id, node string
		noted          bool
	}{
		{"p", "u1", "", true},    // waits
		{"p", "u1", "n2", true},  // is not bound yet
		{"on", "u2", "n1", true}, // is
		{"p", "u9", "", false},   // has gone, and another has its name
		{"gone", "u9", "n1", false},
	} {
		text, err := c.Pod(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: tt.id, Namespace: "ns", Name: tt.name}}, tt.node)
		if err != nil {
			t.Fatal(err)
		}
		var got v1.Pod
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if string(got.UID) != tt.id || got.Name != tt.name || got.Spec.NodeName != tt.node || (got.Annotations["note"] != "") != tt.noted {
			t.Errorf("%+v: got %s", tt, text)
		}
	}
	if p, err := c.pods.Pods("ns").Get("p"); err != nil || p.Spec.NodeName != "" {
		t.Errorf("what the informer has was changed: %v, %v", p, err)
	}
	for name, isNoted := range map[string]bool{"n1": true, "gone": false} {
		text, err := c.Node(&model.Node{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		var got v1.Node
		if err := json.Unmarshal(text, &got); err != nil || got.Name != name || (got.Annotations["note"] != "") != isNoted {
			t.Errorf("%s: got %s, %v", name, text, err)
		}
	}
}
