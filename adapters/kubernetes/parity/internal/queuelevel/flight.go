package queuelevel

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// pop takes the next pod out of each of the bare queues.
func (h *history) pop() {
	h.lastPopped = ""
	if h.ready() {
		_, err := h.kube.NextEntity(h.kube.Logger())
		must(err)
	}
	popped := ""
	item, ok := h.queue.q.Pop(h.now)
	if ok {
		popped = item.ID()
	}
	h.compared("pod taken out", h.lastPopped, popped)
	if h.over || !ok {
		return
	}
	p := h.pod(popped)
	p.stage, p.item = flying, item
	h.note("%s is taken out", p.Name)
}

// fail puts a pod back that was taken out: rejected by some plugins, or by none,
// which is a failure. One that is done with can only fail.
func (h *history) fail() {
	list := h.in(flying, lost, landed)
	if len(list) == 0 {
		return
	}
	p := pick(h.objects, list...)
	var rejected, pending []string
	if p.stage != landed {
		rejected, pending = h.rejection()
	}
	h.note("%s (%s) comes back, rejected by %v, pending %v", p.Name, p.stage, rejected, pending)
	if p.stage == lost {
		h.kube.Queue().Done(p.UID) // as its failure handler does
		h.forget(p)
	} else {
		info := h.popped[p.UID].DeepCopy()
		info.ClearRejectorPlugins()
		info.UnschedulablePlugins, info.PendingPlugins = sets.New(rejected...), sets.New(pending...)
		var err error
		info.PodInfo, err = framework.NewPodInfo(p.Pod)
		must(err)
		q := h.kube.Queue()
		must(q.AddUnschedulablePodIfNotPresent(h.kube.Logger(), info, q.SchedulingCycle()))
	}
	h.queue.addUnschedulable(h.now, p.item, rejected, pending)
	p.stage, p.item = queued, nil
}

// rejection draws who rejects a pod, and who of them, or besides, is pending.
func (h *history) rejection() (rejected, pending []string) {
	if h.chance(20) {
		return nil, nil
	}
	for range 1 + h.IntN(3) {
		rejected = append(rejected, pick(h.objects, h.rejectors...))
	}
	for range h.IntN(3) {
		pending = append(pending, pick(h.objects, h.rejectors...))
		if h.chance(50) { // as a diagnosis has it
			rejected = append(rejected, pending[len(pending)-1])
		}
	}
	return rejected, pending
}

// land ends an attempt well, as far as the queue is concerned.
func (h *history) land() {
	list := h.in(flying)
	if len(list) == 0 {
		return
	}
	p := pick(h.objects, list...)
	h.note("%s is done with", p.Name)
	h.kube.Queue().Done(p.UID)
	h.queue.q.Done(p.id())
	p.stage = landed
}

// arrive lets a pod that is done with be seen on its node.
func (h *history) arrive() {
	list, node := h.in(landed), h.anyNode()
	if len(list) == 0 || node == "" {
		return
	}
	p := pick(h.objects, list...)
	h.note("%s arrives on %s", p.Name, node)
	p.item = nil
	h.onNode(p, node)
}
