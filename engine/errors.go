package engine

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// Errors to compare with errors.Is.
var (
	// ErrStopped is why everything ends after the context given to Run has.
	ErrStopped = errors.New("the engine is stopped")
	// ErrBindTimeout ends a call of PreBind, Bind, PostBind, Evict or ReleaseDevices that has taken longer
	// than Config.BindTimeout. It is in the error that Listener.Failed is told of a call which
	// has not returned then.
	ErrBindTimeout = errors.New("it took longer than Config.BindTimeout")
	// ErrNodeRemoved ends a binding whose node was removed meanwhile.
	ErrNodeRemoved = errors.New("the node was removed before the workload was bound to it")
	// ErrTasksLeft: Run has returned although tasks are still running, because they do
	// not heed that their context has ended. The text names them.
	ErrTasksLeft = errors.New("tasks are still running after they were cancelled")
	// ErrTime: a method of a Raw was called with the zero time, with one before that of an
	// earlier call, or with one that no recording can keep: of a year that has not four
	// digits, or in a zone whose offset is not one of whole minutes within a day.
	ErrTime = errors.New("time must not be zero, go backwards or be beyond what RFC 3339 can express")
	// ErrRunning: Run was called while it is running, or for a second time.
	ErrRunning = errors.New("the engine is running or has run")
	// ErrCalledBack: a method of an engine was called by a listener, or by a plugin
	// while the engine decides, and would have had to wait for what waits for it. Call
	// it from a goroutine of its own, and do not wait for that.
	ErrCalledBack = errors.New("a listener or a plugin must not wait for the engine")
	// ErrBroken: a call of the engine did not come to its end, because something panicked
	// where nobody expects it, or because a plugin, a listener or a hint ended the goroutine
	// that called it (runtime.Goexit, as testing's FailNow does). The text says which call,
	// why and where. What it was about may be half done, so whatever would change the engine
	// returns this error from then on, or panics with it where it returns none, and Run ends
	// with it. View, Branch, Queue and what else reads may still be called. A new engine can
	// take up what this one knew: see [View.Changes].
	ErrBroken = errors.New("the engine is broken")
	// ErrRecorderTaken: the recorder of the configuration is another engine's. Make
	// one for each engine.
	ErrRecorderTaken = errors.New("the recorder belongs to another engine")
	// ErrUnderWay: a recording cannot begin now, because something is under way that is
	// not kept in a state: a binding, a wait on Permit, an eviction or a release.
	ErrUnderWay = errors.New("a recording cannot begin while something is under way")
	// ErrNoForecasts: Config.Forecast does not ask for any.
	ErrNoForecasts = errors.New("there are no forecasts without Config.Forecast.Runs")
	// ErrNoHeader: what is to be replayed does not begin as a [Recorder] of this version
	// begins: it is the end of a log, a log of another format, or no log at all.
	ErrNoHeader = errors.New("the log does not begin with the header of a recording")
	// ErrTornLog: the last line of a log is not whole, as a crash leaves it. All before
	// it was replayed.
	ErrTornLog = errors.New("the log ends in the middle of a line")
	// ErrNoNodes is why a workload is not placed where there is no node at
	// all.
	ErrNoNodes = decide.ErrNoNodes
	// ErrDifference is in the error of a decision with which [FastPathVerify] finds fault;
	// its text says what is different.
	ErrDifference = decide.ErrDifference
	// ErrRemoved ends the binding of a workload that was removed meanwhile.
	ErrRemoved = errors.New("the workload was removed while it was being bound")
	// ErrNotFound: what the change or call names is not there.
	ErrNotFound = store.ErrNotFound
	// ErrExists: there is a workload of that ID already, in whatever phase.
	ErrExists = store.ErrExists
	// ErrSecondRecording: another recording begins within a log, as where a file is opened to
	// append for each life of a program. All before it was replayed; what begins there is a
	// log of its own.
	ErrSecondRecording = errors.New("a second recording begins here; cut the log before it, and replay each part by itself")
)

// PhaseError is why a workload cannot be confirmed, terminated, finished or requeued: the
// phase that it is in does not allow it. It has the workload's ID, its phase and node,
// and the phase that it was to move to.
type PhaseError struct {
	Workload string // ID
	Node     string // where the workload is; empty where it is nowhere
	// From is the phase that the workload is in, To the one that it was to move to.
	From, To model.Phase
}

// Error says what cannot be, why, and where there is a way what to do first.
func (e *PhaseError) Error() string { return (*store.PhaseError)(e).Error() }

// changeProblem is what is wrong with a change, without the types of the store.
func changeProblem(err error) error {
	if phase, ok := errors.AsType[*store.PhaseError](err); ok {
		return (*PhaseError)(phase)
	}
	return err
}

// ChangeError is what is wrong with one change of a batch. Behind it are, for errors.Is
// and errors.As: [ErrNotFound], [ErrExists], a [PhaseError], or what the model's
// validation says, a *model.ValidationError.
type ChangeError struct {
	Index int    // the change's place in the batch, from 0
	Verb  string // what it does, as [Change.Verb] says it
	ID    string // of what it is about, as [Change.ID] says it
	Err   error  // what is wrong
}

// Error says it in one line.
func (e *ChangeError) Error() string {
	about := fmt.Sprintf("change %d", e.Index)
	if e.Verb != "" {
		about += ", " + e.Verb
	}
	if e.ID != "" {
		about += fmt.Sprintf(" %q", e.ID)
	}
	return fmt.Sprintf("%s: %v", about, e.Err)
}

// Unwrap returns the cause.
func (e *ChangeError) Unwrap() error { return e.Err }
