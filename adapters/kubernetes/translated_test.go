package kubernetes_test

import (
	"sync"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubernetes "github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
	"github.com/berth-project/berth/model"
)

// Somebody who wants to know is told of which object each noun was made, also of changes that are
// nothing to the engine, and the engine has that noun.
func TestTranslated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		nodes, pods := map[*model.Node]*v1.Node{}, map[*model.Workload]*v1.Pod{}
		client := kubetest.NewServer(node("n1", "2"))
		_, s := start(t, client, kubernetes.Options{Client: client, Translated: func(made, object any) {
			mu.Lock()
			defer mu.Unlock()
			switch made := made.(type) {
			case *model.Node:
				nodes[made] = object.(*v1.Node)
			case *model.Workload:
				pods[made] = object.(*v1.Pod)
			}
		}})
		s.create(pod("a", "1"))
		object := func() *v1.Pod {
			w, _ := s.engine.View().Workload(string(s.pod("a").UID))
			mu.Lock()
			defer mu.Unlock()
			if o := pods[w.Workload]; o != nil {
				return o
			}
			return &v1.Pod{}
		}
		s.until("the engine's pod has the node in its object", func() bool { return object().Spec.NodeName == "n1" })

		// The engine knows nothing of annotations, and of a message.
		changed := node("n1", "2")
		changed.Annotations = map[string]string{"a": "b"}
		if _, err := client.CoreV1().Nodes().Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.until("the engine's node has the annotation in its object", func() bool {
			n, _ := s.engine.View().Node("n1")
			mu.Lock()
			defer mu.Unlock()
			return nodes[n.Node] != nil && nodes[n.Node].Annotations["a"] == "b"
		})
		on := s.pod("a")
		on.Status.Message = "of no interest"
		if _, err := client.CoreV1().Pods("default").UpdateStatus(t.Context(), on, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.until("the engine's pod has the message in its object", func() bool { return object().Status.Message == "of no interest" })
	})
}
