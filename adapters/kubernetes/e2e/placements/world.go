package placements

import (
	"maps"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
)

// world is what does not change while several cases are played, one after the other.
type world struct {
	// team is the label of the default namespace, which is always there.
	team string
	// objects are all others, in the order in which they are to be created.
	objects []runtime.Object
}

// drawWorld draws the number-th world of a seed.
func drawWorld(seed, number uint64) world {
	s := generate.New(seed, math.MaxUint64-number, generate.Mood{}) // cases count from 0
	var w world
	for _, n := range s.NamespaceObjects() {
		if n.Name == cluster.Namespace {
			w.team = n.Labels["team"]
		} else {
			w.objects = append(w.objects, n)
		}
	}
	for _, class := range priorityClasses() {
		w.objects = append(w.objects, class)
	}
	for _, owner := range s.Owners() {
		if fitOwner(owner) {
			w.objects = append(w.objects, owner)
		}
	}
	return world{w.team, append(w.objects, budgets(s)...)}
}

// budgets draws disruption budgets, at most one in each namespace: which of two
// kube-scheduler charges depends on the order of a map.
func budgets(s *generate.Source) []runtime.Object {
	drawn := map[string]*policyv1.PodDisruptionBudget{}
	for range 4 {
		if b := s.Budget(0, nil, time.Time{}); slices.Contains(namespaces, b.Namespace) {
			drawn[b.Namespace] = b
		}
	}
	var list []runtime.Object
	for _, namespace := range slices.Sorted(maps.Keys(drawn)) {
		list = append(list, drawn[namespace])
	}
	return list
}

// fitOwner changes a service or a controller of pods so that the API server lets it
// in, and is false if it cannot be. Nobody makes pods for them.
func fitOwner(object runtime.Object) bool {
	var meta *metav1.ObjectMeta
	fits := true
	switch o := object.(type) {
	case *corev1.Service:
		meta = &o.ObjectMeta
		o.Spec.ClusterIP = corev1.ClusterIPNone // else it must have ports
	case *corev1.ReplicationController:
		meta = &o.ObjectMeta
		fits = len(o.Spec.Selector) > 0
		o.Spec.Template = ptr.To(template(o.Spec.Selector))
	case *appsv1.ReplicaSet:
		meta = &o.ObjectMeta
		fits = plain(o.Spec.Selector)
		if fits {
			o.Spec.Template = template(o.Spec.Selector.MatchLabels)
		}
	case *appsv1.StatefulSet:
		meta = &o.ObjectMeta
		fits = plain(o.Spec.Selector)
		if fits {
			o.Spec.Template = template(o.Spec.Selector.MatchLabels)
		}
	}
	return fits && slices.Contains(namespaces, meta.Namespace)
}

// plain reports whether the selector asks for labels alone, so that it is known what
// a template must have that it selects.
func plain(s *metav1.LabelSelector) bool {
	return s != nil && len(s.MatchLabels) > 0 && len(s.MatchExpressions) == 0
}

func template(labels map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/image"}}},
	}
}
