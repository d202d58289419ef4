package engine

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/store"
)

// Errors to compare with errors.Is.
var (
	// ErrStopped is why everything ends after the context given to Run has.
	ErrStopped = errors.New("the engine is stopped")
	// ErrRunning: Run was called while it is running, or for a second time.
	ErrRunning = errors.New("the engine is running or has run")
	// ErrNoNodes is why a workload is not placed where there is no node at
	// all. The text is kube-scheduler's.
	ErrNoNodes = decide.ErrNoNodes
	// ErrRemoved ends the binding of a workload that was removed meanwhile.
	ErrRemoved = errors.New("the workload was removed while it was being bound")
	// ErrNotFound: there is no object of that name or ID.
	ErrNotFound = store.ErrNotFound
	// ErrExists: there is one already.
	ErrExists = store.ErrExists
	// ErrNoRecord: no decision about the workload is remembered any more.
	ErrNoRecord = errors.New("no decision about the workload is remembered")
)

// Diagnosis says why a workload fits nowhere: node by node, and in one line.
type Diagnosis = framework.Diagnosis

// ExtenderError says which extender failed at what, about which workload, and
// why.
type ExtenderError = framework.ExtenderError

// PluginError says which plugin failed at which point, and why.
type PluginError = framework.PluginError

// ChangeError is what is wrong with one change of a batch.
type ChangeError struct {
	Index  int    // the change's place in the batch, from 0
	Change string // what it is, for example `submit "web-1"`
	Err    error
}

// Error says it in one line.
func (e *ChangeError) Error() string {
	return fmt.Sprintf("change %d, %s: %v", e.Index, e.Change, e.Err)
}

// Unwrap returns the cause.
func (e *ChangeError) Unwrap() error { return e.Err }
