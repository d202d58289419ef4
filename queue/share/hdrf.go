package share

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
)

// HierarchyNode is a node of the tree of hierarchical DRF: a group, or a leaf, which has
// nobody below it and uses resources.
type HierarchyNode struct {
	Name     string  // for errors, and decides last between equal shares
	Parent   int     // index of the group above, or Root
	Sequence uint64  // decides between equal shares, before the name
	Weight   int64   // its part, relative to its siblings; above 0
	Used     []int64 // of a leaf: by resource, what it has
	Wants    []int64 // of a leaf: by resource, its next piece; nil: nothing
	Blocked  bool    // of a leaf: its next piece fits on no node, whatever the sums say
}

// Hierarchy is hierarchical DRF (H-DRF) over one state of the tree.
//
// Shares are Q32 numbers. A leaf's vector is what it has over the capacity. A group's
// is the sum of its children's, each scaled so that its weighted dominant share is
// that of the child with the lowest; a child that is blocked is not scaled and does
// not count for the lowest. Every number is rounded down. As they scale one another, a group's share
// may be off by 2^-32 in either direction for each node below it, times the ratio of the weights of
// siblings on each floor.
//
// A resource is saturated if what is left of it is less than every leaf with a next
// piece wants of it. It does not count in anybody's share then, because nobody can be
// served with it. A leaf is blocked if it wants nothing or its next piece does not fit in
// what is left; a group, if all its children are.
type Hierarchy struct {
	nodes    []HierarchyNode
	children [][]int
	roots    []int
	vectors  [][]uint64 // by resource, Q32
	shares   []uint64   // dominant, not weighted, Q32
	blocked  []bool
	counts   []bool // by resource: it has a capacity and is not saturated
}

// NewHierarchy computes the shares of the tree. The error lists all that is wrong: a
// parent that there is not, a circle, a weight below 1, a vector of another length than
// the capacity, an amount below 0.
func NewHierarchy(nodes []HierarchyNode, capacity []int64) (*Hierarchy, error) {
	order, err := checkHierarchy(nodes, len(capacity))
	if err != nil {
		return nil, err
	}
	h := &Hierarchy{
		nodes: nodes, children: make([][]int, len(nodes)), vectors: make([][]uint64, len(nodes)),
		shares: make([]uint64, len(nodes)), blocked: make([]bool, len(nodes)), counts: make([]bool, len(capacity)),
	}
	for i, b := range nodes {
		if b.Parent == Root {
			h.roots = append(h.roots, i)
		} else {
			h.children[b.Parent] = append(h.children[b.Parent], i)
		}
	}
	h.blockLeaves(capacity)
	for k := len(order) - 1; k >= 0; k-- {
		h.compute(order[k], capacity)
	}
	return h, nil
}

func checkHierarchy(nodes []HierarchyNode, resources int) ([]int, error) {
	names, parents := make([]string, len(nodes)), make([]int, len(nodes))
	var wrong []error
	for i, b := range nodes {
		names[i], parents[i] = b.Name, b.Parent
		if b.Weight < 1 {
			wrong = append(wrong, fmt.Errorf("share: weight %d of %q must be above 0: %w", b.Weight, b.Name, ErrWeight))
		}
		wrong = append(wrong, checkVector(b.Name, "use", b.Used, resources), checkVector(b.Name, "next piece", b.Wants, resources))
	}
	order, err := topDown(names, parents)
	return order, errors.Join(append(wrong, err)...)
}

// checkVector returns an error if the vector is there and has another length, or an
// amount below 0.
func checkVector(name, what string, v []int64, resources int) error {
	if v != nil && len(v) != resources {
		return fmt.Errorf("share: the %s of %q has %d resources instead of %d: %w", what, name, len(v), resources, ErrLength)
	}
	for r, amount := range v {
		if amount < 0 {
			return fmt.Errorf("share: the %s of %q has %d of resource %d: %w", what, name, amount, r, ErrNegative)
		}
	}
	return nil
}

