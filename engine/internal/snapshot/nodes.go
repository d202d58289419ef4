package snapshot

import (
	"math/bits"
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
)

const (
	chunkBits = 6
	chunkSize = 1 << chunkBits
	chunkMask = chunkSize - 1
)

// chunk is chunkSize places. In the masks bit k speaks of place k.
type chunk struct {
	tok   *token
	owned uint64            // infos that belong to tok alone
	has   [listKinds]uint64 // infos that belong on the list of the kind
	infos [chunkSize]*extpoints.NodeInfo
	// images are the values of [View].imageEpoch at which the image states of
	// the infos were last compared with the counts; 0: never.
	images [chunkSize]uint32
}

// The kinds of list, and what puts a node on them: workloads with affinity of
// any kind, workloads with required anti-affinity.
const (
	withAffinity = iota
	withRequiredAntiAffinity

	listKinds
)

// nodeList is a list of nodes in visiting order, made from the masks of the
// chunks when somebody asks for it: its readers look at every node on it
// anyway, and patches, of which there may be many between two readers, pay
// nothing. All Views that share a nodeList have the same nodes on it, the same
// pointers; a View on which that changes takes a new one.
type nodeList struct {
	made atomic.Pointer[[]*extpoints.NodeInfo]
}

// nodes is the View as [extpoints.Nodes]. It is settled.
type nodes View

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

// find returns the place of the node of the name, false where there is none.
func (v *View) find(name string) (int, bool) {
	slot, ok := v.slots.get(name)
	if !ok {
		return 0, false
	}
	place := int(v.layout.place[slot])
	return place, v.info(place) != nil
}

func (v *View) info(place int) *extpoints.NodeInfo {
	return v.chunks[place>>chunkBits].infos[place&chunkMask]
}

// ownChunk returns the chunk of the place, ready to be changed.
func (v *View) ownChunk(place int) *chunk {
	tok := v.own()
	if v.chunksTok != tok {
		v.chunks = append(make([]*chunk, 0, len(v.chunks)), v.chunks...)
		v.chunksTok = tok
	}
	c := v.chunks[place>>chunkBits]
	if c.tok != tok {
		own := *c
		own.tok, own.owned = tok, 0
		c = &own
		v.chunks[place>>chunkBits] = c
	}
	return c
}

// change returns the node at the place, ready to be changed. The caller calls
// changed when it is done.
func (v *View) change(place int) *extpoints.NodeInfo {
	c := v.ownChunk(place)
	k, bit := place&chunkMask, uint64(1)<<(place&chunkMask)
	if c.owned&bit == 0 {
		v.put(c, place, c.infos[k].Clone())
	}
	return c.infos[k]
}

// changed notes the consequences of a change of the node at the place.
func (v *View) changed(place int) {
	c, info := v.chunks[place>>chunkBits], v.info(place)
	v.mark(c, place, withAffinity, len(info.WithAffinity) > 0)
	v.mark(c, place, withRequiredAntiAffinity, len(info.WithRequiredAntiAffinity) > 0)
	if len(info.Images) > 0 && !v.trial {
		v.touched = append(v.touched, int32(place))
	}
}

// put puts the info, which nobody else has, at the place; nil empties it. The
// chunk is v's own.
func (v *View) put(c *chunk, place int, info *extpoints.NodeInfo) {
	k, bit := place&chunkMask, uint64(1)<<(place&chunkMask)
	c.infos[k] = info
	c.owned |= bit
	for kind := range c.has {
		if c.has[kind]&bit != 0 { // the list has the old pointer
			v.lists[kind] = new(nodeList)
			if info == nil {
				c.has[kind] &^= bit
			}
		}
	}
}

// mark says whether the node at the place belongs on the list.
func (v *View) mark(c *chunk, place, kind int, on bool) {
	bit := uint64(1) << (place & chunkMask)
	if on != (c.has[kind]&bit != 0) {
		c.has[kind] ^= bit
		v.lists[kind] = new(nodeList)
	}
}
