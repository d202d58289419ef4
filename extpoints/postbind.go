package extpoints

import (
	"context"

	"github.com/berth-project/berth/model"
)

// PostBindPlugin is told that the workload is bound. Called on a binding
// goroutine, in the order of the profile; it may block until ctx ends, which it does after
// Config.BindTimeout. Until it returns the workload counts as being bound.
// Conformance: extpointstest.TestPlugin.
type PostBindPlugin interface {
	Plugin
	PostBind(ctx context.Context, s *CycleState, w *WorkloadInfo, b *model.Binding)
}
