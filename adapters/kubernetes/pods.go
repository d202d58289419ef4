package kubernetes

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// pods are the pods that the engine was told of. Only the goroutine that tells the
// engine uses it.
type pods struct {
	a     *Adapter
	known map[string]*pod // by workload ID
	// waiting are those without a node, by namespace: what they are told to be
	// depends on other objects, so they may have to be looked at again.
	waiting map[string]map[string]*pod
	// unreadable are the IDs of those without a node that it was not told of,
	// because part of them cannot be understood. Any goroutine may look.
	unreadable sync.Map
}

// pod is one of them, as the engine was told.
type pod struct {
	object    *v1.Pod
	workload  *model.Workload
	node      string
	since     time.Time
	nominated string // as it was told
	leaves    bool   // Terminate was told
	displaced bool   // Displace was told
}

func newPods(a *Adapter) *pods {
	return &pods{a: a, known: map[string]*pod{}, waiting: map[string]map[string]*pod{}}
}

// podChanged is what the engine is told of a change of a pod.
func (a *Adapter) podChanged(before, after any) []engine.Change {
	old, now := as[v1.Pod](before), as[v1.Pod](after)
	var changes []engine.Change
	if old != nil && (now == nil || old.UID != now.UID) {
		changes = a.pods.gone(convert.ID(old))
	}
	if now != nil {
		changes = append(changes, a.pods.is(now)...)
	}
	return changes
}

// gone is told of a pod that is not there any more.
func (p *pods) gone(id string) []engine.Change {
	told := !p.isUnreadable(id)
	if !p.forget(id) || !told {
		return nil
	}
	return []engine.Change{engine.Remove(id)}
}

// forget forgets a pod, and reports whether there was one.
func (p *pods) forget(id string) bool {
	known := p.known[id]
	if known == nil {
		return false
	}
	delete(p.known, id)
	p.unreadable.Delete(id)
	p.setWaiting(known, false)
	return true
}

// is is told of a pod that is there, as it is now; see [convert.PodStatus] for what is
// told when.
func (p *pods) is(now *v1.Pod) []engine.Change {
	id, status := convert.ID(now), convert.Status(now)
	known := p.known[id]
	switch {
	case status.Finished, status.Node == "" && (status.Terminating || !p.a.ours(now.Spec.SchedulerName)):
		return p.gone(id)
	case known == nil || p.isUnreadable(id):
		return p.found(now, &status)
	}
	var changes []engine.Change
	if w := p.demands(known, now); w != nil {
		known.workload = w
		changes = append(changes, engine.Update(w))
	}
	known.object = now
	if status.Node == "" {
		// Before this adapter's own last write the engine knows better.
		if known.nominated != status.Nominated && !p.a.lately.pods.outdated(now) {
			known.nominated = status.Nominated
			changes = append(changes, engine.Nominate(id, status.Nominated))
		}
		return changes
	}
	return append(changes, p.placed(known, &status)...)
}

// found is told of a pod that the engine does not know yet.
func (p *pods) found(now *v1.Pod, status *convert.PodStatus) []engine.Change {
	id := convert.ID(now)
	w, err := p.workload(now, status.Node == "")
	p.a.translated(w, now)
	known := &pod{object: now, workload: w, node: status.Node, nominated: status.Nominated}
	p.known[id] = known
	p.setWaiting(known, status.Node == "")
	if err != nil && status.Node == "" {
		p.unreadable.Store(id, err)
		p.a.cannotPlace(now, err)
		return nil
	}
	p.unreadable.Delete(id)
	p.a.problem("pod", now.Namespace+"/"+now.Name, err)
	if status.Node == "" {
		changes := []engine.Change{engine.Submit(w)}
		if status.Nominated != "" {
			changes = append(changes, engine.Nominate(id, status.Nominated))
		}
		return changes
	}
	known.since = status.StartedAt
	changes := []engine.Change{engine.Adopt(w, model.Binding{Node: status.Node, Since: status.StartedAt})}
	return append(changes, p.leaving(known, status)...)
}

