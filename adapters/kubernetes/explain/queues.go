package explain

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/model"
)

// listQueues answers what the queues and limits allow, and what is used of them. What the engine says
// of use over time, of limits and of those held back is each as of a moment of its own: the engine
// schedules on meanwhile.
func (h *handler) listQueues(r *http.Request) (any, error) {
	t := newQueueTree(h.engine.View(), h.engine.Queues(), h.engine.HeldBack())
	name := r.URL.Query().Get("queue")
	if name != "" && t.queues[name] == nil && t.own[name] == nil {
		if len(t.queues) == 0 {
			return nil, notFound("there is no queue %q, and no other: the configuration has no document of kind %s with queues", name, queueing.Kind)
		}
		return nil, notFound("there is no queue %q", name)
	}
	t.sum("")
	t.list("", new(1.0))
	t.listOthers()
	if name != "" {
		t.keep(name)
	}
	return &api.QueueTree{
		TypeMeta: metav1.TypeMeta{APIVersion: api.Version, Kind: api.QueueTreeKind},
		At:       metav1.NowMicro(),
		Standby:  h.o.Leads != nil && !h.o.Leads(),
		Capacity: resourceList(&t.capacity),
		Queues:   t.out,
		Limits:   t.limits(name == ""),
	}, nil
}

// list lists the queues in one, which is to have the part of the cluster: nil where that goes by no
// weights.
func (t *queueTree) list(parent string, part *float64) {
	if q := t.queues[parent]; q != nil && q.Policy != "" && q.Policy != model.OrderShare && q.Policy != model.OrderUsage {
		part = nil
	}
	for _, name := range t.below[parent] {
		var own *float64
		if part != nil {
			own = new(*part * t.due(parent, name))
		}
		u := t.use(t.queues[name])
		u.FairShare = own
		t.out = append(t.out, u)
		t.list(name, own)
	}
}

// listOthers lists the queues that are not there and have pods, and those that are in no queue.
func (t *queueTree) listOthers() {
	if len(t.queues) == 0 {
		return
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(t.own)), func(name string) bool { return t.queues[name] != nil || name == "" })
	if t.own[""] != nil {
		names = append(names, "")
	}
	for _, name := range names {
		t.out = append(t.out, api.QueueUse{
			Name: name, Absent: name != "", Use: t.useOf(t.own[name]), Held: t.heldByQueue[name], Namespaces: t.namespacesOf(name, false),
		})
	}
}

// due is the part of its parent that the queue should have: by its weight, among all there that have
// pods. Without a weight that is nothing beside those that have one, and the same for all where none
// has; namespaces have none.
func (t *queueTree) due(parent, name string) float64 {
	weights, active := int64(0), len(t.namespaces[parent])
	for _, other := range t.below[parent] {
		if other == name || t.total[other].pods() > 0 {
			weights += t.queues[other].Weight
			active++
		}
	}
	if weights > 0 {
		return float64(t.queues[name].Weight) / float64(weights)
	}
	return 1 / float64(active)
}

// use is what the queue may use, and what is used in it.
func (t *queueTree) use(q *model.Queue) api.QueueUse {
	u := api.QueueUse{
		Name: q.Name, Parent: q.Parent, Policy: string(cmp.Or(q.Policy, model.OrderShare)), Weight: q.Weight, Priority: q.Priority,
		Guaranteed: quantities(q.Guaranteed), Max: quantities(q.Max),
		Use: t.useOf(t.total[q.Name]), Held: t.heldByQueue[q.Name],
		Namespaces: t.namespacesOf(q.Name, q.Policy == model.OrderUsage),
	}
	if q.HalfLife > 0 {
		u.HalfLife = &metav1.Duration{Duration: q.HalfLife}
	}
	if above := t.queues[q.Parent]; above != nil && above.Policy == model.OrderUsage {
		u.Past = pastUse(t.past[part{queue: q.Name}])
	}
	return u
}

// namespacesOf are those with pods in the queue itself, with what they have used if it goes by that.
func (t *queueTree) namespacesOf(of string, byUsage bool) (list []api.NamespaceUse) {
	for _, name := range t.namesIn(of, byUsage) {
		n := api.NamespaceUse{Name: name, Use: t.useOf(t.namespaces[of][name])}
		if byUsage {
			n.Past = pastUse(t.past[part{of, name}])
		}
		list = append(list, n)
	}
	return list
}

// keep leaves the queue and those below it.
func (t *queueTree) keep(name string) {
	kept := map[string]bool{name: true}
	var list []api.QueueUse
	for i := range t.out {
		u := &t.out[i]
		if kept[u.Name] || u.Parent != "" && kept[u.Parent] {
			kept[u.Name] = true
			list = append(list, *u)
		}
	}
	t.out = list
}
