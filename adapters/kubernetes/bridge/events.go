package bridge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"weak"

	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// resources are the kinds of objects, by their names there.
var resources = map[fwk.EventResource]model.ObjectKind{
	fwk.Pod:                   extpoints.AnyWorkload,
	fwk.AssignedPod:           extpoints.AssignedWorkload,
	fwk.UnscheduledPod:        extpoints.UnscheduledWorkload,
	fwk.TargetPod:             extpoints.TargetWorkload,
	fwk.Node:                  extpoints.NodeResource,
	fwk.PersistentVolume:      model.VolumeKind,
	fwk.PersistentVolumeClaim: model.VolumeClaimKind,
	fwk.CSINode:               model.NodeStorageKind,
	fwk.CSIDriver:             model.StorageDriverKind,
	fwk.VolumeAttachment:      model.VolumeAttachmentKind,
	fwk.CSIStorageCapacity:    model.StorageCapacityKind,
	fwk.StorageClass:          model.StorageClassKind,
	fwk.ResourceClaim:         model.DeviceClaimKind,
	fwk.ResourceSlice:         model.DeviceSliceKind,
	fwk.DeviceClass:           model.DeviceClassKind,
	fwk.PodGroup:              extpoints.GroupResource,
	fwk.CompositePodGroup:     extpoints.GroupResource,
	fwk.WildCard:              extpoints.AnyResource,
}

// actions are the single actions. What the engine does not tell apart from other updates is
// any update.
var actions = map[fwk.ActionType]extpoints.Action{
	fwk.Add:                                extpoints.Add,
	fwk.Delete:                             extpoints.Delete,
	fwk.UpdateNodeAllocatable:              extpoints.UpdateNodeAllocatable,
	fwk.UpdateNodeLabel:                    extpoints.UpdateNodeLabel,
	fwk.UpdateNodeTaint:                    extpoints.UpdateNodeTaint,
	fwk.UpdateNodeDeclaredFeature:          extpoints.UpdateNodeFeatures,
	fwk.UpdateNodeCondition:                extpoints.Update,
	fwk.UpdateNodeAnnotation:               extpoints.Update,
	fwk.UpdateNodePreemptionPolicy:         extpoints.Update,
	fwk.UpdatePodLabel:                     extpoints.UpdateWorkloadLabel,
	fwk.UpdatePodScaleDown:                 extpoints.UpdateWorkloadScaleDown,
	fwk.UpdatePodScaleUp:                   extpoints.UpdateWorkloadScaleUp,
	fwk.UpdatePodToleration:                extpoints.UpdateWorkloadToleration,
	fwk.UpdatePodSchedulingGatesEliminated: extpoints.UpdateWorkloadGatesEliminated,
	fwk.UpdatePodGeneratedResourceClaim:    extpoints.UpdateWorkloadDeviceClaims,
}

func toAction(a fwk.ActionType) (ours extpoints.Action) {
	if a&fwk.Update == fwk.Update {
		ours |= extpoints.Update
	}
	for theirs, action := range actions {
		if a&theirs != 0 {
			ours |= action
		}
	}
	return ours
}

// EventsToRegister implements [extpoints.EnqueueExtensions].
func (p *plugin) EventsToRegister() ([]extpoints.EventHint, error) {
	theirs, err := p.enqueue.EventsToRegister(p.h.host.opts.Context)
	if err != nil {
		return nil, err
	}
	var list []extpoints.EventHint
	for _, e := range theirs {
		kind, known := resources[e.Event.Resource]
		if !known {
			continue // see register
		}
		list = append(list, extpoints.EventHint{
			Event: extpoints.ClusterEvent{Resource: kind, Action: toAction(e.Event.ActionType), Label: e.Event.CustomLabel},
			Hint:  p.hint(e),
		})
	}
	return list, nil
}

// hint is the plugin's function for an event; nil where it has none.
func (p *plugin) hint(e fwk.ClusterEventWithHint) extpoints.HintFunc {
	if e.QueueingHintFn == nil {
		return nil
	}
	return func(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
		old, now, known := p.h.objects(c, e.Event.Resource)
		if !known {
			return extpoints.HintQueue, nil // nothing to judge by
		}
		hint, err := e.QueueingHintFn(p.h.host.log, p.h.host.waitingPod(w), old, now)
		if hint == fwk.Queue {
			return extpoints.HintQueue, err
		}
		return extpoints.HintSkip, err
	}
}

