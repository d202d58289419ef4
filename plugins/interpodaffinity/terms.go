package interpodaffinity

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// required returns the required terms, none for nil.
func required(a *model.WorkloadAffinity) []model.AffinityTerm {
	if a == nil {
		return nil
	}
	return a.Required
}

// preferred returns the preferred terms, none for nil.
func preferred(a *model.WorkloadAffinity) []model.WeightedAffinityTerm {
	if a == nil {
		return nil
	}
	return a.Preferred
}

// names reports whether the term speaks of the namespace without asking a
// selector: by name, or because it says nothing and the namespace is that of
// the workload that carries it.
func names(t *model.AffinityTerm, carrier, namespace string) bool {
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		return namespace == carrier
	}
	return slices.Contains(t.Namespaces, namespace)
}

// ownTerm is a term of the incoming workload.
//
// The reference replaces its namespace selector, once a cycle, by the names of
// the namespaces that it selects. So a namespace without an object is selected
// by nothing but a selector without requirements. That is not so for terms of
// other workloads; see termCovers.
type ownTerm struct {
	*model.AffinityTerm
	carrier string // the incoming workload's namespace
	view    extpoints.ClusterView
}

// covers reports whether the term speaks of workloads in the namespace.
func (t ownTerm) covers(namespace string) bool {
	selector := t.NamespaceSelector
	switch {
	case names(t.AffinityTerm, t.carrier, namespace):
		return true
	case selector == nil:
		return false
	case len(selector.Requirements) == 0:
		return true
	}
	object := t.view.Namespace(namespace)
	return object != nil && selector.Matches(object.Labels)
}

// selects reports whether the term means workloads like this.
func (t ownTerm) selects(namespace string, labels map[string]string) bool {
	return t.covers(namespace) && t.Selector.Matches(labels)
}

// each calls f for every class of workloads that the term means.
func (t ownTerm) each(f func(*extpoints.WorkloadClass)) {
	index := t.view.Index()
	switch {
	case t.NamespaceSelector != nil:
		index.ClassesWhere(t.covers, t.Selector, f)
	case len(t.Namespaces) == 0:
		index.Classes(t.carrier, t.Selector, f)
	default:
		for i, name := range t.Namespaces {
			if !slices.Contains(t.Namespaces[:i], name) {
				index.Classes(name, t.Selector, f)
			}
		}
	}
}

// ownTerms are terms of the incoming workload.
type ownTerms struct {
	terms   []model.AffinityTerm
	carrier string
	view    extpoints.ClusterView
}

func (o ownTerms) at(i int) ownTerm { return ownTerm{&o.terms[i], o.carrier, o.view} }

// allSelect reports whether all the terms, which may be none, mean workloads
// like this.
func (o ownTerms) allSelect(namespace string, labels map[string]string) bool {
	for i := range o.terms {
		if !o.at(i).selects(namespace, labels) {
			return false
		}
	}
	return true
}

// eachOfAll calls f for every class of workloads that all the terms mean. There
// is at least one term.
func (o ownTerms) eachOfAll(f func(*extpoints.WorkloadClass)) {
	rest := ownTerms{o.terms[1:], o.carrier, o.view}
	o.at(0).each(func(c *extpoints.WorkloadClass) {
		if rest.allSelect(c.Namespace, c.Labels) {
			f(c)
		}
	})
}

// selectsIncoming reports whether the term of a workload on a node, whose
// namespace is carrier, means the incoming workload.
func selectsIncoming(t *model.AffinityTerm, carrier string, view extpoints.ClusterView, w *extpoints.WorkloadInfo) bool {
	return t.Selector.Matches(w.Labels) &&
		(names(t, carrier, w.Namespace) || termCovers(t, view, w.Namespace))
}

// termCovers reports whether a term that names its namespaces (as in
// [extpoints.TermClass].Term) speaks of workloads in the namespace: one that it names, or
// one whose object its namespace selector selects. A namespace selector without
// requirements covers every namespace, whether it has an object or not.
// (kube-scheduler framework/types.go AffinityTerm.Matches, 1.37.1.)
func termCovers(t *model.AffinityTerm, view extpoints.ClusterView, namespace string) bool {
	for _, name := range t.Namespaces {
		if name == namespace {
			return true
		}
	}
	if t.NamespaceSelector == nil {
		return false
	}
	var labels map[string]string
	if ns := view.Namespace(namespace); ns != nil {
		labels = ns.Labels
	}
	return t.NamespaceSelector.Matches(labels)
}
