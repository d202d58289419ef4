package engine

import (
	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/engine/internal/observe"
	"github.com/berth-project/berth/extpoints"
)

// logListener is the listener that writes a log. Failures are errors, misuse is a warning, that something got
// its place or lost it is info. Attempts that come to nothing are debug, as what waits is
// tried again and again: a log of info grows with workloads, not with attempts. The way to
// the end of an attempt is debug and trace. What is measured is not logged.
func logListener(log hclog.Logger) Listener {
	if !log.IsError() {
		return Listener{} // it logs nothing at all
	}
	placed := func(level hclog.Level, stage string) func(PlacedEvent) {
		return observe.Log(log, level, stage, func(e PlacedEvent) []any { return fields{"workload", e.Workload.ID, "node", e.Binding.Node} })
	}
	left := func(stage string) func(LeavingEvent) {
		return observe.Log(log, hclog.Debug, stage, func(e LeavingEvent) []any {
			return fields{"workload", e.Workload.ID, "phase", e.Phase, "node", e.Node}
		})
	}
	rejected := observe.Log(log, hclog.Debug, "rejected", func(e RejectedEvent) []any {
		return fields{"workload", e.Workload.ID, "code", e.Code, "message", e.Message, "nominated", e.Nominated}
	})
	decided := func(level hclog.Level) func(GroupEvent) {
		return observe.Log(log, level, "group decided", func(e GroupEvent) []any {
			return fields{"group", e.Group.ID, "code", e.Code, "message", e.Message, "placed", e.Placed, "unplaced", e.Unplaced, "preempting", e.Preempting}
		})
	}
	groupPlaced, groupWaits := decided(hclog.Info), decided(hclog.Debug)
	return Listener{
		Submitted: observe.Log(log, hclog.Debug, "submitted", func(e SubmittedEvent) []any { return fields{"workload", e.Workload.ID} }),
		Gated:     observe.Log(log, hclog.Debug, "gated", func(e QueuedEvent) []any { return fields{"workload", e.ID, "plugin", e.Plugin} }),
		Enqueued: observe.Log(log, hclog.Trace, "enqueued", func(e QueuedEvent) []any {
			return fields{"workload", e.ID, "from", e.From, "to", e.To, "event", e.Event, "plugin", e.Plugin}
		}),
		Popped: observe.Log(log, hclog.Trace, "popped", func(e PoppedEvent) []any { return fields{"workload", e.Workload.ID, "attempt", e.Attempt} }),
		Filtered: observe.Log(log, hclog.Trace, "filtered", func(e FilteredEvent) []any {
			return fields{"workload", e.Workload.ID, "evaluated", e.Evaluated, "feasible", e.Feasible}
		}),
		Scored:   observe.Log(log, hclog.Trace, "scored", func(e ScoredEvent) []any { return fields{"workload", e.Workload.ID, "nodes", e.Nodes, "best", e.Best} }),
		Selected: observe.Log(log, hclog.Trace, "selected", func(e SelectedEvent) []any { return fields{"workload", e.Workload.ID, "node", e.Node, "ties", e.Ties} }),
		Reserved: placed(hclog.Debug, "reserved"),
		Waiting: observe.Log(log, hclog.Debug, "waiting", func(e WaitingEvent) []any {
			return fields{"workload", e.Workload.ID, "node", e.Binding.Node, "plugins", e.Plugins, "until", e.Until}
		}),
		Permitted: placed(hclog.Trace, "permitted"),
		Bound:     placed(hclog.Info, "bound"),
		Confirmed: placed(hclog.Debug, "confirmed"),
		Rejected: func(e RejectedEvent) {
			if e.Err == nil {
				rejected(e)
				return
			}
			log.Error("rejected", "workload", e.Workload.ID, "error", e.Err)
		},
		Decided: func(e GroupEvent) {
			if e.Code == extpoints.Success {
				groupPlaced(e)
				return
			}
			groupWaits(e)
		},
		Evicting: observe.Log(log, hclog.Info, "evicting", func(e EvictingEvent) []any {
			return fields{"workload", e.Workload.ID, "node", e.Node, "reason", e.Reason}
		}),
		LimitReached: observe.Log(log, hclog.Info, "limit reached", func(e LimitReachedEvent) []any {
			return fields{"limit", e.Limit.Name, "principal", e.Principal}
		}),
		Unnominated: observe.Log(log, hclog.Debug, "unnominated", func(e UnnominatedEvent) []any { return fields{"workload", e.Workload.ID, "node", e.Node} }),
		Terminating: left("terminating"),
		Finished:    left("finished"),
		Requeued:    left("requeued"),
		Removed:     left("removed"),
		Misused: observe.Log(log, hclog.Warn, "misused", func(e MisusedEvent) []any {
			return fields{"workload", e.Workload.ID, "message", e.Message}
		}),
		Failed: observe.Log(log, hclog.Error, "failed", func(e FailedEvent) []any { return fields{"workload", e.Workload, "error", e.Err} }),
	}
}

// fields are the keys and values of a line.
type fields = []any
