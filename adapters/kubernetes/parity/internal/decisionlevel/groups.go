package decisionlevel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
)

// tree is a tree of groups in the history.
type tree struct {
	*generate.GroupTree
	// late are groups that are not there yet.
	late []runtime.Object
	// tardy: some came later than members.
	tardy bool
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
	t := &tree{GroupTree: h.drawTree(fmt.Sprintf("g%d", h.named))}
	t.missing = slices.Clone(t.Leaves)
	for _, claim := range t.Claims {
		h.PutObject(claim)
	}
	for _, g := range t.Groups {
		if h.plan.Devices || h.Percent(90) { // which claims are a group's members do not say
			h.PutObject(g)
		} else {
			t.late, t.tardy = append(t.late, g), true
		}
	}
	h.trees = append(h.trees, t)
}

// drawTree draws a tree of groups as an API server with these gates has it.
func (h *history) drawTree(name string) *generate.GroupTree {
	t := h.GroupTree(name, h.Now())
	for !h.gates.Has(reference.Composite) && len(t.Groups) > 1 {
		t = h.GroupTree(name, h.Now())
	}
	if !h.gates.Has(reference.GroupClaims) {
		t.DropClaims()
	}
	if !h.gates.Has(reference.Placements) {
		t.DropTopologies()
	}
	return t
}

