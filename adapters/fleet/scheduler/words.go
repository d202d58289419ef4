package scheduler

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/interpodaffinity"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/podtopologyspread"
)

// Users of a fleet read what plugins say of nodes, and plugins speak of workloads and of
// extension points. This file has the fleet's words for it. Each text is what is wrong
// with a node, and stands behind the node's name, or before the number of such nodes.

// insufficient begins what NodeResourcesFit and Devices say of what a node has too
// little of.
const insufficient = "Insufficient "

// What Devices says of GPUs that a node lacks.
const (
	noGPUs       = "node(s) had no " + gpuClass + " devices"
	wrongGPUs    = noGPUs + " of the requested model"
	fewGPUs      = "node(s) had too few " + gpuClass + " devices"
	fewRightGPUs = fewGPUs + " of the requested model"
	occupiedGPUs = insufficient + gpuClass + " devices"
)

// told are the fleet's words for what plugins say of a node, where the text alone says
// enough. The others are in inWords.
var told = map[string]map[string]string{
	plugins.NodeResourcesFit: {noderesources.TooMany: "runs as many tasks as it may"},
	plugins.Devices: {
		noGPUs:       "has no GPUs",
		fewGPUs:      "has fewer GPUs than asked for",
		fewRightGPUs: "has fewer GPUs of a model asked for than asked for",
		occupiedGPUs: "not enough GPUs free",
	},
	plugins.LoadAwareScheduling: {
		"node(s) cpu usage exceed threshold":    "is too busy: not enough cpu idle, as measured",
		"node(s) memory usage exceed threshold": "is too busy: not enough memory idle, as measured",
	},
	plugins.PodTopologySpread: {
		podtopologyspread.Reason:             "others are to get tasks of the job first (spread)",
		podtopologyspread.ReasonMissingLabel: "has not the label by which the job is spread",
	},
	plugins.InterPodAffinity: {
		interpodaffinity.ReasonAffinity:             "is not near the jobs asked for (near)",
		interpodaffinity.ReasonAntiAffinity:         "is near jobs that it is to be apart from (apart)",
		interpodaffinity.ReasonExistingAntiAffinity: "is near a job that is to be apart from this one",
	},
}

// backfillName is the engine's filter that keeps workloads off nodes where they would delay
// one with a reservation.
const backfillName = "Backfill"

// delayed finds the workload or group that another would delay.
var delayed = regexp.MustCompile(`^would delay "([0-9]+)_`)

// keptWords says for whom room is kept.
func keptWords(reason string) string {
	if found := delayed.FindStringSubmatch(reason); found != nil {
		return "is kept for job " + found[1] + ", which goes first"
	}
	return reason
}

// inWords says in the fleet's words why a plugin rejects a node for a workload: first
// what rules it out, or all where all is asked for.
func inWords(w *model.Workload, node *model.Node, plugin string, reasons []string, all bool) []string {
	switch plugin {
	case plugins.NodeUnschedulable:
		return []string{closedWords(node)}
	case plugins.NodeAffinity:
		if list := unmet(w, node, all); len(list) > 0 {
			return list
		}
	}
	var out []string
	for _, reason := range reasons {
		out = append(out, oneInWords(w, node, plugin, reason))
	}
	return out
}

// oneInWords is inWords of one of the reasons.
func oneInWords(w *model.Workload, node *model.Node, plugin, reason string) string {
	if text, ok := told[plugin][reason]; ok {
		return text
	}
	resource, ok := strings.CutPrefix(reason, insufficient)
	switch {
	case plugin == maintenanceName, plugin == reservedName:
		return reason
	case plugin == plugins.NodeHolds:
		return holdWords(w, reason)
	case plugin == backfillName:
		return keptWords(reason)
	case plugin == plugins.NodeResourcesFit && ok:
		return tooLittle(w, node, resource)
	case plugin == plugins.Devices && reason == wrongGPUs:
		return "has no GPU of model " + alternatives(w.Devices[0].Models)
	}
	// What nobody has found words for is not passed off as the fleet's own.
	return fmt.Sprintf("%s says %q", plugin, reason)
}

// tooLittle says of a resource that a node has not enough of it: now, or ever.
func tooLittle(w *model.Workload, node *model.Node, resource string) string {
	name := resource
	if resource == model.EphemeralStorage {
		name = "disk"
	}
	if w.Requests.Get(resource) > node.Allocatable.Get(resource) {
		return "has less " + name + " than asked for"
	}
	return "not enough " + name + " free"
}

// closedWords says why a node takes no tasks; see closedLabel.
func closedWords(node *model.Node) string {
	if why := node.Labels[closedLabel]; why != "" {
		return why
	}
	return "takes no tasks now"
}

// unmet lists the conditions on labels that a node does not fulfil, or the first.
func unmet(w *model.Workload, node *model.Node, all bool) []string {
	var out []string
	for i, r := range required(w) {
		if !meets(w, i, node) {
			if out = append(out, requirementWords(&r, node)); !all {
				break
			}
		}
	}
	return out
}

// required are the conditions on labels that a workload's nodes must fulfil. The
// controller's workloads have one term.
func required(w *model.Workload) []model.Requirement {
	if w.NodeAffinity == nil || w.NodeAffinity.Required == nil {
		return nil
	}
	return w.NodeAffinity.Required.Terms[0].Labels
}

