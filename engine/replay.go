package engine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
)

// Divergence is the first place at which a replay does not do what was recorded.
type Divergence struct {
	// Line is the place in the log, from 1. It is 1, that of the header, where every
	// decision was the same and only the configuration is another.
	Line int
	// Workload is the one that another decision was made about; empty where it is
	// about none.
	Workload string
	// Plugin is the extender or plugin whose recorded answer does not fit what is
	// asked; empty where it is not about an answer.
	Plugin string
	// Want is what was recorded, Got what the replay did.
	Want, Got string
	// Config are the settings that differ from those of the recording, and then the
	// version of this module if it does, a text for each: the likely cause.
	Config []string
}

// Error says it in one line.
func (d *Divergence) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "replay: line %d: ", d.Line)
	if d.Workload != "" {
		fmt.Fprintf(&b, "workload %q: ", d.Workload)
	}
	fmt.Fprintf(&b, "recorded: %s; replayed: %s", d.Want, d.Got)
	if len(d.Config) > 0 {
		fmt.Fprintf(&b, " (the configuration differs: %s)", strings.Join(d.Config, "; "))
	}
	return b.String()
}

// Replay makes an engine of the configuration and gives it the recorded inputs. Tasks
// are not run: they get the outcomes that were recorded, so the configuration needs no Orchestrator;
// without one tasks fail that are run later. Extenders, and plugins at
// PreEnqueue and Permit, are not asked: they get the answers that were recorded, so that
// a replay needs no network, and a gate that opened by a call opens again. The engine
// is as it was after the last input, so that it can be looked at; what it is then told
// to do, or to explain, it asks the extenders and plugins about.
//
// The error is one of these, and with all but the first two comes the engine as far as
// it got:
//
//   - what [NewRaw] says of the configuration;
//   - ErrNoHeader, where the log does not begin with a header that this version reads;
//   - a [*Divergence], where something else is decided than was recorded, or the
//     configuration has another part in decisions than the recording's. The replay
//     ends at the first decision that differs;
//   - ErrSecondRecording, where the header of another recording is in the log, and the line;
//   - ErrTornLog, where the last line is not whole, as a crash leaves it;
//   - what is wrong with a line, or what reading returns.
//
// Workers, Listener, Logger, Recorder and what else has no part in decisions may be other
// than they were. What plugins know besides the workload and the cluster is not
// recorded, PreEnqueue and Permit apart: one whose Filter counts calls diverges, and
// nobody asks its Permit to count again.
func Replay(cfg Config, log io.Reader) (*Raw, error) {
	if err := cfg.Recorder.free(); err != nil {
		return nil, err
	}
	p := &replay{log: bufio.NewReader(log)}
	h, err := p.header()
	if err != nil {
		return nil, err
	}
	if cfg.Orchestrator == nil {
		cfg.Orchestrator = h.standIn()
	}
	r, err := newRaw(cfg) // slots keep the plugins of the engine that was recorded
	if err != nil {
		return nil, err
	}
	// What plugins asked for is in the log, at the place where it took effect.
	r.commands.Deaf = true
	p.raw = r
	if err := p.begin(h); err != nil {
		return nil, err
	}
	recorded := r.noted
	r.noted = func(in input) {
		p.noted = append(p.noted, in)
		if recorded != nil {
			recorded(in)
		}
	}
	defer func() { r.noted = recorded }()
	return r, p.run()
}

// replay is a replay under way.
type replay struct {
	raw    *Raw
	log    *bufio.Reader
	line   int
	config []string // what differs
	strict bool     // and has a part in decisions
	noted  []input  // what the engine has noted of the present line
}

// next returns the next line; io.EOF behind the last. An unfinished one that is no JSON
// is torn.
func (p *replay) next() ([]byte, error) {
	line, err := p.log.ReadBytes('\n')
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("replay: line %d: %w", p.line+1, err)
	case err != nil && len(line) == 0:
		return nil, io.EOF
	}
	p.line++
	if err != nil && !json.Valid(line) {
		return nil, fmt.Errorf("replay: line %d: %w", p.line, ErrTornLog)
	}
	return line, nil
}

