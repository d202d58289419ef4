package simulate

import (
	"fmt"
	"math"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// What simulated queues are like: two at the top, two below the first, and one that is not
// always there.
var (
	simQueues     = []string{"lab", "shop", "lab/a", "lab/b", "late"}
	simPrincipals = []string{"", "ann", "bob"}
	simPolicies   = []model.OrderPolicy{"", model.OrderFIFO, model.OrderPriority, model.OrderShare, model.OrderUsage}
	simLimits     = []string{"l", "m"}
)

// countedPrincipal is the one whose workloads are limited in number. It has none but those that are
// submitted one by one, since such a limit refuses the whole transaction.
const countedPrincipal = "cat"

// queuesAtFirst are the definitions that a history begins with. Where calm, nothing in
// them holds anybody back.
func (s *sim) queuesAtFirst(calm bool) (changes []engine.Change) {
	if !s.o.Queues {
		return nil
	}
	for _, name := range simQueues {
		q := s.newQueue(name)
		if calm {
			q.Guaranteed, q.Max, q.Lend, q.Borrow = nil, nil, nil, nil
		}
		changes = append(changes, engine.PutObject(q))
	}
	for _, name := range append(simPrincipals[1:], countedPrincipal) {
		changes = append(changes, engine.PutObject(&model.Principal{Name: name, Shares: s.rng.Int64N(3)}))
	}
	for _, name := range simLimits {
		l := s.newLimit(name)
		if calm {
			if l.Amount = math.MaxInt64; l.Measure == model.LimitResourceSeconds {
				l.Breach = model.LimitStop // else it holds back what has no time limit
			}
		}
		if calm || name == simLimits[0] || s.chance(50) {
			changes = append(changes, engine.PutObject(l))
		}
	}
	return changes
}

func (s *sim) newQueue(name string) *model.Queue {
	q := &model.Queue{
		Name: name, Weight: s.rng.Int64N(4), Priority: int32(s.rng.IntN(2)), Policy: pickOf(s, simPolicies),
		Guaranteed: s.quota(25), Max: s.quota(50), Lend: s.quota(25), Borrow: s.quota(25),
	}
	if q.Policy == model.OrderUsage {
		q.HalfLife = pickOf(s, []time.Duration{time.Second, time.Minute, time.Hour, 7 * 24 * time.Hour})
	}
	s.reclaimable(q)
	if parent, _, below := cutQueue(name); below {
		q.Parent = parent
	}
	for resource, most := range q.Max {
		if q.Guaranteed[resource] > most {
			q.Guaranteed[resource] = most
		}
	}
	return q
}

var reclaimPolicies = []model.ReclaimPolicy{"", model.ReclaimNever, model.ReclaimLower, model.ReclaimAny, model.ReclaimAny}

// reclaimable gives the queue what it says of displacing others.
func (s *sim) reclaimable(q *model.Queue) {
	q.Reclaim = pickOf(s, reclaimPolicies)
	if s.chance(20) {
		q.Protected = s.rng.Int64N(model.PerMillion + 1)
	}
	if s.chance(30) {
		q.MinRuntime = time.Duration(s.rng.IntN(120)) * time.Second
	}
}

func cutQueue(name string) (parent, rest string, below bool) {
	if len(name) > 4 && name[3] == '/' {
		return name[:3], name[4:], true
	}
	return "", name, false
}

func (s *sim) quota(share int) map[string]int64 {
	m := map[string]int64{}
	for _, resource := range []string{model.CPU, model.Memory, "licences"} {
		if s.chance(share) {
			m[resource] = pickOf(s, simAmounts)
			if resource == "licences" {
				m[resource] %= 4
			}
		}
	}
	return m
}

// newLimit makes a limit of any kind.
func (s *sim) newLimit(name string) *model.Limit {
	l := &model.Limit{
		Name: name, Queue: pickOf(s, simQueues), Scope: pickOf(s, []model.LimitScope{model.LimitEachPrincipal, model.LimitSubtree, model.LimitOwn}),
	}
	if s.chance(20) {
		l.Queue, l.Principal, l.Scope = "", pickOf(s, simPrincipals[1:]), pickOf(s, []model.LimitScope{model.LimitSubtree, model.LimitOwn})
	}
	switch n := s.rng.IntN(100); {
	case n < 10:
		l.Queue, l.Principal, l.Scope = "", countedPrincipal, model.LimitOwn
		l.Measure, l.Amount, l.Breach = model.LimitCount, s.rng.Int64N(4), model.LimitRefuse
	case n < 45:
		l.Measure, l.Amount = model.LimitRunning, s.rng.Int64N(4)
	case n < 70:
		l.Measure, l.Resource, l.Amount = model.LimitResource, pickOf(s, []string{model.CPU, model.Memory}), pickOf(s, simAmounts)
		if s.chance(15) {
			l.Scope = model.LimitEachWorkload
		}
	default:
		s.overTime(l)
	}
	return l
}

// overTime makes it a limit on what is used over time.
func (s *sim) overTime(l *model.Limit) {
	l.Measure, l.Resource, l.Amount = model.LimitResourceSeconds, model.CPU, s.rng.Int64N(pickOf(s, []int64{100_000, 10_000_000}))
	l.Breach = pickOf(s, []model.LimitBreach{"", model.LimitHold, model.LimitStop})
	if s.chance(50) {
		l.HalfLife = pickOf(s, []time.Duration{time.Minute, time.Hour})
	}
}

// inputQueues changes a definition, or takes one away.
func inputQueues(s *sim) string {
	if !s.o.Queues {
		return ""
	}
	name := pickOf(s, simQueues)
	ref := model.ObjectRef{Kind: model.QueueKind, ID: name}
	_, there := s.raw.View().Object(ref)
	switch {
	case s.chance(30):
		l := s.newLimit(pickOf(s, simLimits))
		s.apply(engine.PutObject(l))
		return fmt.Sprintf("put limit %+v", *l)
	case there && name == "late":
		s.apply(engine.RemoveObject(ref))
		return "remove queue " + name
	}
	q := s.newQueue(name)
	s.apply(engine.PutObject(q))
	return fmt.Sprintf("put queue %+v", *q)
}

// enqueueIn gives the workload a queue and a principal. The members of groups, which must have
// the same, have theirs already.
func (s *sim) enqueueIn(w *model.Workload) {
	if !s.o.Queues || w.Group != "" {
		return
	}
	w.Queue, w.Principal = pickOf(s, simQueues), pickOf(s, simPrincipals)
	if s.chance(10) {
		w.Queue = ""
	}
}

// queuesAbove lists the queues that the workload is in, as far as they are there.
func (s *sim) queuesAbove(w *model.Workload) (list []*model.Queue) {
	v := s.raw.View()
	for name := w.Queue; name != ""; {
		row, ok := v.Object(model.ObjectRef{Kind: model.QueueKind, ID: name})
		if !ok {
			return list
		}
		q := row.Object.(*model.Queue)
		list = append(list, q)
		name = q.Parent
	}
	return list
}

// checkCharges: what is charged to each queue is what the workloads in it request that
// take room, no more and no less.
func (s *sim) checkCharges() {
	if !s.o.Queues {
		return
	}
	want := map[string]*model.Resources{}
	for row := range s.raw.View().Workloads() {
		if row.Phase.TakesRoom() && row.Node != "" {
			for _, q := range s.queuesAbove(row.Workload) {
				if want[q.Name] == nil {
					want[q.Name] = &model.Resources{}
				}
				want[q.Name].Add(&row.Workload.Requests)
			}
		}
	}
	for _, l := range s.raw.Queues() {
		if l.Principal != "" {
			continue
		}
		for _, resource := range []string{model.CPU, model.Memory, model.EphemeralStorage, "licences"} {
			var sum int64
			if w := want[l.Queue]; w != nil {
				sum = w.Get(resource)
			}
			if got := l.Use[resource]; got != sum {
				s.fail("%d %s are charged to queue %s, and %d are used in it", got, resource, l.Queue, sum)
			}
		}
	}
}

// noteHeld counts that workloads were held back.
func (s *sim) noteHeld() {
	if !s.o.Queues {
		return
	}
	for _, pos := range s.cur.positions {
		if pos.Standing != nil && pos.Standing.Held != nil {
			s.reach("workload held back")
		}
	}
}

// tooMany reports whether a limit on their number refuses the workload.
func (s *sim) tooMany(w *model.Workload) (refuses bool) {
	if !s.o.Queues {
		return false
	}
	var o observed
	o.define(s.raw.View())
	known := len(s.rowsWhere(func(row *model.WorkloadRecord) bool {
		return row.Principal == countedPrincipal && row.Phase != model.Finished
	}))
	o.limitsOn(w, func(l *model.Limit, _ gauge) {
		refuses = refuses || l.Measure == model.LimitCount && int64(known) >= l.Amount
	})
	return refuses
}
