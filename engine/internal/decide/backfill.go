package decide

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Backfill is who rejects nodes on which a workload would delay those before it. It is not a
// plugin of any profile: the search asks behind all filters, and the engine itself wakes
// what was rejected, since the plan changes without events.
const Backfill = "Backfill"

// delaying returns the verdict on a node that the filters leave, whose Status is nil where
// nothing would be delayed.
func (c *Cycle) delaying(node *extpoints.NodeInfo) framework.Verdict {
	if why := c.delayed[node]; why != nil || c.d.Refuse == nil {
		return framework.Verdict{Status: why}
	}
	r := c.d.Refuse(c.Info, node.Node.Name)
	if r == nil {
		return framework.Verdict{}
	}
	why := c.reasons[r]
	if why == nil {
		if c.reasons == nil {
			c.reasons = map[*timeline.Reservation]*extpoints.Status{}
		}
		why = WouldDelay(r)
		c.reasons[r] = why
	}
	c.delays = append(c.delays, delay{node, why})
	return framework.Verdict{Status: why}
}

// noteRefusals notes whether anything is refused from now on.
func (d *Decider) noteRefusals(any *bool) {
	refuse := d.Refuse
	if refuse == nil {
		return
	}
	d.Refuse = func(w *extpoints.WorkloadInfo, node string) *timeline.Reservation {
		r := refuse(w, node)
		*any = *any || r != nil
		return r
	}
}

// blame adds the plugin to those that must change their mind about what fits nowhere.
func blame(tried []*Cycle, plugin string) {
	for _, c := range tried {
		if c.Diagnosis != nil {
			c.Diagnosis.BlamePlugins(plugin)
		}
	}
}

// WouldDelay is the answer to what must not start for the sake of the reservation.
// Preemption is no help: it is not what runs that is in the way.
func WouldDelay(r *timeline.Reservation) *extpoints.Status {
	why := fmt.Sprintf("would delay %q, which is to start at %s", r.ID(), r.At.UTC().Format(time.RFC3339))
	if r.Held != nil {
		why += fmt.Sprintf(": with both, %s", r.Held)
	}
	return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, why).WithPlugin(Backfill)
}

// fitter finds out what fits at other moments.
type fitter struct {
	d       *Decider
	present time.Time // zero: the moment that is asked about
}

// Fitter returns what finds out, for plans, what fits at other moments.
func (d *Decider) Fitter() timeline.Fitter { return fitter{d: d} }

// From implements [timeline.Fitter].
func (f fitter) From(present time.Time) timeline.Fitter { return fitter{f.d, present} }

// on returns a decider for a try on a copy of the view.
func (f fitter) on(v *snapshot.View, refuse timeline.Refusal) *Decider {
	return &Decider{
		Options: f.d.Options, Profiles: f.d.Profiles, Record: &record.Record{Store: f.d.Record.Store, View: v.Trial()},
		Queues: f.d.Queues, Refuse: refuse, trial: true, present: f.present, fast: f.d.memo(),
	}
}

// Search implements [timeline.Fitter].
func (f fitter) Search(v *snapshot.View, at time.Time, e *timeline.Entity, refuse timeline.Refusal) []timeline.Place {
	d := f.on(v, refuse)
	var tried []*Cycle
	if e.Tree == nil {
		c := d.newCycle(at, e.Info, nil, extpoints.CycleOptions{})
		st := c.Decide()
		if st == nil {
			st = c.Framework.Reserve(c.State, c.Info, &c.Binding)
		}
		if st != nil {
			return nil
		}
		tried = []*Cycle{c}
	} else {
		t := &groupTry{d: d, now: at, fw: d.Profiles.Of(FirstMember(e.Tree).Workload)}
		tried = t.try(e.Tree).chosen(nil)
	}
	if len(tried) == 0 {
		return nil
	}
	return placesOf(tried, at)
}

// Needs implements [timeline.Fitter]: the plugins of PlacementFeasible say it. Where fewer will do, more
// will.
func (f fitter) Needs(v *snapshot.View, at time.Time, e *timeline.Entity) int {
	g := e.Tree
	if g.Composite {
		return 1
	}
	t := &groupTry{d: f.on(v, nil), now: at, fw: f.d.Profiles.Of(FirstMember(g).Workload)}
	s := t.run(g).State()
	_, placed := v.Groups().Members(g.ID)
	return 1 + sort.Search(len(g.Members), func(i int) bool {
		return t.fw.PlacementFeasible(s, g, extpoints.PlacementProgress{Scheduled: placed + i + 1}).IsSuccess()
	})
}

// Delays reports whether any of it was rejected for the sake of those before it.
func (a *Attempt) Delays() bool {
	return a.Result.Status.Plugin() == Backfill || slices.ContainsFunc(a.tried, func(c *Cycle) bool {
		return c.Diagnosis != nil && slices.Contains(c.Diagnosis.UnschedulablePlugins(), Backfill)
	})
}

// Places are where the chosen members would be.
func (a *Attempt) Places() []timeline.Place { return placesOf(a.Chosen(), a.Now) }

// placesOf returns nil for none.
func placesOf(chosen []*Cycle, at time.Time) (places []timeline.Place) {
	for _, c := range chosen {
		places = append(places, placeOf(c, at))
	}
	return places
}

