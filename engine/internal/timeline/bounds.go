package timeline

import (
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// bound is that holds begin or end at a moment on some nodes.
type bound struct {
	at    time.Time
	nodes []string
}

// bounds are all that there are, and for each node its own.
type bounds struct {
	holds int     // how many there are
	list  []bound // in order; one may be on no node
	of    map[string][]time.Time
}

// boundsOf finds those of the holds.
func boundsOf(holds []*model.Hold, nodes extpoints.Nodes) *bounds {
	b := &bounds{holds: len(holds), of: map[string][]time.Time{}}
	at := map[time.Time]int{} // in the list
	for _, h := range holds {
		covered := coveredBy(h, nodes)
		for _, t := range [...]time.Time{h.From, h.Until} {
			if t.IsZero() {
				continue
			}
			i, known := at[t]
			if !known {
				i = len(b.list)
				at[t], b.list = i, append(b.list, bound{at: t})
			}
			for _, node := range covered {
				b.list[i].nodes = append(b.list[i].nodes, node)
				b.of[node] = append(b.of[node], t)
			}
		}
	}
	slices.SortFunc(b.list, func(x, y bound) int { return x.at.Compare(y.at) })
	return b
}

// coveredBy are the nodes that the hold covers.
func coveredBy(h *model.Hold, nodes extpoints.Nodes) (names []string) {
	if h.NodeTerms == nil {
		for _, name := range h.Nodes {
			if nodes.Get(name) != nil {
				names = append(names, name)
			}
		}
		return names
	}
	for i := range nodes.Len() {
		if node := nodes.At(i).Node; h.Covers(node) {
			names = append(names, node.Name)
		}
	}
	return names
}

// after are those after the time.
func (b *bounds) after(now time.Time) []bound {
	i := 0
	for i < len(b.list) && !b.list[i].at.After(now) {
		i++
	}
	return b.list[i:]
}
