package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/forecast"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/engine/internal/wake"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
)

// state is what an engine goes on from in which nothing is under way.
type state struct {
	Record    *record.State
	Queue     *queue.State
	Decisions decide.Past
	Tasks     uint64 // how many were made
	// NextHold is when the next hold begins or ends that those who wait were not told of.
	NextHold time.Time `json:",omitzero"`
	// Ended is for how long the workloads ran that have ended; nil where there are no forecasts.
	Ended *forecast.State `json:",omitempty"`
	// Rooms are those that were made and not used yet.
	Rooms rooms `json:",omitempty"`
	// Plan is nil where nothing is planned.
	Plan *timeline.Past `json:",omitempty"`
}

// StartRecording begins a recording in the middle of an engine's life: the header has
// the state of the engine, and what follows is recorded as by Config.Recorder, in place
// of whichever recorder the engine has. So a log need not reach back to the engine's
// beginning, and one that has grown long is followed by the next. It takes about as long
// as to adopt all workloads.
//
// It is an error, ErrUnderWay, while a binding, a wait on Permit, an eviction or a
// release is under way, or a preemption is: what plugins keep in the state of a cycle
// cannot be written down.
//
// The state has all nodes, workloads, groups, budgets, namespaces and objects, with what was
// decided about them and where each is, the order of nodes and of the workloads on each, reservations and
// promises, and of each workload that waits its place in the queue, times, attempts, backoff,
// nomination, gate, and the plugins that it waits for. It does not have:
//
//   - what plugins keep by themselves;
//   - past decisions, and why workloads were rejected, for Explain;
//   - for each node the moment as of which images are counted, and for a node that has
//     changed its zone since the last node came or went, or has gone and come back since
//     the last decision, that it kept its place. The engine itself forgets both here, so
//     that it goes on as a replay does;
//   - what anybody has asked for, with Handle.Activate say, that was not carried out yet:
//     it is in the log when it is.
func (r *Raw) StartRecording(now time.Time, rec *Recorder) error {
	return r.act("StartRecording", now, func() error {
		s, err := r.state()
		if err != nil {
			return err
		}
		text, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("record the state of the engine: %w", err)
		}
		if err := rec.take(r.listener.Failed); err != nil {
			return err
		}
		r.record(now, rec, text)
		r.rec.Renew(s.Record)
		return r.goOnFrom(s)
	})
}

// state returns the engine's.
func (r *Raw) state() (*state, error) {
	if n := r.tasks.UnderWay(); n > 0 {
		return nil, fmt.Errorf("%w: %d bindings, waits on Permit, evictions or releases", ErrUnderWay, n)
	}
	waiting, idle := r.queue.State()
	if !idle || !r.room.Idle() {
		return nil, fmt.Errorf("%w: room is being made", ErrUnderWay)
	}
	return &state{r.rec.State(), waiting, r.decider.Past(), r.tasks.Made(), r.nextHold, r.forecasts.state(), r.rooms, r.plan.Past()}, nil
}

// goOnFrom makes the queue anew, of the state, whose record is the engine's. That the
// engine does it that is recorded, and not only the one of a replay, leaves no room for
// a difference.
func (r *Raw) goOnFrom(s *state) error {
	q, err := queue.New(r.cfg.Queue, r.cfg.Compat, r.queueHooks())
	if err != nil {
		return err
	}
	r.queue, r.wake = q, wake.New(q, r.rec, r.cfg.Compat, r.decider.Meter)
	r.decider.Resume(s.Decisions)
	r.tasks.Resume(s.Tasks)
	if r.cfg.Order == OrderByQueues {
		loadAccounts(r.queue, r.rec, r.now)
	}
	r.nextHold = s.NextHold
	if r.rooms = s.Rooms; r.rooms == nil {
		r.rooms = rooms{}
	}
	err = q.Resume(s.Queue, func(id string) *extpoints.WorkloadInfo {
		if row := r.rec.Workload(id); row != nil {
			return row.Info
		}
		return nil
	})
	r.newPlan()
	r.plan.Resume(s.Plan, q.InOrder())
	r.forecasts.resume(s.Ended)
	return err
}

// resume makes the state of the header that of a new engine.
func (r *Raw) resume(h *header) error {
	if h.State == nil {
		return nil
	}
	if sumOf(h.State) != h.Sum {
		return errors.New("it was damaged")
	}
	var s state
	if err := json.Unmarshal(h.State, &s); err != nil {
		return err
	}
	if s.Record == nil || s.Queue == nil || r.plan != nil && s.Plan == nil {
		return errors.New("it is not whole")
	}
	r.rec.Load(s.Record)
	r.forgotten = s.Tasks
	return r.goOnFrom(&s)
}

// starting is a recording that is to begin as soon as it can.
type starting struct {
	recorder *Recorder
	begun    chan error
}

// StartRecording begins a recording in the middle of the engine's life; see
// [Raw.StartRecording]. It waits until nothing is under way. Meanwhile nothing new is
// scheduled, unless a workload waits on Permit: that may be for others to be scheduled.
// It returns the cause where ctx ends before. One recording can be waited for at a time;
// another is ErrUnderWay at once, and so is one where nothing runs that would end what is
// under way.
func (e *Engine) StartRecording(ctx context.Context, rec *Recorder) error {
	if err := e.lock("StartRecording"); err != nil {
		return err
	}
	s := &starting{rec, make(chan error, 1)}
	e.hold(func(r *Raw, now time.Time) {
		err := r.StartRecording(now, rec)
		if errors.Is(err, ErrUnderWay) && e.runs.Load() && e.starting == nil {
			e.starting = s
			return
		}
		s.begun <- err
	})
	e.poke()
	select {
	case err := <-s.begun:
		return err
	case <-ctx.Done():
	}
	e.locked(func(*Raw, time.Time) {
		if e.starting == s {
			e.starting = nil
			s.begun <- context.Cause(ctx)
		}
	})
	return <-s.begun
}

// beginRecording begins the recording that is waited for, if it can. It reports whether
// nothing new is to be scheduled, so that it can.
func (e *Engine) beginRecording(r *Raw, now time.Time) (hold bool) {
	if e.starting == nil {
		return false
	}
	err := r.StartRecording(now, e.starting.recorder)
	if errors.Is(err, ErrUnderWay) && e.runs.Load() {
		return e.awaitsRecording(r)
	}
	e.starting.begun <- err
	e.starting = nil
	return false
}

// awaitsRecording reports whether nothing new is to be scheduled for the recording that is waited for.
func (e *Engine) awaitsRecording(r *Raw) bool {
	_, permit := r.permits.NextDue()
	return e.starting != nil && !permit
}
