package engine

import "github.com/hashicorp/go-hclog"

// logListener is the listener that writes a log. Failures are errors, what
// became of a workload is info, its way there is debug and trace. The level is
// asked for first: making the arguments of a line costs more than the rest of
// many a stage.
func logListener(log hclog.Logger) Listener {
	if !log.IsError() {
		return Listener{} // it logs nothing at all
	}
	return Listener{
		Submitted: func(e SubmittedEvent) {
			if log.IsDebug() {
				log.Debug("submitted", "workload", e.Workload.ID)
			}
		},
		Gated: func(e QueuedEvent) {
			if log.IsDebug() {
				log.Debug("gated", "workload", e.ID, "plugin", e.Plugin)
			}
		},
		Enqueued: func(e QueuedEvent) {
			if log.IsTrace() {
				log.Trace("enqueued", "workload", e.ID, "from", e.From, "to", e.To, "event", e.Event, "plugin", e.Plugin)
			}
		},
		Popped: func(e PoppedEvent) {
			if log.IsTrace() {
				log.Trace("popped", "workload", e.Workload.ID, "attempt", e.Attempt)
			}
		},
		Filtered: func(e FilteredEvent) {
			if log.IsTrace() {
				log.Trace("filtered", "workload", e.Workload.ID, "evaluated", e.Evaluated, "feasible", e.Feasible)
			}
		},
		Scored: func(e ScoredEvent) {
			if log.IsTrace() {
				log.Trace("scored", "workload", e.Workload.ID, "nodes", e.Nodes, "best", e.Best)
			}
		},
		Selected: func(e SelectedEvent) {
			if log.IsTrace() {
				log.Trace("selected", "workload", e.Workload.ID, "node", e.Node, "ties", e.Ties)
			}
		},
		Reserved: func(e PlacedEvent) {
			if log.IsDebug() {
				log.Debug("reserved", "workload", e.Workload.ID, "node", e.Binding.Node)
			}
		},
		Waiting: func(e WaitingEvent) {
			if log.IsDebug() {
				log.Debug("waiting", "workload", e.Workload.ID, "node", e.Binding.Node, "plugins", e.Plugins, "until", e.Until)
			}
		},
		Permitted: func(e PlacedEvent) {
			if log.IsTrace() {
				log.Trace("permitted", "workload", e.Workload.ID, "node", e.Binding.Node)
			}
		},
		Bound: func(e PlacedEvent) {
			if log.IsInfo() {
				log.Info("bound", "workload", e.Workload.ID, "node", e.Binding.Node)
			}
		},
		Confirmed: func(e PlacedEvent) {
			if log.IsDebug() {
				log.Debug("confirmed", "workload", e.Workload.ID, "node", e.Binding.Node)
			}
		},
		Rejected: func(e RejectedEvent) {
			if e.Err != nil {
				log.Error("rejected", "workload", e.Workload.ID, "error", e.Err)
				return
			}
			if log.IsInfo() {
				log.Info("rejected", "workload", e.Workload.ID, "code", e.Code, "message", e.Message, "nominated", e.Nominated)
			}
		},
		Decided: func(e GroupEvent) {
			if log.IsInfo() {
				log.Info("group decided", "group", e.Group.ID, "code", e.Code, "message", e.Message,
					"placed", e.Placed, "unplaced", e.Unplaced, "making room", e.MakingRoom)
			}
		},
		Evicting: func(e EvictingEvent) {
			if log.IsInfo() {
				log.Info("evicting", "workload", e.Workload.ID, "node", e.Node, "reason", e.Reason)
			}
		},
		Unnominated: func(e UnnominatedEvent) {
			if log.IsInfo() {
				log.Info("unnominated", "workload", e.Workload.ID, "node", e.Node)
			}
		},
		Removed: func(e RemovedEvent) {
			if log.IsDebug() {
				log.Debug("removed", "workload", e.Workload.ID, "phase", e.Phase)
			}
		},
		Failed: func(e FailedEvent) { log.Error("failed", "workload", e.Workload, "error", e.Err) },
	}
}
