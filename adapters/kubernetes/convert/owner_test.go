package convert

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func TestOwnerSelector(t *testing.T) {
	t.Parallel()
	here := metav1.ObjectMeta{Namespace: "default", Name: "x"}
	there := metav1.ObjectMeta{Namespace: "web", Name: "x"}
	service := func(meta metav1.ObjectMeta, selector map[string]string) *v1.Service {
		return &v1.Service{ObjectMeta: meta, Spec: v1.ServiceSpec{Selector: selector}}
	}
	appA := map[string]string{"app": "a"}
	exists := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "set", Operator: metav1.LabelSelectorOpExists}}}
	near := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "set", Operator: "Near"}}}
	replicaSet := func(meta metav1.ObjectMeta, s *metav1.LabelSelector) []*appsv1.ReplicaSet {
		return []*appsv1.ReplicaSet{{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: s}}}
	}
	tests := []struct {
		name   string
		owner  string // "apiVersion kind name", of the controller
		owners Owners
		want   string // as requirements of the form key=value and key
	}{
		{"nobody", "", Owners{}, ""},
		{"a service", "", Owners{Services: []*v1.Service{service(here, appA)}}, "app=a"},
		{"all services together", "", Owners{Services: []*v1.Service{service(here, appA), service(here, map[string]string{"tier": "b"})}}, "app=a tier=b"},
		{"a service that selects others", "", Owners{Services: []*v1.Service{service(here, map[string]string{"app": "b"})}}, ""},
		{"a service of another namespace", "", Owners{Services: []*v1.Service{service(there, appA)}}, ""},
		{"a service without selector selects nothing", "", Owners{Services: []*v1.Service{service(here, nil)}}, ""},
		{"a service with an empty one everything, which says nothing", "", Owners{Services: []*v1.Service{service(here, map[string]string{})}}, ""},
		{"a replica set", "apps/v1 ReplicaSet x", Owners{ReplicaSets: replicaSet(here, exists)}, "set"},
		{"a service and a replica set", "apps/v1 ReplicaSet x", Owners{Services: []*v1.Service{service(here, appA)}, ReplicaSets: replicaSet(here, exists)}, "app=a set"},
		{"a replica set that is not the owner", "apps/v1 ReplicaSet y", Owners{ReplicaSets: replicaSet(here, exists)}, ""},
		{"a replica set of another namespace", "apps/v1 ReplicaSet x", Owners{ReplicaSets: replicaSet(there, exists)}, ""},
		{"a replica set of another version", "apps/v1beta2 ReplicaSet x", Owners{ReplicaSets: replicaSet(here, exists)}, ""},
		{"a replica set whose selector cannot be read", "apps/v1 ReplicaSet x", Owners{ReplicaSets: replicaSet(here, near)}, ""},
		{"a replica set without selector", "apps/v1 ReplicaSet x", Owners{ReplicaSets: replicaSet(here, nil)}, ""},
		{"a stateful set", "apps/v1 StatefulSet x", Owners{StatefulSets: []*appsv1.StatefulSet{{ObjectMeta: here, Spec: appsv1.StatefulSetSpec{Selector: exists}}}}, "set"},
		{"a replication controller", "v1 ReplicationController x", Owners{ReplicationControllers: []*v1.ReplicationController{{ObjectMeta: here, Spec: v1.ReplicationControllerSpec{Selector: appA}}}}, "app=a"},
		{"a replication controller has the last word on a label", "v1 ReplicationController x", Owners{
			Services:               []*v1.Service{service(here, appA)},
			ReplicationControllers: []*v1.ReplicationController{{ObjectMeta: here, Spec: v1.ReplicationControllerSpec{Selector: map[string]string{"app": "c"}}}}}, "app=c"},
		{"a job", "batch/v1 Job x", Owners{ReplicaSets: replicaSet(here, exists)}, ""},
		{"no group at all", "a/b/c ReplicaSet x", Owners{ReplicaSets: replicaSet(here, exists)}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Labels: map[string]string{"app": "a", "tier": "b"}, OwnerReferences: owner(test.owner)}}
			got := OwnerSelector(p, test.owners)
			want, err := labels.Parse(comma(test.want))
			if err != nil {
				t.Fatal(err)
			}
			if (got == nil) != want.Empty() {
				t.Fatalf("the selector is %+v, not %q", got, test.want)
			}
			for _, of := range []map[string]string{nil, {"app": "a"}, {"app": "c"}, {"app": "a", "tier": "b"}, {"set": ""}, {"app": "a", "set": "1"}, {"app": "b", "set": "1"}} {
				if got != nil && got.Matches(of) != want.Matches(labels.Set(of)) {
					t.Errorf("%v: %v, not %v", of, got.Matches(of), want.Matches(labels.Set(of)))
				}
			}
		})
	}
}

// TestOwnerSelectorTwin compares with the rules of kube-scheduler's
// plugins/helper/spread.go, said in the terms of apimachinery.
func TestOwnerSelectorTwin(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, false)
	for range rounds() {
		p, o := g.owners()
		want := dumbOwners(p, o)
		got := OwnerSelector(p, o)
		if (got == nil) != want.Empty() {
			t.Fatalf("the selector is %+v, not %v, of %s", got, want, show(o))
		}
		for range 10 {
			of := map[string]string{"app": oneOf(g, values[:3]), "tier": oneOf(g, values[:3])}
			if got != nil && got.Matches(of) != want.Matches(labels.Set(of)) {
				t.Fatalf("%v: %v, not %v, of %s", of, got.Matches(of), want, show(o))
			}
		}
	}
}

func dumbOwners(p *v1.Pod, o Owners) labels.Selector {
	set := labels.Set{}
	for _, s := range o.Services {
		if s.Namespace == p.Namespace && s.Spec.Selector != nil && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(p.Labels)) {
			set = labels.Merge(set, s.Spec.Selector)
		}
	}
	add := func(kind, name, namespace string, s *metav1.LabelSelector) labels.Selector {
		for _, r := range p.OwnerReferences {
			other, err := metav1.LabelSelectorAsSelector(s)
			if *r.Controller && r.APIVersion+" "+r.Kind == kind && r.Name == name && p.Namespace == namespace && err == nil {
				requirements, _ := other.Requirements()
				return labels.SelectorFromSet(set).Add(requirements...)
			}
		}
		return nil
	}
	for _, c := range o.ReplicationControllers {
		if s := add("v1 ReplicationController", c.Name, c.Namespace, nil); s != nil {
			return labels.SelectorFromSet(labels.Merge(set, c.Spec.Selector))
		}
	}
	for _, c := range o.ReplicaSets {
		if s := add("apps/v1 ReplicaSet", c.Name, c.Namespace, c.Spec.Selector); s != nil {
			return s
		}
	}
	for _, c := range o.StatefulSets {
		if s := add("apps/v1 StatefulSet", c.Name, c.Namespace, c.Spec.Selector); s != nil {
			return s
		}
	}
	return labels.SelectorFromSet(set)
}

// owner reads "apiVersion kind name".
func owner(text string) []metav1.OwnerReference {
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return nil
	}
	controller := true
	return []metav1.OwnerReference{{Kind: "Bystander", Name: "x", APIVersion: "v1"}, {APIVersion: fields[0], Kind: fields[1], Name: fields[2], Controller: &controller}}
}

func comma(text string) string { return strings.Join(strings.Fields(text), ",") }
