package engine

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
)

// Recorder writes down every input of an engine, one JSON object a line, in
// the order in which they took effect. With the same configuration, [Replay]
// makes the same decisions from it. What extenders answered to filter,
// prioritize and preempt is an input of the decision that asked; what they
// answer on branches and for explanations is not recorded. A recorder is used by
// one engine, under its lock. A nil *Recorder records nothing.
type Recorder struct {
	enc *json.Encoder
	err error
}

// NewRecorder makes a recorder that writes to w. Writes are not buffered; wrap
// w for that.
func NewRecorder(w io.Writer) *Recorder { return &Recorder{enc: json.NewEncoder(w)} }

// Err returns the first error of a write; after it nothing more is recorded.
func (r *Recorder) Err() error { return r.err }

// input is one line of the log: a call of one method of Raw, or what came in
// from a plugin's own goroutines.
type input struct {
	At       time.Time
	Apply    []Change        `json:",omitempty"`
	Schedule bool            `json:",omitempty"`
	Answers  []decide.Answer `json:",omitempty"` // of extenders, while scheduling
	CallOff  *callOffInput   `json:",omitempty"`
	Tick     bool            `json:",omitempty"`
	Commands []tasks.Command `json:",omitempty"`
	Finish   *finishInput    `json:",omitempty"`
	Evict    *evictInput     `json:",omitempty"`
}

// finishInput is a task that was given back: of which workload, and with which
// outcome.
type finishInput struct {
	Task     uint64 // its number
	Workload string
	Code     extpoints.Code `json:",omitempty"`
	Plugin   string         `json:",omitempty"`
	Message  string         `json:",omitempty"`
	// Failed is what went wrong besides, Activate what plugins asked for while
	// the task ran.
	Failed   []string `json:",omitempty"`
	Activate []string `json:",omitempty"`
}

type evictInput struct {
	Workload string
	Reason   string
}

// callOffInput says which tasks were called off, and why.
type callOffInput struct {
	Cause string
	Tasks []uint64 `json:",omitempty"`
}

func (r *Recorder) write(in input) {
	if r == nil || r.err != nil {
		return
	}
	if err := r.enc.Encode(in); err != nil {
		r.err = fmt.Errorf("record an input: %w", err)
	}
}

func (r *Recorder) apply(now time.Time, changes []Change) { r.write(input{At: now, Apply: changes}) }
func (r *Recorder) schedule(now time.Time, given []decide.Answer) {
	r.write(input{At: now, Schedule: true, Answers: given})
}
func (r *Recorder) tick(now time.Time) { r.write(input{At: now, Tick: true}) }
func (r *Recorder) callOff(now time.Time, cause error, tasks []uint64) {
	r.write(input{At: now, CallOff: &callOffInput{cause.Error(), tasks}})
}
func (r *Recorder) commands(now time.Time, list []tasks.Command) {
	r.write(input{At: now, Commands: list})
}
func (r *Recorder) evict(now time.Time, id, reason string) {
	r.write(input{At: now, Evict: &evictInput{id, reason}})
}

func (r *Recorder) finish(now time.Time, t *tasks.Task) {
	if r == nil {
		return
	}
	f := &finishInput{Task: t.Number, Workload: t.Workload().ID, Code: t.Status.Code(), Plugin: t.Status.Plugin(), Message: t.Status.Message()}
	for _, err := range t.Failed {
		f.Failed = append(f.Failed, err.Error())
	}
	if c := t.Member; c != nil {
		f.Activate = c.Asked()
	}
	r.write(input{At: now, Finish: f})
}

// Replay makes an engine of the configuration and gives it the recorded
// inputs. Tasks are not run: they get the outcomes that were recorded. Extenders
// are not asked: they get the answers that were recorded, so that a replay needs
// no network. The configuration must be that of the recording, Workers, Listener,
// Logger and Recorder apart. The engine is returned as it is after the last
// input, so that it can be looked at; what it is then told to do, or to explain,
// it asks the extenders about.
func Replay(cfg Config, log io.Reader) (*Raw, error) {
	r, err := NewRaw(cfg)
	if err != nil {
		return nil, err
	}
	// What plugins asked for is in the log, at the place where it took effect.
	r.commands.Deaf = true
	lines := bufio.NewReader(log)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return r, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("replay: line %d: %w", n, err)
		}
		if err := r.replay(line); err != nil {
			return nil, fmt.Errorf("replay: line %d: %w", n, err)
		}
	}
}

// replay gives the engine one recorded input.
func (r *Raw) replay(line []byte) error {
	var in input
	if err := json.Unmarshal(line, &in); err != nil {
		return err
	}
	switch {
	case in.Apply != nil:
		return r.Apply(in.At, in.Apply...)
	case in.Schedule:
		return r.decider.Answers.Replay(in.Answers, func() { r.Schedule(in.At) })
	case in.CallOff != nil:
		return r.replayCallOff(in.At, in.CallOff)
	case in.Tick:
		r.Tick(in.At)
	case in.Commands != nil:
		r.recorder.commands(in.At, in.Commands)
		r.obeyAll(in.At, in.Commands)
	case in.Evict != nil:
		return r.Evict(in.At, in.Evict.Workload, in.Evict.Reason)
	case in.Finish != nil:
		return r.replayFinish(in.At, in.Finish)
	default:
		return errors.New("the line says nothing")
	}
	return nil
}

// replayCallOff calls off the same tasks.
func (r *Raw) replayCallOff(now time.Time, c *callOffInput) error {
	rest := c.Tasks
	r.callOff(now, errors.New(c.Cause), func() *tasks.Task {
		if len(rest) == 0 {
			return nil
		}
		t := r.tasks.Take(func(t *tasks.Task) bool { return t.Number == rest[0] })
		if t != nil {
			rest = rest[1:]
		}
		return t
	})
	if len(rest) > 0 {
		return fmt.Errorf("call off task %d: %w", rest[0], errNoTask)
	}
	return nil
}

// replayFinish gives back the task with the recorded outcome.
func (r *Raw) replayFinish(now time.Time, f *finishInput) error {
	t := r.tasks.Take(func(t *tasks.Task) bool { return t.Number == f.Task && t.Workload().ID == f.Workload })
	if t == nil {
		return fmt.Errorf("finish workload %q: %w", f.Workload, errNoTask)
	}
	t.Settle(nil)
	switch f.Code {
	case extpoints.Success:
	case extpoints.Error:
		t.Status = extpoints.AsStatus(errors.New(f.Message)).WithPlugin(f.Plugin)
	default:
		t.Status = extpoints.NewStatus(f.Code, f.Message).WithPlugin(f.Plugin)
	}
	for _, text := range f.Failed {
		t.Failed = append(t.Failed, errors.New(text))
	}
	if t.Member != nil {
		t.Member.State.Activate(f.Activate...)
	}
	r.Finish(now, asTask(t))
	return nil
}