// blockLeaves finds the saturated resources and the blocked leaves.
func (h *Hierarchy) blockLeaves(capacity []int64) {
	for r := range capacity {
		left, least := capacity[r], int64(math.MaxInt64)
		for i, b := range h.nodes {
			if len(h.children[i]) > 0 {
				continue
			}
			if b.Used != nil {
				left = max(left-b.Used[r], -1) // what is over capacity leaves nothing
				if left < 0 {
					break
				}
			}
		}
		for i, b := range h.nodes {
			if len(h.children[i]) > 0 {
				continue
			}
			if b.Wants == nil || b.Blocked || b.Wants[r] > max(left, 0) {
				h.blocked[i] = true
			}
			if b.Wants != nil && b.Wants[r] > 0 {
				least = min(least, b.Wants[r])
			}
		}
		h.counts[r] = capacity[r] > 0 && left >= 0 && (least == math.MaxInt64 || left >= least)
	}
}

// compute sets the vector and the share of a node whose children have theirs.
func (h *Hierarchy) compute(n int, capacity []int64) {
	v := make([]uint64, len(capacity))
	h.vectors[n] = v
	if children := h.children[n]; len(children) > 0 {
		h.sum(n, v)
	} else if used := h.nodes[n].Used; used != nil {
		for r := range v {
			if capacity[r] > 0 {
				v[r] = mulDiv(uint64(used[r]), One, uint64(capacity[r]))
			}
		}
	}
	for r := range v {
		if h.counts[r] {
			h.shares[n] = max(h.shares[n], v[r])
		}
	}
}

// sum adds the children's vectors to v, scaled to the lowest share among those that are
// not blocked. The group is blocked if all of them are.
func (h *Hierarchy) sum(n int, v []uint64) {
	lowest := -1
	for _, c := range h.children[n] {
		if !h.blocked[c] && (lowest < 0 || h.compareShares(c, lowest) < 0) {
			lowest = c
		}
	}
	h.blocked[n] = lowest < 0
	for _, c := range h.children[n] {
		target := h.shares[c]
		if !h.blocked[c] {
			target = mulDiv(h.shares[lowest], uint64(h.nodes[c].Weight), uint64(h.nodes[lowest].Weight))
		}
		for r, x := range h.vectors[c] {
			if target < h.shares[c] {
				x = mulDiv(x, target, h.shares[c])
			}
			if v[r] += x; v[r] < x {
				v[r] = math.MaxUint64
			}
		}
	}
}

func (h *Hierarchy) compareShares(a, b int) int {
	return product(h.shares[a], uint64(h.nodes[b].Weight)).Compare(product(h.shares[b], uint64(h.nodes[a].Weight)))
}

// Share returns the dominant share of the node as a Q32 number, not divided by its
// weight.
func (h *Hierarchy) Share(node int) uint64 { return h.shares[node] }

// Blocked reports whether nothing below the node can be served, or the leaf itself.
func (h *Hierarchy) Blocked(node int) bool { return h.blocked[node] }

// Next returns the leaf that is served next: from the top down, the child with the lowest
// weighted share that is not blocked, then the lowest sequence and name. It returns
// false if all are blocked.
func (h *Hierarchy) Next() (int, bool) {
	n := h.first(h.roots)
	for n >= 0 && len(h.children[n]) > 0 {
		n = h.first(h.children[n])
	}
	return n, n >= 0
}

func (h *Hierarchy) first(of []int) int {
	best := -1
	for _, c := range of {
		if h.blocked[c] {
			continue
		}
		if best < 0 {
			best = c
			continue
		}
		a, b := h.nodes[c], h.nodes[best]
		if cmp.Or(h.compareShares(c, best), cmp.Compare(a.Sequence, b.Sequence), strings.Compare(a.Name, b.Name)) < 0 {
			best = c
		}
	}
	return best
}
