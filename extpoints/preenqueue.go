package extpoints

import "github.com/berth-project/berth/model"

// PreEnqueuePlugin decides whether a workload may enter the active queue.
//
// Called on the engine's goroutine whenever a workload is about to enter the
// active or the backoff queue; must not block. Success lets it in. Every other
// code parks it as gated, with the plugin as the one that must change its mind;
// Error is reported and gates too. Conformance: extpointstest.TestPlugin.
type PreEnqueuePlugin interface {
	Plugin
	PreEnqueue(w *model.Workload) *Status
}
