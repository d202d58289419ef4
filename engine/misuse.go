package engine

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// checkTopology tells of the topology keys of a workload that no node has. Where there
// are no nodes yet, nothing can be said.
func (s scheduling) checkTopology(now time.Time, w *model.Workload) {
	if s.rec.View.Nodes().Len() == 0 {
		return
	}
	for _, key := range missingTopology(s.rec.View, w) {
		s.misused(now, w, "no node has a value for topology key %q: most likely nobody has labelled the nodes; "+
			"a required constraint fits nowhere, anti-affinity keeps nothing apart, and a preference has no effect", key)
	}
}

// checkWaits tells of Permit plugins that want to wait for longer than they may, at a
// workload's first attempt.
func (o outside) checkWaits(m *tasks.Member) {
	for _, wait := range m.Waits {
		if wait.Asked > extpoints.MaxPermitTimeout && m.Item.Attempts == 1 {
			o.misused(m.Now, m.Info.Workload, "plugin %s wants to wait on Permit for %v: it waits for %v, the longest there is",
				wait.Plugin, wait.Asked, wait.Timeout)
		}
	}
}

func (c *core) misused(now time.Time, w *model.Workload, format string, args ...any) {
	c.listener.Misused(MisusedEvent{At: now, Workload: w, Message: fmt.Sprintf(format, args...)})
}