// placed is told of a pod on a node that the engine knows already.
func (p *pods) placed(known *pod, status *convert.PodStatus) []engine.Change {
	var changes []engine.Change
	if known.node != status.Node || !known.since.Equal(status.StartedAt) {
		p.setWaiting(known, false)
		known.node, known.since = status.Node, status.StartedAt
		changes = append(changes, engine.Confirm(model.Binding{Workload: known.workload.ID, Node: status.Node, Since: status.StartedAt}))
	}
	return append(changes, p.leaving(known, status)...)
}

// leaving says that a pod on a node is terminating, where that is new.
func (p *pods) leaving(known *pod, status *convert.PodStatus) []engine.Change {
	var changes []engine.Change
	if !status.Terminating {
		return nil
	}
	if !known.leaves {
		known.leaves = true
		changes = append(changes, engine.Terminate(known.workload.ID))
	}
	if status.Displaced && !known.displaced {
		known.displaced = true
		changes = append(changes, engine.Displace(known.workload.ID))
	}
	return changes
}

// demands is the workload that the pod is now, nil where that is what it was.
func (p *pods) demands(known *pod, now *v1.Pod) *model.Workload {
	if known.node != "" && p.a.opts.Translated == nil && sameDemands(known.object, now) {
		return nil
	}
	return p.translated(known, now)
}

// translated is demands, whatever has changed in the pod.
func (p *pods) translated(known *pod, now *v1.Pod) *model.Workload {
	w, err := p.workload(now, now.Spec.NodeName == "")
	if err != nil && now.Spec.NodeName == "" {
		p.a.cannotPlace(now, err)
		return nil // as it was before it could not be understood
	}
	if reflect.DeepEqual(w, known.workload) && !p.looksDifferent(known.object, now) {
		return nil
	}
	p.a.translated(w, now)
	return w
}

// looksDifferent reports whether somebody who is told of objects is to be told of a change of
// a pod that changes nothing for the engine.
//
// Rules: pkg/scheduler/backend/queue/scheduling_queue.go isPodUpdated, 1.37.1, for pods
// without a node.
func (p *pods) looksDifferent(before, now *v1.Pod) bool {
	if p.a.opts.Translated == nil || before == now {
		return false
	}
	if now.Spec.NodeName != "" {
		return true
	}
	plain := func(o *v1.Pod) *v1.Pod {
		c := *o
		c.ResourceVersion, c.Generation, c.ManagedFields, c.Status = "", 0, nil, v1.PodStatus{}
		return &c
	}
	return !reflect.DeepEqual(plain(before), plain(now))
}

// sameDemands reports whether nothing has changed in a pod that a workload is made
// of. It saves translating pods on nodes whenever their containers change.
func sameDemands(before, now *v1.Pod) bool {
	return before.Generation != 0 && before.Generation == now.Generation &&
		before.Spec.NodeName == now.Spec.NodeName &&
		maps.Equal(before.Labels, now.Labels) &&
		reflect.DeepEqual(before.Status.ResourceClaimStatuses, now.Status.ResourceClaimStatuses) &&
		reflect.DeepEqual(before.Status.Resources, now.Status.Resources) &&
		reflect.DeepEqual(before.Status.AllocatedResources, now.Status.AllocatedResources) &&
		sameContainers(before.Status.InitContainerStatuses, now.Status.InitContainerStatuses) &&
		sameContainers(before.Status.ContainerStatuses, now.Status.ContainerStatuses) &&
		sameResize(before.Status.Conditions, now.Status.Conditions)
}

func sameContainers(before, now []v1.ContainerStatus) bool {
	return slices.EqualFunc(before, now, func(a, b v1.ContainerStatus) bool {
		return a.Name == b.Name && reflect.DeepEqual(a.Resources, b.Resources) && reflect.DeepEqual(a.AllocatedResources, b.AllocatedResources)
	})
}

