package decide

import (
	"slices"

	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
)

// within is the part of a view's nodes that a placement of a group allows, as a
// list of its own.
type within struct {
	extpoints.Nodes
	view  *snapshot.View
	at    []int32  // places in visiting order
	masks []uint64 // by block: the same places
}

// newWithin returns the nodes at the places, of which some may occur twice.
func newWithin(view *snapshot.View, places []int32) *within {
	if !slices.IsSorted(places) {
		slices.Sort(places)
	}
	nodes := view.Nodes()
	w := &within{Nodes: nodes, view: view, at: slices.Compact(places), masks: make([]uint64, snapshot.Blocks(nodes.Len()))}
	for _, place := range w.at {
		w.masks[place/snapshot.BlockSize] |= 1 << (place % snapshot.BlockSize)
	}
	return w
}

// narrow returns the nodes that the placement allows, nil where it has as many as there are.
func narrow(view *snapshot.View, p *extpoints.Placement) *within {
	if len(p.Nodes) == view.Nodes().Len() {
		return nil
	}
	places := make([]int32, len(p.Nodes))
	for i, n := range p.Nodes {
		places[i] = view.PlaceOf(n)
	}
	return newWithin(view, places)
}

// only returns the node with the name as a list of its own, an empty one where it is not
// in the part of the view's nodes; a part that is nil has all.
func only(view *snapshot.View, part *within, name string) *within {
	n := view.Nodes().Get(name)
	if n == nil || !part.has(view.PlaceOf(n)) {
		return newWithin(view, nil)
	}
	return newWithin(view, []int32{view.PlaceOf(n)})
}

// except returns the part without the nodes with the names.
func except[V any](view *snapshot.View, part *within, names map[string]V) *within {
	out := map[int32]bool{}
	for name := range names {
		if n := view.Nodes().Get(name); n != nil {
			out[view.PlaceOf(n)] = true
		}
	}
	var places []int32
	for place := range int32(view.Nodes().Len()) {
		if part.has(place) && !out[place] {
			places = append(places, place)
		}
	}
	return newWithin(view, places)
}

// of returns the same part of the nodes of another view, on which other
// workloads are on the same nodes.
func (w *within) of(view *snapshot.View) extpoints.Nodes {
	return &within{Nodes: view.Nodes(), view: view, at: w.at, masks: w.masks}
}

// has reports whether the node at the place is one of them.
func (w *within) has(place int32) bool {
	return w == nil || w.masks[place/snapshot.BlockSize]>>(place%snapshot.BlockSize)&1 != 0
}

// place returns where the i-th of the nodes is among all, and what part of these they are, for a
// search of the fast decider.
func (w *within) place(i int) (place int, part []uint64) {
	if w == nil {
		return i, nil
	}
	return int(w.at[i]), w.masks
}

// Len implements [extpoints.Nodes].
func (w *within) Len() int { return len(w.at) }

// At implements [extpoints.Nodes].
func (w *within) At(i int) *extpoints.NodeInfo { return w.Nodes.At(int(w.at[i])) }

// Get implements [extpoints.Nodes].
func (w *within) Get(name string) *extpoints.NodeInfo {
	if n := w.Nodes.Get(name); n != nil && w.has(w.view.PlaceOf(n)) {
		return n
	}
	return nil
}
