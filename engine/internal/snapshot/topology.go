package snapshot

import (
	"slices"
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
)

// topologies are what was asked for with [extpoints.Index].Topology. Readers
// fill it, atomically, and it does not matter who does: all Views that share it
// have the same nodes in the same slots, in the same order, with the same labels.
// A View drops it when a node comes, goes, or changes its labels, and has a new
// one from the next settling on.
//
// To make a topology looks at every node, 0.1 ms for 5,000 with few values and
// five times that for a name of their own each; it is for keys that come up in
// every other decision.
type topologies struct {
	made atomic.Pointer[[]*extpoints.Topology]
}

// maxTopologies is how many topologies are remembered; with one for each name
// of a node they are 30 bytes a node. Further ones are made whenever they are
// asked for.
const maxTopologies = 64

// of returns the topology for the key among the nodes of the View.
func (c *topologies) of(v *View, key string) *extpoints.Topology {
	var fresh *extpoints.Topology
	for {
		var list []*extpoints.Topology
		made := c.made.Load()
		if made != nil {
			list = *made
		}
		for _, t := range list {
			if t.Key == key {
				return t
			}
		}
		if fresh == nil {
			fresh = v.topology(key)
		}
		if len(list) >= maxTopologies {
			return fresh
		}
		// The list may be in the hands of other readers.
		longer := append(slices.Clone(list), fresh)
		if c.made.CompareAndSwap(made, &longer) {
			return fresh
		}
	}
}

// topology makes the topology of the key. Values have their numbers from the
// visiting order, so whoever goes through them does so in an order that everybody
// can know.
func (v *View) topology(key string) *extpoints.Topology {
	t := &extpoints.Topology{Key: key, Of: make([]int32, len(v.layout.place)), Values: []string{""}, Nodes: []int32{0}}
	numbers := map[string]int32{}
	for place := range v.live {
		info := v.info(place)
		value, ok := info.Node.Labels[key]
		if !ok {
			continue
		}
		number, known := numbers[value]
		if !known {
			number = int32(len(t.Values))
			numbers[value] = number
			t.Values, t.Nodes = append(t.Values, value), append(t.Nodes, 0)
		}
		t.Of[info.Slot] = number
		t.Nodes[number]++
	}
	return t
}
