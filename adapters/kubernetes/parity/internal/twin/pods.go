package twin

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1 "k8s.io/component-helpers/scheduling/corev1"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Pods lists the pods in order of arrival; do not change it.
func (t *Twin) Pods() []*Pod { return t.pods }

// Find returns the pod with the ID, nil where there is none.
func (t *Twin) Find(id string) *Pod {
	if i := slices.IndexFunc(t.pods, func(p *Pod) bool { return p.ID == id }); i >= 0 {
		return t.pods[i]
	}
	return nil
}

// Object is the pod's object. It must not be changed.
func (t *Twin) Object(p *Pod) *v1.Pod {
	return t.Reference.Get(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: p.Name}}).(*v1.Pod)
}

// NewPod draws a pod of a new name, and adds the claims that are made for it.
func (t *Twin) NewPod() *v1.Pod {
	t.serial++
	p := t.Source.Pod(fmt.Sprintf("w%d", t.serial))
	t.companions(p)
	return p
}

// Put adds a pod: one that waits or, where it has a node, one that is there.
func (t *Twin) Put(object *v1.Pod) *Pod {
	t.tick()
	p := t.note(object)
	t.Reference.Put(object)
	t.Subject.Apply(subject.Found(object, t.Convert(object))...)
	return p
}

// PutTogether adds pods that come at the same time, in their order: the subject is
// told of them in one batch.
func (t *Twin) PutTogether(pods ...*v1.Pod) {
	t.tick()
	var objects []runtime.Object
	var changes []engine.Change
	for _, object := range pods {
		t.note(object)
		objects = append(objects, object)
		changes = append(changes, subject.Found(object, t.Convert(object))...)
	}
	t.Reference.Together(objects...)
	t.Subject.Apply(changes...)
}

// note writes a new pod into the books.
func (t *Twin) note(object *v1.Pod) *Pod {
	p := &Pod{ID: string(object.UID), Name: object.Name, Node: object.Spec.NodeName, namespace: object.Namespace, Going: object.DeletionTimestamp != nil}
	if p.Node != "" {
		p.Place, p.Since = Placed, object.Status.StartTime.Time
	}
	t.pods = append(t.pods, p)
	return p
}

// Update replaces a pod that waits or is confirmed.
func (t *Twin) Update(p *Pod, object *v1.Pod) {
	t.tick()
	t.Reference.Put(object)
	t.Subject.Apply(engine.Update(t.Convert(object)))
}

// UpdateAll updates all pods to what they are: of the same pods the subject may be told
// something else now.
func (t *Twin) UpdateAll() {
	for _, p := range t.pods {
		t.Update(p, t.Object(p))
	}
}

// Confirm tells that a pod has been seen on the node that was chosen for it, and
// started there just now: no two start at the same time, also of those that were
// placed together, since equal ones are displaced in no particular order.
func (t *Twin) Confirm(p *Pod) {
	t.tick()
	p.Place, p.Since = Placed, t.now
	t.Reference.Put(t.On(t.Object(p), p.Node, p.Since))
	t.Subject.Apply(engine.Confirm(model.Binding{Workload: p.ID, Node: p.Node, Since: p.Since}))
}

// Terminate tells that a pod on a node is terminating.
func (t *Twin) Terminate(p *Pod) {
	t.tick()
	p.Going = true
	object := t.Object(p).DeepCopy()
	object.DeletionTimestamp = &metav1.Time{Time: t.now}
	t.Reference.Put(object)
	t.Subject.Apply(engine.Terminate(p.ID))
}

// Remove forgets a pod. One that is assumed is confirmed first, as it would be
// by its node.
func (t *Twin) Remove(p *Pod) {
	if p.Place == Assumed {
		t.Confirm(p)
	}
	t.tick()
	t.pods = slices.DeleteFunc(t.pods, func(o *Pod) bool { return o == p })
	object := t.Object(p)
	t.Reference.Delete(object)
	t.Subject.Apply(engine.Remove(p.ID))
	t.release(object)
}

// ScheduleOne runs one cycle on both sides; false where both have nothing to
// do. What both agree on, but for a message, is written into the books. Where
// they do not agree, the cluster is not the same any more.
func (t *Twin) ScheduleOne() (ref, sub answer.Decision, ok bool) {
	t.confirmVictims()
	t.tick()
	ref, refOK := t.Reference.ScheduleOne()
	sub, subOK := t.Subject.ScheduleOne()
	if !refOK && !subOK {
		return ref, sub, false
	}
	t.alignVictims(&ref, &sub)
	if what := answer.Compare(ref, sub); what != "" && !strings.HasPrefix(what, "message") {
		return ref, sub, true
	}
	t.assume(ref)
	for _, m := range ref.Members {
		t.assume(m)
	}
	for _, id := range ref.Victims {
		t.Find(id).Going = true
	}
	t.tick()
	t.Reference.Deliver()
	t.tellDeviceClaims()
	t.bindVolumes()
	return ref, sub, true
}

// assume writes into the books that a pod has got a node.
func (t *Twin) assume(d answer.Decision) {
	if p := t.Find(d.Workload); d.Node != "" {
		p.Place, p.Node, p.Since = Assumed, d.Node, t.now
	}
}

// Pass lets time pass, in which both queues do what is due at each whole second.
func (t *Twin) Pass(d time.Duration) {
	until := t.now.Add(d)
	for {
		next := t.now.Truncate(time.Second).Add(time.Second)
		if next.After(until) {
			break
		}
		t.Advance(next.Sub(t.now))
		t.Reference.FlushBackoff()
		if next.Second()%30 == 0 {
			t.Reference.FlushUnschedulable()
		}
		t.Subject.Tick()
	}
	t.Advance(until.Sub(t.now))
}

// confirmVictims confirms the assumed pods that a waiting one may displace. An
// API server would tell of the binding before it tells of the deletion; here the
// deletion is asked for in the middle of a cycle.
func (t *Twin) confirmVictims() {
	highest, waits := int32(math.MinInt32), false
	for _, p := range t.pods {
		if p.Place == Waiting {
			highest, waits = max(highest, corev1.PodPriority(t.Object(p))), true
		}
	}
	for _, p := range t.pods {
		if waits && p.Place == Assumed && corev1.PodPriority(t.Object(p)) < highest {
			t.Confirm(p)
		}
	}
}
