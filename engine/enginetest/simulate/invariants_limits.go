package simulate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/berth-project/berth/model"
)

// limitsOn calls f for each limit that counts the workload. (The principals of a history have none
// above them.)
func (o *observed) limitsOn(w *model.Workload, f func(l *model.Limit, g gauge)) {
	queues := o.above(w)
	for _, name := range sortedKeys(o.limits) {
		l, g := o.limits[name], gauge{limit: name}
		at := slices.IndexFunc(queues, func(q *model.Queue) bool { return q.Name == l.Queue })
		counts := at == 0 || at > 0 && l.Scope != model.LimitOwn
		if l.Principal != "" {
			counts = l.Principal == w.Principal && o.principals[w.Principal] != nil
		}
		if l.Scope == model.LimitEachPrincipal {
			counts, g.principal = counts && w.Principal != "", w.Principal
		}
		if counts {
			f(l, g)
		}
	}
}

// ofLimit is what the limit counts of so many workloads that request so much.
func ofLimit(l *model.Limit, requests *model.Resources, workloads int64) int64 {
	if l == nil || l.Measure == model.LimitRunning || l.Measure == model.LimitCount {
		return workloads
	}
	return requests.Get(l.Resource)
}

// countedBy reports whether the gauge counts the workload.
func (o *observed) countedBy(g gauge, w *model.Workload) (counts bool) {
	o.limitsOn(w, func(_ *model.Limit, on gauge) { counts = counts || on == g })
	return counts
}

// usedOf is how much of the limit is used now by those that take room.
func (o *observed) usedOf(g gauge) int64 {
	sum, n := o.sum(func(w *model.Workload) bool { return o.countedBy(g, w) })
	return ofLimit(o.limits[g.limit], &sum, n)
}

// checkLimits: a limit is exceeded only because it was changed, or because somebody else than the
// engine has put workloads there. Meanwhile the engine adds nothing.
func checkLimits(before, after *observed) (p problems) {
	if len(after.limits) == 0 {
		return nil
	}
	for _, row := range after.placed(before) {
		after.limitsOn(row.Workload, func(l *model.Limit, g gauge) {
			one := ofLimit(l, &row.Requests, 1)
			switch {
			case one == 0 || l.Measure == model.LimitCount:
			case l.Scope == model.LimitEachWorkload:
				if l.Measure == model.LimitResource && one > l.Amount {
					p.add("%s was placed, and has %d, by limit %s each at most %d", row.ID, one, l.Name, l.Amount)
				}
			case l.Measure == model.LimitResourceSeconds:
				p = append(p, after.checkSeconds(&row, l, g)...)
			case after.usedOf(g) > l.Amount:
				p.add("%s was placed, and limit %s of %q (%s) has %d, at most %d", row.ID, l.Name, g.principal, l.Measure, after.usedOf(g), l.Amount)
			}
		})
	}
	return p
}

// checkSeconds: what was used of a limit on resource-seconds, and what those that run may yet use, are
// no more than it. One that stops those beyond it counts what was used, and leaves something.
func (o *observed) checkSeconds(row *model.WorkloadRecord, l *model.Limit, g gauge) (p problems) {
	used := o.spent[g].used * almost
	if l.Breach == model.LimitStop {
		if used >= float64(l.Amount) {
			p.add("%s was placed, and of limit %s of %q %.0f resource-seconds are used, of %d", row.ID, l.Name, g.principal, used, l.Amount)
		}
		return p
	}
	if runLimit(row) == 0 {
		p.add("%s was placed, has no time limit, and %s is a limit on resource-seconds", row.ID, l.Name)
	}
	left := 0.0
	for _, id := range o.ids {
		if other := o.rows[id]; isPlaced(&other) && o.countedBy(g, other.Workload) {
			ends := other.PlacedAt.Add(runLimit(&other)) // of those without a limit that is over
			left += float64(ofLimit(l, &other.Requests, 1)) * max(ends.Sub(o.at), 0).Seconds()
		}
	}
	if used+left*almost > float64(l.Amount) {
		p.add("%s was placed, and of limit %s of %q %.0f resource-seconds are used and %.0f may be, of %d", row.ID, l.Name, g.principal, used, left, l.Amount)
	}
	return p
}

// almost makes up for what a history counts in other steps than the engine.
const almost = 0.999

func runLimit(w *model.WorkloadRecord) time.Duration { return cmp.Or(w.GrantedLimit, w.Limit) }

// spend is what has been spent up to now, where the state before was that of the last step. What has come or gone in
// between does not count, as nobody knows when.
func (o *observed) spend(before *observed) map[gauge]spent {
	all := map[gauge]spent{}
	past := o.at.Sub(before.at).Seconds()
	for g, s := range before.spent {
		if l := o.limits[g.limit]; l == s.limit {
			all[g] = spent{l, s.used * decayed(l, past)}
		}
	}
	for _, id := range o.ids {
		row, old := o.rows[id], before.rows[id]
		if !isPlaced(&row) || !isPlaced(&old) || row.Workload != old.Workload || row.CreateIndex != old.CreateIndex || !row.PlacedAt.Equal(old.PlacedAt) {
			continue
		}
		before.limitsOn(row.Workload, func(l *model.Limit, g gauge) {
			if l.Measure == model.LimitResourceSeconds && l.Scope != model.LimitEachWorkload && o.limits[l.Name] == l {
				used := float64(ofLimit(l, &row.Requests, 1)) * past * decayed(l, past)
				all[g] = spent{l, all[g].used + used}
			}
		})
	}
	return all
}

// decayed is the part of what was used so many seconds ago that still counts.
func decayed(l *model.Limit, seconds float64) float64 {
	if l.HalfLife == 0 {
		return 1
	}
	return math.Exp2(-seconds / l.HalfLife.Seconds())
}
