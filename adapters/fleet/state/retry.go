package state

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// MaxLosses is how often an element is tried again after attempts that ended for
// reasons that are not its own: lost nodes, and nodes that could not start it.
const MaxLosses = 10

// again decides whether the element is tried again after an attempt that ended with
// the outcome, and if so notes in its row when and where not.
func (e *Element) again(spec *job.Spec, o Outcome, now time.Time) bool {
	e.Eligible, e.Avoid = now, ""
	switch {
	case o.State == job.Completed:
		return false
	case e.Requeue:
		return true
	}
	switch o.State {
	case job.Cancelled, job.Deadline:
		return false
	case job.Requeued: // given up before it began
		return true
	case job.Preempted:
		return !spec.NoRequeue
	case job.NodeFail, job.BootFail:
		if spec.NoRequeue || e.Losses >= MaxLosses {
			return false
		}
		e.Eligible = now.Add(pause(&spec.Retry, e.Losses))
		e.Losses++
	default:
		if e.Failures >= spec.Retry.Limit || !o.counts(&spec.Retry) {
			return false
		}
		e.Eligible = now.Add(pause(&spec.Retry, e.Failures))
		e.Failures++
	}
	if !spec.Retry.SameNode && int(o.Rank) < len(e.Nodes) {
		e.Avoid = e.Nodes[o.Rank]
	}
	return true
}

// counts reports whether the outcome counts for a retry. A mistake that was confirmed would
// be made again, so it counts only for a user who asks for its exit code.
func (o *Outcome) counts(r *job.Retry) bool {
	if o.Mistake {
		return r.NamesExit(o.exitCode())
	}
	return r.Counts(o.State, o.exitCode(), o.exitSignal())
}

// pause is the time before the next try, after so many before it.
func pause(r *job.Retry, before int32) time.Duration {
	d, most := time.Duration(*r.Backoff), time.Duration(*r.MaxBackoff)
	for range before {
		if d >= most {
			break
		}
		d *= 2
	}
	return min(d, most)
}

func (o *Outcome) exitCode() int {
	if o.Exit == nil {
		return -1
	}
	return o.Exit.Code
}

func (o *Outcome) exitSignal() string {
	if o.Exit == nil {
		return ""
	}
	return o.Exit.Signal
}
