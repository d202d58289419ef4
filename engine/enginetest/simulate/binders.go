package simulate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

var (
	errNoSuchObject = errors.New("there is no such object")
	errTaken        = errors.New("it is somebody else's already")
	errNotMade      = errors.New("the volume cannot be made")
	errNotReady     = errors.New("the device will not become ready")
)

var (
	_ extpoints.VolumeBinder   = (*simWorld)(nil)
	_ extpoints.DeviceBinder   = (*simWorld)(nil)
	_ extpoints.DeviceReleaser = (*simWorld)(nil)
)

// BindVolumes implements [extpoints.VolumeBinder].
func (w *simWorld) BindVolumes(ctx context.Context, workload *model.Workload, b model.Binding) error {
	return w.bindObjects(ctx, workload, b, 0, w.bindVolume)
}

// BindDevices implements [extpoints.DeviceBinder].
func (w *simWorld) BindDevices(ctx context.Context, workload *model.Workload, b model.Binding) error {
	return w.bindObjects(ctx, workload, b, 1, w.bindDevices)
}

// isOf says whether an object is for the first or the second of the binders.
func isOf(binder int, o model.Object) bool {
	return (model.RefOf(o).Kind == model.DeviceClaimKind) == (binder == 1)
}

// bindObjects fails in every way there is: before anything is written, and says so or
// not; after one object or all of them are. Where it may have written the engine is told
// later how the objects are, see [simTask].owes.
func (w *simWorld) bindObjects(ctx context.Context, workload *model.Workload, b model.Binding, binder int, bind func(model.Object, *model.Binding, binderPlan) error) (err error) {
	defer func() {
		if t := w.sim.current; err != nil && !errors.Is(err, extpoints.ErrNotWritten) && t != nil {
			t.owes[binder] = true
		}
	}()
	w.sim.hostileBinder(binder)
	w.mu.Lock()
	defer w.mu.Unlock()
	s, t := w.sim, w.sim.current
	if t == nil || t.id != workload.ID || t.node != b.Node || !slices.Equal(asked(t.decided), asked(b.Decided)) {
		s.fail("objects of %s were bound on %s by nobody's task", workload.ID, b.Node)
		return errElsewhere
	}
	if t.abandoned || t.stopped {
		s.fail("%v was called off, and its objects are bound", t)
	}
	plan := t.plans[binder]
	if w.reach {
		plan = binderPlan{}
	}
	switch {
	case plan.unreachable && plan.certain:
		return fmt.Errorf("%w: %w", extpoints.ErrNotWritten, errUnreachable)
	case plan.unreachable:
		return errUnreachable
	}
	// Where there are two calls at once nothing else may happen.
	other := func(o model.Object) bool { return !isOf(binder, o) }
	if plan.late && !slices.ContainsFunc(b.Decided, other) {
		w.mu.Unlock()
		s.meanwhile()
		w.mu.Lock()
		if ctx.Err() != nil && plan.takenBack {
			return context.Cause(ctx)
		}
	}
	for _, o := range b.Decided {
		if !isOf(binder, o) {
			continue
		}
		if err := bind(o, &b, plan); err != nil {
			return err
		}
		if plan.partly {
			return errUnreachable
		}
	}
	if plan.lost {
		return errLostAnswer
	}
	return nil
}

// bindVolume makes true what was decided about a volume or a claim to one.
func (w *simWorld) bindVolume(o model.Object, b *model.Binding, plan binderPlan) error {
	if v, ok := o.(*model.Volume); ok {
		return w.give(v)
	}
	decided := o.(*model.VolumeClaim)
	c := factOf[*model.VolumeClaim](&w.facts, decided.ID)
	node := w.nodes[b.Node]
	switch {
	case c == nil || c.UID != decided.UID || node == nil:
		return errNoSuchObject
	case c.Bound:
		if v := factOf[*model.Volume](&w.facts, c.Volume); v == nil || !v.Nodes.Matches(node) {
			return errTaken
		}
		return nil
	case c.SelectedNode != "" && c.SelectedNode != b.Node:
		return errTaken
	}
	bound := *c
	bound.SelectedNode = b.Node
	if plan.unmade {
		if plan.takenBack {
			bound.SelectedNode = ""
		}
		w.facts.put(&bound)
		w.sim.reach("volume not made")
		return errNotMade
	}
	w.sim.reach("volume made")
	var where *model.NodeTerms
	if zone, ok := node.Labels["zone"]; ok {
		where = &model.NodeTerms{Terms: []model.NodeTerm{inZone(zone)}}
	}
	w.sim.provision(&bound, where)
	w.facts.put(&bound)
	return nil
}

// give gives a volume to the claim that was decided.
func (w *simWorld) give(decided *model.Volume) error {
	v := factOf[*model.Volume](&w.facts, decided.Name)
	c := factOf[*model.VolumeClaim](&w.facts, decided.Claim.ID)
	switch {
	case v == nil || c == nil || c.UID != decided.Claim.UID:
		return errNoSuchObject
	case v.Claim != nil && *v.Claim != *decided.Claim && w.wrote[refTo(v)] == any(v.Claim):
		w.sim.fail("volume %s is given to %v outside, and was for %v", v.Name, *decided.Claim, *v.Claim)
		return errTaken
	case v.Claim != nil && *v.Claim != *decided.Claim, c.Volume != "" && c.Volume != v.Name, v.Phase == model.VolumeReleased:
		return errTaken
	case c.Bound:
		return nil
	}
	w.sim.reach("volume bound")
	taken, bound := *v, *c
	taken.Claim, taken.Phase = decided.Claim, model.VolumeBound
	bound.Volume, bound.Bound = v.Name, true
	w.facts.put(&taken)
	w.facts.put(&bound)
	w.wrote[refTo(v)] = taken.Claim
	return nil
}

