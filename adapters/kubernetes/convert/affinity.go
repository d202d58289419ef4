package convert

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

// podAffinity translates affinity or anti-affinity to other pods. A list with a
// term whose selector cannot be read comes to nothing as a whole: that is how
// the scheduler takes it of a pod that is on a node.
//
// Rules: staging framework/types.go (GetAffinityTerms) and kube-scheduler
// pkg/scheduler/framework/types.go (NewPodInfo, AddPod), 1.37.1.
func (p *problems) podAffinity(at *field.Path, required []v1.PodAffinityTerm, preferred []v1.WeightedPodAffinityTerm) *model.WorkloadAffinity {
	m := &model.WorkloadAffinity{}
	readable := true
	for i := range required {
		here := at.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i)
		term, ok := p.affinityTerm(here, &required[i])
		readable = readable && ok
		if term.TopologyKey != "" {
			m.Required = append(m.Required, term)
		}
	}
	if !readable {
		m.Required = nil
	}
	readable = true
	for i := range preferred {
		here := at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		term, ok := p.affinityTerm(here.Child("podAffinityTerm"), &preferred[i].PodAffinityTerm)
		readable = readable && ok
		if p.weight(here, preferred[i].Weight) && term.TopologyKey != "" {
			m.Preferred = append(m.Preferred, model.WeightedAffinityTerm{Weight: preferred[i].Weight, AffinityTerm: term})
		}
	}
	if !readable {
		m.Preferred = nil
	}
	return m
}

// affinityTerm translates one term; it is not ok where a selector cannot be
// read. The API server has put what matchLabelKeys and mismatchLabelKeys say
// into the selector, and the scheduler looks at nothing else.
func (p *problems) affinityTerm(at *field.Path, t *v1.PodAffinityTerm) (_ model.AffinityTerm, ok bool) {
	selector, ok := p.selector(at.Child("labelSelector"), t.LabelSelector)
	namespaces, namespacesOK := p.selector(at.Child("namespaceSelector"), t.NamespaceSelector)
	return model.AffinityTerm{
		Selector:          selector,
		Namespaces:        p.texts(at.Child("namespaces"), t.Namespaces),
		NamespaceSelector: namespaces,
		TopologyKey:       p.topologyKey(at.Child("topologyKey"), t.TopologyKey),
	}, ok && namespacesOK
}

// weight reports a weight that is none.
func (p *problems) weight(at *field.Path, weight int32) bool {
	if weight >= 1 && weight <= 100 {
		return true
	}
	p.report(at.Child("weight"), "%d is not between 1 and 100", weight)
	return false
}
