package simulate

import (
	"context"
	"errors"
	"fmt"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

var (
	errUnreachable = errors.New("the node does not answer")
	errLostAnswer  = errors.New("the answer was lost")
	errNoSuchNode  = errors.New("there is no such node")
	errElsewhere   = errors.New("it runs on another node")
	errRefused     = errors.New("the node refuses")
)

// Bind implements [extpoints.Orchestrator]. It fails in every way there is:
// before anything is done, after it is done, and in between the engine may be
// told something else.
func (w *simWorld) Bind(ctx context.Context, workload *model.Workload, b model.Binding) error {
	s := w.sim
	t := s.current
	switch {
	case t == nil || t.id != workload.ID || t.node != b.Node:
		s.fail("%s was bound to %s by nobody's task", workload.ID, b.Node)
	case t.abandoned || t.stopped:
		s.fail("%v was called off, and carried out", t)
	}
	s.hostility.at("the orchestrator's Bind")
	e := w.book[workload.ID]
	if e == nil || e.ended {
		s.fail("%s was bound to %s when it was gone", workload.ID, b.Node)
		return errElsewhere
	}
	w.checkReady(workload, &b)
	if !w.reach && w.broken[b.Node] {
		s.reach("binding that was not there")
		return fmt.Errorf("%w: %w", errUnreachable, extpoints.ErrNotThere)
	}
	if !w.reach && s.chance(15) {
		return errUnreachable
	}
	if !w.reach {
		s.meanwhile()
	}
	// What was decided meanwhile counts, unless it comes too late.
	if w.book[workload.ID] != e || e.ended || w.nodes[b.Node] == nil {
		return errNoSuchNode
	}
	if ctx.Err() != nil && s.chance(50) {
		return context.Cause(ctx)
	}
	return w.run(e, b, t)
}

// run starts the workload on the node, or finds that it runs there already.
func (w *simWorld) run(e *booked, b model.Binding, t *simTask) error {
	s := w.sim
	if e.node != "" && e.node != b.Node {
		if e.known && !t.abandoned {
			s.fail("%s was bound to %s, and runs on %s, as the engine was told", b.Workload, b.Node, e.node)
		}
		return errElsewhere
	}
	if e.leaving {
		return errRefused
	}
	if e.node == "" {
		e.node, e.devices, e.known, e.unreported = b.Node, b.Devices, false, true
		w.arrive(b.Workload)
	}
	if !w.reach && s.chance(8) {
		return errLostAnswer
	}
	s.hostility.at("the orchestrator's Bind, when it has bound")
	t.bound = true
	return nil
}

// Evict implements [extpoints.Orchestrator].
func (w *simWorld) Evict(_ context.Context, workload *model.Workload, _ string) error {
	s := w.sim
	s.hostility.at("the orchestrator's Evict")
	if !w.reach && s.chance(20) {
		if s.chance(30) {
			panic("a planned panic of the orchestrator")
		}
		return errUnreachable
	}
	if !w.reach {
		s.meanwhile()
	}
	if e := w.book[workload.ID]; e != nil && e.spec.ID == workload.ID && s.current.node != "" && e.node == s.current.node {
		e.leaving = true
		s.current.bound = true
	}
	return nil
}

// checkReady checks, when the workload is bound, that it has what it needs, as
// far as nobody has meddled with it since it was decided.
func (w *simWorld) checkReady(workload *model.Workload, b *model.Binding) {
	s := w.sim
	row, _ := s.row(workload.ID)
	meddled := func(kind model.ObjectKind, id string) bool {
		ref := model.ObjectRef{Kind: kind, ID: id}
		at, ok := w.facts.touched[ref]
		return w.facts.hidden[ref] || ok && !at.Before(row.PlacedAt)
	}
	node := w.nodes[b.Node]
	if node == nil || !w.touchedNodes[b.Node].Before(row.PlacedAt) || row.Workload != workload {
		return
	}
	if len(workload.VolumeClaims) > 0 {
		s.reach("workload with volumes bound")
	}
	if len(workload.DeviceClaims) > 0 {
		s.reach("workload with device claims bound")
	}
	if workload.Requests.Get(cardResource) > 0 {
		s.reach("workload with a card bound")
	}
	for _, ref := range workload.VolumeClaims {
		c := factOf[*model.VolumeClaim](&w.facts, ref.ID)
		if meddled(model.VolumeClaimKind, ref.ID) || c != nil && meddled(model.VolumeKind, c.Volume) {
			continue
		}
		if c == nil || !c.Bound {
			s.fail("%s is bound to %s without a volume for claim %s", workload.ID, b.Node, ref.ID)
		} else if v := factOf[*model.Volume](&w.facts, c.Volume); v == nil || !v.Nodes.Matches(node) {
			s.fail("%s is bound to %s, where the volume %s of claim %s cannot be used", workload.ID, b.Node, c.Volume, ref.ID)
		}
	}
	for _, ref := range workload.DeviceClaims {
		c := factOf[*model.DeviceClaim](&w.facts, ref.ID)
		by := model.Consumer{Workload: workload.ID}
		if ref.OfGroup {
			by = model.Consumer{Group: workload.Group}
		}
		switch {
		case meddled(model.DeviceClaimKind, ref.ID):
		case c == nil || c.Allocation == nil || !c.Allocation.Nodes.Matches(node):
			s.fail("%s is bound to %s without devices for claim %s", workload.ID, b.Node, ref.ID)
		case !c.Reserved(by):
			s.fail("%s is bound to %s, and claim %s is not reserved for %v", workload.ID, b.Node, ref.ID, by)
		}
	}
}