// bindDevices makes true what was decided about a claim to devices.
func (w *simWorld) bindDevices(o model.Object, b *model.Binding, plan binderPlan) error {
	decided := o.(*model.DeviceClaim)
	c := factOf[*model.DeviceClaim](&w.facts, decided.ID)
	switch {
	case c == nil && decided.ForResources:
		made := *decided
		made.Allocation, made.ReservedFor = nil, nil
		c = &made
	case c == nil || c.UID != decided.UID:
		return errNoSuchObject
	}
	given := *c
	switch {
	case c.Allocation == nil:
		given.Allocation = decided.Allocation
		w.sim.reach("devices given")
		if other := w.hasDevicesOf(&given); other != nil {
			w.sim.fail("%s is given devices outside, and %s has them", describe(&given), describe(other))
			return errTaken
		}
	case !reflect.DeepEqual(c.Allocation, decided.Allocation):
		return errTaken
	}
	for _, by := range decided.ReservedFor {
		mine := by.Workload == b.Workload || by.Group != ""
		if (mine || plan.takenBack) && !given.Reserved(by) {
			given.ReservedFor = append(slices.Clip(given.ReservedFor), by)
			if by.Group != "" {
				w.sim.reach("devices given to a group")
			} else if len(given.ReservedFor) > 1 {
				w.sim.reach("devices shared")
			}
		}
	}
	was := overgiven(w.deviceFacts(c)) // also by pools that have changed
	if over := overgiven(w.deviceFacts(&given)); c.Allocation == nil && len(over) > len(was) {
		// What was decided before everything was reported may be found to be wrong.
		if row, _ := w.sim.row(b.Workload); !w.calm.IsZero() && !row.PlacedAt.Before(w.calm) {
			w.sim.fail("%s is given what is not there: %v; given is %v", describe(&given), sortedKeys(over), holders(factsOf[*model.DeviceClaim](&w.facts)))
		}
		return errTaken
	}
	given.Conditions = nil
	err := w.makeReady(&given, plan)
	w.facts.put(&given)
	if c.Allocation == nil {
		w.wrote[refTo(c)] = given.Allocation
	}
	return err
}

// hasDevicesOf is another claim that has one of the claim's devices, as a whole, because
// the engine asked for that: nobody has told it since that it is not so, so it must know.
// Nil for none.
func (w *simWorld) hasDevicesOf(claim *model.DeviceClaim) *model.DeviceClaim {
	for _, other := range factsOf[*model.DeviceClaim](&w.facts) {
		if other.ID == claim.ID || other.Allocation == nil || w.wrote[refTo(other)] != any(other.Allocation) {
			continue
		}
		for _, has := range other.Allocation.Devices {
			if has.Share == "" && slices.ContainsFunc(claim.Allocation.Devices, func(d model.AllocatedDevice) bool {
				return d.Share == "" && d.DeviceID == has.DeviceID
			}) {
				return other
			}
		}
	}
	return nil
}

// makeReady reports the binding conditions of the claim's devices.
func (w *simWorld) makeReady(c *model.DeviceClaim, plan binderPlan) (err error) {
	for i := range c.Allocation.Devices {
		d := &c.Allocation.Devices[i]
		if len(d.BindingConditions) == 0 {
			continue
		}
		are := model.DeviceConditions{DeviceID: d.DeviceID, Share: d.Share, True: d.BindingConditions}
		if plan.notReady {
			are.True, err = d.BindingFailures, errNotReady
			w.sim.reach("devices not ready")
		}
		c.Conditions = append(c.Conditions, are)
	}
	return err
}

// ReleaseDevices implements [extpoints.DeviceReleaser].
func (w *simWorld) ReleaseDevices(_ context.Context, claim, left *model.DeviceClaim) error {
	s := w.sim
	if s.current == nil || s.current.releases != claim.ID {
		s.fail("claim %s was taken back by nobody's task", claim.ID)
	}
	s.hostility.at("the orchestrator's ReleaseDevices")
	if !w.reach && s.chance(20) {
		return errUnreachable
	}
	if !w.reach {
		s.meanwhile()
	}
	c := factOf[*model.DeviceClaim](&w.facts, claim.ID)
	if c == nil || c.Allocation == nil && left != nil && left.Allocation == nil {
		return nil
	}
	others := func(by model.Consumer) bool { return !claim.Reserved(by) }
	if !reflect.DeepEqual(c.Allocation, claim.Allocation) || slices.ContainsFunc(c.ReservedFor, others) {
		return errTaken
	}
	s.touch(refTo(c)) // until it hears of it the engine may count on them
	s.reach("devices taken back")
	if left == nil {
		w.facts.drop(refTo(c))
		return nil
	}
	now := *c
	now.Allocation, now.ReservedFor, now.Conditions = left.Allocation, left.ReservedFor, left.Conditions
	w.facts.put(&now)
	return nil
}
