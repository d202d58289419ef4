package volumebinding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Reserve adds to the binding what the claims without a volume get: volumes with
// the claim that they are for, and then claims with the node for which a volume
// is to be made. Also what says so already is added, because the orchestrator is
// to see to it for this workload too.
func (p *VolumeBinding) Reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	c, status := p.claimsOf(s, w)
	if c == nil {
		return status
	}
	if len(c.selected) == 0 && len(c.open) == 0 {
		return nil
	}
	node := s.View().Nodes().Get(b.Node)
	if node == nil {
		return extpoints.AsStatus(fmt.Errorf("reserve volumes: no node %q", b.Node))
	}
	gifts, v := c.find(s, node.Node, nil)
	if v != 0 {
		return statuses[v]
	}
	for _, g := range gifts {
		if g.volume != nil {
			volume := *g.volume
			volume.Claim = &model.ClaimIdentity{ID: g.claim.ID, UID: g.claim.UID}
			b.Decided = append(b.Decided, &volume)
		}
	}
	for _, g := range gifts {
		if g.volume == nil {
			claim := *g.claim
			claim.SelectedNode = b.Node
			b.Decided = append(b.Decided, &claim)
		}
	}
	if p.compat == extpoints.Improved {
		takeRoom(w.ID, gifts, b)
	}
	return nil
}

// takeRoom adds to the binding the rooms with what volumes take that are to be made: until the
// rooms are reported again nobody else knows. What counts already, whatever becomes of others, is
// not added.
func takeRoom(workload string, gifts []gift, b *model.Binding) {
	taken := map[string]*model.StorageCapacity{}
	for _, g := range gifts {
		if g.room == nil || g.room.Capacity == nil || slices.ContainsFunc(g.room.Taken, func(t model.TakenRoom) bool {
			return t.Claim == g.claim.ID && t.Workload == ""
		}) {
			continue
		}
		room := taken[g.room.ID]
		if room == nil {
			own := *g.room
			own.Taken = slices.Clip(own.Taken)
			room, taken[own.ID] = &own, &own
			b.Decided = append(b.Decided, room)
		}
		room.Taken = append(room.Taken, model.TakenRoom{Claim: g.claim.ID, Workload: workload, Bytes: g.claim.Request})
	}
}

// Unreserve takes volumes, claims and rooms out of the binding: nothing else has them
// yet.
func (*VolumeBinding) Unreserve(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, b *model.Binding) {
	b.Decided = without(b.Decided, isStorage)
}

// without are the objects but some; nil for none.
func without(objects model.Objects, some func(model.Object) bool) (rest model.Objects) {
	for _, o := range objects {
		if !some(o) {
			rest = append(rest, o)
		}
	}
	return rest
}

func isStorage(o model.Object) bool {
	kind := model.RefOf(o).Kind
	return kind == model.VolumeKind || kind == model.VolumeClaimKind || isRoom(o)
}

func isRoom(o model.Object) bool { return model.RefOf(o).Kind == model.StorageCapacityKind }

// PreBindPreFlight says Skip where Reserve has decided nothing, and where the
// orchestrator needs no call. PreBind may run beside others.
func (p *VolumeBinding) PreBindPreFlight(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, b *model.Binding) (extpoints.PreFlight, *extpoints.Status) {
	flight := extpoints.PreFlight{AllowParallel: true, Timeout: p.bindTimeout}
	if _, ok := p.handle.Orchestrator().(extpoints.VolumeBinder); !ok || len(claimNames(b)) == 0 {
		return flight, skip
	}
	return flight, nil
}

// PreBind has the orchestrator bind the claims, and waits for it no longer than
// Args.BindTimeout.
func (p *VolumeBinding) PreBind(ctx context.Context, _ *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	binder, ok := p.handle.Orchestrator().(extpoints.VolumeBinder)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.bindTimeout, fmt.Errorf("not done within %v", p.bindTimeout))
	defer cancel()
	if err := binder.BindVolumes(ctx, w.Workload, toBind(b)); err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(ctx.Err(), cause) {
			err = fmt.Errorf("%w (%w)", err, cause)
		}
		return extpoints.AsStatus(fmt.Errorf("binding volumes: workload %q, claims %s: %w", w.ID, strings.Join(claimNames(b), ", "), err))
	}
	return nil
}

// toBind is the binding as it is for the orchestrator: room is what it reports, and is not asked for.
func toBind(b *model.Binding) model.Binding {
	asked := *b
	asked.Decided = without(b.Decided, isRoom)
	return asked
}

// claimNames lists, quoted, the IDs of the claims that the decision gives a
// volume.
func claimNames(b *model.Binding) []string {
	var names []string
	for _, o := range b.Decided {
		switch o := o.(type) {
		case *model.Volume:
			if o.Claim != nil {
				names = append(names, fmt.Sprintf("%q", o.Claim.ID))
			}
		case *model.VolumeClaim:
			names = append(names, fmt.Sprintf("%q", o.ID))
		}
	}
	return names
}
