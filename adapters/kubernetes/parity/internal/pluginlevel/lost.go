package pluginlevel

import (
	"math"
	"math/big"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// tag says of a happening whose events differ whether it is because of what the
// conversion to the model does not keep, which makes it another place in the
// list of differences.
func (h *happening) tag() string {
	ref, sub := h.words()
	if ref == sub {
		return ""
	}
	if h.beyondThousandfold() {
		return ", of amounts whose thousandfold is no int64"
	}
	plain := *h
	switch {
	case h.change.OldNode != nil && h.change.NewNode != nil:
		before, after := h.old.(*v1.Node).DeepCopy(), h.new.(*v1.Node).DeepCopy()
		before.Status.Allocatable, after.Status.Allocatable = offered(h.change.OldNode), offered(h.change.NewNode)
		plain.refEvents = framework.NodeSchedulingPropertiesChange(after, before)
	case h.change.OldWorkload != nil && h.change.NewWorkload != nil:
		before, after := asking(h.old.(*v1.Pod), h.change.OldWorkload.Workload), asking(h.new.(*v1.Pod), h.change.NewWorkload.Workload)
		plain.refEvents = framework.PodSchedulingPropertiesChange(after, before, h.refEvents[0].Resource == "TargetPod")
	}
	if ref, _ := plain.words(); ref == sub {
		return ", of what the model does not keep"
	}
	return ""
}

// list is an amount of resources in Kubernetes' form: only what the model keeps.
func list(r *model.Resources) v1.ResourceList {
	l := v1.ResourceList{}
	for _, name := range r.Names() {
		l[v1.ResourceName(name)] = *resource.NewQuantity(r.Get(name), resource.DecimalSI)
		if name == model.CPU {
			l[v1.ResourceCPU] = *resource.NewMilliQuantity(r.CPU, resource.DecimalSI)
		}
	}
	return l
}

func offered(n *model.Node) v1.ResourceList {
	l := list(&n.Allocatable)
	if n.MaxWorkloads > 0 {
		l[v1.ResourcePods] = *resource.NewQuantity(n.MaxWorkloads, resource.DecimalSI)
	}
	return l
}

// asking is the pod with nothing but the workload's requests.
func asking(p *v1.Pod, w *model.Workload) *v1.Pod {
	p = p.DeepCopy()
	p.Spec.InitContainers, p.Spec.Overhead, p.Spec.Resources, p.Status.ContainerStatuses = nil, nil, nil, nil
	for i := range p.Spec.Containers {
		p.Spec.Containers[i].Resources.Requests = nil
	}
	p.Spec.Containers[0].Resources.Requests = list(&w.Requests)
	return p
}

// beyondThousandfold reports whether a pod asks for so much that the reference,
// which compares thousandths, compares something else.
func (h *happening) beyondThousandfold() bool {
	return h.asksFor(func(name v1.ResourceName, q resource.Quantity) bool {
		return name != v1.ResourceCPU && q.CmpInt64(math.MaxInt64/1000) > 0
	})
}

// beyond says of a happening, in the mood for it, that a pod asks for so much
// that sums may wrap around.
func (h *happening) beyond(huge bool) string {
	if huge && h.asksFor(func(name v1.ResourceName, q resource.Quantity) bool {
		if name == v1.ResourceCPU {
			return q.Cmp(*resource.NewMilliQuantity(math.MaxInt64/100, resource.DecimalSI)) > 0
		}
		return q.CmpInt64(math.MaxInt64/100) > 0
	}) {
		return beyondHundredfold
	}
	return ""
}

// asksFor reports whether a pod before or after asks for such an amount.
func (h *happening) asksFor(such func(v1.ResourceName, resource.Quantity) bool) bool {
	for _, o := range []any{h.old, h.new} {
		p, ok := o.(*v1.Pod)
		if !ok || p == nil {
			continue
		}
		options := resourcehelper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true}
		for name, q := range resourcehelper.PodRequests(p, options) {
			if such(name, q) {
				return true
			}
		}
	}
	return false
}

// beyondHundredfold ends the names of places where the reference's sums and
// products wrap around.
const beyondHundredfold = " for amounts whose hundredfold is no int64"

// ofRange says of scores that the hundredfold of what is between them is no int64.
func ofRange(scores fwk.NodeScoreList) string {
	least, most := new(big.Int), new(big.Int)
	for i, s := range scores {
		score := big.NewInt(s.Score)
		if i == 0 || score.Cmp(least) < 0 {
			least = score
		}
		if i == 0 || score.Cmp(most) > 0 {
			most = score
		}
	}
	if between := most.Sub(most, least); between.Mul(between, big.NewInt(100)).IsInt64() {
		return ""
	}
	return beyondHundredfold
}

// beyond says of a node that there are amounts on it, or asked for by the pod,
// whose hundredfold is no int64.
func (a *asked) beyond(ref fwk.NodeInfo, sub *extpoints.NodeInfo) string {
	if !a.Huge {
		return ""
	}
	const most = math.MaxInt64 / 100
	// The sums differ where one side has wrapped around.
	off := ref.GetRequested().GetMilliCPU() != sub.Requested.CPU || ref.GetRequested().GetMemory() != sub.Requested.Memory
	load := a.info.EstimatedLoad()
	for _, amount := range []int64{sub.EstimatedCPU, sub.EstimatedMemory, load.CPU, load.Memory} {
		off = off || amount < 0 || amount > most
	}
	for _, r := range []*model.Resources{&sub.Requested, &sub.Node.Allocatable, &a.info.Requests} {
		for _, name := range r.Names() {
			off = off || r.Get(name) < 0 || r.Get(name) > most
		}
	}
	if off {
		return beyondHundredfold
	}
	return ""
}

// unreadable says of a pod, in the mood for it, that its required node affinity
// has values that no label can have.
func (c *comparison) unreadable(p *v1.Pod) string {
	if !c.Odd || p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil {
		return ""
	}
	required := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		return ""
	}
	if _, err := nodeaffinity.NewNodeSelector(required); err == nil {
		return ""
	}
	return ", of node affinity that cannot be read"
}
