package scheduler

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// What waits for a dependency that can never be met stays, so that its user may requeue
// what it depends on, or is cancelled where the job says so (KillOnInvalidDep). Where
// the controller comes upon it, it is only noted; neverDue looks again and cancels.

// noteNever has a job looked at whose elements may wait in vain.
func (c *Controller) noteNever(id job.ID) { c.timers.set(time.Now(), jobDue(dueNever, id)) }

// noteElement has one element of a job looked at, where the job asks for it.
func (c *Controller) noteElement(j *state.Job, t *tracked, index int32) {
	if j.Spec.KillOnInvalidDep {
		t.never[index] = true
		c.noteNever(j.ID)
	}
}

// noteSame has all elements looked at of jobs whose elements wait for those of one:
// it has ended, or many elements have at once, without rows of their own.
func (c *Controller) noteSame(v state.View, id job.ID) {
	for d := range c.dependents[id] {
		if j, t := v.Job(d), c.jobs[d]; j != nil && t != nil && j.Spec.KillOnInvalidDep && waitsForSame(j, id) {
			t.neverAll = true
			c.noteNever(d)
		}
	}
}

// neverDue cancels what waits in vain of a job, and looks again later: a command may not
// have been recorded.
func (c *Controller) neverDue(ctx context.Context, v state.View, d due) {
	j, t := v.Job(d.element.Job), c.jobs[d.element.Job]
	if j == nil || t == nil || j.Done() {
		return
	}
	if why := v.Impossible(j); why != "" {
		s := state.Select{Job: j.ID, Reason: why}
		if j.Active() > 0 { // what runs may go on
			s.Elements = indexesOf(slices.Sorted(waitingOf(v, j)))
		}
		c.cancelNever(ctx, s)
		c.timers.set(time.Now().Add(retryDue), d)
		return
	}
	candidates := maps.Keys(t.never)
	if t.neverAll {
		candidates = waitingOf(v, j)
	}
	found := map[int32]bool{}
	byDependency := map[string][]int32{}
	for index := range candidates {
		if s, _ := v.StateOf(j, index); s != job.Pending {
			continue
		}
		if dependency, _ := v.ElementImpossible(j, index); dependency != "" {
			found[index] = true
			byDependency[dependency] = append(byDependency[dependency], index)
		}
	}
	t.never, t.neverAll = found, false
	for _, dependency := range slices.Sorted(maps.Keys(byDependency)) {
		indices := byDependency[dependency]
		slices.Sort(indices)
		_, why := v.ElementImpossible(j, indices[0])
		if len(indices) > 1 {
			why = "the elements of the same indices have not completed, so " + dependency + " can never be met"
		}
		c.cancelNever(ctx, state.Select{Job: j.ID, Elements: indexesOf(indices), Reason: why})
		c.timers.set(time.Now().Add(retryDue), d)
	}
}

func (c *Controller) cancelNever(ctx context.Context, s state.Select) {
	c.propose(ctx, &state.Command{By: "dependency", Cancel: &state.Cancel{Select: s, State: job.Cancelled}})
}

// waitingOf yields the elements of a job that wait and are not held by themselves.
func waitingOf(v state.View, j *state.Job) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for index, ok := v.NextWaiting(j, -1); ok; index, ok = v.NextWaiting(j, index) {
			if !yield(index) {
				return
			}
		}
		for e := range v.Elements(j.ID) {
			if e.State == job.Pending && e.Held == "" && !yield(e.Index) {
				return
			}
		}
	}
}

// indexesOf is the set of indices, which are in order; of a set that cannot be written
// with MaxRanges ranges it is the beginning.
func indexesOf(indices []int32) *job.Indexes {
	var ranges []string
	for i := 0; i < len(indices) && len(ranges) < job.MaxRanges; {
		last := i
		for last+1 < len(indices) && indices[last+1] == indices[last]+1 {
			last++
		}
		ranges = append(ranges, strconv.Itoa(int(indices[i]))+"-"+strconv.Itoa(int(indices[last])))
		i = last + 1
	}
	x, _ := job.ParseIndexes(strings.Join(ranges, ",")) // in order, and none twice
	return &x
}
