package queue

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// gating says whether a move to the active ones asks the gates.
type gating bool

const (
	askGates  gating = true
	skipGates gating = false
)

// gatesAfterBackoff: with popping from backoff on, an item was let in by the
// gates when its backoff began.
func (q *Queue) gatesAfterBackoff() gating { return gating(q.cfg.NoPopFromBackoff) }

// pass asks the PreEnqueue plugins, first the one that gated the item the last
// time, since it is the likeliest to do so again, then the others. The first
// that does not say Success gates the item and joins the plugins that must
// change their mind; it stays among them after it has let the item pass, until
// the next failed attempt. For a tree of groups see passAll.
func (q *Queue) pass(it *Item) bool {
	if it.Group != nil {
		return q.passAll(it)
	}
	return q.passGates(it, q.cfg.PreEnqueue[it.Workload.Profile])
}

func (q *Queue) passGates(it *Item, gates []extpoints.PreEnqueuePlugin) bool {
	last := it.GatingPlugin
	if last != "" {
		for _, gate := range gates {
			if gate.Name() == last && !q.ask(it, gate) {
				return false
			}
		}
	}
	for _, gate := range gates {
		if gate.Name() != last && !q.ask(it, gate) {
			return false
		}
	}
	it.GatingPlugin, it.Gate = "", nil
	return true
}

// passAll asks for the members of a tree. All of them, as in the reference, would
// make a gang that gathers cost the square of its size; so unless the reference is
// followed it stops at the first that is gated, and begins with the one that held
// the tree the last time. The outcome is the same: the tree passes if all members
// do. Only the one that holds it has a gate then.
func (q *Queue) passAll(it *Item) bool {
	it.GatingPlugin, it.Gate = "", nil
	if q.cfg.Compat == extpoints.KubeScheduler137 {
		return q.passEach(it)
	}
	held := it.gated
	if held != nil && !q.passMember(it, held) {
		return false
	}
	it.gated = nil
	for _, m := range it.Members {
		if m != held && !q.passMember(it, m) {
			return false
		}
	}
	return true
}

// passMember asks for one member, which holds the tree if it is gated.
func (q *Queue) passMember(it, m *Item) bool {
	if q.passGates(m, q.cfg.PreEnqueue[m.Workload.Profile]) {
		return true
	}
	it.GatingPlugin, it.Gate, it.gated = m.GatingPlugin, m.Gate, m
	return false
}

// passEach asks for all members. The last that is gated gates the tree.
func (q *Queue) passEach(it *Item) bool {
	var gates []extpoints.PreEnqueuePlugin
	for i, m := range it.Members {
		if i == 0 || m.Workload.Profile != it.Members[i-1].Workload.Profile {
			gates = q.cfg.PreEnqueue[m.Workload.Profile]
		}
		if !q.passGates(m, gates) {
			it.GatingPlugin, it.Gate = m.GatingPlugin, m.Gate
		}
	}
	return it.Gate == nil
}

func (q *Queue) ask(it *Item, gate extpoints.PreEnqueuePlugin) bool {
	status := gate.PreEnqueue(it.Workload)
	if status.IsSuccess() {
		return true
	}
	name := gate.Name()
	it.GatingPlugin, it.Gate = name, status.WithPlugin(name)
	if !slices.Contains(it.UnschedulablePlugins, name) {
		it.UnschedulablePlugins = append(it.UnschedulablePlugins, name)
		q.resolve(it)
	}
	if status.Code() == extpoints.Error && q.cfg.OnGateError != nil {
		q.cfg.OnGateError(it.ID(), name, status.AsError())
	}
	return false
}

// mayOpen reports whether an event can help an item as far as its gate is
// concerned: it is not gated, or its gating plugin asked for the event (in
// whichever profile), or the event is for everybody.
func (q *Queue) mayOpen(it *Item, event extpoints.ClusterEvent) bool {
	if it.GatingPlugin == "" || event.IsWildcard() {
		return true
	}
	for _, r := range q.hints.byPlugin[it.GatingPlugin] {
		if r.matches(event) {
			return true
		}
	}
	return false
}
