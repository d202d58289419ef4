package state

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// Wait says why elements of a job may not be placed now, besides that there may be
// no room.
type Wait struct {
	Reason  job.Reason // empty: nothing keeps them
	Message string     // Reason in words
	// Until is when it ends, where time alone ends it.
	Until time.Time
}

// None reports whether nothing keeps them.
func (w *Wait) None() bool { return w.Reason == job.ReasonNone }

// Waits says what keeps all elements of the job from being placed. What keeps
// single ones is said by ElementWaits.
func (v View) Waits(j *Job, now time.Time) Wait {
	if j.Held != "" {
		return Wait{Reason: j.Held, Message: "it is held; release it to let it start"}
	}
	if q := v.Queue(j.Spec.Queue); q == nil || q.Stopped {
		return Wait{Reason: job.ReasonQueueStopped, Message: fmt.Sprintf("queue %s is stopped", j.Spec.Queue)}
	}
	if now.Before(j.Spec.Begin) {
		return Wait{Reason: job.ReasonBeginTime, Message: "it may not begin before its time", Until: j.Spec.Begin}
	}
	if w := v.waitsForReservation(j, now); !w.None() {
		return w
	}
	for i := range j.Spec.After {
		if d := &j.Spec.After[i]; d.Kind != job.AfterCorr {
			if w := v.waitsFor(d); !w.None() {
				return w
			}
		}
	}
	if j.Spec.Singleton {
		if o := v.OldestNamed(j.Owner, j.Spec.Name); o != nil && o.ID < j.ID {
			return Wait{Reason: job.ReasonDependency, Message: fmt.Sprintf("job %d of the same name has not ended", o.ID)}
		}
	}
	return Wait{}
}

// ElementWaits says what keeps one element of the job from being placed, that does
// not keep all.
func (v View) ElementWaits(j *Job, index int32, now time.Time) Wait {
	if e := v.Element(j.ID, index); e != nil {
		if e.Held != "" {
			return Wait{Reason: e.Held, Message: "it is held; release it to let it start"}
		}
		if now.Before(e.Eligible) && e.Eligible.Sub(now) < longest(&j.Spec.Retry) {
			return Wait{Reason: job.ReasonBackoff, Message: v.lastCause(e), Until: e.Eligible}
		}
	} else if _, isHeld := v.StateOf(j, index); isHeld {
		return Wait{Reason: job.ReasonHeldUser, Message: "it is held; release it to let it start"}
	}
	for i := range j.Spec.After {
		if d := &j.Spec.After[i]; d.Kind == job.AfterCorr {
			if w := v.waitsForElement(d, index); !w.None() {
				return w
			}
		}
	}
	return Wait{}
}

// lastCause says where and why the last attempt of an element failed.
func (v View) lastCause(e *Element) string {
	r := v.LastRecord(e.Job, e.Index)
	if r == nil || r.Attempt != e.Attempt {
		return "it is tried again after a pause" // the record was purged
	}
	if n := r.Node(); n != "" {
		return n + ": " + r.Outcome.Cause()
	}
	return r.Outcome.Cause()
}

// longest is more than any pause before a retry: what is to end later than that was
// written when a leader's clock was wrong, and nobody waits for it.
func longest(r *job.Retry) time.Duration {
	return time.Duration(*r.MaxBackoff) + clocks
}

// Impossible says why no element of the job can ever start that has not, because of a
// dependency of the whole job; "" where that is not so.
func (v View) Impossible(j *Job) string {
	for i := range j.Spec.After {
		if d := &j.Spec.After[i]; d.Kind != job.AfterCorr {
			if w := v.waitsFor(d); w.Reason == job.ReasonNever {
				return w.Message
			}
		}
	}
	return ""
}

// NeverMet says which dependencies of a job that is not submitted yet can never be met:
// of elements on those of another job, where none of these can complete any more.
// Dependencies on jobs that are not known are left out.
func (v View) NeverMet(s *job.Spec) []string {
	var out []string
	for i := range s.After {
		d := &s.After[i]
		id, _ := d.ID()
		o := v.Job(id)
		switch {
		case o == nil:
		case d.Kind != job.AfterCorr:
			if w := v.waitsFor(d); w.Reason == job.ReasonNever {
				out = append(out, w.Message)
			}
		case o.Done() && o.Counts[completed] == 0:
			w := never(d, "no element of job %d has completed", id)
			out = append(out, w.Message)
		}
	}
	return out
}

// ElementImpossible says which dependency of one element can never be met, and why; ""
// where there is none.
func (v View) ElementImpossible(j *Job, index int32) (dependency, why string) {
	for i := range j.Spec.After {
		if d := &j.Spec.After[i]; d.Kind == job.AfterCorr {
			if w := v.waitsForElement(d, index); w.Reason == job.ReasonNever {
				return nameOf(d), w.Message
			}
		}
	}
	return "", ""
}

// nameOf is a dependency as users write it.
func nameOf(d *job.Dependency) string { return fmt.Sprintf("%s:%s", d.Kind, d.Job) }

// never is the wait for a dependency that can never be met.
func never(d *job.Dependency, format string, args ...any) Wait {
	return Wait{Reason: job.ReasonNever, Message: fmt.Sprintf(format, args...) + ", so " + nameOf(d) + " can never be met"}
}

// waitsFor says whether a dependency of a whole job holds.
func (v View) waitsFor(d *job.Dependency) Wait {
	id, _ := d.ID()
	o := v.Job(id)
	if o == nil {
		return never(d, "job %s is not known any more", d.Job)
	}
	done, ok := o.Done(), o.Counts[completed] == o.Elements()
	someFailed := o.Counts[completed]+o.Counts[pending]+o.Active() < o.Elements()
	wait := Wait{Reason: job.ReasonDependency, Message: fmt.Sprintf("it waits for job %d, which is %s", id, o.State())}
	switch d.Kind {
	case job.AfterOK:
		switch {
		case ok:
			return Wait{}
		case someFailed && o.Elements() > 1 && !done:
			return never(d, "an element of job %d has not completed", id)
		case someFailed:
			return never(d, "job %d is %s", id, o.State())
		}
	case job.AfterNotOK:
		switch {
		case done && !ok:
			return Wait{}
		case ok:
			return never(d, "job %d is %s", id, o.State())
		}
	case job.AfterAny:
		if done {
			return Wait{}
		}
	case job.AfterStart:
		if o.Counts[pending] == 0 {
			return Wait{}
		}
	}
	return wait
}

// waitsForElement says whether the dependency of an element on that of the same
// index holds.
func (v View) waitsForElement(d *job.Dependency, index int32) Wait {
	id, _ := d.ID()
	o := v.Job(id)
	if o == nil || !o.HasElement(index) {
		return never(d, "job %s has no element %d", d.Job, index)
	}
	switch s, _ := v.StateOf(o, index); {
	case s == job.Completed:
		return Wait{}
	case s.Ended():
		return never(d, "element %d of job %d is %s", index, id, s)
	}
	return Wait{Reason: job.ReasonDependency, Message: fmt.Sprintf("it waits for element %d of job %d", index, id)}
}
