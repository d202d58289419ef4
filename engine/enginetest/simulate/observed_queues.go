package simulate

import (
	"slices"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// define notes the queues, principals and limits that are defined.
func (o *observed) define(v *engine.View) {
	o.queues, o.principals, o.limits = map[string]*model.Queue{}, map[string]*model.Principal{}, map[string]*model.Limit{}
	for row := range v.Objects(model.QueueKind) {
		q := row.Object.(*model.Queue)
		o.queues[q.Name] = q
	}
	for row := range v.Objects(model.PrincipalKind) {
		p := row.Object.(*model.Principal)
		o.principals[p.Name] = p
	}
	for row := range v.Objects(model.LimitKind) {
		l := row.Object.(*model.Limit)
		o.limits[l.Name] = l
	}
}

// placed lists the workloads that the engine has put on nodes in the step from the state before.
func (o *observed) placed(before *observed) (list []model.WorkloadRecord) {
	for _, id := range o.ids {
		row, old := o.rows[id], before.rows[id]
		if row.Phase == model.Assumed && (old.Phase != model.Assumed || old.CreateIndex != row.CreateIndex) {
			list = append(list, row)
		}
	}
	return list
}

// above lists the queues that the workload is in, from its own up, as far as they are there.
func (o *observed) above(w *model.Workload) (list []*model.Queue) {
	for q := o.queues[w.Queue]; q != nil; q = o.queues[q.Parent] {
		list = append(list, q)
	}
	return list
}

// sum adds up the requests of the workloads that take room and of which the condition holds.
func (o *observed) sum(holds func(*model.Workload) bool) (sum model.Resources, n int64) {
	for _, id := range o.ids {
		if row := o.rows[id]; isPlaced(&row) && holds(row.Workload) {
			sum.Add(&row.Requests)
			n++
		}
	}
	return sum, n
}

// usedIn is what those use together that take room in the queue, or in one below it.
func (o *observed) usedIn(queue string) model.Resources {
	sum, _ := o.sum(func(w *model.Workload) bool {
		return slices.ContainsFunc(o.above(w), func(q *model.Queue) bool { return q.Name == queue })
	})
	return sum
}
