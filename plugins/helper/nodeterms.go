package helper

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/model"
)

// RequiredNodes is what a workload says about the nodes that will do: its
// NodeSelector and the required part of its NodeAffinity, prepared for being
// asked about many nodes. The zero value is no condition.
type RequiredNodes struct {
	selector []label
	terms    *model.NodeTerms
}

type label struct{ key, value string }

// RequiredNodesOf prepares the conditions of a workload.
//
// Rule: k8s.io/component-helpers scheduling/corev1/nodeaffinity/
// nodeaffinity.go RequiredNodeAffinity, 0.37.1.
func RequiredNodesOf(w *model.Workload) RequiredNodes {
	var r RequiredNodes
	for key, value := range w.NodeSelector {
		r.selector = append(r.selector, label{key, value})
	}
	slices.SortFunc(r.selector, func(a, b label) int { return strings.Compare(a.key, b.key) })
	if w.NodeAffinity != nil {
		r.terms = w.NodeAffinity.Required
	}
	return r
}

// IsEmpty reports whether there is no condition: every node will do.
func (r *RequiredNodes) IsEmpty() bool { return len(r.selector) == 0 && r.terms == nil }

// Matches reports whether the node will do.
func (r *RequiredNodes) Matches(n *model.Node) bool {
	for i := range r.selector {
		want := &r.selector[i]
		if have, ok := n.Labels[want.key]; !ok || have != want.value {
			return false
		}
	}
	return r.terms.Matches(n)
}
