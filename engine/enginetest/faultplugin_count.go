package enginetest

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// rounds counts what two Reserve plugins, the first and the last of a profile,
// are asked to reserve and to give back: every round of Reserve that does not
// end in a bound workload is followed by exactly one Unreserve of both. All
// plugins of one engine share one.
type rounds struct {
	ignore  bool // calls made on a branch are not rounds
	open    map[*extpoints.CycleState]*round
	byID    map[string]int // open rounds
	ended   map[string]int // rounds that were unreserved
	made    int
	problem error // the first
}

// round is one cycle's reservation.
type round struct {
	id, node   string
	number     int
	reserved   [2]bool
	unreserved [2]bool
}

func newRounds() *rounds {
	return &rounds{open: map[*extpoints.CycleState]*round{}, byID: map[string]int{}, ended: map[string]int{}}
}

func (r *rounds) wrong(format string, args ...any) {
	if r.problem == nil {
		r.problem = fmt.Errorf(format, args...)
	}
}

func (r *rounds) reserve(which int, s *extpoints.CycleState, id, node string) {
	x := r.open[s]
	switch {
	case r.ignore:
	case which == 0 && x != nil:
		r.wrong("Reserve of %s on %s was called twice in one cycle", id, node)
	case which == 0:
		r.made++
		r.open[s] = &round{id: id, node: node, number: r.made, reserved: [2]bool{true, false}}
		r.byID[id]++
	case x == nil:
		r.wrong("the last Reserve of %s on %s was called without the first", id, node)
	default:
		x.reserved[which] = true
	}
}

func (r *rounds) unreserve(which int, s *extpoints.CycleState, id, node string) {
	if r.ignore {
		return
	}
	x := r.open[s]
	switch {
	case x == nil:
		r.wrong("Unreserve of %s on %s was called for nothing, or once too often", id, node)
		return
	case x.unreserved[which]:
		r.wrong("Unreserve of %s on %s was called twice", id, node)
	case x.id != id || x.node != node:
		r.wrong("Unreserve of %s on %s follows a Reserve of %s on %s", id, node, x.id, x.node)
	case which == 0 && !x.unreserved[1]:
		r.wrong("Unreserve of %s on %s was not called in reverse order", id, node)
	}
	x.unreserved[which] = true
	if which == 0 {
		r.close(s)
		r.ended[id]++
	}
}

func (r *rounds) close(s *extpoints.CycleState) {
	x := r.open[s]
	delete(r.open, s)
	if r.byID[x.id]--; r.byID[x.id] == 0 {
		delete(r.byID, x.id)
	}
}

// commit ends a round of the workload that ended well: the newest, since those
// before it, if they are still open, belong to bindings that nobody wants.
func (r *rounds) commit(id, node string) {
	var found *extpoints.CycleState
	for s, x := range r.open {
		if x.id == id && (found == nil || x.number > r.open[found].number) {
			found = s
		}
	}
	switch {
	case found == nil:
		r.wrong("%s was bound to %s, but nothing is reserved", id, node)
		return
	case r.open[found].node != node:
		r.wrong("%s was bound to %s, but it is reserved on %s", id, node, r.open[found].node)
	case r.open[found].reserved != [2]bool{true, true}:
		r.wrong("%s was bound to %s, but not every plugin has reserved", id, node)
	}
	r.close(found)
}

// counter is one of the two plugins.
type counter struct {
	rounds *rounds
	which  int
}

var counterNames = [2]string{"CountFirst", "CountLast"}

func (r *rounds) factory(which int) extpoints.Factory {
	return func(args any, _ extpoints.Handle) (extpoints.Plugin, error) {
		return &counter{r, which}, extpoints.NoArgs(counterNames[which], args)
	}
}

var (
	_ extpoints.ReservePlugin     = (*counter)(nil)
	_ extpoints.PostBindPlugin    = (*counter)(nil)
	_ extpoints.EnqueueExtensions = (*counter)(nil)
)

// Name implements [extpoints.Plugin].
func (c *counter) Name() string { return counterNames[c.which] }

