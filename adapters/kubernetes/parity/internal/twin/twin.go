package twin

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Place is where a pod is on its way.
type Place int

// The places.
const (
	Waiting Place = iota
	Assumed       // has a node, and nobody has confirmed it
	Placed
)

// Twin is the cluster. Not for use by several goroutines.
type Twin struct {
	*generate.Source
	Reference *reference.Scheduler
	Subject   *subject.Engine

	// Syscalls says which system calls a pod makes. Nil: nothing is known of any.
	Syscalls func(*v1.Pod) []string
	// Toleration says whom a pod tolerates in its place. Nil: no pod says so.
	Toleration func(*v1.Pod) model.PreemptionToleration

	now    time.Time
	nodes  []string // sorted
	pods   []*Pod   // in order of arrival
	owners convert.Owners
	gates  convert.Gates // of the subject; the reference has its own
	serial int
	// shuffled: pods have left together in an order that is left to chance, and
	// with it that of the others on their nodes.
	shuffled bool
}

// Pod is what a Twin knows of a pod, beside the object, which the reference
// keeps.
type Pod struct {
	ID    string // its UID, and the workload's ID
	Name  string
	Place Place
	// Node is where it is, if it is somewhere; the node may be gone.
	Node string
	// Since is when it got there.
	Since time.Time
	// Going: it has been told to go.
	Going bool

	namespace string
}

// Start is the time at which every history begins.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// New makes a cluster without nodes. The configurations' times are set by it, and
// whether tolerations compare numbers.
func New(source *generate.Source, ref reference.Config, sub subject.Config) (*Twin, error) {
	ref.Now, sub.Now = Start, Start
	t := &Twin{
		Source: source, now: Start,
		gates: convert.Gates{TaintTolerationComparisonOperators: source.Compares(), PodGroupPreemptionPolicy: slices.Contains(ref.Gates, reference.GroupPolicy)},
	}
	if source.Compares() {
		ref.Gates = append(slices.Clip(ref.Gates), reference.Comparisons)
	}
	var err error
	if t.Reference, err = reference.New(ref); err != nil {
		return nil, err
	}
	if sub.Beside != nil {
		sub.Beside(t.Reference)
	}
	if t.Subject, err = subject.New(sub); err != nil {
		t.Reference.Close()
		return nil, err
	}
	return t, nil
}

// Close lets go of both sides.
func (t *Twin) Close() { t.Reference.Close() }

// Now is the time.
func (t *Twin) Now() time.Time { return t.now }

// Advance lets time pass. Nothing happens at the same time as anything else, so
// that no order is left to chance.
func (t *Twin) Advance(d time.Duration) {
	t.now = t.now.Add(d)
	t.Reference.SetTime(t.now)
	t.Subject.SetTime(t.now)
}

func (t *Twin) tick() { t.Advance(time.Microsecond) }

// Nodes lists the names of the nodes, sorted.
func (t *Twin) Nodes() []string { return t.nodes }

// Node is the node with the name, nil where there is none.
func (t *Twin) Node(name string) *v1.Node {
	object := t.Reference.Get(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if object == nil {
		return nil
	}
	return object.(*v1.Node)
}

// PutNode adds or replaces a node.
func (t *Twin) PutNode(n *v1.Node) {
	t.tick()
	if i, found := slices.BinarySearch(t.nodes, n.Name); !found {
		t.nodes = slices.Insert(t.nodes, i, n.Name)
	}
	t.Reference.Put(n)
	m, err := convert.Node(n)
	t.check(err)
	t.Subject.Apply(engine.PutNode(m))
}

// RemoveNode removes a node. The pods on it stay.
func (t *Twin) RemoveNode(name string) {
	t.tick()
	i, _ := slices.BinarySearch(t.nodes, name)
	t.nodes = slices.Delete(t.nodes, i, i+1)
	t.Reference.Delete(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	t.Subject.Apply(engine.RemoveNode(name))
}

// PutNamespace adds or replaces a namespace.
func (t *Twin) PutNamespace(n *v1.Namespace) {
	t.tick()
	t.Reference.Put(n)
	t.Subject.Apply(engine.PutNamespace(convert.Namespace(n)))
}

// PutBudget adds or replaces a budget.
func (t *Twin) PutBudget(b *policyv1.PodDisruptionBudget) {
	t.tick()
	t.Reference.Put(b)
	m, err := convert.Budget(b, func(_, name string) string { return string(t.PodUID(name)) })
	t.check(err)
	t.Subject.Apply(engine.PutBudget(m))
}

// PutOwners adds services and controllers, which must not be there yet. Pods
// that are there already do not learn of them on the subject's side, where it is
// for the adapter to tell, so they come before all pods.
func (t *Twin) PutOwners(list []runtime.Object) {
	t.tick()
	for _, object := range list {
		t.Reference.Put(object)
		switch o := object.(type) {
		case *v1.Service:
			t.owners.Services = append(t.owners.Services, o)
		case *v1.ReplicationController:
			t.owners.ReplicationControllers = append(t.owners.ReplicationControllers, o)
		case *appsv1.ReplicaSet:
			t.owners.ReplicaSets = append(t.owners.ReplicaSets, o)
		case *appsv1.StatefulSet:
			t.owners.StatefulSets = append(t.owners.StatefulSets, o)
		default:
			panic(fmt.Sprintf("twin: not an owner: %T", object))
		}
	}
}

// Convert makes a workload of a pod. Which of its claims are its group's is known
// if the group is there.
func (t *Twin) Convert(p *v1.Pod) *model.Workload {
	w, err := subject.Workload(p, t.owners, t.gates)
	t.check(err)
	if t.Syscalls != nil {
		w.Syscalls = t.Syscalls(p)
	}
	if t.Toleration != nil {
		w.PreemptionToleration = t.Toleration(p)
	}
	if p.Spec.SchedulingGroup != nil && len(p.Spec.ResourceClaims) > 0 {
		g := t.Reference.Get(&schedulingv1beta1.PodGroup{ObjectMeta: named(p.Namespace, *p.Spec.SchedulingGroup.PodGroupName)})
		if g, ok := g.(*schedulingv1beta1.PodGroup); ok {
			w.DeviceClaims, err = convert.DeviceClaimRefs(p, g)
			t.check(err)
		}
	}
	return w
}

// check stops at what the conversion reports, which means that the generator
// has drawn what no API server would let in; in some moods it is meant to.
func (t *Twin) check(err error) {
	if err != nil && !t.Huge && !t.Odd {
		panic(fmt.Sprintf("twin: %v", err))
	}
}
