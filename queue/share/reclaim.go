package share

import (
	"errors"
	"fmt"
	"slices"
)

// DivisionNode is a queue in a tree whose capacity was divided. Vectors are by resource;
// Limit may be nil, which is Unlimited, the others have every resource.
type DivisionNode struct {
	Name           string  // for errors; queues are known by their index
	Parent         int     // index of the queue above, or Root
	Deserved       []int64 // what is guaranteed to it; see CanReclaim
	Share          []int64 // what Divide gave it
	Limit          []int64 // the most that it may have; nil: Unlimited
	Allocated      []int64 // by all that runs in it and below it
	NonPreemptible []int64 // the part of Allocated that cannot be preempted
}

// Reclaimer is a workload that wants room back from other queues.
type Reclaimer struct {
	Queue       int     // index in the tree
	Amounts     []int64 // what it asks for, by resource
	Preemptible bool    // false: its queues must deserve it beside their NonPreemptible
}

// Reclaimee is a workload that would be a victim.
type Reclaimee struct {
	Queue   int     // index in the tree
	Amounts []int64 // what it gives back, by resource
}

// CanReclaim reports whether the victims may be taken, in their order, for the reclaimer.
//
// With the victims gone and the reclaimer there, its queue and all above it must be within
// their shares, and if it cannot be preempted, what cannot be preempted within what
// they deserve. For each victim, of the two queues where the ways from the reclaimer's and from
// its queue to the top part: the victim's must have, before it is taken, more than the larger of
// share and deserved (but no more than its limit) of a resource that the reclaimer asks for; or
// the reclaimer's must be within what it deserves, and the victim's have more of some resource
// than it deserves. A victim in the reclaimer's own queue is not reclaimed.
//
// Because the reclaimer's queues stay within their shares, they are never better off than the
// victim's by it, so that no other comparison is needed.
func CanReclaim(tree []DivisionNode, r Reclaimer, victims []Reclaimee) (bool, error) {
	if err := checkReclaim(tree, r, victims); err != nil {
		return false, err
	}
	after := make([][]int64, len(tree)) // allocated
	for i, n := range tree {
		after[i] = append([]int64{}, n.Allocated...)
	}
	move := func(queue int, amounts []int64, sign int64) {
		for n := queue; n != Root; n = tree[n].Parent {
			for k, v := range amounts {
				after[n][k] += sign * v
			}
		}
	}
	for _, v := range victims {
		mine, theirs := parting(tree, r.Queue, v.Queue)
		if mine == theirs {
			return false, nil
		}
		if !overShare(tree[theirs], after[theirs], r.Amounts) && !deservesMore(tree, mine, theirs, after, r.Amounts) {
			return false, nil
		}
		move(v.Queue, v.Amounts, -1)
	}
	move(r.Queue, r.Amounts, 1)
	for n := r.Queue; n != Root; n = tree[n].Parent {
		for k, v := range r.Amounts {
			if after[n][k] > tree[n].Share[k] || !r.Preemptible && v > 0 && tree[n].NonPreemptible[k]+v > tree[n].Deserved[k] {
				return false, nil
			}
		}
	}
	return true, nil
}

// parting returns the two queues below the lowest one that is above both, or twice the same
// if one is above the other.
func parting(tree []DivisionNode, a, b int) (int, int) {
	up := func(n int) (path []int) {
		for ; n != Root; n = tree[n].Parent {
			path = append(path, n)
		}
		slices.Reverse(path)
		return path
	}
	x, y := up(a), up(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i], y[i]
		}
	}
	return a, a
}

func overShare(n DivisionNode, allocated, asked []int64) bool {
	for k, v := range asked {
		most := max(n.Deserved[k], n.Share[k])
		if n.Limit != nil {
			most = min(most, n.Limit[k])
		}
		if v > 0 && allocated[k] > most {
			return true
		}
	}
	return false
}

// deservesMore reports whether the first queue stays within what it deserves, and the second
// has more than it deserves.
func deservesMore(tree []DivisionNode, mine, theirs int, allocated [][]int64, asked []int64) bool {
	over := false
	for k, v := range asked {
		if allocated[mine][k]+v > tree[mine].Deserved[k] {
			return false
		}
		over = over || allocated[theirs][k] > tree[theirs].Deserved[k]
	}
	return over
}

func checkReclaim(tree []DivisionNode, r Reclaimer, victims []Reclaimee) error {
	names, parents := make([]string, len(tree)), make([]int, len(tree))
	var wrong []error
	resources := len(r.Amounts)
	for i, n := range tree {
		names[i], parents[i] = n.Name, n.Parent
		for what, v := range [][]int64{n.Deserved, n.Share, n.Allocated, n.NonPreemptible} {
			vector := []string{"deserved amount", "share", "allocation", "part that is not preemptible"}[what]
			if v == nil {
				wrong = append(wrong, fmt.Errorf("share: %q has no %s: %w", n.Name, vector, ErrLength))
			}
			wrong = append(wrong, checkVector(n.Name, vector, v, resources))
		}
		wrong = append(wrong, checkVector(n.Name, "limit", n.Limit, resources))
	}
	amounts := func(queue int, v []int64) {
		if queue < 0 || queue >= len(tree) {
			wrong = append(wrong, fmt.Errorf("share: queue %d is none of %d: %w", queue, len(tree), ErrNode))
			return
		}
		wrong = append(wrong, checkVector(tree[queue].Name, "amount of a workload", v, resources))
	}
	amounts(r.Queue, r.Amounts)
	for _, v := range victims {
		amounts(v.Queue, v.Amounts)
	}
	_, err := topDown(names, parents)
	return errors.Join(append(wrong, err)...)
}
