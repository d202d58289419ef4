package simulate

import (
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// quotasOf calls f for what the queue may use of the resource at most, by each quota that says so.
func quotasOf(q *model.Queue, resource string, f func(quota queue.Quota, most int64)) {
	if most, said := q.Max[resource]; said {
		f(queue.QuotaMax, most)
	}
	if borrow, said := q.Borrow[resource]; said {
		f(queue.QuotaBorrow, q.Guaranteed[resource]+borrow)
	}
}

// checkQuotas: a queue uses more than its quotas allow only because they were changed, or because
// somebody else than the engine has put workloads there. Meanwhile the engine adds nothing.
func checkQuotas(before, after *observed) (p problems) {
	if len(after.queues) == 0 {
		return nil
	}
	for _, row := range after.placed(before) {
		for _, q := range after.above(row.Workload) {
			used := after.usedIn(q.Name)
			for _, resource := range row.Requests.Names() {
				if row.Requests.Get(resource) == 0 {
					continue
				}
				quotasOf(q, resource, func(quota queue.Quota, most int64) {
					if n := used.Get(resource); n > most {
						p.add("%s was placed, and queue %s uses %d %s, by its %s at most %d", row.ID, q.Name, n, resource, quota, most)
					}
				})
			}
		}
		p = append(p, after.checkLent(&row)...)
	}
	return p
}

// checkLent: where the workload has just been placed, the queues at the top still have what they
// are guaranteed and do not lend, except one that has it itself from what it does not lend.
func (o *observed) checkLent(row *model.WorkloadRecord) (p problems) {
	own := ""
	if list := o.above(row.Workload); len(list) > 0 {
		own = list[len(list)-1].Name
	}
	all, _ := o.sum(func(*model.Workload) bool { return true })
	for _, resource := range row.Requests.Names() {
		var capacity, kept int64
		for _, n := range o.nodes {
			capacity += n.Allocatable.Get(resource)
		}
		for _, name := range sortedKeys(o.queues) {
			if q := o.queues[name]; q.Parent == "" && name != own {
				kept += max(o.unlent(q, resource), 0)
			}
		}
		inOwn := own != "" && o.unlent(o.queues[own], resource) >= 0
		if row.Requests.Get(resource) > 0 && kept > 0 && all.Get(resource)+kept > capacity && !inOwn {
			p.add("%s was placed, and %d %s are used and %d kept by other queues, of %d", row.ID, all.Get(resource), resource, kept, capacity)
		}
	}
	return p
}

// unlent is how much the queue has left of what it is guaranteed and does not lend; below 0 where
// that is used up.
func (o *observed) unlent(q *model.Queue, resource string) int64 {
	lend, said := q.Lend[resource]
	if !said {
		return -1
	}
	used := o.usedIn(q.Name)
	return q.Guaranteed[resource] - lend - used.Get(resource)
}

// checkReasons: whatever waits has a reason, and something that may end it. What is active waits
// for its turn; see checkHolds where that does not come.
func checkReasons(o *observed) (p problems) {
	for _, id := range o.ids {
		pos, queued := o.positions[id]
		if row := o.rows[id]; row.Phase != model.Pending || !queued {
			continue
		}
		named := len(pos.UnschedulablePlugins)+len(pos.PendingPlugins) > 0
		switch pos.Place {
		case queue.Unschedulable:
			if !named && pos.Group == "" {
				p.add("%s waits for an event, and nothing has rejected it", id)
			}
		case queue.Gated:
			if pos.GatingPlugin == "" || pos.Gate == nil || pos.Gate.Message() == "" {
				p.add("%s is held back by %q, which does not say why: %v", id, pos.GatingPlugin, pos.Gate)
			}
		case queue.Backoff, queue.ErrorBackoff:
			if pos.BackoffExpiration.IsZero() {
				p.add("%s backs off, and nobody knows until when", id)
			}
		case queue.Active:
			p = append(p, o.checkHolds(&pos)...)
		}
	}
	return p
}

// checkHolds: what an active workload is said to be held back by does hold back the one that is next.
func (o *observed) checkHolds(pos *queue.Position) (p problems) {
	if pos.Standing == nil || pos.Standing.Held == nil {
		return nil
	}
	h := pos.Standing.Held
	ask, n := o.asks(h.Workload)
	switch {
	case h.Seconds, h.Absent != "", h.Quota == queue.QuotaLend: // goes by more than this
	case n == 0:
		p.add("%s is held back by %s, which does not wait", pos.ID, h)
	case h.Limit != "":
		l := o.limits[h.Limit]
		g := gauge{limit: h.Limit}
		if l != nil && l.Scope == model.LimitEachPrincipal {
			g.principal = h.Principal
		}
		if more := ofLimit(l, &ask, n); l == nil || l.Scope != model.LimitEachWorkload && o.usedOf(g)+more <= l.Amount {
			p.add("%s is held back by %s, and limit %q would not be exceeded: %d and %d", pos.ID, h, h.Limit, o.usedOf(g), more)
		}
	default:
		used, too := o.usedIn(h.Queue), false
		if q := o.queues[h.Queue]; q != nil {
			quotasOf(q, h.Resource, func(_ queue.Quota, most int64) {
				too = too || used.Get(h.Resource)+ask.Get(h.Resource) > most
			})
		}
		if !too {
			p.add("%s is held back by %s, and the queue uses %d", pos.ID, h, used.Get(h.Resource))
		}
	}
	return p
}

// asks is what the workload with the ID requests, or those that are active of the tree of groups, and how
// many they are.
func (o *observed) asks(id string) (sum model.Resources, n int64) {
	for _, other := range o.ids {
		pos, queued := o.positions[other]
		if queued && pos.Place == queue.Active && (other == id || pos.Group == id) {
			row := o.rows[other]
			sum.Add(&row.Requests)
			n++
		}
	}
	return sum, n
}