// EventsToRegister implements [extpoints.EnqueueExtensions]: it never rejects.
func (c *counter) EventsToRegister() ([]extpoints.EventHint, error) { return nil, nil }

// Reserve implements [extpoints.ReservePlugin].
func (c *counter) Reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	if s.Trial() {
		return nil // nobody will bind it
	}
	c.rounds.reserve(c.which, s, w.ID, b.Node)
	return nil
}

// Unreserve implements [extpoints.ReservePlugin].
func (c *counter) Unreserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) {
	c.rounds.unreserve(c.which, s, w.ID, b.Node)
}

// PostBind implements [extpoints.PostBindPlugin].
func (c *counter) PostBind(_ context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) {
	if c.rounds.open[s] == nil {
		c.rounds.wrong("PostBind of %s on %s without a reservation", w.ID, b.Node)
	}
}

// holdName is the name of the Permit plugin that holds back every workload
// whose label says so, for a time that the cycle's seed chooses.
const holdName = "Hold"

type holdPlugin struct{}

var (
	_ extpoints.PermitPlugin      = holdPlugin{}
	_ extpoints.EnqueueExtensions = holdPlugin{}
)

func newHold(args any, _ extpoints.Handle) (extpoints.Plugin, error) {
	return holdPlugin{}, extpoints.NoArgs(holdName, args)
}

// Name implements [extpoints.Plugin].
func (holdPlugin) Name() string { return holdName }

// EventsToRegister implements [extpoints.EnqueueExtensions]: a workload that was
// turned down is tried again when a node comes or its own labels change, also if
// that happened while it was held.
func (holdPlugin) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}},
		{Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadLabel}},
	}, nil
}

// Permit implements [extpoints.PermitPlugin].
func (holdPlugin) Permit(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) (*extpoints.Status, time.Duration) {
	if w.Labels["hold"] == "" {
		return nil, 0
	}
	return extpoints.NewStatus(extpoints.Wait), time.Duration(1+s.Seed()%1200) * time.Second
}

// nominateName is the name of the PostFilter plugin that nominates those
// workloads whose label says so, to a node that the cycle's seed chooses. It
// makes no room there; the nomination alone keeps others away.
const nominateName = "Nominate"

type nominatePlugin struct{}

var _ extpoints.PostFilterPlugin = nominatePlugin{}

func newNominate(args any, _ extpoints.Handle) (extpoints.Plugin, error) {
	return nominatePlugin{}, extpoints.NoArgs(nominateName, args)
}

// Name implements [extpoints.Plugin].
func (nominatePlugin) Name() string { return nominateName }

// PostFilter implements [extpoints.PostFilterPlugin].
func (nominatePlugin) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	nodes := s.View().Nodes()
	if w.Labels["nominate"] == "" || nodes.Len() == 0 {
		return nil, extpoints.NewStatus(extpoints.Unschedulable)
	}
	// Sometimes it takes the nomination back.
	to := &extpoints.NominatingInfo{Mode: extpoints.NominatingOverride}
	if n := s.Seed() % uint64(nodes.Len()+1); n > 0 {
		to.Node = nodes.At(int(n - 1)).Node.Name
	}
	return &extpoints.PostFilterResult{NominatingInfo: to}, nil
}

// probeName is the name of the plugin that catches the view of its cycle. Trying
// its workload on a branch shows the nodes as the next cycle will see them.
const probeName = "Probe"

type probePlugin struct {
	workload *model.Workload
	view     extpoints.View
}

var (
	_      extpoints.PreFilterPlugin   = (*probePlugin)(nil)
	_      extpoints.EnqueueExtensions = (*probePlugin)(nil)
	probed                             = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "seen enough")
)

// Name implements [extpoints.Plugin].
func (p *probePlugin) Name() string { return probeName }

// EventsToRegister implements [extpoints.EnqueueExtensions].
func (p *probePlugin) EventsToRegister() ([]extpoints.EventHint, error) { return nil, nil }

// PreFilter implements [extpoints.PreFilterPlugin].
func (p *probePlugin) PreFilter(s *extpoints.CycleState, _ *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	p.view = s.View()
	return nil, probed
}
