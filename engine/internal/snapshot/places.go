package snapshot

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// find returns the place of the node with the name, false where there is none.
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

// Peek returns the node with the name as it is now, nil where there is none. It
// does not settle v: the image counts may be older than the node.
func (v *View) Peek(node string) *extpoints.NodeInfo {
	if place, ok := v.find(node); ok {
		return v.info(place)
	}
	return nil
}

// On lists the workloads on the node with the name in their order there, also where the
// node is not there.
func (v *View) On(node string) []*extpoints.WorkloadInfo {
	if place, ok := v.find(node); ok {
		return v.info(place).Workloads
	}
	if g, ok := v.placeholders.get(node); ok {
		return g.info.Workloads
	}
	return nil
}

// ownLayout returns the layout, ready to be changed. It copies four bytes for each
// node, once for any number of changes, and then as much of each zone that changes.
func (v *View) ownLayout() *layout {
	tok := v.own()
	if v.layout.tok != tok {
		old := v.layout
		v.layout = &layout{
			tok:    tok,
			place:  slices.Clone(old.place),
			free:   slices.Clone(old.free),
			zones:  slices.Clone(old.zones),
			byName: old.byName,
			stale:  old.stale,
		}
	}
	return v.layout
}
