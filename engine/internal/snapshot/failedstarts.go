package snapshot

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// How long a workload keeps away from a node that could not start it: after the first time,
// twice as long each further time, and at most.
const (
	FirstAvoided   = time.Minute
	LongestAvoided = 10 * time.Minute
)

// enoughToDoubt is how many workloads a node must have failed to start, and none started
// since, before all others go elsewhere if they can: one or two may be to blame themselves.
const enoughToDoubt = 3

// FailedStart is that a node could not start a workload.
type FailedStart struct {
	Workload string
	// Times is how often in a row, Until when the workload keeps away from the node.
	Times int
	Until time.Time
	// Over: those who wait were told that it is over; it is kept to count on from.
	Over bool `json:",omitempty"`
	// Outlived: the node has started another one since.
	Outlived bool `json:",omitempty"`
}

// FailedOn are the failed starts of one node, by workload.
type FailedOn struct {
	Node   string
	Starts []FailedStart
}

// AvoidedNode is a node that is kept away from, and until when.
type AvoidedNode struct {
	Node  string
	Until time.Time
}

// FailedStarts are the failed starts of all nodes. The zero value is none. It never changes:
// methods return another one.
type FailedStarts struct{ *failedStarts }

type failedStarts struct {
	nodes []FailedOn // by name
	due   time.Time  // the first Until that nobody was told of; zero for none
}

// FailedStartsOf are those of the list, which is by name of node and in it by workload.
func FailedStartsOf(nodes []FailedOn) FailedStarts {
	nodes = slices.DeleteFunc(nodes, func(on FailedOn) bool { return len(on.Starts) == 0 })
	if len(nodes) == 0 {
		return FailedStarts{}
	}
	f := &failedStarts{nodes: nodes}
	for _, on := range nodes {
		for _, s := range on.Starts {
			if !s.Over && (f.due.IsZero() || s.Until.Before(f.due)) {
				f.due = s.Until
			}
		}
	}
	return FailedStarts{f}
}

// None reports whether there are none.
func (f FailedStarts) None() bool { return f.failedStarts == nil }

// List lists them. It must not be changed.
func (f FailedStarts) List() []FailedOn {
	if f.None() {
		return nil
	}
	return f.nodes
}

// Due is when the next workload may go back to a node; false for none.
func (f FailedStarts) Due() (time.Time, bool) {
	if f.None() {
		return time.Time{}, false
	}
	return f.due, !f.due.IsZero()
}

// on returns the place of the node in the list.
func (f FailedStarts) on(node string) (int, bool) {
	return slices.BinarySearchFunc(f.List(), node, func(on FailedOn, name string) int { return strings.Compare(on.Node, name) })
}

// of returns the place of the workload in the list.
func (on *FailedOn) of(workload string) (int, bool) {
	return slices.BinarySearchFunc(on.Starts, workload, func(s FailedStart, id string) int { return strings.Compare(s.Workload, id) })
}

// with returns them with other starts of the node.
func (f FailedStarts) with(node string, starts []FailedStart) FailedStarts {
	list := slices.Clone(f.List())
	if i, found := f.on(node); found {
		list[i].Starts = starts
	} else {
		list = slices.Insert(list, i, FailedOn{node, starts})
	}
	return FailedStartsOf(list)
}

// Add adds one more.
func (f FailedStarts) Add(node, workload string, now time.Time) FailedStarts {
	var on FailedOn
	if i, found := f.on(node); found {
		on.Starts = slices.DeleteFunc(slices.Clone(f.nodes[i].Starts), func(s FailedStart) bool { return s.forgotten(now) })
	}
	i, found := on.of(workload)
	if !found {
		on.Starts = slices.Insert(on.Starts, i, FailedStart{Workload: workload})
	}
	s := &on.Starts[i]
	wait := LongestAvoided
	if s.Times < 4 {
		wait = min(wait, FirstAvoided<<s.Times)
	}
	*s = FailedStart{Workload: workload, Times: s.Times + 1, Until: now.Add(wait)}
	return f.with(node, on.Starts)
}

// forgotten reports whether the next one is the first again.
func (s *FailedStart) forgotten(now time.Time) bool {
	return s.Over && now.After(s.Until.Add(LongestAvoided))
}

// Started notes that the node has started a workload.
func (f FailedStarts) Started(node string) FailedStarts {
	i, found := f.on(node)
	if !found || !slices.ContainsFunc(f.nodes[i].Starts, func(s FailedStart) bool { return !s.Outlived }) {
		return f
	}
	starts := slices.Clone(f.nodes[i].Starts)
	for j := range starts {
		starts[j].Outlived = true
	}
	return f.with(node, starts)
}

// Without forgets those of the node.
func (f FailedStarts) Without(node string) FailedStarts {
	if _, found := f.on(node); !found {
		return f
	}
	return f.with(node, nil)
}

// Expire notes that those are told whose time is over, and lists them.
func (f FailedStarts) Expire(now time.Time) (left FailedStarts, told []string) {
	list := slices.Clone(f.List())
	for i := range list {
		starts := slices.DeleteFunc(slices.Clone(list[i].Starts), func(s FailedStart) bool { return s.forgotten(now) })
		for j := range starts {
			if s := &starts[j]; !s.Over && !s.Until.After(now) {
				s.Over = true
				told = append(told, s.Workload)
			}
		}
		list[i].Starts = starts
	}
	return FailedStartsOf(list), told
}

// Workloads lists those that could not be started.
func (f FailedStarts) Workloads() (ids []string) {
	for _, on := range f.List() {
		for _, s := range on.Starts {
			ids = append(ids, s.Workload)
		}
	}
	return ids
}

// Any reports whether the workload keeps away from any node, or has.
func (f FailedStarts) Any(workload string) bool {
	return slices.ContainsFunc(f.List(), func(on FailedOn) bool {
		_, found := on.of(workload)
		return found
	})
}

// Avoided lists the nodes from which the workload keeps away, by name.
func (f FailedStarts) Avoided(workload string, now time.Time) (nodes []AvoidedNode) {
	for _, on := range f.List() {
		if i, found := on.of(workload); found && on.Starts[i].Until.After(now) {
			nodes = append(nodes, AvoidedNode{on.Node, on.Starts[i].Until})
		}
	}
	return nodes
}

// Doubted lists the nodes that all keep away from who can, by name.
func (f FailedStarts) Doubted(now time.Time) (nodes []AvoidedNode) {
	for _, on := range f.List() {
		var until []time.Time
		for _, s := range on.Starts {
			if !s.Outlived && s.Until.After(now) {
				until = append(until, s.Until)
			}
		}
		if len(until) >= enoughToDoubt {
			slices.SortFunc(until, func(a, b time.Time) int { return cmp.Compare(0, a.Compare(b)) })
			nodes = append(nodes, AvoidedNode{on.Node, until[enoughToDoubt-1]})
		}
	}
	return nodes
}
