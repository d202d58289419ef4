package app

import (
	"fmt"

	"k8s.io/klog/v2"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// dump writes to the log what the engine knows of nodes and of pods that wait, and
// where that is not what the API server said.
//
// Rules: pkg/scheduler/backend/cache/debugger, 1.37.1.
func (s *scheduler) dump() {
	log := klog.Background()
	view := s.engine.View()
	dumpNodes(log, view)
	dumpQueue(log, view, s.engine)
	log.V(3).Info("Cache comparer started")
	for _, difference := range s.adapter.Compare() {
		log.Info("Cache mismatch", "difference", difference)
	}
	log.V(3).Info("Cache comparer finished")
}

// dumpNodes says of each node, by name, what it offers, what is asked of it, and by
// whom.
func dumpNodes(log klog.Logger, view *engine.View) {
	nominated := map[string][]string{}
	for w := range view.WorkloadsIn(model.Pending) {
		if w.Nominated != "" {
			nominated[w.Nominated] = append(nominated[w.Nominated], podName(&w))
		}
	}
	for n := range view.Nodes() {
		var requested model.Resources
		var pods []string
		for w := range view.WorkloadsOn(n.Name) {
			requested.Add(&w.Requests)
			pods = append(pods, fmt.Sprintf("%s (%s)", podName(&w), w.Phase))
		}
		log.Info("Dump of cached NodeInfo", "node", n.Name, "requested", requested, "allocatable", n.Allocatable,
			"pods", pods, "nominatedPods", nominated[n.Name])
	}
}

// dumpQueue counts what waits, and says of each pod where it does.
func dumpQueue(log klog.Logger, view *engine.View, e *engine.Engine) {
	c := e.QueueCounts()
	log.Info("Dump of scheduling queue", "activeQ", c.Active, "backoffQ", c.Backoff+c.ErrorBackoff,
		"unschedulableEntities", c.Unschedulable, "gated", c.Gated, "inFlight", c.InFlight,
		"incompletePodGroups", c.Incomplete, "pendingPodGroups", c.Joining,
		"permit", c.Permit, "binding", c.Binding, "oldBinding", c.OldBinding)
	for _, phase := range []model.Phase{model.Pending, model.Assumed} {
		for w := range view.WorkloadsIn(phase) {
			if p, ok := e.Queue(w.ID); ok {
				log.Info("Dump of scheduling queue", "pod", podName(&w), "place", p.Place, "attempts", p.Attempts,
					"rejectedBy", p.UnschedulablePlugins, "gatedBy", p.GatingPlugin, "node", p.Node, "permit", p.Permit)
			}
		}
	}
}

// podName names the pod, and the UID tells it from others of its name.
func podName(w *model.WorkloadRecord) string {
	return fmt.Sprintf("%s/%s %s", w.Namespace, w.Name, w.ID)
}