// sameResize compares what the node says of a change of the pod's resources.
func sameResize(before, now []v1.PodCondition) bool {
	resize := func(list []v1.PodCondition) (about []v1.PodCondition) {
		for i := range list {
			if t := list[i].Type; t == v1.PodResizePending || t == v1.PodResizeInProgress {
				about = append(about, list[i])
			}
		}
		return about
	}
	return reflect.DeepEqual(resize(before), resize(now))
}

// workload translates the pod. What is made of others' objects counts only while the
// pod waits for a node.
func (p *pods) workload(o *v1.Pod, waits bool) (*model.Workload, error) {
	w, err := p.a.opts.Gates.Pod(o)
	if g := p.groupOf(o); g != nil && len(o.Spec.ResourceClaims) > 0 {
		refs, err2 := convert.DeviceClaimRefs(o, g)
		if w.DeviceClaims = refs; err == nil {
			err = err2
		}
	}
	if waits {
		w.OwnerSelector = p.a.ownerSelector(o)
	}
	if w != nil {
		w.PreemptionToleration = p.a.toleration(o)
		w.Syscalls = p.a.syscallsOf(o)
		if w.Group == "" {
			w.Group = p.a.labelGroupOf(o)
		}
		p.a.opts.Queueing.AddTo(w, o)
	}
	return w, err
}

func (p *pods) groupOf(o *v1.Pod) *schedulingv1beta1.PodGroup {
	g := o.Spec.SchedulingGroup
	if g == nil || g.PodGroupName == nil || p.a.listers.groups == nil {
		return nil
	}
	group, err := p.a.listers.groups.PodGroups(o.Namespace).Get(*g.PodGroupName)
	if err != nil {
		return nil
	}
	return group
}

// again looks again at the pods of the namespace that wait.
func (p *pods) again(namespace string) []engine.Change {
	var changes []engine.Change
	for _, id := range slices.Sorted(maps.Keys(p.waiting[namespace])) {
		known := p.waiting[namespace][id]
		if p.isUnreadable(id) {
			continue
		}
		if w := p.demands(known, known.object); w != nil {
			known.workload = w
			changes = append(changes, engine.Update(w))
		}
	}
	return changes
}

// ofClass looks again at the pods of a priority class, those on nodes among them.
func (p *pods) ofClass(name string) []engine.Change {
	return p.those(func(o *v1.Pod) bool { return o.Spec.PriorityClassName == name })
}

// those looks again at some of the pods, those on nodes among them.
func (p *pods) those(concerned func(*v1.Pod) bool) []engine.Change {
	var changes []engine.Change
	for _, id := range slices.Sorted(maps.Keys(p.known)) {
		known := p.known[id]
		if p.isUnreadable(id) || !concerned(known.object) {
			continue
		}
		if w := p.translated(known, known.object); w != nil {
			known.workload = w
			changes = append(changes, engine.Update(w))
		}
	}
	return changes
}

// speakUp says of the pods that cannot be understood why.
func (p *pods) speakUp() {
	for id, known := range p.known {
		if err, is := p.unreadable.Load(id); is {
			p.a.cannotPlace(known.object, err.(error))
		}
	}
}

func (p *pods) isUnreadable(id string) bool {
	_, is := p.unreadable.Load(id)
	return is
}

func (p *pods) setWaiting(known *pod, waits bool) {
	namespace, id := known.object.Namespace, convert.ID(known.object)
	if !waits {
		delete(p.waiting[namespace], id)
		if len(p.waiting[namespace]) == 0 {
			delete(p.waiting, namespace)
		}
		return
	}
	if p.waiting[namespace] == nil {
		p.waiting[namespace] = map[string]*pod{}
	}
	p.waiting[namespace][id] = known
}

// idOf is the workload ID of the pod with the name, empty for none.
func (p *pods) idOf(namespace, name string) string {
	o, err := p.a.listers.pods.Pods(namespace).Get(name)
	if err != nil {
		return ""
	}
	return convert.ID(o)
}
