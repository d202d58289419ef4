package snapshot

import (
	"math/bits"

	"github.com/berth-project/berth/extpoints"
)

// nodes is the View as [extpoints.Nodes]. It is settled.
type nodes View

// Nodes are the nodes in visiting order, and what is on them. It settles v.
func (v *View) Nodes() extpoints.Nodes {
	v.Settle()
	return (*nodes)(v)
}

func (n *nodes) Len() int { return n.live }

// At is the inner loop of every decision: two loads.
func (n *nodes) At(i int) *extpoints.NodeInfo {
	return n.chunks[uint(i)>>chunkBits].infos[uint(i)&chunkMask]
}

func (n *nodes) Get(name string) *extpoints.NodeInfo { return (*View)(n).Peek(name) }

func (n *nodes) WithAffinity() []*extpoints.NodeInfo { return n.list(withAffinity) }

func (n *nodes) WithRequiredAntiAffinity() []*extpoints.NodeInfo {
	return n.list(withRequiredAntiAffinity)
}

func (n *nodes) list(kind int) []*extpoints.NodeInfo {
	cell := n.lists[kind]
	if made := cell.made.Load(); made != nil {
		return *made
	}
	count := 0
	for _, c := range n.chunks {
		count += bits.OnesCount64(c.has[kind])
	}
	var list []*extpoints.NodeInfo
	if count > 0 {
		list = make([]*extpoints.NodeInfo, 0, count)
	}
	for _, c := range n.chunks {
		for mask := c.has[kind]; mask != 0; mask &= mask - 1 {
			list = append(list, c.infos[bits.TrailingZeros64(mask)])
		}
	}
	cell.made.Store(&list)
	return list
}
