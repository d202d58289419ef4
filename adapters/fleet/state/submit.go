package state

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// submit submits jobs, all or none.
func (t *tx) submit(c *Submit) Result {
	if c.Key != "" {
		if k := keys.get(t.txn, keys.id(&key{Owner: c.Owner, Key: c.Key})); k != nil {
			return Result{Jobs: k.Jobs, Repeated: true}
		}
	}
	if r := t.MayQueue(c); r.Err != nil {
		return r
	}
	first := t.m.NextJob
	specs := make([]job.Spec, len(c.Specs))
	for i := range c.Specs {
		specs[i] = c.Specs[i]
		after := slices.Clone(specs[i].After)
		for d := range after {
			id, err := t.dependency(after[d].Job, first, len(specs))
			if err != nil {
				return refuse(api.CodeInvalid, "jobs[%d].after[%d].job: %v", i, d, err)
			}
			after[d].Job = id.String()
		}
		specs[i].After = after
	}
	r := Result{}
	for i := range specs {
		r.Jobs = append(r.Jobs, t.addJob(&specs[i], c))
	}
	if c.Key != "" {
		keys.put(t.txn, &key{Owner: c.Owner, Key: c.Key, Jobs: r.Jobs})
	}
	return r
}

// addJob adds the next job.
func (t *tx) addJob(spec *job.Spec, c *Submit) job.ID {
	j := &Job{
		ID: t.m.NextJob, Spec: spec, Owner: c.Owner, Key: c.Key, Submitted: t.now(), Stored: StoredSize(spec),
	}
	t.m.NextJob++
	j.Counts[pending] = j.Elements()
	if spec.Hold {
		j.Held = job.ReasonHeldUser
	}
	t.putJob(j)
	t.emit(api.Event{Kind: api.EventSubmitted, Job: j.ID, Owner: j.Owner, State: job.Pending, Message: spec.Name})
	return j.ID
}

// dependency finds the job that another names: a number, or "+N" for the Nth of the
// same submission, whose first gets the number first.
func (t *tx) dependency(s string, first job.ID, count int) (job.ID, error) {
	if n, ok := strings.CutPrefix(s, "+"); ok {
		i, err := strconv.Atoi(n)
		if err != nil || i < 0 || i >= count {
			return 0, fmt.Errorf("there is no job %q in the submission", s)
		}
		return first + job.ID(i), nil
	}
	id, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no job's number", s)
	}
	if t.Job(job.ID(id)) == nil {
		return 0, fmt.Errorf("there is no job %d", id)
	}
	return job.ID(id), nil
}

// MayQueue refuses what the queues do not let in, as the submission would.
func (v View) MayQueue(c *Submit) Result {
	has := v.holdingOf(c.Owner)
	for i := range c.Specs {
		if err := sound(&c.Specs[i]); err != nil {
			return refuse(api.CodeInvalid, "jobs[%d]: %v", i, err)
		}
		name := c.Specs[i].Queue
		q := v.Queue(name)
		if q == nil {
			return refuse(api.CodeInvalid, "jobs[%d].queue: there is no queue %q", i, name)
		}
		if !q.Open(c.Owner) {
			return refuse(api.CodeForbidden, "jobs[%d].queue: user %q may not use queue %q", i, c.Owner, name)
		}
		has.queue(name, c.Specs[i].Tasks)
		if most := q.QueuedLimit(); has.Queued[name] > most {
			return refuse(api.CodeConflict,
				"user %q would have %d jobs in queue %q, a gang counted by its tasks, and %d are allowed; wait until some have ended",
				c.Owner, has.Queued[name], name, most)
		}
		if has.Stored += StoredSize(&c.Specs[i]); has.Stored > MaxStored {
			return refuse(api.CodeConflict,
				"as much is stored of the jobs of user %q as is allowed, %s; wait until some have ended, and are forgotten within minutes",
				c.Owner, job.Bytes(MaxStored))
		}
	}
	return Result{}
}

// sound refuses a spec that the state could not work with. That specs are valid, and
// have their defaults, is seen to before; this is not to be relied on then.
func sound(s *job.Spec) error {
	r := &s.Resources
	switch {
	case s.Tasks < 1 || s.Tasks > job.MaxTasks:
		return fmt.Errorf("it cannot have %d tasks", s.Tasks)
	case s.Retry.Backoff == nil || s.Retry.MaxBackoff == nil:
		return fmt.Errorf("its pauses have no defaults")
	case r.CPU < 0 || r.Memory < 0 || r.Disk < 0:
		return fmt.Errorf("its resources are negative")
	}
	for name, amount := range r.Other {
		if amount < 0 {
			return fmt.Errorf("its resource %.80q is negative", name)
		}
	}
	return nil
}
