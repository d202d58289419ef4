package sidebyside

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// service has the pods that are made by served.
func service(Counts) []runtime.Object {
	return []runtime.Object{makeService("service", map[string]string{"app": "scheduler-perf"})}
}

func makeService(name string, selector map[string]string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name},
		Spec:       corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{{Port: 80}}},
	}
}

// namespaces is in how many of them pods of teams are, as upstream has it.
const namespaces = 100

func namespaceName(i int) string { return fmt.Sprintf("team-%03d", i%namespaces) }

// measuredTeam is the namespace of the measured ones.
const measuredTeam = "team-measured"

var teamLabels = map[string]string{"team": "devops"}

// teams is the namespaces of the teams, which have a label in common.
func teams(Counts) []runtime.Object {
	all := []runtime.Object{cluster.OtherNamespace(measuredTeam, teamLabels)}
	for i := range namespaces {
		all = append(all, cluster.OtherNamespace(namespaceName(i), teamLabels))
	}
	return all
}

// noDefaultSpread is a scheduler that spreads only pods that ask for it.
const noDefaultSpread = `profiles:
- pluginConfig:
  - name: PodTopologySpread
    args: {defaultingType: List, defaultConstraints: []}
`
