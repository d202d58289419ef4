package simulate

import (
	"math/big"
	"slices"

	"github.com/berth-project/berth/model"
)

// portion is a part of the order by queues: a queue, or what a principal has in one.
type portion struct {
	queue     *model.Queue // nil of a principal
	principal string
	of        string // the queue of a principal
	weight    int64
}

// partsOf are the parts that the workload is in, from the top down.
func (o *observed) partsOf(w *model.Workload) (list []portion) {
	for _, q := range o.above(w) {
		list = append(list, portion{queue: q, weight: q.Weight})
	}
	slices.Reverse(list)
	leaf := portion{principal: w.Principal, of: w.Queue}
	if p := o.principals[w.Principal]; p != nil {
		leaf.weight = p.Shares
	}
	return append(list, leaf)
}

func (p *portion) priority() int32 {
	if p.queue == nil {
		return 0
	}
	return p.queue.Priority
}

// hadLess reports whether the one part has less of what it is entitled to, see [model.OrderShare].
func (o *observed) hadLess(x, y *portion) bool {
	a, b := o.shareOf(x), o.shareOf(y)
	if a.below != b.below {
		return a.below
	}
	if a.entitled || b.entitled {
		if c := compareShares(a.beyond, x.weight, b.beyond, y.weight); c != 0 {
			return c < 0
		}
	}
	return compareShares(a.dominant, x.weight, b.dominant, y.weight) < 0
}

// compareShares compares shares over weights. A share of what is not there, which is nil, is more than any
// other, and parts without a weight come after all that have one.
func compareShares(a *big.Rat, weightA int64, b *big.Rat, weightB int64) int {
	switch {
	case (weightA == 0) != (weightB == 0):
		if weightA == 0 {
			return 1
		}
		return -1
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	over := func(r *big.Rat, weight int64) *big.Rat { return new(big.Rat).Quo(r, big.NewRat(max(weight, 1), 1)) }
	return over(a, weightA).Cmp(over(b, weightB))
}

// shares are those of a part; see [model.OrderShare].
type shares struct {
	below, entitled  bool
	dominant, beyond *big.Rat
}

func (o *observed) shareOf(p *portion) shares {
	used := o.usedBy(p)
	s := shares{dominant: new(big.Rat), beyond: new(big.Rat)}
	var entitled map[string]int64
	if p.queue != nil {
		entitled = o.entitled(p.queue)
	}
	reached := false
	for resource, own := range entitled {
		s.entitled = s.entitled || own > 0
		reached = reached || own > 0 && used[resource] >= own
	}
	s.below = s.entitled && !reached
	for resource, n := range used {
		s.dominant = larger(s.dominant, o.shareOfAll(resource, n))
		s.beyond = larger(s.beyond, o.shareOfAll(resource, max(n-entitled[resource], 0)))
	}
	return s
}

func larger(a, b *big.Rat) *big.Rat {
	if compareShares(a, 1, b, 1) < 0 {
		return b
	}
	return a
}

// shareOfAll is the amount as a part of what all nodes have; nil where they have none.
func (o *observed) shareOfAll(resource string, n int64) *big.Rat {
	capacity := int64(0)
	for _, node := range o.nodes {
		capacity += node.Allocatable.Get(resource)
		for i := range node.Devices {
			if node.Devices[i].Class == resource {
				capacity += model.WholeDevice
			}
		}
	}
	switch {
	case n == 0:
		return new(big.Rat)
	case capacity == 0:
		return nil
	}
	return big.NewRat(n, capacity)
}

// usedBy is what those in the part request that take room, devices included.
func (o *observed) usedBy(p *portion) map[string]int64 {
	var sum model.Resources
	for _, id := range o.ids {
		if row := o.rows[id]; isPlaced(&row) && o.isIn(p, row.Workload) {
			charge(&sum, row.Workload)
		}
	}
	used := map[string]int64{}
	for _, name := range sum.Names() {
		used[name] = sum.Get(name)
	}
	return used
}

// isIn reports whether the workload is in the part.
func (o *observed) isIn(p *portion, w *model.Workload) bool {
	if p.queue != nil {
		return slices.Contains(o.above(w), p.queue)
	}
	return w.Principal == p.principal && w.Queue == p.of
}

// entitled is what the queue is guaranteed, or those below it together where that is more, as far as its Max goes.
func (o *observed) entitled(q *model.Queue) map[string]int64 {
	all := map[string]int64{}
	for _, name := range sortedKeys(o.queues) {
		if below := o.queues[name]; below.Parent == q.Name {
			for resource, n := range o.entitled(below) {
				all[resource] += n
			}
		}
	}
	for resource, n := range q.Guaranteed {
		all[resource] = max(all[resource], n)
	}
	for resource := range all {
		if most, said := q.Max[resource]; said {
			all[resource] = min(all[resource], most)
		}
	}
	return all
}
