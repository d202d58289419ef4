package engine

import (
	"fmt"
	"strings"
	"time"
)

// Every event says in one line what has happened. The log has the same in keys and values.

// String says it in one line.
func (e SubmittedEvent) String() string {
	return fmt.Sprintf("workload %q is submitted", e.Workload.ID)
}

// String says it in one line.
func (e QueuedEvent) String() string {
	return fmt.Sprintf("workload %q goes from %v to %v: %v%s", e.ID, e.From, e.To, e.Event, by(e.Plugin))
}

// String says it in one line.
func (e PoppedEvent) String() string {
	return fmt.Sprintf("attempt %d to place workload %q begins", e.Attempt, e.Workload.ID)
}

// String says it in one line.
func (e FilteredEvent) String() string {
	return fmt.Sprintf("%d of %d nodes are feasible for workload %q", e.Feasible, e.Evaluated, e.Workload.ID)
}

// String says it in one line.
func (e ScoredEvent) String() string {
	return fmt.Sprintf("%d nodes are scored for workload %q: the highest total is %d", e.Nodes, e.Workload.ID, e.Best)
}

// String says it in one line.
func (e SelectedEvent) String() string {
	return fmt.Sprintf("node %q is selected for workload %q, of %d with the same total", e.Node, e.Workload.ID, e.Ties)
}

// placedTexts say what the stages of a PlacedEvent are, of a workload and a node.
var placedTexts = map[string]string{
	"Reserved":  "workload %q gets room on node %q",
	"Waiting":   "workload %q waits on Permit with node %q",
	"Permitted": "workload %q is being bound to node %q",
	"Bound":     "workload %q is bound to node %q",
	"Confirmed": "workload %q is seen on node %q",
	"":          "workload %q has node %q",
}

// String says it in one line.
func (e PlacedEvent) String() string {
	return fmt.Sprintf(placedTexts[e.Stage], e.Workload.ID, e.Binding.Node)
}

// String says it in one line.
func (e WaitingEvent) String() string {
	return fmt.Sprintf("workload %q waits on Permit with node %q for %s, until %s",
		e.Workload.ID, e.Binding.Node, strings.Join(e.Plugins, ", "), stamp(e.Until))
}

// String says it in one line.
func (e RejectedEvent) String() string {
	text := fmt.Sprintf("workload %q is not placed: ", e.Workload.ID)
	if e.Err != nil {
		text += line(e.Err.Error())
	} else {
		text += line(e.Message)
	}
	if e.Nominated != "" {
		text += fmt.Sprintf(" (nominated to node %q)", e.Nominated)
	}
	return text
}

// String says it in one line.
func (e GroupEvent) String() string {
	text := fmt.Sprintf("group %q: %v, %d placed, %d not", e.Group.ID, e.Code, e.Placed, e.Unplaced)
	if e.Preempting {
		text += ", room is made"
	}
	if e.Message != "" {
		text += ": " + line(e.Message)
	}
	return text
}

// String says it in one line.
func (e EvictingEvent) String() string {
	text := fmt.Sprintf("workload %q is to leave node %q: %s", e.Workload.ID, e.Node, line(e.Reason))
	switch {
	case e.By != "":
		text += fmt.Sprintf(" (room for workload %q)", e.By)
	case e.ByGroup != "":
		text += fmt.Sprintf(" (room for group %q)", e.ByGroup)
	}
	return text
}

// String says it in one line.
func (e UnnominatedEvent) String() string {
	return fmt.Sprintf("workload %q is not nominated to node %q any more", e.Workload.ID, e.Node)
}

// leavingTexts say what the stages of a LeavingEvent are.
var leavingTexts = map[string]string{
	"Terminating": "is terminating",
	"Finished":    "has ended",
	"Requeued":    "is to be placed again",
	"Removed":     "is removed",
	"":            "leaves",
}

// String says it in one line.
func (e LeavingEvent) String() string {
	was := fmt.Sprintf("it was %v", e.Phase)
	if e.Node != "" {
		was += fmt.Sprintf(" on node %q", e.Node)
	}
	return fmt.Sprintf("workload %q %s: %s", e.Workload.ID, leavingTexts[e.Stage], was)
}

// String says it in one line.
func (e LimitReachedEvent) String() string {
	if e.Principal != "" {
		return fmt.Sprintf("principal %q has reached limit %q", e.Principal, e.Limit.Name)
	}
	return fmt.Sprintf("limit %q is reached", e.Limit.Name)
}

// String says it in one line.
func (e MisusedEvent) String() string {
	return fmt.Sprintf("workload %q: %s", e.Workload.ID, line(e.Message))
}

// String says it in one line.
func (e FailedEvent) String() string {
	if e.Workload == "" {
		return line(e.Err.Error())
	}
	return fmt.Sprintf("workload %q: %s", e.Workload, line(e.Err.Error()))
}

// String says it in one line.
func (e PluginRanEvent) String() string {
	return fmt.Sprintf("%s of %s (profile %q) took %v: %v", e.Point, e.Plugin, e.Profile, e.Took, e.Code)
}

// String says it in one line.
func (e PluginEvaluatedEvent) String() string {
	return fmt.Sprintf("%s of %s (profile %q) was asked %d times", e.Point, e.Plugin, e.Profile, e.Times)
}

// String says it in one line.
func (e HintRanEvent) String() string {
	text := fmt.Sprintf("the hint of %s for %v took %v: %v", e.Plugin, e.Event, e.Took, e.Hint)
	if e.Err != nil {
		text += ", " + line(e.Err.Error())
	}
	return text
}

// String says it in one line.
func (e ChangeOfferedEvent) String() string {
	return fmt.Sprintf("the queue was told of %v in %v", e.Event, e.Took)
}

// String says it in one line.
func (e PreemptionEndedEvent) String() string {
	text := "all evictions of a preemption were accepted"
	if e.Failed {
		text = "an eviction of a preemption has failed"
	}
	if e.Group != nil {
		text += fmt.Sprintf(" (for group %q)", e.Group.ID)
	}
	return fmt.Sprintf("%s, %v after they were asked for", text, e.Took)
}

// String says it in one line.
func (e PlacementsGeneratedEvent) String() string {
	return fmt.Sprintf("there are %d placements to try (profile %q)", e.Count, e.Profile)
}

// String says it in one line.
func (e PlacementTriedEvent) String() string {
	fits := "does not fit"
	if e.Feasible {
		fits = "fits"
	}
	return fmt.Sprintf("a placement was tried in %v (profile %q): the group %s", e.Took, e.Profile, fits)
}

// by names the plugin that had a part in something, where one had.
func by(plugin string) string {
	if plugin == "" {
		return ""
	}
	return ", by " + plugin
}

// line is a text of somebody else in one line.
func line(text string) string { return strings.ReplaceAll(text, "\n", "; ") }

// stamp is a time as texts have it.
func stamp(at time.Time) string { return at.Format(time.RFC3339) }
