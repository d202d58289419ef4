package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/explain"
)

// Whether tolerations compare numbers is for the feature gate to say, for pods in the
// cluster as well as for those that a simulation is about.
func TestTolerationsThatCompare(t *testing.T) {
	for _, on := range []bool{false, true} {
		t.Run(fmt.Sprintf("gate %t", on), func(t *testing.T) {
			n := node()
			n.Name, n.Labels, n.Spec.Taints = "n2", map[string]string{"tainted": ""}, []v1.Taint{{Key: "level", Value: "950", Effect: v1.TaintEffectNoSchedule}}
			inWorld(t, func(w *world) {
				time.Sleep(5 * time.Second)
				p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}, Spec: v1.PodSpec{
					SchedulerName: v1.DefaultSchedulerName, NodeSelector: n.Labels, Containers: []v1.Container{{Name: "c"}},
					Tolerations: []v1.Toleration{{Key: "level", Operator: v1.TolerationOpGt, Value: "900"}},
				}}
				if _, err := w.client.CoreV1().Pods("default").Create(w.Context(), p, metav1.CreateOptions{}); err != nil {
					w.Fatal(err)
				}
				time.Sleep(5 * time.Second)
				if w.isBound("p") != on {
					w.Errorf("the pod has a node: %t", !on)
				}
				const manifest = `{apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {nodeSelector: {tainted: ""}, containers: [{name: c, image: i}],
					tolerations: [{key: level, operator: Lt, value: "1000"}]}}`
				r := httptest.NewRequest(http.MethodPost, explain.Path+"simulate", strings.NewReader(manifest))
				r.Header.Set("Content-Type", "application/yaml")
				answer := httptest.NewRecorder()
				for _, m := range w.endpoints(w.Context(), nil).mounted {
					m.handler.ServeHTTP(answer, r)
				}
				if fits := strings.Contains(answer.Body.String(), `"fits":true`); answer.Code != http.StatusOK || fits != on {
					w.Errorf("simulated: %d, fits: %t, %s", answer.Code, fits, answer.Body)
				}
			}, []string{fmt.Sprintf("--feature-gates=TaintTolerationComparisonOperators=%t", on)}, n)
		})
	}
}
