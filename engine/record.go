package engine

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/observe"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Recorder writes down every input of an engine and what it decided, one JSON object
// a line, in the order in which the inputs took effect. [Replay] makes the same
// decisions from it, or says which is the first that differs.
//
// The first line is a header: the format, the version of this module, the
// configuration as far as it has a part in decisions, and the state of an engine that
// was not new ([Raw.StartRecording]). Each further line is an input
// with its time, and with what came of it: for each workload that was tried the node,
// or why it has none. What plugins answer to PreEnqueue and Permit, and extenders to
// filter, prioritize and preempt, may depend on more than the engine knows, so it is
// recorded as a part of the input; what they answer on branches and for explanations
// is not. A line is written, in one Write, when its input has taken effect.
//
// One log is one recording: a file that is opened to append, for each life of a program, is
// replayed up to the second header only (ErrSecondRecording).
//
// A recorder belongs to one engine, which writes under its lock; another is refused it
// with ErrRecorderTaken. Where a write fails Listener.Failed is told, once, and nothing
// more is recorded. A nil *Recorder records nothing.
type Recorder struct {
	lines  *observe.Lines
	failed func(FailedEvent)
}

// NewRecorder makes a recorder that writes to w. Writes are not buffered; wrap
// w for that.
func NewRecorder(w io.Writer) *Recorder { return &Recorder{lines: observe.NewLines(w)} }

// Err returns the first error of a write. Any goroutine may call it, also while the
// engine runs.
func (r *Recorder) Err() error { return r.lines.Err() }

// free returns an error where the recorder belongs to an engine.
func (r *Recorder) free() error {
	if r != nil && r.lines.Taken() {
		return fmt.Errorf("config: Recorder: %w", ErrRecorderTaken)
	}
	return nil
}

// take makes the recorder the engine's whose listener is to be told of a failure.
func (r *Recorder) take(failed func(FailedEvent)) error {
	if r == nil {
		return nil
	}
	if !r.lines.Take() {
		return r.free()
	}
	r.failed = failed
	return nil
}

func (r *Recorder) write(at time.Time, line any) {
	if err := r.lines.Write(line); err != nil {
		r.failed(FailedEvent{At: at, Err: err})
	}
}

// input is a line of the log: a call of one method of Raw, or what came in from a
// plugin's own goroutines, and what came of it.
type input struct {
	At       time.Time
	Apply    []Change        `json:",omitempty"`
	Schedule bool            `json:",omitempty"`
	CallOff  *callOffInput   `json:",omitempty"`
	Tick     bool            `json:",omitempty"`
	Commands []tasks.Command `json:",omitempty"`
	Finish   *finishInput    `json:",omitempty"`
	Evict    *evictInput     `json:",omitempty"`
	// Answers are of extenders and plugins, while the input took effect.
	Answers []decide.Answer `json:",omitempty"`
	effect
}

// effect is what came of an input.
type effect struct {
	Decided []decision `json:",omitempty"`
	// Victims are to leave for those that were decided about.
	Victims []string `json:",omitempty"`
}

// decision is what was decided about a workload: the node that it got, or why it goes
// back to the queue.
type decision struct {
	Workload  string
	Node      string   `json:",omitempty"`
	Code      string   `json:",omitempty"` // with a node: Wait, or none
	Plugins   []string `json:",omitempty"` // that rejected it
	Nominated string   `json:",omitempty"` // the node that it waits for
	// Limit is what it was granted where that is shorter than its own.
	Limit time.Duration `json:",omitempty"`
}

// finishInput is a task that was given back: of which workload, and with which
// outcome.
type finishInput struct {
	Task     uint64 // its number
	Workload string
	Code     extpoints.Code `json:",omitempty"`
	Plugin   string         `json:",omitempty"`
	Message  string         `json:",omitempty"`
	NotThere bool           `json:",omitempty"` // its error is an [extpoints.ErrNotThere]
	// Failed is what went wrong besides, Activate what plugins asked for while
	// the task ran.
	Failed   []string `json:",omitempty"`
	Activate []string `json:",omitempty"`
	// Written are the kinds of objects that may have been written, as was decided.
	Written []model.ObjectKind `json:",omitempty"`
}

// notThere reports whether it was the node that could not start what was to be bound.
func notThere(st *extpoints.Status) bool { return errors.Is(st.AsError(), extpoints.ErrNotThere) }

type evictInput struct {
	Workload string
	Reason   string
}

// callOffInput says which tasks were called off, and why.
type callOffInput struct {
	Cause string
	Tasks []uint64 `json:",omitempty"`
}

// finishOf is the line for a task that is given back.
func finishOf(now time.Time, t *tasks.Task) input {
	f := &finishInput{Task: t.Number, Workload: t.Workload().ID, Code: t.Status.Code(), Plugin: t.Status.Plugin(), Message: t.Status.Message(), Written: t.Written, NotThere: notThere(t.Status)}
	for _, err := range t.Failed {
		f.Failed = append(f.Failed, err.Error())
	}
	if c := t.Member; c != nil {
		f.Activate = c.Asked()
	}
	return input{At: now, Finish: f}
}

// history is what is noted of an engine's inputs and what came of them.
type history struct {
	noted   func(input) // is told every input; nil: nobody is
	came    effect      // of the input that is under way
	answers *decide.Answers
}

// note ends an input: it is recorded with what came of it. One without a time is one
// that nobody need know of, because nothing came of it.
func (h *history) note(in input) {
	answers, came := h.answers.Take(), h.came
	h.came = effect{}
	if !in.At.IsZero() && h.noted != nil {
		in.Answers, in.effect = answers, came
		h.noted(in)
	}
}

// placedOn notes that a workload got a node.
func (h *history) placedOn(c *decide.Cycle) {
	if h.noted == nil {
		return
	}
	d := decision{Workload: c.Info.ID, Node: c.Binding.Node, Limit: c.Binding.Limit}
	if c.Permit.Code() == extpoints.Wait {
		d.Code = extpoints.Wait.String()
	}
	h.came.Decided = append(h.came.Decided, d)
}

// turnedAway notes that a workload goes back to the queue.
func (h *history) turnedAway(e *RejectedEvent) {
	if h.noted != nil {
		h.came.Decided = append(h.came.Decided, decision{
			Workload: e.Workload.ID, Code: e.Code.String(), Plugins: e.Plugins, Nominated: e.Nominated,
		})
	}
}

// makesRoom notes whom an attempt wants to leave.
func (h *history) makesRoom(asked []extpoints.Eviction) {
	for _, e := range asked {
		if h.noted != nil {
			h.came.Victims = append(h.came.Victims, e.ID)
		}
	}
}
