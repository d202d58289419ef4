package framework

import (
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
)

// Verdict is what the filters said of one node: nil Status is yes, else
// Plugin's index among the filters. The hot loop keeps indexes; names are put
// on when a diagnosis is made.
type Verdict struct {
	Status *extpoints.Status
	plugin int32
	twice  bool // all filters passed before, with the workloads nominated to the node
	f      *Framework
}

// Named returns the status with the plugin's name on it.
func (v Verdict) Named() *extpoints.Status {
	if v.Status == nil || v.f == nil {
		return v.Status
	}
	return v.Status.WithPlugin(v.f.filters[v.plugin].Name())
}

// Namer names verdicts: those that are the same, as mostly many nodes have, get the same
// status. The zero value is ready.
type Namer struct {
	named   map[Verdict]*extpoints.Status
	verdict Verdict // the last
	status  *extpoints.Status
}

// Name is Named.
func (n *Namer) Name(v *Verdict) *extpoints.Status {
	if *v == n.verdict && n.status != nil {
		return n.status
	}
	st, ok := n.named[*v]
	if !ok {
		if n.named == nil {
			n.named = map[Verdict]*extpoints.Status{}
		}
		st = v.Named()
		n.named[*v] = st
	}
	n.verdict, n.status = *v, st
	return st
}

// ForGroupPostFilter returns the name of the filter that said no, where it is one
// that a GroupPostFilter plugin will want to know of.
func (v Verdict) ForGroupPostFilter() (plugin string, ok bool) {
	if v.Status == nil || v.f == nil || !v.f.wantsRefusals[v.plugin] {
		return "", false
	}
	return v.f.filters[v.plugin].Name(), true
}

// asked says which of so many filters was the last that was asked, filters where
// all passed and -1 where none was asked, and whether all had been asked once
// before, with the workloads that are nominated to the node.
func (v *Verdict) asked(filters int) (last int, all bool) {
	switch {
	case v.Status == nil:
		return filters, v.twice
	case v.f == nil:
		return -1, v.twice
	}
	return int(v.plugin), v.twice
}

// Tally counts the filters that are asked in a cycle: to tell the meter of each
// node would cost more than to filter it.
type Tally struct {
	// ended has for each filter the nodes at which it was the last that was asked
	// because it said no, and behind those the nodes that no filter rejected.
	ended []int64
}

// Count counts what came of nodes. It may not be called by several goroutines.
func (t *Tally) Count(verdicts ...Verdict) {
	for i := range verdicts {
		last, all := verdicts[i].asked(len(t.ended) - 1)
		if last >= 0 {
			t.ended[last]++
		}
		if all {
			t.ended[len(t.ended)-1]++
		}
	}
}

// CountFeasible counts nodes that passed all filters.
func (t *Tally) CountFeasible(nodes int) { t.ended[len(t.ended)-1] += int64(nodes) }

// countShared is Count for one node, where others may be counting.
func (t *Tally) countShared(v Verdict) {
	last, all := v.asked(len(t.ended) - 1)
	if last >= 0 {
		atomic.AddInt64(&t.ended[last], 1)
	}
	if all {
		atomic.AddInt64(&t.ended[len(t.ended)-1], 1)
	}
}
