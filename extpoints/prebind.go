package extpoints

import (
	"context"
	"time"

	"github.com/berth-project/berth/model"
)

// PreBindPlugin does what must be done before the workload is bound, such as
// attaching storage.
//
// PreBindPreFlight is called on the scheduling goroutine after Permit and must
// not block: Success means that PreBind will have work to do, Skip that it will
// not and need not be called; anything else is an error.
//
// PreBind is called on a binding goroutine and may block until ctx ends.
// Plugins run in the order of the profile, but neighbours that all allow it
// run in parallel. Success goes on; anything else fails the binding:
// everything is given back and the workload is queued again.
// Conformance: extpointstest.TestPlugin.
type PreBindPlugin interface {
	Plugin
	PreBindPreFlight(s *CycleState, w *WorkloadInfo, b *model.Binding) (PreFlight, *Status)
	PreBind(ctx context.Context, s *CycleState, w *WorkloadInfo, b *model.Binding) *Status
}

// PreFlight is what a plugin says of its PreBind in advance.
type PreFlight struct {
	// AllowParallel lets PreBind run beside those of its neighbours.
	AllowParallel bool
	// Timeout is that of the plugin's own, after which PreBind ends by itself; 0 for none. The
	// engine ends PreBind Config.BindTimeout later, with 0 after Config.BindTimeout.
	Timeout time.Duration
}
