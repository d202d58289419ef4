package dynamicresources

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Reserve adds the claims to what is decided: with the devices that they are
// given on the node, and reserved for the workload or its group. A claim that
// stays as it is is there only if devices of it have binding conditions, or if
// it is the group's: then what was decided for another member must be true before
// this one is bound, too.
func (p *DynamicResources) Reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	st, ok := stateKey.Get(s)
	if !ok {
		return nil
	}
	node := s.View().Nodes().Get(b.Node)
	if node == nil {
		return extpoints.AsStatus(fmt.Errorf("reserve device claims: no node %q", b.Node))
	}
	v, status := st.variantOn(node.Node)
	if status != nil {
		return status
	}
	given, status := st.allocate(v, node.Node, s)
	if status != nil {
		return status
	}
	for i := range st.claims {
		c := &st.claims[i]
		decided := *c.DeviceClaim
		if c.Allocation == nil {
			decided.Allocation, given = given[0], given[1:]
		}
		reserved := reservedFor(c.DeviceClaim, w.Workload)
		if !reserved {
			decided.ReservedFor = append(slices.Clip(c.ReservedFor), c.consumer)
		}
		if c.Allocation == nil || !reserved || hasConditions(c.Allocation) || c.consumer.Group != "" {
			b.Decided = append(b.Decided, &decided)
		}
	}
	if v != nil {
		made := v.made(w.Workload)
		made.Allocation, made.ReservedFor = given[0], []model.Consumer{{Workload: w.ID}}
		b.Decided = append(b.Decided, made)
	}
	return nil
}

// variantOn returns the claim to be made on the node for scalar resources, nil
// for none.
func (st *state) variantOn(n *model.Node) (*variant, *extpoints.Status) {
	if st.resources == nil {
		return nil, nil
	}
	return st.resources.on(n)
}

// allocate chooses the devices on the node, for the open claims and then for
// the variant. Filter has found that there are some.
func (st *state) allocate(v *variant, n *model.Node, s *extpoints.CycleState) ([]*model.Allocation, *extpoints.Status) {
	search := st.search
	if v != nil {
		search = v.search
	}
	if search == nil {
		return nil, nil
	}
	given, err := search.Allocate(n, s.Seed())
	if err != nil {
		return nil, failure(n, err)
	}
	if given == nil {
		return nil, extpoints.AsStatus(errors.New("claim allocation not found for node"))
	}
	for _, a := range given {
		stamp(a, s.Now())
	}
	return given, nil
}

// stamp notes when devices with binding conditions were given.
func stamp(a *model.Allocation, now time.Time) {
	if hasConditions(a) {
		a.At = now
	}
}

// Unreserve takes the claims out of what is decided; they are decided nowhere
// else.
func (*DynamicResources) Unreserve(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, b *model.Binding) {
	b.Decided = slices.DeleteFunc(b.Decided, isClaim)
}

func isClaim(o model.Object) bool { return model.RefOf(o).Kind == model.DeviceClaimKind }
