package queue

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// tree is the order by queues: a tree of heaps. Each queue has a heap of those of its
// parts that have something to offer, by the queue's policy; a leaf has a heap of items.
// The next item is found by walking down the first ones. What is charged to a workload
// changes the keys of the parts above it and no other, so that one heap on each floor is
// fixed and nothing is ever sorted.
//
// The definitions, the items and what is charged to the leaves are the facts; all else is
// made of them anew, by rebuild, after a definition or the capacity has changed. That
// costs as much as there are queues, and happens once for all changes of one
// transaction.
type tree struct {
	before func(a, b *Item) bool // of one leaf

	queues     map[string]*model.Queue
	principals map[string]*model.Principal
	limits     map[string]*model.Limit
	limitsOf   map[limited][]*model.Limit // by name
	leaves     map[leafKey]*part
	known      map[leafKey]int // how many workloads wait or have a node
	capacity   []total         // by resource
	resources  map[string]int
	names      []string // of the resources
	renumbered int      // how many were left when they were numbered last
	items      int
	*history
	borrowed bool // the history is that of another tree, which keeps it up
	looking  bool // what is charged is charged for a look ahead

	// What follows is made by rebuild.
	top     *part
	parts   map[string]*part // of the queues
	homes   map[home]*part
	gauges  map[gaugeKey]*gauge
	counts  map[gaugeKey]int // of the limits on numbers of workloads
	lending bool             // some queue does not lend all that it is guaranteed
	late    []lateCharge
	metered []*gauge    // those of limits on what is used over time
	lenders waitList    // for what others do not lend to be against it no more
	stale   bool        // it must be made anew
	regate  bool        // it was, and the gates have not been asked since
	looks   uint64      // see Queue.Looks
	onHold  func(*hold) // is told of holds that begin; nil: nobody is

	hopeless func([]*extpoints.WorkloadInfo) bool // see Hooks.Hopeless; nil: none is

	// gated lists the items that can not be placed as the definitions are.
	gated    registration
	askers   askers
	rebounds rebounds // nil until somebody is displaced
	need     []amount // kept between calls to save the allocation
}

// home is where a leaf belongs.
type home struct {
	parent    *part
	principal string
}

func keyOf(w *model.Workload) leafKey { return leafKey{w.Queue, w.Principal} }

func (t *tree) sortedLeaves() []*part {
	return slices.SortedFunc(maps.Values(t.leaves), compareKeys)
}

// queueOf is the queue of those workloads, empty for the top.
func (t *tree) queueOf(key leafKey) string {
	if key.queue != "" {
		return key.queue
	}
	for p := t.principals[key.principal]; p != nil; p = t.principals[p.Parent] {
		if p.Queue != "" {
			return p.Queue
		}
	}
	return ""
}

// homeOf says where the leaf belongs. The parent is nil where it is not there.
func (t *tree) homeOf(leaf *part) home {
	key := leaf.leaf.key
	if name := t.queueOf(key); name != "" {
		return home{t.parts[name], key.principal}
	}
	return home{t.top, key.principal}
}

// missing says what the workloads need that is not there, nil for nothing.
func (t *tree) missing(key leafKey) *Held {
	for of, name := "", key.principal; name != ""; {
		p := t.principals[name]
		if p == nil {
			return &Held{Absent: fmt.Sprintf("there is no principal %q%s", name, of), Principal: name}
		}
		of, name = fmt.Sprintf(", the parent of %q", name), p.Parent
	}
	for of, name := "", t.queueOf(key); name != ""; {
		q := t.queues[name]
		if q == nil {
			return &Held{Absent: fmt.Sprintf("there is no queue %q%s", name, of), Queue: name}
		}
		of, name = fmt.Sprintf(", the parent of %q", name), q.Parent
	}
	return nil
}

// limited is the queue or the principal whose limit it is.
type limited struct{ queue, principal string }

// numberOf is the number of the resource with the name.
func (t *tree) numberOf(name string) int {
	r, known := t.resources[name]
	if !known {
		r = len(t.names)
		t.resources[name] = r
		t.names = append(t.names, name)
	}
	return r
}

// add counts the amount among the needs.
func (t *tree) add(need []amount, name string, n int64) []amount {
	if n <= 0 {
		return need
	}
	r := t.numberOf(name)
	for i := range need {
		if need[i].resource == r {
			if need[i].n += n; need[i].n < 0 {
				need[i].n = 1<<63 - 1
			}
			return need
		}
	}
	return append(need, amount{r, n})
}

// needs adds to the needs what the workload requests. A class of devices counts under
// its name, in thousandths of a device.
func (t *tree) needs(need []amount, w *model.Workload) []amount {
	need = t.add(need, model.CPU, w.Requests.CPU)
	need = t.add(need, model.Memory, w.Requests.Memory)
	need = t.add(need, model.EphemeralStorage, w.Requests.EphemeralStorage)
	for i := range w.Requests.Scalars {
		need = t.add(need, w.Requests.Scalars[i].Name, w.Requests.Scalars[i].Amount)
	}
	for i := range w.Devices {
		need = t.add(need, w.Devices[i].Class, w.Devices[i].Total())
	}
	return need
}

// offers is what the node has, as needs is what a workload requests.
func (t *tree) offers(have []amount, n *model.Node) []amount {
	have = t.add(have, model.CPU, n.Allocatable.CPU)
	have = t.add(have, model.Memory, n.Allocatable.Memory)
	have = t.add(have, model.EphemeralStorage, n.Allocatable.EphemeralStorage)
	for i := range n.Allocatable.Scalars {
		have = t.add(have, n.Allocatable.Scalars[i].Name, n.Allocatable.Scalars[i].Amount)
	}
	for i := range n.Devices {
		have = t.add(have, n.Devices[i].Class, model.WholeDevice)
	}
	return have
}
