package pluginlevel

import (
	"fmt"
	"strings"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// reserve asks Reserve on one of the nodes that Filter has let through, and what
// was decided; then all is taken back.
func (a *asked) reserve(feasible []int) {
	plugin, ok := a.reference.(fwk.ReservePlugin)
	if !ok || len(feasible) == 0 {
		return
	}
	node := a.views.Reference[feasible[a.IntN(len(feasible))]].Node()
	binding := &model.Binding{Workload: a.info.ID, Node: node.Name}
	st := a.subject.reserve(a.subState, a.info, binding)
	status := plugin.Reserve(a.ctx, a.refState, a.pod, node.Name)
	if a.same("Reserve", ofReference(status), ofSubject(st), node) && status.IsSuccess() {
		a.same("Reserve, what it decides", strings.Join(a.decided(node.Name), "; "), strings.Join(a.decidedBySubject(binding), "; "), node)
	}
	plugin.Unreserve(a.ctx, a.refState, a.pod, node.Name)
	a.subject.unreserve(a.subState, a.info, binding)
}

// decided is what the reference has decided in Reserve.
func (a *asked) decided(node string) []string {
	if a.subject.Name() == plugins.DynamicResources {
		return a.pendingAllocations()
	}
	a.Twin.Reference.Begin()
	p := a.pod.DeepCopy()
	p.Spec.NodeName = node
	if status := a.reference.(fwk.PreBindPlugin).PreBind(a.ctx, a.refState, p, node); !status.IsSuccess() {
		return []string{ofReference(status)}
	}
	return a.Twin.Reference.Decided()
}

// decidedBySubject is decided of the subject. Who uses a claim to devices the
// reference only says when it binds.
func (a *asked) decidedBySubject(b *model.Binding) []string {
	if a.subject.Name() != plugins.DynamicResources {
		return subject.Decided(b.Decided)
	}
	var words []string
	for _, ref := range a.info.DeviceClaims {
		for _, object := range b.Decided {
			c, ok := object.(*model.DeviceClaim)
			if before := a.views.Subject.Devices().Claim(ref.ID); ok && c.ID == ref.ID && before.Allocation == nil {
				words = append(words, fmt.Sprintf("devices for claim %s: %s", ref.ID, subject.DescribeAllocation(c.Allocation)))
			}
		}
	}
	return words
}

// pendingAllocations are the allocations in flight of the pod's claims.
func (a *asked) pendingAllocations() []string {
	var words []string
	claims := a.Twin.Reference.Framework.SharedDRAManager().ResourceClaims()
	for _, ref := range a.info.DeviceClaims {
		namespace, name, ok := strings.Cut(ref.ID, "/")
		if !ok {
			continue
		}
		claim, err := claims.Get(namespace, name)
		if err != nil {
			continue
		}
		if given := claims.GetPendingAllocation(claim.UID); given != nil {
			words = append(words, fmt.Sprintf("devices for claim %s: %s", ref.ID, reference.DescribeAllocation(given)))
		}
	}
	return words
}
