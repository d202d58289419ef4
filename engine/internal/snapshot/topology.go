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
// To make a topology looks at every node, and is slow where each has a name of its own. So the new one looks
// at the nodes that have changed only, and has the others from the one before, if somebody asks soon enough and no
// value has gone.
type topologies struct {
	made   atomic.Pointer[[]*extpoints.Topology]
	former []former
}

// former is a topology from before some changes of nodes.
type former struct {
	*extpoints.Topology
	changed []int32 // slots; never changed itself
}

// maxChanged is after how many changes nothing is left of a topology.
const maxChanged = 64

// loses reports whether the node in the slot is the last that may still have its value: nothing is to be left of a
// value that is gone.
func (f *former) loses(slot int32) bool {
	if int(slot) >= len(f.Of) || f.Of[slot] == 0 {
		return false
	}
	left := f.Nodes[f.Of[slot]]
	for _, other := range f.changed {
		if int(other) < len(f.Of) && f.Of[other] == f.Of[slot] {
			left--
		}
	}
	return left <= 1
}

// outdated are those that were asked for, and those from before of which none was.
func (c *topologies) outdated() (list []former) {
	if made := c.made.Load(); made != nil {
		for _, t := range *made {
			list = append(list, former{Topology: t})
		}
	}
	for i := range c.former {
		if c.get(c.former[i].Key) == nil && len(list) < maxTopologies {
			list = append(list, c.former[i])
		}
	}
	return list
}

// before is the topology of the key from before, nil where there is none.
func (c *topologies) before(key string) *former {
	i := slices.IndexFunc(c.former, func(f former) bool { return f.Key == key })
	if i < 0 {
		return nil
	}
	return &c.former[i]
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
