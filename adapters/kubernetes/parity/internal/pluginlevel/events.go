package pluginlevel

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// happening is something that happens, as each side sees it: a list of events
// and the objects before and after it.
type happening struct {
	refEvents []fwk.ClusterEvent
	old, new  any
	subEvents []extpoints.ClusterEvent
	change    extpoints.Event
}

// compareEvent lets something happen while a pod waits, and asks every plugin
// what it makes of it.
func (c *comparison) compareEvent() {
	pod := c.candidate()
	h := &happening{}
	if (c.Storage || c.Devices) && c.Percent(60) {
		c.objectChanged(h)
		c.compareHints(h, pod)
		return
	}
	switch c.IntN(10) {
	case 0:
		c.nodeAdded(h)
	case 1:
		c.nodeDeleted(h)
	case 2, 3, 4:
		c.nodeChanged(h)
	case 5:
		c.podGone(h)
	case 6:
		c.podCame(h)
	case 7, 8:
		c.podChanged(h)
	case 9:
		pod = c.waitingChanged(h, pod)
	}
	ref, sub := h.words()
	if !c.report.Compare("events"+h.tag(), ref, sub, func() string { return "old " + twin.JSON(h.old) + " new " + twin.JSON(h.new) }) {
		return
	}
	c.compareHints(h, pod)
}

// compareHints asks every plugin what it makes of what has happened while the pod
// waits.
func (c *comparison) compareHints(h *happening, pod *v1.Pod) {
	if c.Storage || c.Devices {
		c.look() // what was made for the pod included
	}
	w := c.workload(pod)
	for i, event := range h.interesting() {
		for _, p := range c.pairs {
			h.change.ClusterEvent = h.subEvents[i]
			subHint, err := p.subject.hint(w, &h.change)
			if err != nil {
				subHint = words.Text(err.Error())
			}
			refHint := c.hint(p.reference, pod, event, h)
			c.report.Compare(hintPlace(p, refHint, &subHint)+eventName(event)+c.unreadable(pod)+h.beyond(c.Huge), refHint, subHint, func() string {
				return c.detail(p, pod, nil)() + "; old " + twin.JSON(h.old) + "; new " + twin.JSON(h.new)
			})
		}
	}
}

// hintPlace names the place of a comparison, but for the event. Where the subject
// gives more hints than the reference it is another place; that it asks for more
// events, without waking anybody, is the same as not asking.
func hintPlace(p *pair, ref string, sub *string) string {
	if strings.HasSuffix(p.name, "("+allHints+")") && ref != "queue" {
		if *sub == "queue" {
			return p.name + " hint beyond the reference's for "
		}
		*sub = ref
	}
	return p.name + " hint for "
}

// hint says what a plugin of the reference makes of an event, in the words of
// subjectPlugin.hint.
func (c *comparison) hint(p fwk.Plugin, pod *v1.Pod, event fwk.ClusterEvent, h *happening) string {
	point, ok := p.(fwk.EnqueueExtensions)
	if !ok {
		return "no extensions"
	}
	list, err := point.EventsToRegister(c.Twin.Reference.Context)
	if err != nil {
		return err.Error()
	}
	answer := "-"
	for _, r := range list {
		if !framework.MatchClusterEvents(r.Event, event) {
			continue
		}
		hint := fwk.Queue
		if r.QueueingHintFn != nil {
			if hint, err = r.QueueingHintFn(c.Twin.Reference.Logger(), pod, h.old, h.new); err != nil {
				hint = fwk.Queue
			}
		}
		if hint == fwk.Queue {
			return "queue"
		}
		answer = "skip"
	}
	return answer
}

// interesting are the reference's events that some plugin can ask for. The
// subject has no others.
func (h *happening) interesting() []fwk.ClusterEvent {
	return slices.DeleteFunc(slices.Clone(h.refEvents), func(e fwk.ClusterEvent) bool {
		return e.ActionType == fwk.UpdateNodeCondition || e.ActionType == fwk.UpdateNodeAnnotation
	})
}

// words are the events in words.
func (h *happening) words() (ref, sub string) {
	var refs, subs []string
	for _, e := range h.interesting() {
		refs = append(refs, eventName(e))
	}
	for _, e := range h.subEvents {
		subs = append(subs, strings.NewReplacer("Workload", "Pod", "NodeFeatures", "NodeDeclaredFeature").Replace(string(e.Resource)+"/"+e.Action.String()))
	}
	return fmt.Sprint(refs), fmt.Sprint(subs)
}

