package explain

import (
	"cmp"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/model"
)

// limits are all limits, or those of the queues that are listed and of the namespaces in them: first
// the one of which the largest part is used.
func (t *queueTree) limits(all bool) []api.LimitUse {
	queues, namespaces := t.listed()
	var list []usedLimit
	for o := range t.view.Objects(model.LimitKind) {
		l := o.Object.(*model.Limit)
		if all || l.Queue != "" && queues[l.Queue] || namespaces[l.Principal] {
			list = append(list, t.limit(l)...)
		}
	}
	slices.SortFunc(list, func(a, b usedLimit) int {
		return cmp.Or(cmp.Compare(b.part, a.part), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	var out []api.LimitUse
	for i := range list {
		out = append(out, list[i].LimitUse)
	}
	return out
}

// listed are the queues that are listed, and the namespaces whose queue is one of these or which have pods in one.
func (t *queueTree) listed() (queues, namespaces map[string]bool) {
	queues, namespaces = map[string]bool{}, map[string]bool{}
	for i := range t.out {
		queues[t.out[i].Name] = true
		for _, n := range t.out[i].Namespaces {
			namespaces[n.Name] = true
		}
	}
	for o := range t.view.Objects(model.PrincipalKind) {
		if p := o.Object.(*model.Principal); p.Queue != "" && queues[p.Queue] {
			namespaces[p.Name] = true
		}
	}
	return queues, namespaces
}

// usedLimit is a limit and the part of it that is used.
type usedLimit struct {
	api.LimitUse
	part float64
}

// limit is the limit and its use: one on each namespace for each that uses any of it or is held back
// by it.
func (t *queueTree) limit(l *model.Limit) (list []usedLimit) {
	if l.Scope != model.LimitEachPrincipal {
		return []usedLimit{t.limitOn(l, counted{limit: l.Name})}
	}
	for namespace := range t.counts[l.Name] {
		list = append(list, t.limitOn(l, counted{l.Name, namespace}))
	}
	if list == nil {
		list = append(list, t.limitOn(l, counted{limit: l.Name}))
	}
	return list
}

// limitOn is the limit on what counts together.
func (t *queueTree) limitOn(l *model.Limit, of counted) usedLimit {
	amount := func(n int64) resource.Quantity {
		if l.Measure == model.LimitResourceSeconds {
			return hours(l.Resource, n)
		}
		return convert.Quantity(l.Resource, n)
	}
	u := usedLimit{LimitUse: api.LimitUse{
		Name: l.Name, Queue: l.Queue, Namespace: cmp.Or(l.Principal, of.namespace), Scope: queueing.Scope(l.Scope),
		Resource: l.Resource, OverTime: l.Measure == model.LimitResourceSeconds, Amount: amount(l.Amount), Held: t.heldByLimit[of],
	}}
	if l.HalfLife > 0 {
		u.HalfLife = &metav1.Duration{Duration: l.HalfLife}
	}
	if l.Scope == model.LimitEachWorkload {
		return u
	}
	used := int64(0)
	if level := t.used[of]; level != nil {
		used = level.Used
	}
	u.Used = new(amount(used))
	if u.part = float64(used) / float64(l.Amount); l.Amount == 0 {
		u.part = math.Inf(1) // nothing of it is left
	}
	return u
}
