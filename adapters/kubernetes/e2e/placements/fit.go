package placements

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
)

// namespaces are where pods are: all that the generator knows but the last, which
// has no object.
var namespaces = generate.Namespaces[:len(generate.Namespaces)-1]

// fitPod changes a pod so that the API server lets it in, if it can be, and does not
// lose what counts for the scheduler, if it can be kept.
func fitPod(p *corev1.Pod) *corev1.Pod {
	p.UID = ""
	if !slices.Contains(namespaces, p.Namespace) {
		p.Namespace = cluster.Namespace
	}
	for i := range p.OwnerReferences {
		p.OwnerReferences[i].UID = types.UID("uid-of-" + p.OwnerReferences[i].Name)
	}
	spec := &p.Spec
	spec.PriorityClassName = className(ptr.Deref(spec.Priority, 0), spec.PreemptionPolicy)
	spec.Priority, spec.PreemptionPolicy = nil, nil
	// Nobody shuts pods down: one that is told to go stays until it is taken away.
	spec.TerminationGracePeriodSeconds = ptr.To[int64](3600)
	// These take a RuntimeClass, and feature gates that are off by default.
	spec.Overhead, spec.HostNetwork, spec.HostUsers = nil, false, nil
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			containers[i].RestartPolicyRules = nil
			fitResources(&containers[i].Resources)
		}
	}
	if spec.Resources != nil {
		fitResources(spec.Resources)
	}
	fitRelations(spec)
	return p
}

// fitResources gives limits to what may not be promised twice, and leaves out what
// only nodes have.
func fitResources(r *corev1.ResourceRequirements) {
	fitPages(r.Requests)
	for name, amount := range r.Requests {
		switch {
		case strings.HasPrefix(string(name), "requests.") || strings.HasPrefix(string(name), "attachable-volumes-"):
			delete(r.Requests, name)
		case name != corev1.ResourceCPU && name != corev1.ResourceMemory && name != corev1.ResourceEphemeralStorage:
			if r.Limits == nil {
				r.Limits = corev1.ResourceList{}
			}
			r.Limits[name] = amount
		}
	}
}

// hugePages come in whole pages.
const hugePages = corev1.ResourceHugePagesPrefix + "2Mi"

// fitPages makes pages of numbers.
func fitPages(list corev1.ResourceList) {
	const page = 2 << 20
	if amount, ok := list[hugePages]; ok && amount.Value()%page != 0 {
		list[hugePages] = *resource.NewQuantity(amount.Value()*page, resource.BinarySI)
	}
}

// fitRelations leaves out the keys of labels to match. Of those in terms about pods
// the generator has made requirements, as the API server would; of those in spread
// constraints only some may not stay.
func fitRelations(spec *corev1.PodSpec) {
	for _, term := range podTerms(spec.Affinity) {
		term.MatchLabelKeys, term.MismatchLabelKeys = nil, nil
	}
	for i := range spec.TopologySpreadConstraints {
		c := &spec.TopologySpreadConstraints[i]
		c.MatchLabelKeys = slices.DeleteFunc(c.MatchLabelKeys, func(key string) bool { return selects(c.LabelSelector, key) })
	}
}

// podTerms are all terms about other pods.
func podTerms(a *corev1.Affinity) []*corev1.PodAffinityTerm {
	var all []*corev1.PodAffinityTerm
	add := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			all = append(all, &required[i])
		}
		for i := range preferred {
			all = append(all, &preferred[i].PodAffinityTerm)
		}
	}
	if a != nil && a.PodAffinity != nil {
		add(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a != nil && a.PodAntiAffinity != nil {
		add(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return all
}

// selects reports whether the selector asks for the key.
func selects(s *metav1.LabelSelector, key string) bool {
	if s == nil {
		return false
	}
	_, asks := s.MatchLabels[key]
	return asks || slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool { return r.Key == key })
}

// fitNode is fitPod for nodes.
func fitNode(n *corev1.Node) *corev1.Node {
	n.Status.DeclaredFeatures = nil // their feature gate is off by default
	fitPages(n.Status.Allocatable)
	return n
}

// highest is the highest priority that a class of ours may have.
const highest = 1_000_000_000

// priorities are those that the generator draws; it knows one that is higher still.
var priorities = []int32{-2147483648, -1, 0, 1, 5, 10, 100, highest}

// className is the class for pods of the priority.
func className(priority int32, policy *corev1.PreemptionPolicy) string {
	name := strings.ReplaceAll(fmt.Sprintf("priority-%d", min(priority, highest)), "--", "-minus-")
	if policy != nil && *policy == corev1.PreemptNever {
		name += "-never"
	}
	return name
}

// priorityClasses are all that pods can be of.
func priorityClasses() []*schedulingv1.PriorityClass {
	var all []*schedulingv1.PriorityClass
	for _, priority := range priorities {
		for _, policy := range []corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever} {
			class := cluster.PriorityClass(className(priority, &policy), priority)
			class.PreemptionPolicy = &policy
			all = append(all, class)
		}
	}
	return all
}
