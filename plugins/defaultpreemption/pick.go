package defaultpreemption

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins/helper"
)

// criteria say how good a candidate is, the more the better. A later one counts
// only among those that are best by all before it.
//
// Rules: kube-scheduler framework/preemption/preemption.go
// pickOneNodeForPreemption, 1.37.1.
var criteria = []func(v *extpoints.Victims, now time.Time) int64{
	func(v *extpoints.Victims, _ time.Time) int64 { return -int64(v.BudgetViolations) },
	func(v *extpoints.Victims, _ time.Time) int64 { return -int64(v.Workloads[0].Priority) },
	func(v *extpoints.Victims, _ time.Time) int64 { return -sumOfPriorities(v) },
	func(v *extpoints.Victims, _ time.Time) int64 { return -int64(len(v.Workloads)) },
	func(v *extpoints.Victims, now time.Time) int64 { return earliestStart(v, now).UnixNano() },
}

// sumOfPriorities adds priorities that are moved above 0, so that more victims
// of a negative priority are not less than fewer.
func sumOfPriorities(v *extpoints.Victims) (sum int64) {
	for _, w := range v.Workloads {
		sum += int64(w.Priority) + math.MaxInt32 + 1
	}
	return sum
}

// earliestStart is when the first of the victims of the highest priority
// started.
func earliestStart(v *extpoints.Victims, now time.Time) time.Time {
	highest := v.Workloads[0]
	since := startOf(highest, now)
	for _, w := range v.Workloads[1:] {
		at := startOf(w, now)
		if w.Priority > highest.Priority || w.Priority == highest.Priority && at.Before(since) {
			highest, since = w, at
		}
	}
	return since
}

func startOf(w *extpoints.WorkloadInfo, now time.Time) time.Time {
	if w.PlacedAt.IsZero() {
		return now
	}
	return w.PlacedAt
}

// pick returns the best candidate. It changes the list.
func (p *DefaultPreemption) pick(s *extpoints.CycleState, list []candidate) *candidate {
	for _, score := range criteria {
		if len(list) == 1 {
			break
		}
		best, rest := int64(math.MinInt64), list[:0]
		for i := range list {
			switch n := score(list[i].victims, s.Now()); {
			case n > best:
				best, rest = n, append(rest[:0], list[i])
			case n == best:
				rest = append(rest, list[i])
			}
		}
		list = rest
	}
	if p.args.TieBreak == RandomNode {
		return &list[helper.Draw(s.Seed(), tieStream, len(list))]
	}
	first := slices.MinFunc(list, func(a, b candidate) int { return cmp.Compare(a.place, b.place) })
	return &first
}
