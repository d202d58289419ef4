package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// request is what a simulation is about, as the engine is told of it.
type request struct {
	pods    []*model.Workload   // in the order of the body
	notOurs []*model.Workload   // likewise those of other schedulers; they are not among the pods
	there   []*api.SimulatedPod // likewise those that have a node in the cluster
	owners  []owned             // likewise those whose pods are among these
	// changes bring in groups and pods, in this order; places say where each stands
	// in the body.
	changes []engine.Change
	places  []place
}

func (r *request) add(at place, ch engine.Change) {
	r.changes, r.places = append(r.changes, ch), append(r.places, at)
}

// translation turns objects into a request.
type translation struct {
	h         *handler
	view      *engine.View // of the branch that it is for
	namespace string       // of objects that name none
	now       time.Time
	classes   []convert.PriorityClass
	groups    map[string]*schedulingv1beta1.PodGroup // by ID
	names     names
	seen      map[string]bool                 // by nameKey, what has been translated
	left      int                             // how many pods owners may still have
	bytesLeft int                             // how many bytes these may have
	owned     map[string]map[string]inCluster // by namespace, see ownedIn
	storage   func() *string                  // the default storage class, looked for once
	request   request
	problems  problems
}

// translate turns objects into a request. What others refer to comes first. The error
// lists all problems, or is the context's.
func (h *handler) translate(ctx context.Context, objects []object, view *engine.View, namespace string, now time.Time) (*request, error) {
	t := &translation{
		h: h, view: view, namespace: namespace, now: now, names: newNames(),
		groups: map[string]*schedulingv1beta1.PodGroup{}, seen: map[string]bool{}, left: maxPods, bytesLeft: maxMade, owned: map[string]map[string]inCluster{},
		storage: sync.OnceValue(h.defaultClass),
	}
	t.names.isMade = t.isMade
	t.readNames(objects)
	if err := t.readClasses(objects); err != nil {
		return nil, err
	}
	for _, o := range objects {
		if g, ok := o.object.(*schedulingv1alpha3.CompositePodGroup); ok {
			t.compositeGroup(o.at, g)
		}
	}
	for _, o := range objects {
		if g, ok := o.object.(*schedulingv1beta1.PodGroup); ok {
			t.group(o.at, g)
		}
	}
	if err := t.readPods(ctx, objects); err != nil {
		return nil, err
	}
	if t.request.isEmpty() && t.problems.count == 0 {
		t.problems.add("objects", "there is no pod among them, and none that they would have")
	}
	return &t.request, t.problems.err()
}

// isEmpty reports whether there is nothing to say: no pod is asked about, and no owner has any.
func (r *request) isEmpty() bool {
	return len(r.pods)+len(r.notOurs)+len(r.there) == 0 &&
		!slices.ContainsFunc(r.owners, func(o owned) bool { return o.result.InCluster > 0 })
}

// readNames learns which names the objects have before any is made up, and reports those that none
// can have.
func (t *translation) readNames(objects []object) {
	for _, o := range objects {
		if _, isClass := o.object.(*schedulingv1.PriorityClass); isClass {
			continue
		}
		m := metaOf(o.object)
		t.problems.checkName(o.at, o.kind, m)
		if m.Name != "" {
			t.names.taken[nameKey(o.kind, t.namespaceOf(m), m.Name)] = true
		}
	}
	for _, o := range objects {
		if set, ok := o.object.(*appsv1.StatefulSet); ok {
			m := metaOf(set)
			t.setName(o.kind, t.namespaceOf(m), m)
			t.names.takeSet(t.namespaceOf(m), ofStatefulSet(set))
		}
	}
}

// metaOf is the metadata of an object of a kind that a simulation may be about: they all have it.
func metaOf(o runtime.Object) *metav1.ObjectMeta {
	return o.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}

// readPods translates pods, and those that owners would have.
func (t *translation) readPods(ctx context.Context, objects []object) error {
	for _, o := range objects {
		if _, ok := o.object.(*v1.Pod); ok {
			t.left--
		}
	}
	for _, o := range objects {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch found := o.object.(type) {
		case *v1.Pod:
			t.pod(o.at, found, convert.Owners{})
		case *appsv1.DaemonSet:
			t.problems.add(o.at.String(), "is a DaemonSet: its controller decides which nodes get its pods, and a simulation does not know which; "+
				"a Pod with node affinity for one node can be simulated")
		case *appsv1.Deployment, *appsv1.ReplicaSet, *appsv1.StatefulSet, *v1.ReplicationController, *batchv1.Job, *batchv1.CronJob:
			if err := t.owner(ctx, &o); err != nil {
				return err
			}
		}
	}
	return nil
}

