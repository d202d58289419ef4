package extpointstest

import (
	"strings"

	"github.com/berth-project/berth/extpoints"
)

// tryHints proves that no change is missed: where it turns a rejection
// by the plugin into acceptance, some hint of the plugin must say Queue to one
// of its events.
func tryHints(tr *trial) {
	ext, ok := tr.plugin.(extpoints.EnqueueExtensions)
	if !ok {
		return // taken to be woken by everything
	}
	hints, err := ext.EventsToRegister()
	if err != nil {
		tr.failf(nil, "EventsToRegister: %v", err)
		return
	}
	var h hinting
	tr.each(func(s *Situation) {
		for range 8 {
			h.try(tr, hints, s, tr.suite.Change(tr.random, s))
		}
		for _, c := range borrowed(tr.random, s, tr.suite.Random(tr.random)) {
			h.try(tr, hints, s, c)
		}
	})
	tr.notef("hints said Queue to %d changes and Skip to %d; of a node %d made the plugin accept, of the workload %d, and %d others",
		h.woken, h.slept, h.byNode, h.byWorkload, h.byOther)
	if tr.mayTurn() {
		tr.mustGive("Hints", given{"had to wake what a change had made acceptable", h.byNode + h.byWorkload + h.byOther})
	}
}

// hinting counts what hints said, and the changes that turned a rejection into acceptance.
type hinting struct {
	woken, slept                int
	byNode, byWorkload, byOther int
}

// try makes the change, unless one was missed before: the first is worth reading.
func (h *hinting) try(tr *trial, hints []extpoints.EventHint, s *Situation, c *Changed) {
	if c == nil || len(c.Changes) == 0 || len(tr.problems) > 0 {
		return
	}
	wakes := wakes(hints, c)
	if wakes {
		h.woken++
	} else {
		h.slept++
	}
	place := tr.turns(s, c.After)
	if place == "" {
		return
	}
	switch c.Changes[0].Resource {
	case extpoints.NodeResource:
		h.byNode++
	case extpoints.TargetWorkload:
		h.byWorkload++
	default:
		h.byOther++
	}
	if !wakes {
		tr.failf(nil, "%s: the plugin now accepts %s, but no hint says Queue\n  the change    %s\n  the workload  %s\n  the events    %s\n  registered    %s",
			c.What, place, changeText(&c.Changes[0]), compact(c.After.Workload.Workload), eventNames(c.Changes), registeredNames(hints))
	}
}

// mayTurn reports whether the plugin has a point that turns asks, and at which it both accepts and rejects
// in the suite's situations.
func (tr *trial) mayTurn() bool {
	if _, ok := tr.plugin.(extpoints.PreEnqueuePlugin); ok && tr.suite.OneSided["PreEnqueue"] == "" {
		return true
	}
	switch tr.plugin.(type) {
	case extpoints.PreFilterPlugin, extpoints.FilterPlugin:
		return tr.suite.OneSided["Filter"] == ""
	}
	return false
}

// changeText says what is not as it was; what comes or goes is printed whole.
func changeText(e *extpoints.Event) string {
	var before, after any
	if e.OldNode != nil {
		before = e.OldNode
	}
	if e.NewNode != nil {
		after = e.NewNode
	}
	if e.OldWorkload != nil {
		before = e.OldWorkload.Workload
	}
	if e.NewWorkload != nil {
		after = e.NewWorkload.Workload
	}
	if before == nil && after == nil {
		before, after = e.OldObject, e.NewObject
	}
	return differences(before, after)
}

func eventNames(changes []extpoints.Event) string {
	names := make([]string, len(changes))
	for i := range changes {
		names[i] = changes[i].String()
	}
	return strings.Join(names, ", ")
}

func registeredNames(hints []extpoints.EventHint) string {
	if len(hints) == 0 {
		return "nothing: what the plugin rejects is never woken"
	}
	names := make([]string, len(hints))
	for i, h := range hints {
		names[i] = h.Event.String()
		if h.Hint != nil {
			names[i] += " with a hint"
		}
	}
	return strings.Join(names, ", ")
}

// wakes reports whether a hint says Queue.
func wakes(hints []extpoints.EventHint, c *Changed) bool {
	for i := range c.Changes {
		change := &c.Changes[i]
		for _, h := range hints {
			if !h.Event.Matches(change.ClusterEvent) {
				continue
			}
			if h.Hint == nil {
				return true
			}
			hint, err := h.Hint(c.After.Workload.Workload, change)
			if err != nil || hint == extpoints.HintQueue {
				return true
			}
		}
	}
	return false
}

// turns names what the plugin rejected before and accepts after: a node, or
// the queue; empty where there is nothing.
func (tr *trial) turns(before, after *Situation) string {
	if pre, ok := tr.plugin.(extpoints.PreEnqueuePlugin); ok {
		if !pre.PreEnqueue(before.Workload.Workload).IsSuccess() && pre.PreEnqueue(after.Workload.Workload).IsSuccess() {
			return "the workload into the queue"
		}
	}
	was, is := judge(tr.plugin, before), judge(tr.plugin, after)
	old := map[string]bool{} // whether accepted, by node
	rejected := false
	for i, n := range before.View.NodeInfos {
		old[n.Node.Name] = was.accepts(before, i)
		rejected = rejected || !old[n.Node.Name]
	}
	for i, n := range after.View.NodeInfos {
		accepted, known := old[n.Node.Name]
		if rejected && is.accepts(after, i) && (!known || !accepted) {
			return "node " + compact(n.Node)
		}
	}
	return ""
}