// objects are those that an event is about, before and after; not known where the API object
// of one is not.
func (h *handle) objects(c *extpoints.Event, resource fwk.EventResource) (old, now any, known bool) {
	o := h.host.opts.Objects
	switch {
	case c.OldNode != nil || c.NewNode != nil:
		if c.OldNode != nil {
			old = o.node(c.OldNode)
		}
		if c.NewNode != nil {
			now = o.node(c.NewNode)
		}
	case c.OldWorkload != nil || c.NewWorkload != nil:
		node := h.nodeOf(c)
		if c.OldWorkload != nil {
			old = h.host.podInfo(c.OldWorkload, node).Pod
		}
		if c.NewWorkload != nil {
			now = h.host.podInfo(c.NewWorkload, node).Pod
		}
	case c.OldGroup != nil || c.NewGroup != nil:
		if c.OldGroup != nil {
			old = o.group(c.OldGroup)
		}
		if c.NewGroup != nil {
			now = o.group(c.NewGroup)
		}
		_, a := old.(*schedulingv1alpha3.CompositePodGroup)
		_, b := now.(*schedulingv1alpha3.CompositePodGroup)
		if composite := a || b; composite != (resource == fwk.CompositePodGroup) && resource != fwk.WildCard {
			return nil, nil, false
		}
		return old, now, (c.OldGroup == nil || old != nil) && (c.NewGroup == nil || now != nil)
	case c.OldObject != nil || c.NewObject != nil:
		if c.OldObject != nil {
			old = o.of(c.OldObject)
		}
		if c.NewObject != nil {
			now = o.of(c.NewObject)
		}
		return old, now, (c.OldObject == nil || old != nil) && (c.NewObject == nil || now != nil)
	}
	return old, now, true
}

// nodeOf is the node of a workload that an event is about, empty for none.
func (h *handle) nodeOf(c *extpoints.Event) string {
	if c.Resource != extpoints.AssignedWorkload {
		return ""
	}
	w := c.NewWorkload
	if w == nil {
		w = c.OldWorkload
	}
	if pod := h.host.opts.Objects.pod(w.Workload).pod(); pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	if c.WorkloadNode != "" {
		return c.WorkloadNode
	}
	// It was bound just now, and the API server has not told yet.
	nodes := h.ours.View().Nodes()
	for i := range nodes.Len() {
		for _, on := range nodes.At(i).Workloads {
			if on.ID == w.ID {
				return nodes.At(i).Node.Name
			}
		}
	}
	return "unknown"
}

// register has the kinds of objects watched that the plugin listens to and the engine does not
// know.
func (h *handle) register(p *plugin) error {
	if p.enqueue == nil {
		return nil
	}
	list, err := p.enqueue.EventsToRegister(h.host.opts.Context)
	if err != nil {
		return err
	}
	for _, e := range list {
		if _, known := resources[e.Event.Resource]; known {
			continue
		}
		if strings.Count(string(e.Event.Resource), ".") < 2 {
			return fmt.Errorf("bridge: plugin %q registers for events of %q, which is neither a kind of kube-scheduler's nor resource.version.group", h.name, e.Event.Resource)
		}
		if h.host.opts.Watch == nil {
			h.host.log.Info("A plugin registers for events of objects that nobody watches here; pods that it rejects are woken by its other events", "plugin", h.name, "resource", e.Event.Resource)
			continue
		}
		h.listens = true
		if err := h.host.opts.Watch(e.Event.Resource, func(old, now any) { h.happened(e, old, now) }); err != nil {
			return fmt.Errorf("bridge: watch %q for plugin %q: %w", e.Event.Resource, h.name, err)
		}
	}
	return nil
}

// rejected notes that the plugin has rejected the workload.
func (h *handle) rejected(_ string, w *model.Workload) {
	if !h.listens {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.turnedDown == nil {
		h.turnedDown = map[string]weak.Pointer[model.Workload]{}
	}
	h.turnedDown[w.ID] = weak.Make(w)
	if len(h.turnedDown) < h.tidyAt {
		return
	}
	maps.DeleteFunc(h.turnedDown, func(_ string, w weak.Pointer[model.Workload]) bool { return w.Value() == nil })
	h.tidyAt = max(minTurnedDown, 2*len(h.turnedDown))
}

// minTurnedDown is from how many on those are looked for that the engine has forgotten: no
// event may come that would find them.
const minTurnedDown = 64

// happened wakes those whom the plugin has rejected and whom the change of an object that the
// engine does not know may help, as far as they still wait. They do not wait out their backoff.
func (h *handle) happened(e fwk.ClusterEventWithHint, old, now any) {
	action := fwk.Update
	switch {
	case old == nil:
		action = fwk.Add
	case now == nil:
		action = fwk.Delete
	}
	if e.Event.ActionType&action == 0 {
		return
	}
	h.mu.Lock()
	waiting := maps.Clone(h.turnedDown)
	h.mu.Unlock()
	var ids []string
	var over []string // those that the engine has forgotten
	for _, id := range slices.Sorted(maps.Keys(waiting)) {
		w := waiting[id].Value()
		if w == nil {
			over = append(over, id)
			continue
		}
		hint, err := fwk.Queue, error(nil)
		if e.QueueingHintFn != nil {
			hint, err = e.QueueingHintFn(h.host.log, h.host.waitingPod(w), old, now)
		}
		if err != nil {
			h.host.log.Error(err, "A queueing hint failed; the pod is tried again", "plugin", h.name, "pod", klog.KObj(h.host.waitingPod(w)))
		}
		if hint == fwk.Queue || err != nil {
			ids = append(ids, id)
		}
	}
	h.mu.Lock()
	for _, id := range append(over, ids...) {
		delete(h.turnedDown, id) // those that are woken are tried now
	}
	h.mu.Unlock()
	if len(ids) > 0 {
		h.ours.Activate(ids...)
	}
}