// readClasses gathers the priority classes. Of those with one name the first counts, and
// those of the body come before the cluster's: so what is known of the cluster can be
// added to a body.
func (t *translation) readClasses(objects []object) error {
	for _, o := range objects {
		if c, ok := o.object.(*schedulingv1.PriorityClass); ok {
			t.class(o.at, c)
		}
	}
	if t.h.o.PriorityClasses == nil {
		return nil
	}
	list, err := t.h.o.PriorityClasses.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list priority classes: %w", err)
	}
	for _, c := range list {
		class, _ := convert.PriorityClassOf(c) // as far as it can be understood
		t.addClass(class)
	}
	return nil
}

func (t *translation) class(at place, c *schedulingv1.PriorityClass) {
	class, err := convert.PriorityClassOf(c)
	t.problems.addAll(at, err)
	if class.Name == "" {
		t.problems.add(at.field("metadata.name"), "is missing")
	}
	t.addClass(class)
}

func (t *translation) addClass(class convert.PriorityClass) {
	if !slices.ContainsFunc(t.classes, func(known convert.PriorityClass) bool { return known.Name == class.Name }) {
		t.classes = append(t.classes, class)
	}
}

// named makes the metadata that of an object that is created now, and reports names
// that are there twice.
func (t *translation) named(at place, kind, namespace string, m *metav1.ObjectMeta) {
	m.Namespace = namespace
	m.UID, m.ResourceVersion, m.DeletionTimestamp = "", "", nil
	m.CreationTimestamp = metav1.NewTime(t.now)
	t.setName(kind, namespace, m)
	if m.Name == "" {
		return // it has been reported
	}
	key := nameKey(kind, namespace, m.Name)
	switch {
	case t.seen[key] && at.within != "": // its owner names it by number
		t.problems.add(place{object: at.object}.field("metadata.name"), "gives a pod the name %q, which is listed, too", m.Name)
	case t.seen[key]:
		t.problems.add(at.field("metadata.name"), "%q is listed twice", m.Name)
	}
	t.seen[key] = true
}

// setName makes up the name of an object that only says what that begins with.
func (t *translation) setName(kind, namespace string, m *metav1.ObjectMeta) {
	if m.Name == "" && m.GenerateName != "" {
		m.Name = t.names.generate(kind, namespace, m.GenerateName)
	}
}

// namespaceOf is the namespace of an object that needs one.
func (t *translation) namespaceOf(m *metav1.ObjectMeta) string {
	if m.Namespace == "" {
		return t.namespace
	}
	return m.Namespace
}

func (t *translation) compositeGroup(at place, g *schedulingv1alpha3.CompositePodGroup) {
	t.named(at, "CompositePodGroup", t.namespaceOf(&g.ObjectMeta), &g.ObjectMeta)
	m, err := convert.CompositeGroup(g, t.h.o.Gates)
	t.problems.addAll(at, err)
	if g.Spec.Priority == nil {
		t.prioritizeGroup(at, m, g.Spec.PriorityClassName, g.Spec.PreemptionPolicy != nil)
	}
	t.request.add(at, engine.PutGroup(m))
}

func (t *translation) group(at place, g *schedulingv1beta1.PodGroup) {
	t.named(at, "PodGroup", t.namespaceOf(&g.ObjectMeta), &g.ObjectMeta)
	t.groups[convert.GroupID(g.Namespace, g.Name)] = g
	m, err := convert.Group(g, t.h.o.Gates)
	t.problems.addAll(at, err)
	if g.Spec.Priority == nil {
		t.prioritizeGroup(at, m, g.Spec.PriorityClassName, g.Spec.PreemptionPolicy != nil)
	}
	t.request.add(at, engine.PutGroup(m))
}

// prioritizeGroup gives the group what its class gives. To the API server that is the
// same as for a pod.
//
// Rules: kube-apiserver plugin/pkg/admission/priority/admission.go, 1.37.1.
func (t *translation) prioritizeGroup(at place, g *model.Group, class string, hasPolicy bool) {
	pod := &v1.Pod{Spec: v1.PodSpec{PriorityClassName: class}}
	given := model.Workload{Priority: g.Priority, Preemption: g.Preemption}
	t.prioritize(at, &given, pod)
	g.Priority = given.Priority
	if !hasPolicy && t.h.o.Gates.PodGroupPreemptionPolicy && given.Preemption != "" {
		g.Preemption = given.Preemption
	}
}

