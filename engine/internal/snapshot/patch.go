package snapshot

import (
	"maps"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// PutNode adds the node, or puts it in place of the one of the same name. The
// workloads that are on it, or were placed on it before it came, are kept.
func (v *View) PutNode(n *model.Node) {
	if place, ok := v.find(n.Name); ok {
		v.replaceNode(place, n)
	} else {
		v.addNode(n)
	}
}

func (v *View) replaceNode(place int, n *model.Node) {
	info := v.change(place)
	if old := info.Node.Zone; old != n.Zone {
		slot, _ := v.slots.get(n.Name)
		l := v.ownLayout()
		l.leave(old, slot)
		l.join(n.Zone, slot)
	}
	if info.Node.Zone != n.Zone || !maps.Equal(info.Node.Labels, n.Labels) {
		v.outdate(info.Slot)
	}
	states := imagesOf(n)
	v.images.count(v.own(), info.Images, states)
	if !sameImages(info.Node.Images, n.Images) {
		info.Images = states
		v.chunks[place>>chunkBits].images[place&chunkMask] = 0
	}
	info.SetNode(n)
	v.changed(place)
}

func sameImages(a, b []model.NodeImage) bool {
	return slices.EqualFunc(a, b, func(x, y model.NodeImage) bool {
		return x.Size == y.Size && slices.Equal(x.Names, y.Names)
	})
}

func (v *View) addNode(n *model.Node) {
	l := v.ownLayout()
	slot, ok := v.slots.get(n.Name)
	if !ok { // else it was removed since the last settling and gets its place back
		slot = l.newSlot(v.places)
		v.slots.set(l.tok, n.Name, slot)
		v.places++
	}
	l.join(n.Zone, slot)
	place := int(l.place[slot])
	v.live++
	if place < v.settled {
		v.gone--
	} else {
		v.added++
	}
	v.grow(place)
	c := v.ownChunk(place)
	info := v.placeholders.replace(l.tok, n)
	info.Slot = slot
	v.countAll(info, +1)
	v.outdate(slot)
	info.Images = imagesOf(n)
	v.images.count(l.tok, nil, info.Images)
	v.put(c, place, info)
	c.images[place&chunkMask] = 0
	v.changed(place)
}

// outdate notes that the node in the slot has come or gone, or has other labels.
func (v *View) outdate(slot int32) {
	list := v.former
	if v.topologies != nil {
		list = v.topologies.outdated()
		v.topologies = nil
	}
	v.former = nil // a branch may have the list
	for _, f := range list {
		if len(f.changed) < maxChanged && !f.loses(slot) {
			v.former = append(v.former, former{f.Topology, append(slices.Clip(f.changed), slot)})
		}
	}
}

// grow makes room for a place right behind the others.
func (v *View) grow(place int) {
	if place>>chunkBits < len(v.chunks) {
		return
	}
	if tok := v.own(); v.chunksTok != tok {
		v.chunks, v.chunksTok = slices.Clone(v.chunks), tok
	}
	v.chunks = append(v.chunks, &chunk{tok: v.tok})
}

// RemoveNode removes the node with the name, if there is one. The workloads on it
// are remembered until they are removed, and are there again when the node
// comes back.
func (v *View) RemoveNode(name string) {
	place, ok := v.find(name)
	if !ok {
		return
	}
	slot, _ := v.slots.get(name)
	info := v.info(place)
	v.ownLayout().leave(info.Node.Zone, slot)
	v.countAll(info, -1)
	v.outdate(slot)
	v.images.count(v.own(), info.Images, nil)
	if len(info.Workloads) > 0 {
		info = v.change(place)
		info.Node, info.Images, info.DeviceFree = nil, nil, nil
		v.placeholders.set(v.tok, name, &placeholder{tok: v.tok, info: info})
	}
	v.put(v.ownChunk(place), place, nil)
	v.removed = append(v.removed, name)
	v.live--
	if place < v.settled {
		v.gone++
	} else {
		v.added--
	}
}

// Place puts the workload on the node, which need not be there. A workload that
// is on the node already must not be placed on it again; see Replace.
func (v *View) Place(w *extpoints.WorkloadInfo, node string) {
	if place, ok := v.find(node); ok {
		info := v.change(place)
		info.AddWorkload(w)
		v.count(w, info.Slot, +1)
		v.changed(place)
		return
	}
	v.placeholders.open(v.own(), node).AddWorkload(w)
}

// Unplace takes the workload with the ID off the node. It does nothing where it
// is not there.
func (v *View) Unplace(id, node string) {
	if place, ok := v.find(node); ok {
		if w := v.info(place).Workload(id); w != nil {
			info := v.change(place)
			info.RemoveWorkload(id)
			v.count(w, info.Slot, -1)
			v.changed(place)
		}
		return
	}
	if g, ok := v.placeholders.get(node); !ok || g.info.Workload(id) == nil {
		return
	}
	if info := v.placeholders.open(v.own(), node); info.RemoveWorkload(id) && len(info.Workloads) == 0 {
		v.placeholders.unset(v.own(), node)
	}
}

// Replace puts the workload on the node in place of the one of the same ID,
// which may be missing. As in kube-scheduler that is a removal and an addition:
// another workload may move into the old one's place, and w comes last.
func (v *View) Replace(w *extpoints.WorkloadInfo, node string) {
	place, ok := v.find(node)
	if ok {
		if old := v.info(place).Workload(w.ID); old != nil && countsAlike(old, w) {
			// The most frequent case by far: to the index nothing happened.
			info := v.change(place)
			info.RemoveWorkload(w.ID)
			info.AddWorkload(w)
			v.changed(place)
			return
		}
	}
	v.Unplace(w.ID, node)
	v.Place(w, node)
}