func eventName(e fwk.ClusterEvent) string {
	action := e.ActionType.String()
	if e.ActionType == fwk.Update {
		action = "Update"
	}
	return string(e.Resource) + "/" + strings.ReplaceAll(action, "SchedulingGates", "Gates")
}

func (c *comparison) nodeAdded(h *happening) {
	n := c.Source.Node(c.IntN(c.Source.Nodes))
	h.refEvents, h.new = []fwk.ClusterEvent{{Resource: fwk.Node, ActionType: fwk.Add}}, n
	h.subEvents = []extpoints.ClusterEvent{{Resource: extpoints.NodeResource, Action: extpoints.Add}}
	h.change.NewNode = c.node(n)
}

func (c *comparison) nodeDeleted(h *happening) {
	n := c.Source.Node(c.IntN(c.Source.Nodes))
	h.refEvents, h.old = []fwk.ClusterEvent{{Resource: fwk.Node, ActionType: fwk.Delete}}, n
	h.subEvents = []extpoints.ClusterEvent{{Resource: extpoints.NodeResource, Action: extpoints.Delete}}
	h.change.OldNode = c.node(n)
}

func (c *comparison) nodeChanged(h *happening) {
	old := c.Source.Node(c.IntN(c.Source.Nodes))
	changed := c.ChangeNode(old)
	h.refEvents, h.old, h.new = framework.NodeSchedulingPropertiesChange(changed, old), old, changed
	h.change.OldNode, h.change.NewNode = c.node(old), c.node(changed)
	h.subEvents = extpoints.EventsForNodeUpdate(h.change.OldNode, h.change.NewNode)
}

// podGone: a pod leaves its node, or one that was nominated goes.
func (c *comparison) podGone(h *happening) {
	p := c.NewPod()
	if c.Percent(70) {
		p = c.Source.Placed(p, generate.NodeName(0), c.Now())
	} else {
		p.Status.NominatedNodeName = generate.NodeName(0)
	}
	h.refEvents, h.old = []fwk.ClusterEvent{framework.EventAssignedPodDelete}, p
	h.subEvents = []extpoints.ClusterEvent{{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete}}
	h.change.OldWorkload = c.infoOf(p)
}

func (c *comparison) podCame(h *happening) {
	p := c.Source.Placed(c.NewPod(), generate.NodeName(0), c.Now())
	h.refEvents, h.new = []fwk.ClusterEvent{framework.EventAssignedPodAdd}, p
	h.subEvents = []extpoints.ClusterEvent{{Resource: extpoints.AssignedWorkload, Action: extpoints.Add}}
	h.change.NewWorkload = c.infoOf(p)
}

func (c *comparison) podChanged(h *happening) {
	old := c.Source.Placed(c.NewPod(), generate.NodeName(0), c.Now())
	changed := c.ChangePod(old)
	h.refEvents, h.old, h.new = framework.PodSchedulingPropertiesChange(changed, old, false), old, changed
	h.change.OldWorkload, h.change.NewWorkload = c.infoOf(old), c.infoOf(changed)
	h.subEvents = extpoints.EventsForWorkloadUpdate(h.change.OldWorkload.Workload, h.change.NewWorkload.Workload, extpoints.AssignedWorkload)
}

// waitingChanged changes the waiting pod itself, and returns it.
func (c *comparison) waitingChanged(h *happening, pod *v1.Pod) *v1.Pod {
	pod.Spec.NodeName = ""
	if c.Percent(30) {
		c.Gate(pod)
	}
	changed := c.ChangePod(pod)
	h.refEvents, h.old, h.new = framework.PodSchedulingPropertiesChange(changed, pod, true), pod, changed
	h.change.OldWorkload, h.change.NewWorkload = c.infoOf(pod), c.infoOf(changed)
	h.subEvents = extpoints.EventsForWorkloadUpdate(h.change.OldWorkload.Workload, h.change.NewWorkload.Workload, extpoints.TargetWorkload)
	return changed
}

func (c *comparison) infoOf(p *v1.Pod) *extpoints.WorkloadInfo {
	return &extpoints.WorkloadInfo{Workload: c.Convert(p), Nominated: p.Status.NominatedNodeName, Terminating: p.DeletionTimestamp != nil}
}

func (c *comparison) node(n *v1.Node) *model.Node {
	m, err := convert.Node(n)
	if err != nil {
		panic(err)
	}
	return m
}
