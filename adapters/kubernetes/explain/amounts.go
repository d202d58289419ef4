package explain

import (
	"math"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// quantities are the amounts as Kubernetes writes them, nil for none.
func quantities(amounts map[string]int64) v1.ResourceList {
	if amounts == nil {
		return nil
	}
	list := v1.ResourceList{}
	for name, n := range amounts {
		list[v1.ResourceName(name)] = convert.Quantity(name, n)
	}
	return list
}

// resourceList is what there is of the resources, nil where that is nothing.
func resourceList(r *model.Resources) v1.ResourceList {
	amounts := map[string]int64{}
	for _, name := range r.Names() {
		if n := r.Get(name); n != 0 {
			amounts[name] = n
		}
	}
	if len(amounts) == 0 {
		return nil
	}
	return quantities(amounts)
}

// useOf is the load, nil for none, with its share of the cluster.
func (t *queueTree) useOf(l *load) api.Use {
	if l == nil {
		return api.Use{}
	}
	u := api.Use{Used: resourceList(&l.used), Running: l.running, Waiting: l.waiting}
	for _, name := range l.used.Names() {
		if all := t.capacity.Get(name); all > 0 {
			if s := float64(l.used.Get(name)) / float64(all); s > u.Share {
				u.Share, u.Resource = s, name
			}
		}
	}
	return u
}

// pastUse is what the engine remembers of a part, nil for nothing.
func pastUse(l *queue.Level) *api.PastUse {
	p := &api.PastUse{}
	if l == nil {
		return p
	}
	p.Resource = l.PastOf
	if seconds := l.Past[l.PastOf] / max(l.PastCapacity, 1); seconds < int64(math.MaxInt64/time.Second) {
		p.WholeCluster = metav1.Duration{Duration: time.Duration(seconds) * time.Second}
	}
	for name, n := range l.Past {
		if name == "" {
			continue // by prices it is of no resource
		}
		if p.Used == nil {
			p.Used = v1.ResourceList{}
		}
		p.Used[v1.ResourceName(name)] = hours(name, n)
	}
	return p
}

// hours are resource-seconds as a quantity of the resource times hours, rounded up: in thousandths, or
// what is counted in bytes in bytes.
func hours(name string, n int64) resource.Quantity {
	const hour = int64(time.Hour / time.Second)
	whole, rest := n/hour, n%hour
	one := convert.Quantity(name, whole)
	if name == model.CPU || one.Format == resource.BinarySI || whole > math.MaxInt64/1000-1 {
		return convert.Quantity(name, whole+min(rest, 1))
	}
	return *resource.NewMilliQuantity(whole*1000+(rest*1000+hour-1)/hour, resource.DecimalSI)
}
