package extpoints

import (
	"cmp"
	"math"
	"slices"

	"github.com/berth-project/berth/model"
)

// priorityTotals are what the workloads of a node request, the lowest priority first. They are
// nil where they would not pay: with too many priorities, or with a sum that has reached the
// largest amount and no longer says what it is made of.
type priorityTotals []priorityTotal

type priorityTotal struct {
	priority  int32
	workloads int
	requests  model.Resources // shared with clones: its Scalars are replaced, not changed
}

// mostPriorities is for how many priorities there are totals. A clone copies them.
const mostPriorities = 64

func totalsOf(list []*WorkloadInfo) priorityTotals {
	t := priorityTotals{}
	for _, w := range list {
		t = t.with(w)
	}
	return t
}

func (t priorityTotals) find(priority int32) (int, bool) {
	return slices.BinarySearchFunc(t, priority, func(x priorityTotal, p int32) int { return cmp.Compare(x.priority, p) })
}

// with returns the totals, changed in place, with the workload.
func (t priorityTotals) with(w *WorkloadInfo) priorityTotals {
	if t == nil {
		return nil
	}
	i, there := t.find(w.Priority)
	if !there {
		if len(t) == mostPriorities {
			return nil
		}
		t = slices.Insert(t, i, priorityTotal{priority: w.Priority})
	}
	total := &t[i]
	total.workloads++
	if len(w.Requests.Scalars) > 0 {
		total.requests = total.requests.Clone()
	}
	total.requests.Add(&w.Requests)
	if total.full() {
		return nil
	}
	return t
}

// from is [NodeInfo.RequestedFrom].
func (t priorityTotals) from(priority int32) (sum model.Resources, workloads int) {
	for i := len(t) - 1; i >= 0 && t[i].priority >= priority; i-- {
		sum.Add(&t[i].requests)
		workloads += t[i].workloads
	}
	return sum, workloads
}

// without is the opposite of with.
func (t priorityTotals) without(w *WorkloadInfo) priorityTotals {
	i, there := t.find(w.Priority)
	if !there {
		return nil
	}
	total := &t[i]
	if total.workloads--; total.workloads == 0 {
		return slices.Delete(t, i, i+1)
	}
	if len(w.Requests.Scalars) > 0 {
		total.requests = total.requests.Clone()
	}
	total.requests.Sub(&w.Requests)
	return t
}

func (t *priorityTotal) full() bool {
	r := &t.requests
	return max(r.CPU, r.Memory, r.EphemeralStorage) == math.MaxInt64 ||
		slices.ContainsFunc(r.Scalars, func(s model.Scalar) bool { return s.Amount == math.MaxInt64 })
}