func (t *translation) prioritize(at place, w *model.Workload, p *v1.Pod) {
	if err := convert.Prioritize(w, p, t.classes); err != nil {
		t.problems.add(at.field("spec.priorityClassName"), "there is no priority class %q among those that are known here", p.Spec.PriorityClassName)
	}
}

// pod translates a pod, and returns the workload's ID. Of its owners those of the body are
// given.
func (t *translation) pod(at place, p *v1.Pod, owners convert.Owners) string {
	generated := p.Name == "" // a name that no other has
	t.named(at, "Pod", t.namespaceOf(&p.ObjectMeta), &p.ObjectMeta)
	if there := t.there(p); there != nil && !generated {
		t.request.there = append(t.request.there, there)
		return there.UID
	}
	p.Status = v1.PodStatus{}
	setDefaults(p)
	if p.Spec.NodeName != "" {
		t.problems.add(at.field("spec.nodeName"), "is %q: a pod that has a node is not placed any more", p.Spec.NodeName)
	}
	if !slices.Contains(t.h.o.Profiles, p.Spec.SchedulerName) {
		w, _ := t.h.o.Gates.Pod(p) // as far as it can be understood
		t.prioritize(at, w, p)
		t.request.notOurs = append(t.request.notOurs, w)
		return w.ID
	}
	w, err := t.h.o.Gates.Pod(p)
	t.problems.addAll(at, err)
	if g := t.groupOf(p); g != nil && err == nil {
		w.DeviceClaims, err = convert.DeviceClaimRefs(p, g)
		t.problems.addAll(at, err)
	}
	t.prioritize(at, w, p)
	w.OwnerSelector = both(t.h.o.OwnerSelector(p), convert.OwnerSelector(p, owners))
	t.h.o.Queueing.AddTo(w, p)
	if t.h.o.Translated != nil {
		t.h.o.Translated(w, p)
	}
	t.account(at, p.Namespace)
	t.request.pods = append(t.request.pods, w)
	t.request.add(at, engine.Submit(w))
	return w.ID
}

// both selects what both select; a nil one says nothing.
func both(a, b *model.Selector) *model.Selector {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &model.Selector{Requirements: slices.Concat(a.Requirements, b.Requirements)}
}

// there is the pod of the cluster that has the name and a node, nil where there is none: like
// "kubectl apply", a simulation leaves it where it is.
func (t *translation) there(p *v1.Pod) *api.SimulatedPod {
	known, err := t.h.o.Pods.Pods(p.Namespace).Get(p.Name)
	if err != nil || !isOnNode(known) {
		return nil
	}
	w, _ := t.h.o.Gates.Pod(known) // as far as it can be understood
	return &api.SimulatedPod{
		Pod: podOf(w), Outcome: api.Placed, Node: known.Spec.NodeName, Message: "it is there already",
	}
}

// isOnNode reports whether the pod has a node, and has not ended.
func isOnNode(p *v1.Pod) bool {
	return p.Spec.NodeName != "" && p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed
}

// account makes a namespace that the engine does not know one without labels.
func (t *translation) account(at place, namespace string) {
	key := "Namespace " + namespace
	if t.h.o.Queueing.Order() != engine.OrderByQueues || t.seen[key] {
		return
	}
	t.seen[key] = true
	if _, known := t.view.Object(model.ObjectRef{Kind: model.PrincipalKind, ID: namespace}); !known {
		t.request.add(at, engine.PutObject(&model.Principal{Name: namespace, Queue: t.h.o.Queueing.QueueOf(namespace, nil, false)}))
	}
}

// groupOf is the pod group of the pod, of the body or of the cluster.
func (t *translation) groupOf(p *v1.Pod) *schedulingv1beta1.PodGroup {
	g := p.Spec.SchedulingGroup
	if g == nil || g.PodGroupName == nil {
		return nil
	}
	if known := t.groups[convert.GroupID(p.Namespace, *g.PodGroupName)]; known != nil || t.h.o.Groups == nil {
		return known
	}
	known, err := t.h.o.Groups.PodGroups(p.Namespace).Get(*g.PodGroupName)
	if err != nil {
		return nil // as the engine is told of such a pod
	}
	return known
}
