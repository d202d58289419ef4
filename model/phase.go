package model

import "slices"

// Phase is where a workload is on its way through the engine.
type Phase uint8

// The phases. [Phase.CanMoveTo] knows the legal moves between them.
const (
	// Pending: submitted, on no node.
	Pending Phase = iota
	// Assumed: a node is chosen and its room is taken; not bound yet.
	Assumed
	// Bound: the orchestrator accepted the binding.
	Bound
	// Confirmed: the orchestrator has reported the workload on its node.
	Confirmed
	// Terminating: it was asked to leave and still takes room on its node.
	Terminating
	// Finished: ended; takes no room.
	Finished

	phases
)

var phaseNames = [phases]string{"Pending", "Assumed", "Bound", "Confirmed", "Terminating", "Finished"}

// String returns the phase's name.
func (p Phase) String() string {
	if p < phases {
		return phaseNames[p]
	}
	return "Phase(invalid)"
}

// moves is the one table of legal moves.
var moves = [phases][]Phase{
	// A pending workload is assumed by a decision; it is found confirmed where
	// a binding whose answer was lost has in fact arrived, or after a restart.
	Pending: {Assumed, Confirmed, Terminating, Finished},
	// An assumed one falls back to pending when permit, pre-bind or bind fails.
	Assumed:     {Pending, Bound, Confirmed, Terminating, Finished},
	Bound:       {Confirmed, Pending, Terminating, Finished},
	Confirmed:   {Terminating, Finished, Pending},
	Terminating: {Finished, Pending},
	Finished:    {},
}

// CanMoveTo reports whether next may follow p.
func (p Phase) CanMoveTo(next Phase) bool {
	return p < phases && slices.Contains(moves[p], next)
}

// TakesRoom reports whether a workload in this phase uses its node's room.
func (p Phase) TakesRoom() bool {
	return p == Assumed || p == Bound || p == Confirmed || p == Terminating
}
