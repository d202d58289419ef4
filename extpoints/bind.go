package extpoints

import (
	"context"

	"github.com/berth-project/berth/model"
)

// BindPlugin binds the workload to its node.
//
// Called on a binding goroutine, in the order of the profile; may block until
// ctx ends. Skip asks the next plugin; the first other answer is the outcome.
// Success: the workload is bound. Anything else, and Skip from all plugins,
// fails the binding: everything is given back and the workload is queued
// again. Conformance: extpointstest.TestPlugin.
type BindPlugin interface {
	Plugin
	Bind(ctx context.Context, s *CycleState, w *WorkloadInfo, b *model.Binding) *Status
}
