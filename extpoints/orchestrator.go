package extpoints

import (
	"context"

	"github.com/berth-project/berth/model"
)

// Orchestrator carries out decisions. An adapter implements it. Conformance:
// adaptertest.Run.
type Orchestrator interface {
	// Bind starts the workload on the binding's node. It is called on binding
	// goroutines, several at once, and may block until ctx ends. An error
	// means that the workload was not bound; where that cannot be known, the
	// orchestrator reports the workload as confirmed later if it was. Binding
	// the same workload to the same node again must succeed.
	Bind(ctx context.Context, w *model.Workload, b model.Binding) error
	// Evict asks that a workload leave its node. It returns when the request
	// is accepted; that the workload is gone is reported later.
	Evict(ctx context.Context, w *model.Workload, reason string) error
}
