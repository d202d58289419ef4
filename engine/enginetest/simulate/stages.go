package simulate

import (
	"slices"

	"github.com/berth-project/berth/engine"
)

// The stages that lead to others of the same kind.
var (
	waits = []string{"Gated", "Enqueued"}
	ends  = []string{"Terminating", "Finished", "Removed"}
	// found: it is seen on a node although nobody has just decided that.
	found = append([]string{"Confirmed"}, ends...)
)

// successions are the stages that may follow the one that a workload was told of last.
// "put back" stands for the Gated and Enqueued with which an attempt ends that is told of
// as Rejected next; members of groups go back with their tree, and are Rejected before.
var successions = map[string][]string{
	"":            {"Submitted"},
	"Submitted":   slices.Concat(waits, found),
	"Gated":       slices.Concat(waits, found),
	"Enqueued":    slices.Concat(waits, found, []string{"Popped"}),
	"Popped":      {"Filtered", "put back", "Rejected"},
	"Filtered":    {"Filtered", "Scored", "Selected", "Reserved", "put back", "Rejected"},
	"Scored":      {"Selected"},
	"Selected":    {"Filtered", "Reserved", "put back", "Rejected"},
	"Reserved":    {"Waiting", "Permitted", "put back", "Rejected"},
	"put back":    {"put back", "Rejected"},
	"Rejected":    slices.Concat(waits, found, []string{"Popped"}),
	"Waiting":     slices.Concat(found, []string{"Permitted", "Requeued", "put back", "Rejected"}),
	"Permitted":   slices.Concat(found, []string{"Bound", "Requeued", "put back", "Rejected"}),
	"Bound":       slices.Concat(found, []string{"Requeued"}),
	"Confirmed":   slices.Concat(found, []string{"Requeued"}),
	"Terminating": {"Requeued", "Finished", "Removed"},
	"Finished":    {"Removed"},
	"Requeued":    slices.Concat(waits, found),
	"Removed":     {"Submitted"},
}

// walks returns a listener that wants the stages of each workload to follow each other
// as they may.
func (s *sim) walks() engine.Listener {
	step := func(id, stage string) {
		last := s.stages[id]
		next := stage
		if slices.Contains(waits, stage) && slices.Contains(successions[last], "put back") {
			next = "put back"
		}
		if !slices.Contains(successions[last], next) {
			s.fail("%s is told of as %s after %s", id, stage, last)
		}
		s.stages[id] = next
	}
	queued := func(stage string) func(engine.QueuedEvent) {
		return func(e engine.QueuedEvent) { step(e.ID, stage) }
	}
	placed := func(e engine.PlacedEvent) { step(e.Workload.ID, e.Stage) }
	leaves := func(e engine.LeavingEvent) { step(e.Workload.ID, e.Stage) }
	return engine.Listener{
		Submitted: func(e engine.SubmittedEvent) { step(e.Workload.ID, "Submitted") },
		Gated:     queued("Gated"),
		Enqueued:  queued("Enqueued"),
		Popped:    func(e engine.PoppedEvent) { step(e.Workload.ID, "Popped") },
		Filtered:  func(e engine.FilteredEvent) { step(e.Workload.ID, "Filtered") },
		Scored:    func(e engine.ScoredEvent) { step(e.Workload.ID, "Scored") },
		Selected:  func(e engine.SelectedEvent) { step(e.Workload.ID, "Selected") },
		Reserved:  placed,
		Waiting:   func(e engine.WaitingEvent) { placed(e.PlacedEvent) },
		Permitted: placed, Bound: placed, Confirmed: placed,
		Rejected:    func(e engine.RejectedEvent) { step(e.Workload.ID, "Rejected") },
		Terminating: leaves, Finished: leaves, Requeued: leaves, Removed: leaves,
	}
}
