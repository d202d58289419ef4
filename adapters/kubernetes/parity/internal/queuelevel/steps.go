package queuelevel

import (
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// step is a kind of thing that may happen, and how often it does in each kind of
// history.
type step struct {
	name    string
	weights [3]int // whole, ties, bare
	do      func(*history)
}

var steps = []step{
	{"pod added", [3]int{14, 20, 14}, (*history).addPod},
	{"attempt", [3]int{40, 30, 0}, (*history).attempt},
	{"end of permit", [3]int{9, 0, 0}, (*history).endPermit},
	{"end of binding", [3]int{9, 0, 0}, (*history).endBinding},
	{"pod taken out", [3]int{0, 0, 25}, (*history).pop},
	{"pod put back", [3]int{0, 0, 18}, (*history).fail},
	{"pod done with", [3]int{0, 0, 4}, (*history).land},
	{"pod arrived", [3]int{0, 0, 2}, (*history).arrive},
	{"pod changed", [3]int{10, 10, 12}, (*history).changePod},
	{"pod deleted", [3]int{5, 5, 5}, (*history).deletePod},
	{"pod adopted", [3]int{3, 0, 3}, (*history).adoptPod},
	{"pod bound by somebody", [3]int{2, 0, 2}, (*history).boundElsewhere},
	{"node added", [3]int{4, 0, 4}, (*history).addNode},
	{"node changed", [3]int{6, 0, 6}, (*history).changeNode},
	{"node removed", [3]int{2, 0, 2}, (*history).removeNode},
	{"activation", [3]int{5, 5, 5}, (*history).activate},
	{"time", [3]int{18, 5, 18}, (*history).pass},
}

// next draws a step.
func (h *history) next() *step {
	total := 0
	for i := range steps {
		total += steps[i].weights[h.kind]
	}
	n := h.IntN(total)
	for i := range steps {
		if n -= steps[i].weights[h.kind]; n < 0 {
			return &steps[i]
		}
	}
	panic("unreachable")
}

// pass lets time pass: a little, up to a whole second, and for long. In a history
// of ties not for long, since the timeout of many would wake them in any order.
func (h *history) pass() {
	var d time.Duration
	kinds := 8
	if h.kind == ties {
		kinds = 3
	}
	switch h.IntN(kinds) {
	case 0, 1:
		d = time.Duration(1 + h.IntN(int(2*time.Second)))
	case 2:
		d = h.now.Truncate(time.Second).Add(time.Second).Sub(h.now)
	case 3, 4:
		d = h.now.Truncate(30 * time.Second).Add(30 * time.Second).Sub(h.now)
	case 5:
		d = time.Duration(1+h.IntN(12)) * time.Second
	case 6:
		d = time.Duration(h.IntN(int(40 * time.Second)))
	case 7:
		d = 5*time.Minute + time.Duration(h.IntN(int(40*time.Second)))
	}
	if d > 10*time.Second {
		for _, p := range h.in(waiting) { // the reference lets it time out by the real time
			h.refuse(p)
			h.moment()
		}
	}
	if h.kind == ties {
		d = h.apart(d)
	}
	h.note("%s pass", d)
	h.advance(d)
	// What happens next does so at this very moment.
	h.still = h.kind != ties
}

// apart is a pause like d in a history of ties, in whole milliseconds (see kubePosition). No two moments
// are whole seconds apart, and none is at a whole second: where a backoff or a timeout ended at the very
// moment, the nanoseconds by which the reference's clock runs would decide.
func (h *history) apart(d time.Duration) time.Duration {
	for d = d.Truncate(time.Millisecond); ; d += time.Millisecond {
		end := h.now.Add(d)
		if fraction := end.Sub(end.Truncate(time.Second)); fraction != 0 && !h.fractions[fraction] {
			h.fractions[fraction] = true
			return d
		}
	}
}

func (h *history) addPod() {
	if len(h.pods) > 40 {
		return
	}
	p := h.newPod()
	h.note("add %s", describe(p.Pod))
	p.Pod = put(h, p.Pod)
	h.apply(engine.Submit(podOf(p.Pod)))
}

func (h *history) newPod() *pod {
	h.serial++
	p := &pod{Pod: h.objects.pod(fmt.Sprint("p", h.serial)), stage: queued}
	h.pods = append(h.pods, p)
	return p
}

// adoptPod adds one that is on a node already.
func (h *history) adoptPod() {
	node := h.anyNode()
	if node == "" {
		return
	}
	p := h.newPod()
	p.stage = assigned
	p.Spec.SchedulingGates = nil
	p.Spec.NodeName = node
	h.note("adopt %s", describe(p.Pod))
	p.Pod = put(h, p.Pod)
	h.apply(engine.Adopt(podOf(p.Pod), model.Binding{Node: node}))
}

// changePod changes a pod, but not one on its way; see the package comment.
func (h *history) changePod() {
	list := h.in(queued, assigned, flying)
	if len(list) == 0 {
		return
	}
	p, changes := pick(h.objects, list...), 1+h.IntN(2)
	if h.noPopFromBackoff {
		changes = 1 // see the package comment
	}
	p.Pod = put(h, h.changedPod(p.Pod, changes))
	h.note("change %s", describe(p.Pod))
	h.apply(engine.Update(podOf(p.Pod)))
}

func (h *history) deletePod() {
	list := h.in(queued, waiting, binding, assigned, flying)
	if h.kind == ties {
		list = h.in(queued)
	}
	if len(list) == 0 {
		return
	}
	p := pick(h.objects, list...)
	h.note("delete %s (%s)", p.Name, p.stage)
	switch p.stage {
	case binding:
		p.stage = orphaned
	case flying:
		p.stage = lost
	default:
		p.stage = queued
		h.forget(p)
	}
	h.kube.Delete(p.Pod)
	h.settle()
	h.apply(engine.Remove(p.id()))
}

// boundElsewhere lets somebody else bind a pod that waits.
func (h *history) boundElsewhere() {
	list, node := h.in(queued), h.anyNode()
	if len(list) == 0 || node == "" {
		return
	}
	p := pick(h.objects, list...)
	if n := p.Status.NominatedNodeName; n != "" {
		node = n // see the package comment
	}
	h.note("somebody binds %s to %s", p.Name, node)
	h.onNode(p, node)
}

// onNode tells both sides that the pod has been seen on the node.
func (h *history) onNode(p *pod, node string) {
	p.stage = assigned
	p.Pod = p.DeepCopy()
	p.Spec.NodeName = node
	p.Status.NominatedNodeName = ""
	p.Status.StartTime = &metav1.Time{Time: h.now}
	p.Pod = put(h, p.Pod)
	h.apply(engine.Confirm(model.Binding{Workload: p.id(), Node: node}))
}

func (h *history) addNode() {
	if name := fmt.Sprint("n", h.IntN(7)); h.nodes[name] == nil {
		h.setNode("add", h.node(name))
	}
}

func (h *history) changeNode() {
	if name := h.anyNode(); name != "" {
		h.setNode("change", h.changedNode(h.nodes[name]))
	}
}

func (h *history) setNode(verb string, n *v1.Node) {
	h.note("%s %s", verb, textOfNode(nodeOf(n)))
	h.nodes[n.Name] = n
	h.kube.Put(n)
	h.apply(engine.PutNode(nodeOf(n)))
}

func (h *history) removeNode() {
	name := h.anyNode()
	if name == "" {
		return
	}
	h.note("remove %s", name)
	h.kube.Delete(h.nodes[name])
	h.apply(engine.RemoveNode(name))
	delete(h.nodes, name)
}

// activate asks both sides to try some pods at once, which may be anywhere; in a
// history of ties one, since the reference goes by the order of a map.
func (h *history) activate() {
	list, n := h.in(queued, waiting, binding, flying, lost, landed), 1+h.IntN(3)
	if h.kind == ties {
		n = 1
	}
	pods := map[string]*v1.Pod{}
	var ids []string
	for range min(len(list), n) {
		p := pick(h.objects, list...)
		pods[namespace+"/"+p.Name] = p.Pod
		ids = append(ids, p.id())
	}
	h.note("activate %v", ids)
	h.kube.Queue().Activate(h.kube.Logger(), pods)
	h.berth.Activate(h.now, ids)
}

// anyNode is the name of a node, empty where there is none.
func (h *history) anyNode() string {
	if len(h.nodes) == 0 {
		return ""
	}
	return pick(h.objects, slices.Sorted(maps.Keys(h.nodes))...)
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

// describe is what people see of a pod.
func describe(p *v1.Pod) string {
	text := fmt.Sprintf("%s priority %d", textOfPod(podOf(p)), *p.Spec.Priority)
	if p.Spec.NodeName != "" {
		text += " on " + p.Spec.NodeName
	}
	if p.Spec.NodeSelector != nil {
		text += " wants rack " + p.Spec.NodeSelector["rack"]
	}
	if _, ok := p.Labels[held]; ok {
		text += " held"
	}
	return text
}
