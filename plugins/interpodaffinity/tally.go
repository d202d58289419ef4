package interpodaffinity

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// table is how many workloads are in each domain of a topology.
type table struct {
	topology *extpoints.Topology
	// sums are by number of the domain, and 0 for the number 0, that is for
	// nodes without the label. nil: no workloads anywhere.
	sums []int32
}

// at is the number of workloads in the domain.
func (t *table) at(domain int32) int32 {
	if int(domain) < len(t.sums) {
		return t.sums[domain]
	}
	return 0
}

// tableOf is the place of the key's table, -1 where there is none.
func tableOf(tables []table, key string) int {
	return slices.IndexFunc(tables, func(t table) bool { return t.topology.Key == key })
}

// tally counts workloads into a table for every topology key and weight.
//
// While there are few, each count goes straight to its domain. That costs a
// call and a look-up for each node that has some, but nothing for the others.
// From half as many as there are nodes on, counts are first added up by node
// and then, all at once, by domain: loops without a call, whose cost no longer
// grows with the number of classes that a node has workloads of.
type tally struct {
	index extpoints.Index
	pages []page
}

type page struct {
	table
	weight int32
	total  int     // workloads counted
	slots  []int32 // those not in sums yet, by slot; nil for none
}

// page returns the page of the key and weight, a new one if need be.
func (t *tally) page(key string, weight int32) *page {
	for i := range t.pages {
		if p := &t.pages[i]; p.topology.Key == key && p.weight == weight {
			return p
		}
	}
	t.pages = append(t.pages, page{table: table{topology: t.index.Topology(key)}, weight: weight})
	return &t.pages[len(t.pages)-1]
}

// add counts in on the page of the key and weight.
func (t *tally) add(key string, weight int32, counts extpoints.Counts) {
	t.page(key, weight).add(counts, t.index.Slots())
}

func (p *page) add(counts extpoints.Counts, slots int) {
	p.total += counts.Total()
	if p.sums == nil {
		p.sums = make([]int32, len(p.topology.Values))
	}
	if p.total < slots/2 {
		sums, domains := p.sums, p.topology.Of
		counts.Each(func(slot, count int32) { sums[domains[slot]] += count })
		return
	}
	if p.slots == nil {
		p.slots = make([]int32, slots)
	}
	counts.AddTo(p.slots)
}

// close returns the table, and the number of workloads in it: those on nodes
// that have the label.
func (p *page) close() (table, int) {
	if p.sums == nil {
		return p.table, 0
	}
	if p.slots != nil {
		p.topology.SumByDomain(p.slots, p.sums)
	}
	elsewhere := int(p.sums[0])
	p.sums[0] = 0
	return p.table, p.total - elsewhere
}