// meets reports whether a node fulfils the i-th of the conditions.
func meets(w *model.Workload, i int, node *model.Node) bool {
	term := model.NodeTerm{Labels: required(w)[i : i+1]}
	return term.Matches(node)
}

// requirementWords says of a condition that a node does not fulfil it.
func requirementWords(r *model.Requirement, node *model.Node) string {
	switch {
	case r.Key != NodeLabel:
	case r.Operator == model.In:
		return "is none of the nodes asked for"
	case r.Operator == model.NotIn:
		return "is left out by the job, or because its last attempt failed there"
	}
	text := "does not meet the constraint " + constraintWords(r)
	if _, has := node.Labels[r.Key]; !has && r.Operator != model.DoesNotExist {
		return text + ": it has no such label"
	}
	return text
}

// constraintWords is a condition as users write it.
func constraintWords(r *model.Requirement) string {
	values := strings.Join(r.Values, ",")
	several := len(r.Values) > 1
	switch {
	case r.Operator == model.Exists:
		return r.Key
	case r.Operator == model.DoesNotExist:
		return "!" + r.Key
	case r.Operator == model.Gt:
		return r.Key + ">" + values
	case r.Operator == model.Lt:
		return r.Key + "<" + values
	case r.Operator == model.In && several:
		return r.Key + " in " + values
	case r.Operator == model.NotIn && several:
		return r.Key + " not in " + values
	case r.Operator == model.NotIn:
		return r.Key + "!=" + values
	}
	return r.Key + "=" + values
}

// alternatives is a list of which one will do.
func alternatives(list []string) string { return strings.Join(list, " or ") }

// scoreNames are the fleet's names for what gives nodes points.
var scoreNames = map[string]string{
	plugins.TaintToleration: "taints", plugins.NodeAffinity: "preferences", plugins.NodeResourcesFit: "free resources",
	plugins.NodeResourcesBalancedAllocation: "balance", plugins.ImageLocality: "images", plugins.PodTopologySpread: "spread",
	plugins.InterPodAffinity: "near and apart", plugins.DynamicResources: "other devices", plugins.VolumeBinding: "volumes", plugins.DevicePacking: "GPU packing",
	plugins.LoadAwareScheduling: measuredLoad, plugins.TargetLoadPacking: measuredLoad, plugins.LoadVariationRiskBalancing: measuredLoad,
}

// measuredLoad is the name of the one of several plugins that a fleet may have.
const measuredLoad = "measured load"

// scoreName is what a plugin that gives points is called.
func scoreName(plugin string) string {
	if name, ok := scoreNames[plugin]; ok {
		return name
	}
	return plugin
}

// preemptedBy finds the workload or group for which another is asked to leave.
var preemptedBy = regexp.MustCompile(`^preempted by (?:workload|group) ([0-9]+)_`)

// evictionWords says why a task of the job has to leave its node.
func evictionWords(v state.View, of job.ID, reason string) string {
	found := preemptedBy.FindStringSubmatch(reason)
	if found == nil {
		return reason
	}
	if q := reclaiming(v, of, found[1]); q != "" {
		return fmt.Sprintf("it gives room back to queue %s, for job %s", q, found[1])
	}
	return fmt.Sprintf("it makes room for job %s, which has a higher priority", found[1])
}

// reclaiming is the queue of the job for which one of another queue is displaced, empty where it is the
// same: there priorities decide, as they do without a tree of queues.
func reclaiming(v state.View, of job.ID, by string) string {
	id, _ := strconv.ParseUint(by, 10, 64) // there is no job 0
	j, other := v.Job(job.ID(id)), v.Job(of)
	if j == nil || other == nil || j.Spec.Queue == other.Spec.Queue || !queueOf(v, j).Reclaims() {
		return ""
	}
	return j.Spec.Queue
}

// groupWords says why a gang was not tried at all, by what the engine tells of its group.
func groupWords(e *engine.GroupEvent) string {
	switch e.Plugin {
	case plugins.TopologyPlacementGenerator:
		return "no node has the label " + e.Group.TopologyKey + ", of which all of its tasks are to have the same value (sameLabel)"
	case plugins.GangScheduling:
		return "not all of its tasks wait to be placed yet"
	case backfillName:
		return "there is room for all of its tasks, but it " + keptWords(e.Message)
	}
	return fmt.Sprintf("the scheduler says %q", e.Message)
}

// refusedWords says why a node that was chosen was not taken in the end.
func refusedWords(st *extpoints.Status) string {
	if st.Plugin() == plugins.GangScheduling {
		return "not all tasks of the job got their nodes in time; it is tried again"
	}
	return fmt.Sprintf("%s says %q", st.Plugin(), st.Message())
}

// gangWords says how much room there is for a gang, on nodes with certain labels.
func gangWords(s *job.Spec, fits int, labels map[string]string) string {
	if s.SameLabel == "" {
		return fmt.Sprintf("it needs room for %d tasks at once, and there is room for %d now", s.Tasks, fits)
	}
	return fmt.Sprintf("it needs room for %d tasks at once on nodes with the same %s; on those with %s=%s there is room for %d now, "+
		"and nowhere for all", s.Tasks, s.SameLabel, s.SameLabel, labels[s.SameLabel], fits)
}
