package snapshot

import (
	"slices"
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
)

// topologies are what was asked for with [extpoints.Index].Topology. Readers
// fill it, atomically, and it does not matter who does: all Views that share it
// have the same nodes in the same slots, in the same order, with the same labels
// and zones. A View drops it when a node comes, goes, or changes its labels or its
// zone, and has a new one from the next settling on.
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

// get returns the topology of the key, nil where it was not asked for.
func (c *topologies) get(key string) *extpoints.Topology {
	if made := c.made.Load(); made != nil {
		for _, t := range *made {
			if t.Key == key {
				return t
			}
		}
	}
	return nil
}

// keep remembers the topology, and returns it, or the one of the same key that
// another reader was quicker with.
func (c *topologies) keep(fresh *extpoints.Topology) *extpoints.Topology {
	for {
		var list []*extpoints.Topology
		made := c.made.Load()
		if made != nil {
			list = *made
		}
		for _, t := range list {
			if t.Key == fresh.Key {
				return t
			}
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
