package queuelevel

import (
	"fmt"
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/model"
)

// namespace is where all pods live.
const namespace = "default"

// nodeOf and podOf translate.
func nodeOf(n *v1.Node) *model.Node { return translated(convert.Node(n)) }

func podOf(p *v1.Pod) *model.Workload { return translated(convert.Pod(p)) }

func translated[T any](object T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("queuelevel: %v", err))
	}
	return object
}

// textOfNode and textOfPod are what scripted hints see of an object: enough to
// tell its versions apart.
func textOfNode(n *model.Node) string {
	return fmt.Sprint("node ", n.Name, n.Labels["rack"], n.Unschedulable, len(n.Taints), n.Allocatable.CPU)
}

func textOfPod(w *model.Workload) string {
	return fmt.Sprint("pod ", w.Name, w.Labels["app"], w.Requests.CPU, len(w.Tolerations), len(w.Gates))
}

// objects makes random ones: few kinds of everything, so that they often
// matter to each other.
type objects struct {
	*rand.Rand
	salt uint64 // of UIDs
}

func pick[T any](o objects, list ...T) T { return list[o.IntN(len(list))] }

// chance is true in so many of a hundred cases.
func (o objects) chance(percent int) bool { return o.IntN(100) < percent }

func (o objects) cpu(amounts ...string) v1.ResourceList {
	return v1.ResourceList{v1.ResourceCPU: resource.MustParse(pick(o, amounts...)), v1.ResourceMemory: resource.MustParse("1Gi")}
}

func (o objects) node(name string) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for range 4 {
		n = o.changedNode(n)
	}
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = o.allocatable()
	}
	return n
}

func (o objects) allocatable() v1.ResourceList {
	list := o.cpu("0", "2", "4", "8")
	list[v1.ResourceMemory] = resource.MustParse("32Gi")
	list[v1.ResourcePods] = resource.MustParse(pick(o, "110", "110", "3"))
	return list
}

// changedNode returns a changed copy.
func (o objects) changedNode(old *v1.Node) *v1.Node {
	n := old.DeepCopy()
	for range 1 + o.IntN(2) {
		switch o.IntN(4) {
		case 0:
			n.Labels = map[string]string{"rack": pick(o, "a", "b", "c")}
		case 1:
			n.Status.Allocatable = o.allocatable()
		case 2:
			n.Spec.Unschedulable = o.chance(20)
		case 3:
			n.Spec.Taints = nil
			if o.chance(30) {
				n.Spec.Taints = []v1.Taint{{Key: "dedicated", Effect: pick(o, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule)}}
			}
		}
	}
	return n
}

func (o objects) pod(name string) *v1.Pod {
	priority := pick[int32](o, -1, 0, 0, 0, 1, 10)
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: generate.PodUID(o.salt, name), Labels: o.labels()}}
	p.Spec = v1.PodSpec{SchedulerName: reference.ProfileName, Priority: &priority,
		Containers: []v1.Container{{Name: "c", Image: "i", Resources: v1.ResourceRequirements{Requests: o.cpu("100m", "1", "3")}}}}
	if o.chance(20) {
		p.Spec.NodeSelector = map[string]string{"rack": pick(o, "a", "b", "c")}
	}
	if o.chance(20) {
		o.tolerate(p)
	}
	switch {
	case o.chance(15):
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "one"}, {Name: "two"}}[:1+o.IntN(2)]
	case o.chance(10):
		p.Labels[held] = ""
	}
	return p
}

func (o objects) labels() map[string]string {
	return map[string]string{"app": pick(o, "a", "b", "c")}
}

func (o objects) tolerate(p *v1.Pod) {
	p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: pick(o, "dedicated", "other"), Operator: v1.TolerationOpExists})
}

// changedPod returns a copy with some changes. A pod is never held and gated at
// the same time: which of the two the reference asks first is random.
func (o objects) changedPod(old *v1.Pod, changes int) *v1.Pod {
	p := old.DeepCopy()
	for range changes {
		switch o.IntN(6) {
		case 0:
			_, kept := p.Labels[held]
			p.Labels = o.labels()
			if kept {
				p.Labels[held] = ""
			}
		case 1:
			p.Spec.Containers[0].Resources.Requests = o.cpu("100m", "1", "3")
		case 2:
			o.tolerate(p)
		case 3:
			if n := len(p.Spec.SchedulingGates); n > 0 {
				p.Spec.SchedulingGates = p.Spec.SchedulingGates[:o.IntN(n)]
			}
		case 4:
			if _, ok := p.Labels[held]; ok {
				delete(p.Labels, held)
			} else if len(p.Spec.SchedulingGates) == 0 && o.chance(60) {
				p.Labels[held] = ""
			}
		case 5:
			p.Annotations = map[string]string{"note": fmt.Sprint(o.IntN(100))}
		}
	}
	return p
}
