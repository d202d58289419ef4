package generate

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Namespace draws the namespace with the name.
func (s *Source) Namespace(name string) *v1.Namespace {
	n := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if s.Percent(65) {
		n.Labels = map[string]string{"team": Pick(s, "x", "y")}
	}
	return n
}

// NamespaceObjects draws an object for all namespaces but the last.
func (s *Source) NamespaceObjects() []*v1.Namespace {
	var list []*v1.Namespace
	for _, name := range Namespaces[:len(Namespaces)-1] {
		list = append(list, s.Namespace(name))
	}
	return list
}

func ownerName(i int) string { return fmt.Sprintf("owner%d", i) }

// Owners draws some of the objects that make pods replicas of each other:
// services and controllers.
func (s *Source) Owners() []runtime.Object {
	var list []runtime.Object
	for _, namespace := range Namespaces {
		for i := range 2 {
			meta := metav1.ObjectMeta{Namespace: namespace, Name: ownerName(i)}
			if s.Percent(30) {
				list = append(list, &v1.Service{ObjectMeta: meta, Spec: v1.ServiceSpec{Selector: s.plainSelector()}})
			}
			if s.Percent(50) {
				list = append(list, &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: s.selector()}})
			}
			if s.Percent(50) {
				list = append(list, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: s.selector()}})
			}
			if s.Percent(50) {
				list = append(list, &v1.ReplicationController{ObjectMeta: meta, Spec: v1.ReplicationControllerSpec{Selector: s.plainSelector()}})
			}
		}
	}
	return list
}

// plainSelector selects by labels alone; it may be nil or empty.
func (s *Source) plainSelector() map[string]string {
	switch {
	case s.Percent(5):
		return nil
	case s.Percent(5):
		return map[string]string{}
	}
	selector := map[string]string{"app": Pick(s, "a", "a", "b", "c")}
	if s.Percent(20) {
		selector[Pick(s, podKeys...)] = Pick(s, podValues...)
	}
	return selector
}

// Budget draws the i-th disruption budget. The names of pods are those that it
// may call disrupted already.
func (s *Source) Budget(i int, pods []string, now time.Time) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace(), Name: fmt.Sprintf("budget%d", i)}}
	b.Spec.Selector = s.selector()
	b.Status.DisruptionsAllowed = int32(Pick(s, 0, 0, 1, 2, 5))
	if len(pods) > 0 && s.Percent(20) {
		b.Status.DisruptedPods = map[string]metav1.Time{Pick(s, pods...): {Time: now}}
	}
	return b
}
