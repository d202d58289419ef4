package decide

import "github.com/berth-project/berth/extpoints"

// within is the part of a view's nodes that a placement of a group allows, as a
// list of its own.
type within struct {
	extpoints.Nodes
	at  []int32 // positions in visiting order
	has []bool  // by slot of the node
}

// narrow returns the nodes that the placement allows; all of them where it has
// as many as there are. Slots is the number of the view's slots.
func narrow(all extpoints.Nodes, p *extpoints.Placement, slots int) extpoints.Nodes {
	if len(p.Nodes) == all.Len() {
		return all
	}
	w := &within{Nodes: all, at: make([]int32, 0, len(p.Nodes)), has: make([]bool, slots)}
	for _, n := range p.Nodes {
		w.has[n.Slot] = true
	}
	for i := range all.Len() {
		if w.has[all.At(i).Slot] {
			w.at = append(w.at, int32(i))
		}
	}
	return w
}

// of returns the same part of the nodes of another view, on which other
// workloads are on the same nodes.
func (w *within) of(all extpoints.Nodes) extpoints.Nodes {
	return &within{Nodes: all, at: w.at, has: w.has}
}

// Len implements [extpoints.Nodes].
func (w *within) Len() int { return len(w.at) }

// At implements [extpoints.Nodes].
func (w *within) At(i int) *extpoints.NodeInfo { return w.Nodes.At(int(w.at[i])) }

// Get implements [extpoints.Nodes].
func (w *within) Get(name string) *extpoints.NodeInfo {
	if n := w.Nodes.Get(name); n != nil && w.has[n.Slot] {
		return n
	}
	return nil
}
