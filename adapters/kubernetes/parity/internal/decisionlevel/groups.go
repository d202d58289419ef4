package decisionlevel

import (
	"fmt"
	"slices"
	"strings"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/generate"
)

// tree is a tree of groups in the history.
type tree struct {
	*generate.GroupTree
	// late are groups that are not there yet.
	late []runtime.Object
	// missing is how many members of each leaf are still to come.
	missing []generate.Leaf
}

// stepGroups lets groups and members of them come and change; false where the two
// sides went apart.
func (h *history) stepGroups() bool {
	if h.Percent(70) {
		h.newTree()
		if !h.compareWaiting("new groups") {
			return false
		}
	}
	for _, t := range h.trees {
		h.bring(t)
		if !h.compareWaiting("members of a group") {
			return false
		}
	}
	if h.Percent(15) {
		h.changeGroup()
		return h.compareWaiting("a change of a group")
	}
	return true
}

// newTree draws a tree of groups. Now and then some of them come later.
func (h *history) newTree() {
	h.named++
	t := &tree{GroupTree: h.GroupTree(fmt.Sprintf("g%d", h.named), h.Now())}
	t.missing = slices.Clone(t.Leaves)
	for _, claim := range t.Claims {
		h.PutObject(claim)
	}
	for _, g := range t.Groups {
		if h.Devices || h.Percent(90) { // which claims are a group's members do not say
			h.PutObject(g)
		} else {
			t.late = append(t.late, g)
		}
	}
	h.trees = append(h.trees, t)
}

// bring lets some of what is missing of a tree come.
func (h *history) bring(t *tree) {
	if len(t.late) > 0 && h.Percent(50) {
		h.PutObject(t.late[0])
		t.late = t.late[1:]
	}
	for i := range t.missing {
		for t.missing[i].Members > 0 && h.Percent(75) {
			t.missing[i].Members--
			p := h.NewPod()
			h.Member(p, t.GroupTree, t.missing[i].Name)
			h.Put(p)
		}
	}
}

// changeGroup changes one of the groups of pods that there are.
func (h *history) changeGroup() {
	if len(h.trees) == 0 {
		return
	}
	t := h.trees[h.IntN(len(h.trees))]
	g, ok := t.Groups[h.IntN(len(t.Groups))].(*schedulingv1beta1.PodGroup)
	if !ok {
		return
	}
	if stored, ok := h.Reference.Get(g).(*schedulingv1beta1.PodGroup); ok {
		h.PutObject(h.ChangeGroup(stored))
	}
}

// failsOverGroup reports whether DynamicResources of the reference has failed in
// PodGroupPostFilter, as it does where no member has got as far as its PreFilter.
func failsOverGroup(d answer.Decision) bool {
	return slices.ContainsFunc(d.Members, func(m answer.Decision) bool {
		return strings.Contains(m.Message, `error in "DynamicResources" PodGroupPostFilter plugins: not found`)
	})
}

// memberIDs lists the members that a decision is about.
func memberIDs(d answer.Decision) []string {
	var ids []string
	for _, m := range d.Members {
		ids = append(ids, m.Workload)
	}
	return ids
}

// leftToChance reports whether members of several groups of a tree have come to
// one node. In which order they are put there, and displaced later, goes by the
// order of a map in kube-scheduler (schedule_one_podgroup.go,
// submitPodGroupAlgorithmResult, 1.37.1), so that the history ends here.
func (h *history) leftToChance(d answer.Decision) bool {
	leaf := map[string]string{} // by node
	for _, m := range d.Members {
		group := *h.Object(h.Find(m.Workload)).Spec.SchedulingGroup.PodGroupName
		if before, ok := leaf[m.Node]; ok && m.Node != "" && before != group {
			return true
		}
		leaf[m.Node] = group
	}
	return false
}

// countGroup counts what kinds of decisions about groups there are.
func (h *history) countGroup(d answer.Decision) {
	placed := 0
	for _, m := range d.Members {
		if m.Node != "" {
			placed++
		}
	}
	switch {
	case len(d.Victims) > 0:
		h.report.Count("(made a group room)")
	case placed == len(d.Members):
		h.report.Count("(placed a group)")
	case placed > 0:
		h.report.Count("(placed some of a group)")
	default:
		h.report.Count("(placed nothing of a group)")
	}
}
