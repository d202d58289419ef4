package defaultpreemption

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// queues is what the order by queues says of who may be displaced. Nil stands for an engine
// whose order is another: then priorities alone decide, as in kube-scheduler.
type queues struct{ extpoints.Reclaim }

var notLasting = extpoints.NewStatus(extpoints.Unschedulable, "the displaced workloads could win the room back at once")

// askQueues returns nil where the order is not by queues.
func (p *DefaultPreemption) askQueues(s *extpoints.CycleState, priority int32, members ...*extpoints.WorkloadInfo) *queues {
	by, ok := p.handle.Preemption().(extpoints.Reclaiming)
	if !ok || len(members) == 0 {
		return nil
	}
	if r := by.Reclaim(s, priority, members); r != nil {
		return &queues{r}
	}
	return nil
}

// futile says why nobody is to be displaced for the workload, or the members of a group.
func (p *DefaultPreemption) futile(s *extpoints.CycleState, members ...*extpoints.WorkloadInfo) *extpoints.Status {
	if f, ok := p.handle.Preemption().(extpoints.Futility); ok {
		return f.Futile(s, members...)
	}
	return nil
}

// choose leaves those in the list who may be displaced, in the order in which they are.
func (q *queues) choose(r *roster) {
	if q == nil {
		return
	}
	r.offered = make([]extpoints.Leaver, len(r.list))
	for i, u := range r.list {
		u.place = i
		r.offered[i] = extpoints.Leaver{Workloads: u.appendTo(nil), Priority: u.priority(), Since: u.since}
	}
	chosen := q.Choose(r.offered)
	list := make([]*unit, len(chosen))
	for i, place := range chosen {
		list[i] = r.list[place]
	}
	r.list = list
}

// sort brings the list into the order in which they are put back.
func (q *queues) sort(list []*unit) {
	if q == nil {
		importance(list, (*unit).important)
		return
	}
	slices.Reverse(list)
}

// spare lets a victim for which there is room stay, unless others could not be displaced
// then.
func (q *queues) spare(u *unit) bool { return q == nil || q.Spare(u.place) }

// keep lets all of them stay, and reports whether others can be displaced all the same.
func (q *queues) keep(list []*unit) bool {
	return !slices.ContainsFunc(list, func(u *unit) bool { return !q.spare(u) })
}

// again chooses the same as before: nobody has been spared then.
func (q *queues) again(r *roster) {
	if q != nil {
		q.Choose(r.offered)
	}
}

// last reports whether the victims could not win their room back at once.
func (q *queues) last() bool { return q == nil || q.Lasts() }

// yields reports whether a workload that is nominated to the node must give way.
func (q *queues) yields(w, nominated *extpoints.WorkloadInfo) bool {
	if q == nil {
		return nominated.Priority < w.Priority
	}
	return q.Yields(nominated)
}

// agree reports whether the victims that extenders want may be displaced: only those who
// were chosen have passed.
func (q *queues) agree(chosen, wanted *extpoints.Victims) bool {
	if q == nil {
		return true
	}
	same := func(a, b *extpoints.WorkloadInfo) bool { return a.ID == b.ID }
	return slices.EqualFunc(chosen.Workloads, wanted.Workloads, same)
}
