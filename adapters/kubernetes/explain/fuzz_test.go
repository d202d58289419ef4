package explain_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

// Whatever is sent is simulated or refused, with what is wrong; nothing comes of it.
func FuzzSimulate(f *testing.F) {
	for _, seed := range []string{
		yamlPod("x", "1", ""),
		yamlPod("x", "1", "  priority: 9\n  schedulingGroup: {podGroupName: gang}") + fmt.Sprintf(group, 1, ""),
		yamlPod("x", "3", "  priority: 9") + yamlPod("y", "1", "  priorityClassName: c") + "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: c}, value: 3}\n",
		`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"x"},"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}}],"hostNetwork":true}}]}`,
		`{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"x"},"spec":{"resources":{"limits":{"hugepages-2Mi":"4Mi","memory":"1Gi"}},"containers":[{"name":"c"}]}}]}`,
		yamlPod("x", "1", "  topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]"),
		yamlPod("x", "1", "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {}}]}}"),
		owner("apps/v1", "Deployment", "web", "replicas: 3, selector: {matchLabels: {a: b}}", ""),
		owner("apps/v1", "ReplicaSet", "web", "replicas: 1001, selector: {}", "nodeName: x, "),
		owner("apps/v1", "StatefulSet", "db", "ordinals: {start: -2}, selector: {matchLabels: {a: b}}, volumeClaimTemplates: [{metadata: {name: v}}]", ""),
		owner("apps/v1", "StatefulSet", "db", "replicas: 2, selector: {matchLabels: {a: b}}, volumeClaimTemplates: [{metadata: {name: v}, spec: {storageClassName: c}}]", ""),
		owner("apps/v1", "DaemonSet", "agent", "selector: {matchLabels: {a: b}}", ""),
		owner("v1", "ReplicationController", "web", "replicas: 2", ""),
		owner("batch/v1", "Job", "crunch", "completions: 2, parallelism: 9, completionMode: Indexed, suspend: true", ""),
		"{apiVersion: batch/v1, kind: CronJob, metadata: {name: x}, spec: {schedule: x, jobTemplate: {spec: {template: {spec: {containers: [{name: c}]}}}}}}",
		"a: &a [*a]", "---\n---\n", "{", "\xff", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		w := newWorld(t, explain.Options{})
		w.node("a", "2")
		w.node("b", "1", tainted)
		w.submit(pod("old", "2"))
		w.unchanged(func() {
			answer := w.ask(http.MethodPost, "/explain/simulate", "application/yaml", body)
			switch answer.Code {
			case http.StatusOK:
				s := read[api.Simulation](w, answer)
				if len(s.Pods) == 0 {
					t.Error("there are no pods in the answer")
				}
				for _, p := range s.Pods {
					if p.Name == "" || (p.Outcome == api.Placed) != (p.Node != "") || p.Outcome != api.Placed && p.Message == "" {
						t.Errorf("%+v", p)
					}
				}
			case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
				var status metav1.Status
				if err := json.Unmarshal(answer.Body.Bytes(), &status); err != nil || strings.TrimSpace(status.Message) == "" {
					t.Errorf("%v: %s", err, answer.Body)
				}
			default:
				t.Errorf("%d: %s", answer.Code, answer.Body)
			}
		})
	})
}
