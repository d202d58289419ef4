package queuelevel

import (
	"fmt"
	"hash/fnv"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/extpoints"
)

// The scripted plugins. On both sides there is one of each, and what the two
// say comes from the same script.
const (
	// gatekeeper has hints, and a PreEnqueue for pods with the label held.
	gatekeeper = "Gatekeeper"
	// guard has hints, for other events.
	guard = "Guard"
	// stranger says of no event whether it matters, so all of them do.
	stranger = "Stranger"
	// nominator nominates nodes in place of preemption.
	nominator = "Nominator"
	// binder binds, or fails to, when the history says so.
	binder = "ScriptedBinder"
)

// held is the label by which the gatekeeper keeps pods out of the queue.
const held = "held"

// judges are the plugins that may reject.
var judges = []string{gatekeeper, guard, stranger}

// script is what the scripted plugins say: in general, and in the scheduling
// attempt under way.
type script struct {
	seed uint64

	// preFilter and permit hold the codes of the plugins that do not say
	// Success.
	preFilter, permit map[string]extpoints.Code
	// filter is the share of the nodes that a plugin rejects, in percent, and
	// filterCode is how.
	filter     map[string]int
	filterCode extpoints.Code
	// nominating is what PostFilter answers.
	nominating extpoints.PostFilterResult
}

// draw is a number in [0, 100) that depends on nothing but the texts and the
// seed.
func (s *script) draw(texts ...string) int {
	h := fnv.New64a()
	fmt.Fprint(h, s.seed)
	for _, t := range texts {
		fmt.Fprintf(h, "|%s", t)
	}
	return int(h.Sum64() >> 20 % 100)
}

// onNode is the code of a plugin's Filter.
func (s *script) onNode(plugin, node string) extpoints.Code {
	if s.draw("filter", plugin, node) < s.filter[plugin] {
		return s.filterCode
	}
	return extpoints.Success
}

// hint is what a plugin makes of an event, for a waiting pod.
func (s *script) hint(plugin, pod, before, after string) (extpoints.Hint, error) {
	switch n := s.draw("hint", plugin, pod, before, after); {
	case n < 40:
		return extpoints.HintQueue, nil
	case n < 50:
		return extpoints.HintSkip, fmt.Errorf("%s does not know", plugin)
	}
	return extpoints.HintSkip, nil
}

// registration is an event that a plugin registers for, as each side says it.
type registration struct {
	kube   fwk.ClusterEvent
	berth  extpoints.ClusterEvent
	hinted bool // asks the script; else every such event is worth it
}

// registrations are the events of the plugins that have hints.
var registrations = map[string][]registration{
	gatekeeper: {
		{fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add},
			extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}, true},
		{fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeLabel | fwk.UpdateNodeTaint},
			extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.UpdateNodeLabel | extpoints.UpdateNodeTaint}, true},
		{fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Delete},
			extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete}, true},
		{fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Add},
			extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Add}, false},
		{fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodLabel},
			extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadLabel}, true},
	},
	guard: {
		{fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.Delete | fwk.UpdateNodeAllocatable},
			extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.Delete | extpoints.UpdateNodeAllocatable}, true},
		{fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodToleration | fwk.UpdatePodLabel | fwk.UpdatePodScaleUp},
			extpoints.ClusterEvent{Resource: extpoints.AnyWorkload, Action: extpoints.UpdateWorkloadToleration | extpoints.UpdateWorkloadLabel | extpoints.UpdateWorkloadScaleUp}, true},
		{fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.Delete},
			extpoints.ClusterEvent{Resource: extpoints.AnyResource, Action: extpoints.Delete}, true},
	},
}
