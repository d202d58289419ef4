package snapshot

import (
	"maps"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// imageCount is what is known of an image over all nodes: the size that the
// first node gave that has it, and how many have it.
type imageCount struct {
	size  int64
	nodes int
}

// images are the images on nodes, by name as given.
type images struct {
	pmap[imageCount]
	epoch uint32 // changes with the counts; starts at 1
}

// imagesOf makes the image states of a node: the names it gives, each with the
// first size it gives for it. The counts are filled in by refresh.
func imagesOf(n *model.Node) map[string]extpoints.ImageState {
	names := 0
	for i := range n.Images {
		names += len(n.Images[i].Names)
	}
	if names == 0 {
		return nil
	}
	states := make(map[string]extpoints.ImageState, names)
	for i := range n.Images {
		for _, name := range n.Images[i].Names {
			if _, ok := states[name]; !ok {
				states[name] = extpoints.ImageState{Size: n.Images[i].Size}
			}
		}
	}
	return states
}

// count corrects the counts for a node that had the images of old and has
// those of states. What comes out is as if all the old ones were given up first
// and then all the new ones taken, with the sizes that the node says: the size
// of an image that no other node has is the new one, even where the name stays.
func (m *images) count(tok *token, old, states map[string]extpoints.ImageState) {
	for name := range old {
		if _, stays := states[name]; !stays {
			count, _ := m.get(name)
			count.nodes--
			m.put(tok, name, count)
		}
	}
	for name, state := range states {
		count, _ := m.get(name)
		_, stays := old[name]
		switch {
		case !stays && count.nodes == 0:
			m.put(tok, name, imageCount{size: state.Size, nodes: 1})
		case !stays:
			count.nodes++
			m.put(tok, name, count)
		case count.nodes == 1 && count.size != state.Size:
			count.size = state.Size
			m.put(tok, name, count)
		}
	}
}

func (m *images) put(tok *token, name string, count imageCount) {
	m.epoch++
	if count.nodes == 0 {
		m.unset(tok, name)
	} else {
		m.set(tok, name, count)
	}
}

// refresh brings the image states of the node at place k of the chunk up to
// date. Where no count changed since it last looked at the node, that is one
// comparison. The maps are shared by the clones of a node, and by Views: one
// that was looked at before is replaced, not changed. One that was not is new
// since the last settling, and nobody else has it.
func (m *images) refresh(c *chunk, k int) {
	info := c.infos[k]
	if info == nil || c.images[k] == m.epoch {
		return
	}
	states, fresh := info.Images, c.images[k] == 0
	for name, state := range info.Images {
		count, _ := m.get(name)
		now := extpoints.ImageState{Size: count.size, NumNodes: count.nodes}
		if now == state {
			continue
		}
		if !fresh {
			states, fresh = maps.Clone(info.Images), true
		}
		states[name] = now
	}
	info.Images = states
	c.images[k] = m.epoch
}