// bring lets some of what is missing of a tree come.
func (h *history) bring(t *tree) {
	if len(t.late) > 0 && h.Percent(50) {
		h.PutObject(t.late[0])
		t.late = t.late[1:]
	}
	var pods []*v1.Pod
	for i := range t.missing {
		for t.missing[i].Members > 0 && h.Percent(75) {
			t.missing[i].Members--
			p := h.NewPod()
			h.Member(p, t.GroupTree, t.missing[i].Name)
			pods = append(pods, p)
		}
	}
	h.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	h.put(pods)
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

// describeTree tells what the tree is like whose highest group a decision is
// about; empty for a pod.
func (h *history) describeTree(decided string) string {
	var text strings.Builder
	for _, t := range h.trees {
		for i, g := range t.Groups {
			o := h.Reference.Get(g)
			if o == nil {
				o = g
			}
			meta := o.(metav1.Object)
			if i == 0 && !strings.HasSuffix(decided, "group "+meta.GetNamespace()+"/"+meta.GetName()) {
				break
			}
			var spec any
			switch o := o.(type) {
			case *schedulingv1beta1.PodGroup:
				spec = o.Spec
			case *schedulingv1alpha3.CompositePodGroup:
				spec = o.Spec
			}
			data, _ := json.Marshal(spec) //nolint:errcheck // it is a specification as the API has it
			fmt.Fprintf(&text, "\n  group %s of %s %s:", meta.GetName(), meta.GetCreationTimestamp().Format(time.TimeOnly), data)
			for _, p := range h.Pods() {
				if of := h.Object(p).Spec.SchedulingGroup; of != nil && *of.PodGroupName == meta.GetName() {
					fmt.Fprintf(&text, " %s", p.ID)
				}
			}
		}
	}
	return text.String()
}

// treeOf is the tree that the pod is a member of, nil for none.
func (h *history) treeOf(p *twin.Pod) *tree {
	group := h.Object(p).Spec.SchedulingGroup
	if group == nil {
		return nil
	}
	for _, t := range h.trees {
		if slices.ContainsFunc(t.Leaves, func(l generate.Leaf) bool { return l.Name == *group.PodGroupName }) {
			return t
		}
	}
	return nil
}

// excuse says what it is in which two decisions differ where chance, or a failure
// of the reference, has a hand in it; empty where it has none.
func (h *history) excuse(ref, sub answer.Decision) string {
	says := func(d answer.Decision, text string) bool {
		return slices.ContainsFunc(append(d.Members, d), func(m answer.Decision) bool { return strings.Contains(m.Message, text) })
	}
	const (
		noDomain = "PodGroupPostFilter plugins: pod group preemption: failed to create domain: "
		noNode   = "failed to get node info for node "
		noPlace  = "cannot determine domain for already scheduled pods: "
		inUse    = "PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
	)
	switch {
	case says(ref, "nil or empty request mappings"):
		return "where the reference fails to bind what it found room for"
	case ref.Workload != sub.Workload && (h.tardy(ref.Workload) || h.tardy(sub.Workload)):
		return "where a group is as old as one of its members that were there before it"
	case says(ref, `error in "DynamicResources" PodGroupPostFilter plugins: could not find ResourceClaim`):
		return "where a plugin of the reference fails over a claim of a group that is not there"
	case says(ref, `error in "DynamicResources" PodGroupPostFilter plugins: not found`):
		return "where a plugin of the reference fails over a group that it was not asked about before"
	case says(ref, `error in "DynamicResources" PodGroupPostFilter plugins: Operation cannot be fulfilled`):
		return "where a plugin of the reference takes back a claim of a group twice"
	case says(ref, "is in the process of being allocated") && !says(sub, "is in the process of being allocated"):
		return "where groups of a tree want the same claim"
	case says(ref, "got allocated elsewhere in the meantime"):
		return "where members of the reference race for the claim of their group"
	case says(ref, noDomain) && says(sub, noDomain), says(ref, noNode) && says(sub, noNode):
		return "where victims are on several nodes that are gone"
	case says(ref, noPlace) && says(sub, noPlace):
		return "where several members are on nodes that are gone"
	case ref.Nominated != sub.Nominated && h.onBoth(ref.Victims, ref.Nominated, sub.Nominated) && slices.Equal(ref.Victims, sub.Victims),
		len(ref.Victims)+len(sub.Victims) == 0 && h.leftTogether(ref.Nominated, sub.Nominated):
		return "where the same victims make room on several nodes"
	case says(ref, inUse) && !says(sub, inUse) && h.usesClaimOfGone(ref):
		return "where a claim is in use on a node that is gone"
	case inAnotherOrder(ref, sub):
		return "message that lists what fails on nodes in another order"
	}
	if failure, fails := strings.CutSuffix(ref.Message, " not found"); fails && strings.HasPrefix(sub.Message, failure) {
		return "message where a plugin of the reference fails that was not asked before"
	}
	return ""
}

// inAnotherOrder reports whether decisions differ in nothing but the order of what failed on
// nodes where victims were looked for.
func inAnotherOrder(ref, sub answer.Decision) bool {
	same := slices.Equal(preemptionErrors(ref.Message), preemptionErrors(sub.Message))
	sub.Message = ref.Message
	return same && answer.Compare(ref, sub) == ""
}

// preemptionErrors is a message in parts: those of the list of what failed on nodes where victims
// were looked for, sorted, and what stands around the list.
func preemptionErrors(message string) []string {
	before, rest, _ := strings.Cut(message, "preemption: [")
	end := max(0, strings.LastIndex(rest, "]"))
	parts := strings.Split(rest[:end], ", running ")
	for i := range parts {
		parts[i] = strings.TrimPrefix(parts[i], "running ")
	}
	slices.Sort(parts)
	return append(parts, before, rest[end:])
}

// tardy reports whether the decision is about a tree that members were there
// before.
func (h *history) tardy(decided string) bool {
	return slices.ContainsFunc(h.trees, func(t *tree) bool {
		return t.tardy && strings.HasSuffix(decided, "group "+t.Groups[0].(metav1.Object).GetNamespace()+"/"+t.Groups[0].(metav1.Object).GetName())
	})
}

// usesClaimOfGone reports whether what is decided about has a claim that is in use by a pod on a
// node that is gone.
func (h *history) usesClaimOfGone(d answer.Decision) bool {
	return slices.ContainsFunc(append(memberIDs(d), d.Workload), func(id string) bool {
		p := h.Find(id)
		return p != nil && h.UsesClaimOfGone(h.Object(p))
	})
}

// onBoth reports whether some of the pods are on the one node and some on the
// other.
func (h *history) onBoth(pods []string, one, other string) bool {
	on := func(node string) bool {
		return slices.ContainsFunc(pods, func(id string) bool { return h.Find(id).Node == node })
	}
	return on(one) && on(other)
}

// leftTogether reports whether members of a group that leaves as a whole are on their
// way out on both nodes.
func (h *history) leftTogether(one, other string) bool {
	units := map[string]map[string]bool{} // nodes, by what leaves
	for _, p := range h.Pods() {
		if unit := h.LeavesAs(p.ID); p.Going && unit != p.ID {
			if units[unit] == nil {
				units[unit] = map[string]bool{}
			}
			units[unit][p.Node] = true
			if one != other && units[unit][one] && units[unit][other] {
				return true
			}
		}
	}
	return false
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
