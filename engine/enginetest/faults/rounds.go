package faults

import (
	"context"
	"fmt"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Rounds counts what two Reserve plugins, the first and the last of a profile,
// are asked to reserve and to give back: every round of Reserve that does not
// end in a bound workload is followed by exactly one Unreserve of both. All
// plugins of one engine share one.
type Rounds struct {
	// Ignore is set while calls are made on a branch: those are not rounds.
	Ignore bool
	// Problem is the first thing that was wrong.
	Problem error

	open  map[*extpoints.CycleState]*round
	byID  map[string]int // open rounds
	ended map[string]int // rounds that were unreserved
	made  int
}

// round is one cycle's reservation.
type round struct {
	id, node   string
	number     int
	reserved   [2]bool
	unreserved [2]bool
}

// NewRounds returns a count of no rounds.
func NewRounds() *Rounds {
	return &Rounds{open: map[*extpoints.CycleState]*round{}, byID: map[string]int{}, ended: map[string]int{}}
}

func (r *Rounds) wrong(format string, args ...any) {
	if r.Problem == nil {
		r.Problem = fmt.Errorf(format, args...)
	}
}

func (r *Rounds) reserve(which int, s *extpoints.CycleState, id, node string) {
	x := r.open[s]
	switch {
	case r.Ignore:
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

func (r *Rounds) unreserve(which int, s *extpoints.CycleState, id, node string) {
	if r.Ignore {
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

func (r *Rounds) close(s *extpoints.CycleState) {
	x := r.open[s]
	delete(r.open, s)
	if r.byID[x.id]--; r.byID[x.id] == 0 {
		delete(r.byID, x.id)
	}
}

// Open counts the open rounds by workload.
func (r *Rounds) Open() map[string]int { return r.byID }

// Ended is how many rounds of the workload were unreserved.
func (r *Rounds) Ended(id string) int { return r.ended[id] }

// Commit ends a round of the workload that ended well: the newest, since those
// before it, if they are still open, belong to bindings that nobody wants.
func (r *Rounds) Commit(id, node string) {
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
	rounds *Rounds
	which  int
}

// CounterNames are the names of the two plugins.
var CounterNames = [2]string{"CountFirst", "CountLast"}

// Plugin is one of the two plugins: 0 is the first, 1 the last.
func (r *Rounds) Plugin(which int) extpoints.Plugin { return &counter{r, which} }

var (
	_ extpoints.ReservePlugin     = (*counter)(nil)
	_ extpoints.PostBindPlugin    = (*counter)(nil)
	_ extpoints.EnqueueExtensions = (*counter)(nil)
)

// Name implements [extpoints.Plugin].
func (c *counter) Name() string { return CounterNames[c.which] }

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