// placeOf is what the cycle has chosen.
func placeOf(c *Cycle, at time.Time) timeline.Place {
	return timeline.Place{
		WorkloadInfo: &extpoints.WorkloadInfo{Workload: c.Info.Workload, Shares: c.Binding.Devices, GrantedLimit: c.Info.GrantedLimit, PlacedAt: at, Nominated: c.Info.Nominated},
		Node:         c.Binding.Node,
	}
}

// Stands implements [timeline.Fitter].
func (f fitter) Stands(v *snapshot.View, at time.Time, _ *timeline.Entity, places []timeline.Place) bool {
	d := f.on(v, nil)
	for _, p := range places {
		if !d.stands(p, at) {
			return false
		}
		d.Record.Occupy(p.WorkloadInfo, &model.Binding{Workload: p.ID, Node: p.Node, Devices: p.Shares, Limit: p.GrantedLimit}, at)
	}
	return true
}

// stands reports whether the place would do on the decider's view.
func (d *Decider) stands(p timeline.Place, at time.Time) bool {
	c := d.newCycle(at, p.WorkloadInfo, nil, extpoints.CycleOptions{})
	node := c.View.Nodes().Get(p.Node)
	if node == nil || c.avoids(p.Node) {
		return false
	}
	c.pre = c.Framework.PreFilter(c.State, c.Info)
	if c.pre.Status != nil {
		return false
	}
	if c.pre.Nodes != nil {
		if _, ok := c.pre.Nodes[p.Node]; !ok {
			return false
		}
	}
	return c.Framework.FilterWithNominated(c.State, c.Info, node).Status == nil
}

// Probe implements [timeline.Fitter]. That a plugin has PreFilterExtensions says that what
// it answers for a node depends on what is on others; what an extender's answer depends on
// is not known.
func (f fitter) Probe(v *snapshot.View, at time.Time, w *extpoints.WorkloadInfo) *timeline.Probe {
	p := &prober{d: f.on(v, nil)}
	p.now = p.cycleAt(w, at)
	if p.now.pre.Status != nil || p.mixed {
		return nil
	}
	return &timeline.Probe{Fits: p.fits, Take: p.take, Timed: p.now.run.AskedForTime, Apart: func() bool { return !p.mixed }}
}

// prober looks at nodes for a workload. Where a filter asks for the time it is asked anew for each
// time at which the workload starts, and for each at which it has.
type prober struct {
	d   *Decider
	now *Cycle
	// mixed: what a filter says of a node depends on others.
	mixed bool
	// last is the cycle that was asked last of those that are not now, and start is when the
	// workload has started in it.
	last  *Cycle
	start time.Time
}

// cycleAt begins a cycle at the time.
func (p *prober) cycleAt(w *extpoints.WorkloadInfo, at time.Time) *Cycle {
	c := p.d.newCycle(at, w, nil, extpoints.CycleOptions{})
	c.pre = c.Framework.PreFilter(c.State, c.Info)
	p.mixed = p.mixed || c.Framework.HasExtensions(c.State) || c.Framework.ExtendersFilter()
	return c
}

// cycle is the one to ask about the moment if the workload has started at the time.
func (p *prober) cycle(start, at time.Time) *Cycle {
	switch {
	case !p.now.run.AskedForTime() || at.Equal(p.now.Now) && start.Equal(at):
		return p.now
	case p.last != nil && p.last.Now.Equal(at) && p.start.Equal(start):
		return p.last
	}
	w := p.now.Info
	if !start.Equal(at) {
		w = &extpoints.WorkloadInfo{Workload: w.Workload, GrantedLimit: w.GrantedLimit, Nominated: w.Nominated, PlacedAt: start}
	}
	p.last, p.start = p.cycleAt(w, at), start
	return p.last
}

func (p *prober) fits(node *extpoints.NodeInfo, start, at time.Time) bool {
	c := p.cycle(start, at)
	fits := c.fitsOn(node)
	if again := p.cycle(start, at); again != c { // only this node had a filter ask for the time
		return again.fitsOn(node)
	}
	return fits
}

func (p *prober) take(node *extpoints.NodeInfo, at time.Time) []timeline.Place {
	return p.cycle(at, at).takeOn(node, at)
}

// fitsOn reports whether the workload fits on the node, as it may be at another moment.
func (c *Cycle) fitsOn(node *extpoints.NodeInfo) bool {
	if c.pre.Status != nil || c.avoids(node.Node.Name) {
		return false
	}
	if c.pre.Nodes != nil {
		if _, ok := c.pre.Nodes[node.Node.Name]; !ok {
			return false
		}
	}
	return c.Framework.FilterWithNominated(c.State, c.Info, node).Status == nil
}

// takeOn reserves what the workload needs on the node, if it were to start at the time.
func (c *Cycle) takeOn(node *extpoints.NodeInfo, at time.Time) []timeline.Place {
	s := c.State
	copied := func() *extpoints.CycleState {
		return extpoints.NewCycle(extpoints.CycleOptions{
			Context: s.Context(), View: oneNode{s.View(), node}, Now: at, Present: s.Present(), Seed: s.Seed(), Trial: true, Values: s,
		}).State()
	}
	c.Binding = model.Binding{Workload: c.Info.ID, Node: node.Node.Name}
	if c.Framework.ReserveOnCopy(copied, c.Info, &c.Binding) != nil {
		return nil
	}
	return []timeline.Place{placeOf(c, at)}
}
