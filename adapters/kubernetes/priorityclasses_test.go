package kubernetes_test

import (
	"testing"
	"testing/synctest"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
	"github.com/berth-project/berth/model"
)

// What a class says of toleration counts for its pods, those that run included, as it is
// now.
func TestTolerationFollowsTheClass(t *testing.T) {
	const annotation = "preemption-toleration.scheduling.x-k8s.io/toleration-seconds"
	synctest.Test(t, func(t *testing.T) {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "patient", Annotations: map[string]string{annotation: "60"}}, Value: 8000}
		client := kubetest.NewServer(node("n1", "1"), class)
		_, s := start(t, client, kubernetes.Options{Client: client, Kinds: append(kubernetes.DefaultKinds(), kubernetes.PriorityClasses)})
		for _, name := range []string{"runs", "waits"} {
			p := pod(name, "1")
			p.Spec.PriorityClassName = "patient"
			p.Generation = 1
			s.create(p)
			synctest.Wait()
		}
		classes := client.SchedulingV1().PriorityClasses()
		expect := func(about string, want model.PreemptionToleration) {
			t.Helper()
			synctest.Wait()
			for _, name := range []string{"runs", "waits"} {
				w, _ := s.engine.View().Workload(string(s.pod(name).UID))
				if (w.Node != "") != (name == "runs") || w.PreemptionToleration != want {
					t.Errorf("%s: the pod that %s, on %q, has %+v, want %+v", about, name, w.Node, w.PreemptionToleration, want)
				}
			}
		}
		expect("at first", model.PreemptionToleration{MinPriority: 8001, For: time.Minute})
		class = class.DeepCopy()
		class.Annotations[annotation] = "-1"
		if _, err := classes.Update(t.Context(), class, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		expect("after the change", model.PreemptionToleration{MinPriority: 8001, For: -1})
		if err := classes.Delete(t.Context(), "patient", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		expect("without the class", model.PreemptionToleration{})
	})
}
