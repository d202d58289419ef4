package explain

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// ownedIn counts the pods on nodes by what owns them, kind and name. Those of a StatefulSet are not
// among them: a simulation tells by their names that they are there.
func (t *translation) ownedIn(namespace string) map[string]int {
	if known := t.owned[namespace]; known != nil {
		return known
	}
	counts := map[string]int{}
	t.owned[namespace] = counts
	pods, _ := t.h.o.Pods.Pods(namespace).List(labels.Everything()) // of what is in memory
	for _, p := range pods {
		c := metav1.GetControllerOfNoCopy(p)
		if c == nil || c.Kind == "StatefulSet" || !isOnNode(p) {
			continue
		}
		counts[c.Kind+"/"+c.Name]++
		if deployment, of := strings.CutSuffix(c.Name, "-"+p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]); of && c.Kind == "ReplicaSet" {
			counts["Deployment/"+deployment]++
		}
	}
	return counts
}
