package extpoints

import (
	"context"
	"errors"

	"github.com/berth-project/berth/model"
)

// ErrNotWritten is in the error of [DeviceBinder.BindDevices] or
// [VolumeBinder.BindVolumes] where it is certain that nothing of what was asked for is
// written, nor will be, beyond what the orchestrator has reported by then. With any other
// error the engine has to take it for written.
var ErrNotWritten = errors.New("nothing was written")

// ErrNotThere is in the error of [Orchestrator.Bind], or of a Bind plugin or an extender that
// binds, where it was the node that could not start the workload: it does not answer, its disk is
// full, its runtime is broken. The engine places the workload elsewhere for a while (a minute
// after the first time, ten at most), and others too once the node could not start several;
// until the node has changed, or has gone and come back. The node is not avoided where no other
// could ever take the workload. Not for what would fail anywhere: a program that does not exist.
var ErrNotThere = errors.New("the node could not start it")

// Orchestrator carries out decisions. An adapter implements it. Conformance:
// adaptertest.Run.
type Orchestrator interface {
	// Bind starts the workload on the binding's node. It is called on binding
	// goroutines, several at once, and may block until ctx ends. Nil means that
	// the workload runs there, or that its end is reported. An error means that it
	// does not run, and its room goes to others at once; where that cannot be known,
	// package adapters says what to do. With ErrNotThere in it (errors.Is) the
	// workload goes elsewhere for a while. Binding the same workload to the same node
	// again must succeed. What is answered after the workload was requeued or removed,
	// or has lost its node, counts for nothing: ctx has ended then.
	Bind(ctx context.Context, w *model.Workload, b model.Binding) error
	// Evict asks that a workload leave its node. It returns when the request
	// is accepted; that the workload is gone is reported later. An error means that
	// it stays, and whoever was to have its room looks for other room. It is called on
	// goroutines like Bind's, and may be called again for the same workload.
	Evict(ctx context.Context, w *model.Workload, reason string) error
}
