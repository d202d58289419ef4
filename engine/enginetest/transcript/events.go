package transcript

import (
	"fmt"
	"strings"
	"time"

	"github.com/berth-project/berth/engine"
)

// listener writes every event down as one line that begins with the stage.
func (e *env) listener() engine.Listener {
	return engine.Listener{
		Submitted: func(v engine.SubmittedEvent) { e.event(v.At, "submitted %s", v.Workload.ID) },
		Gated:     func(v engine.QueuedEvent) { e.moved("gated", v) },
		Enqueued:  func(v engine.QueuedEvent) { e.moved("enqueued", v) },
		Popped: func(v engine.PoppedEvent) {
			e.event(v.At, "popped %s: attempt %d", v.Workload.ID, v.Attempt)
		},
		Filtered: func(v engine.FilteredEvent) {
			e.event(v.At, "filtered %s: %d evaluated, %d feasible", v.Workload.ID, v.Evaluated, v.Feasible)
		},
		Scored: func(v engine.ScoredEvent) {
			e.event(v.At, "scored %s: %d nodes, best %d", v.Workload.ID, v.Nodes, v.Best)
		},
		Selected: func(v engine.SelectedEvent) {
			ties := ""
			if v.Ties > 1 {
				ties = fmt.Sprintf(" of %d", v.Ties)
			}
			e.event(v.At, "selected %s: %s%s", v.Workload.ID, v.Node, ties)
		},
		Reserved: e.placed,
		Waiting: func(v engine.WaitingEvent) {
			e.event(v.At, "waiting %s: %s for %v until %s", v.Workload.ID, v.Binding.Node, v.Plugins, since(v.Until))
		},
		Permitted: e.placed,
		Bound:     e.placed,
		Confirmed: e.placed,
		Rejected:  e.rejected,
		Evicting: func(v engine.EvictingEvent) {
			e.event(v.At, "evicting %s: from %s, %s", v.Workload.ID, v.Node, v.Reason)
		},
		Decided: func(v engine.GroupEvent) {
			text := fmt.Sprintf("decided %s: %v, %d placed, %d not", v.Group.ID, v.Code, v.Placed, v.Unplaced)
			if v.Preempting {
				text += ", making room"
			}
			if v.Message != "" {
				text += ": " + v.Message
			}
			e.event(v.At, "%s", text)
		},
		LimitReached: func(v engine.LimitReachedEvent) {
			e.event(v.At, "limitreached %s", strings.TrimSpace(v.Limit.Name+" "+v.Principal))
		},
		Unnominated: func(v engine.UnnominatedEvent) { e.event(v.At, "unnominated %s: from %s", v.Workload.ID, v.Node) },
		Terminating: e.leaving,
		Finished:    e.leaving,
		Requeued:    e.leaving,
		Removed:     e.leaving,
		Misused:     func(v engine.MisusedEvent) { e.event(v.At, "misused %s: %s", v.Workload.ID, v.Message) },
		Failed:      func(v engine.FailedEvent) { e.event(v.At, "failed %s: %v", v.Workload, v.Err) },
	}
}

// event writes one event down. Events of the queue's that are caused by a call
// without a time have none; all others must have the present.
func (e *env) event(at time.Time, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !at.IsZero() && e.raw != nil && !at.Equal(e.now) {
		text += " (at " + since(at) + ")"
	}
	e.events = append(e.events, text)
	e.say("%s", text)
}

func (e *env) moved(word string, v engine.QueuedEvent) {
	by := ""
	if v.Plugin != "" {
		by = " by " + v.Plugin
	}
	e.event(v.At, "%s %s: %s -> %s%s (%s)", word, v.ID, v.From, v.To, by, eventName(v.Event))
}

func (e *env) leaving(v engine.LeavingEvent) {
	e.event(v.At, "%s %s: %s", strings.ToLower(v.Stage), v.Workload.ID, strings.TrimSpace(v.Phase.String()+" "+v.Node))
}

func (e *env) placed(v engine.PlacedEvent) {
	e.event(v.At, "%s %s: %s", strings.ToLower(v.Stage), v.Workload.ID, v.Binding.Node)
}

func (e *env) rejected(v engine.RejectedEvent) {
	text := fmt.Sprintf("rejected %s: %s", v.Workload.ID, v.Code)
	if len(v.Plugins) > 0 {
		text += fmt.Sprintf(" by %v", v.Plugins)
	}
	text += ": " + v.Message
	if v.Err != nil && v.Err.Error() != v.Message {
		text += " (" + v.Err.Error() + ")"
	}
	if v.Nominated != "" {
		text += "; nominated " + v.Nominated
	}
	e.event(v.At, "%s", text)
}
