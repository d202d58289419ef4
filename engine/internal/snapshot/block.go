package snapshot

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// BlockSize is the number of nodes in a block.
const BlockSize = chunkSize

// Block is BlockSize nodes that follow each other in visiting order; behind the last
// node of the View, nil.
type Block = [BlockSize]*extpoints.NodeInfo

// Block returns block i, which begins with the node at i*BlockSize in visiting order. v
// must be frozen and settled.
//
// The address is the version of all nodes in the block: two frozen Views, of whatever
// descent, that return the same address have the same nodes there, the same things on them, and
// the same loads and topologies reported of them. In the same way the address of a NodeInfo is the version of one node. Both hold as
// long as somebody keeps the address, because what is reachable from a frozen View is never
// changed (see [View]), and no other memory gets the address of what is still there.
func (v *View) Block(i int) *Block { return &v.chunks[i].infos }

// Blocks is how many blocks so many nodes are in.
func Blocks(nodes int) int { return (nodes + BlockSize - 1) / BlockSize }

// PlaceOf returns the place of the node in visiting order. The node must be one of v's, in
// whatever state; v must be settled.
func (v *View) PlaceOf(n *extpoints.NodeInfo) int32 { return v.layout.place[n.Slot] }

// NominatedTo lists the places, in visiting order, of the nodes that one of the workloads waits
// for which are asked for. v must be settled.
func (v *View) NominatedTo(asked func(*extpoints.WorkloadInfo) bool) (places []int32) {
	v.nominated.each(func(node string, list []*extpoints.WorkloadInfo) {
		if slot, there := v.slots.get(node); there && slices.ContainsFunc(list, asked) {
			places = append(places, v.layout.place[slot])
		}
	})
	slices.Sort(places)
	return places
}