// header reads the header.
func (p *replay) header() (*header, error) {
	line, err := p.next()
	var h firstLine
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("replay: the log is empty: %w", ErrNoHeader)
	case err != nil && !errors.Is(err, ErrTornLog):
		return nil, err
	case json.Unmarshal(line, &h) != nil || h.Berth == nil:
		return nil, fmt.Errorf("replay: line 1: %w", ErrNoHeader)
	case h.Berth.Format != logFormat:
		return nil, fmt.Errorf("replay: line 1: the format is %d, and this version reads %d: %w", h.Berth.Format, logFormat, ErrNoHeader)
	}
	return h.Berth, nil
}

// begin brings the engine to the state that the log begins with.
func (p *replay) begin(h *header) error {
	if err := p.raw.resume(h); err != nil {
		return fmt.Errorf("replay: line 1: the state of the engine: %w: %w", err, ErrNoHeader)
	}
	p.raw.record(time.Time{}, p.raw.cfg.Recorder, h.State)
	own := headerOf(p.raw.cfg, p.raw.decider.Profiles)
	p.config = h.differs(own)
	p.strict = len(p.config) > 0
	if own.Version != h.Version {
		p.config = append(p.config, setting("version", h.Version, own.Version))
	}
	return nil
}

// run gives the engine the inputs.
func (p *replay) run() error {
	for {
		line, err := p.next()
		switch {
		case errors.Is(err, io.EOF) && p.strict:
			return &Divergence{Line: 1, Want: "another configuration", Got: "the same decisions", Config: p.config}
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		var in struct {
			input
			firstLine
		}
		switch err := json.Unmarshal(line, &in); {
		case in.Berth != nil, err != nil && beginsWithin(line):
			return fmt.Errorf("replay: line %d: %w", p.line, ErrSecondRecording)
		case err != nil:
			return fmt.Errorf("replay: line %d: %w", p.line, err)
		}
		if d := p.play(&in.input); d != nil {
			d.Line, d.Config = p.line, p.config
			return d
		}
	}
}

// beginsWithin reports whether a recording begins within the line, behind what a crash has
// left of an earlier one.
func beginsWithin(line []byte) bool {
	// Within a text of JSON the quotes would be escaped.
	at := bytes.LastIndex(line, []byte(`{"Berth":{`))
	var h firstLine
	return at > 0 && json.Unmarshal(line[at:], &h) == nil
}

// play gives the engine one input and compares what comes of it.
func (p *replay) play(in *input) *Divergence {
	p.noted = nil
	var refused error
	lost := p.raw.decider.Answers.Replay(in.Answers, func() { refused = p.raw.replay(in) })
	var answer *decide.LostAnswer
	switch {
	case refused != nil:
		return &Divergence{Want: in.what(), Got: refused.Error()}
	case errors.As(lost, &answer):
		return &Divergence{Workload: answer.Workload, Plugin: answer.By, Want: in.what(), Got: answer.Error()}
	case len(p.noted) == 0:
		return &Divergence{Want: in.what(), Got: "nothing to do"}
	}
	return in.effect.compare(&p.noted[0].effect)
}

// compare returns what differs first; nil for nothing.
func (want *effect) compare(got *effect) *Divergence {
	for i := range max(len(want.Decided), len(got.Decided)) {
		w, g := decisionAt(want.Decided, i), decisionAt(got.Decided, i)
		switch {
		case w.Workload != g.Workload:
			d := &Divergence{Workload: w.Workload, Want: w.of(), Got: g.of()}
			if d.Workload == "" {
				d.Workload = g.Workload
			}
			return d
		case w.String() != g.String():
			return &Divergence{Workload: w.Workload, Want: w.String(), Got: g.String()}
		}
	}
	if !slices.Equal(want.Victims, got.Victims) {
		return &Divergence{Want: fmt.Sprintf("victims %q", want.Victims), Got: fmt.Sprintf("victims %q", got.Victims)}
	}
	return nil
}

// decisionAt is the decision at the place, the zero one where there are not so many.
func decisionAt(list []decision, i int) (d decision) {
	if i < len(list) {
		d = list[i]
	}
	return d
}

// String says what was decided.
func (d *decision) String() string {
	var b bytes.Buffer
	switch {
	case d.Node != "" && d.Code != "":
		fmt.Fprintf(&b, "node %q, %s", d.Node, d.Code)
	case d.Node != "":
		fmt.Fprintf(&b, "node %q", d.Node)
	default:
		b.WriteString(d.Code)
	}
	if d.Limit > 0 {
		fmt.Fprintf(&b, " for %v", d.Limit)
	}
	if len(d.Plugins) > 0 {
		fmt.Fprintf(&b, " by %s", strings.Join(d.Plugins, ", "))
	}
	if d.Nominated != "" {
		fmt.Fprintf(&b, ", nominated to %q", d.Nominated)
	}
	return b.String()
}

// of says what was decided, and about which workload.
func (d *decision) of() string {
	if d.Workload == "" {
		return "nothing"
	}
	return fmt.Sprintf("a decision about %q (%s)", d.Workload, d)
}

// what names the input.
func (in *input) what() string {
	switch {
	case in.Apply != nil:
		return fmt.Sprintf("%d changes", len(in.Apply))
	case in.Schedule && len(in.Decided) > 0:
		return in.Decided[0].of()
	case in.Schedule:
		return "an attempt to schedule"
	case in.CallOff != nil:
		return "the end of what was under way"
	case in.Tick:
		return "something that was due"
	case in.Commands != nil:
		return "what plugins asked for"
	case in.Evict != nil:
		return fmt.Sprintf("an eviction of workload %q", in.Evict.Workload)
	case in.Finish != nil:
		return fmt.Sprintf("the end of task %d, of workload %q", in.Finish.Task, in.Finish.Workload)
	}
	return "an input that this version does not know"
}

// replay gives the engine one recorded input.
func (r *Raw) replay(in *input) error {
	switch {
	case in.Apply != nil:
		return r.Apply(in.At, in.Apply...)
	case in.Schedule:
		r.Schedule(in.At)
	case in.CallOff != nil:
		return r.replayCallOff(in.At, in.CallOff)
	case in.Tick:
		r.Tick(in.At)
	case in.Commands != nil:
		r.executeAll(in.At, in.Commands)
	case in.Evict != nil:
		return r.Evict(in.At, in.Evict.Workload, in.Evict.Reason)
	case in.Finish != nil:
		return r.replayFinish(in.At, in.Finish)
	default:
		return errors.New("the line has no input that this version knows")
	}
	return nil
}

// replayCallOff calls off the same tasks.
func (r *Raw) replayCallOff(now time.Time, c *callOffInput) error {
	rest := slices.DeleteFunc(c.Tasks, func(number uint64) bool { return number <= r.forgotten })
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
	switch {
	case t == nil && f.Task <= r.forgotten:
		r.settle(now, input{At: now, Finish: f})
		return nil
	case t == nil:
		return fmt.Errorf("finish workload %q: %w", f.Workload, errNoTask)
	}
	var st *extpoints.Status
	switch f.Code {
	case extpoints.Success:
	case extpoints.Error:
		st = extpoints.AsStatus(f.error()).WithPlugin(f.Plugin)
	default:
		st = extpoints.NewStatus(f.Code, f.Message).WithPlugin(f.Plugin)
	}
	var failed []error
	for _, text := range f.Failed {
		failed = append(failed, errors.New(text))
	}
	t.Replay(st, failed, f.Written)
	if t.Member != nil {
		t.Member.State.Activate(f.Activate...)
	}
	r.Finish(now, asTask(t))
	return nil
}

// error is that of the outcome.
func (f *finishInput) error() error {
	if f.NotThere {
		return recordedError(f.Message)
	}
	return errors.New(f.Message)
}

// recordedError is the text of an error that was an [extpoints.ErrNotThere].
type recordedError string

func (e recordedError) Error() string { return string(e) }

// Is implements the method of errors.Is.
func (recordedError) Is(target error) bool { return target == extpoints.ErrNotThere }
