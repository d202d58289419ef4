package share

import (
	"errors"
	"fmt"
	"math"
)

// mostAmount is the largest amount of a quota tree, so that two of them can be added.
const mostAmount = math.MaxInt64 / 4

// PPM is the weight 1 where weights are in parts per million.
const PPM = 1_000_000

// QuotaNode is a queue or a cohort of queues. Vectors are by cell: a resource, or a
// resource of one flavour. A vector that is nil is 0 for Nominal and Unlimited for the
// others.
type QuotaNode struct {
	Name    string  // unique
	Parent  int     // index of the cohort above, or Root
	Nominal []int64 // what it has of its own
	Borrow  []int64 // the most that it may use beyond the quota of its subtree; Unlimited: any
	Lend    []int64 // the most of its subtree's quota that others may use; Unlimited: all
	Weight  int64   // in PPM, for its share; 0: it has an infinite share when it borrows
}

// Quota is a tree of queues and cohorts that lend each other what they do not use. What a
// queue uses counts for it, and as far as it is more than the queue keeps to itself for
// the cohort too, and so on upwards.
//
// A Quota is for one goroutine; Fork makes an independent copy.
type Quota struct {
	nodes     []QuotaNode
	resources []int // by cell
	order     []int // from the top down
	children  [][]int
	depth     []int
	subtree   [][]int64 // by node and cell: own quota, and what the children lend
	own       [][]int64 // the part of it that is not lent
	potential [][]int64 // available if nothing were used
	lendable  [][]int64 // by node and resource: potential of all cells of the resource
	usage     [][]int64
}

// NewQuota makes a tree in which nothing is used. resources has for each cell the
// resource that it is of, from 0 up: several flavours of a resource are several
// cells. The error lists all that is wrong: a parent that there is not, a circle,
// vectors of another length, amounts below 0, weights below 0, sums that are too large.
func NewQuota(nodes []QuotaNode, resources []int) (*Quota, error) {
	order, err := checkQuota(nodes, resources)
	if err != nil {
		return nil, err
	}
	q := &Quota{nodes: nodes, resources: resources, order: order, children: make([][]int, len(nodes)), depth: make([]int, len(nodes))}
	cells := len(resources)
	q.subtree, q.own, q.potential, q.usage = matrix(nodes, cells), matrix(nodes, cells), matrix(nodes, cells), matrix(nodes, cells)
	kinds := 0
	for _, r := range resources {
		kinds = max(kinds, r+1)
	}
	q.lendable = matrix(nodes, kinds)
	for k := len(order) - 1; k >= 0; k-- {
		q.sumQuota(order[k])
	}
	for i, n := range nodes {
		if n.Parent != Root {
			q.children[n.Parent] = append(q.children[n.Parent], i)
		}
	}
	for _, n := range order {
		if p := nodes[n].Parent; p != Root {
			q.depth[n] = q.depth[p] + 1
		}
		for c, r := range resources {
			q.potential[n][c] = q.available(n, c, true)
			q.lendable[n][r] += q.potential[n][c]
		}
	}
	return q, nil
}

func matrix(nodes []QuotaNode, width int) [][]int64 {
	m := make([][]int64, len(nodes))
	all := make([]int64, len(nodes)*width)
	for i := range m {
		m[i] = all[i*width : (i+1)*width : (i+1)*width]
	}
	return m
}

func checkQuota(nodes []QuotaNode, resources []int) ([]int, error) {
	names, parents := make([]string, len(nodes)), make([]int, len(nodes))
	var wrong []error
	for c, r := range resources {
		if r < 0 || r >= len(resources) {
			wrong = append(wrong, fmt.Errorf("share: cell %d is of resource %d; resources are numbered from 0 up: %w", c, r, ErrLength))
		}
	}
	for i, n := range nodes {
		names[i], parents[i] = n.Name, n.Parent
		if n.Weight < 0 {
			wrong = append(wrong, fmt.Errorf("share: weight %d of %q is below 0: %w", n.Weight, n.Name, ErrWeight))
		}
		wrong = append(wrong, checkVector(n.Name, "nominal quota", n.Nominal, len(resources)),
			checkVector(n.Name, "borrowing limit", n.Borrow, len(resources)), checkVector(n.Name, "lending limit", n.Lend, len(resources)))
	}
	wrong = append(wrong, checkTotals(nodes, resources))
	order, err := topDown(names, parents)
	return order, errors.Join(append(wrong, err)...)
}

// checkTotals sees to it that no sum of quotas of a resource can be too large.
func checkTotals(nodes []QuotaNode, resources []int) error {
	totals := map[int]int64{}
	for _, n := range nodes {
		for c := range min(len(n.Nominal), len(resources)) {
			r := resources[c]
			if n.Nominal[c] > mostAmount-totals[r] {
				return fmt.Errorf("share: the quotas of resource %d up to that of %q: %w", r, n.Name, ErrOverflow)
			}
			totals[r] += n.Nominal[c]
		}
	}
	return nil
}

func at(v []int64, i int) int64 {
	if i >= len(v) {
		return 0
	}
	return v[i]
}

// sumQuota computes the quota of the node's subtree, to which its children have added,
// and adds what it lends to its parent's.
func (q *Quota) sumQuota(n int) {
	node := q.nodes[n]
	for c := range q.resources {
		q.subtree[n][c] += at(node.Nominal, c)
		if node.Lend != nil && node.Lend[c] != Unlimited {
			q.own[n][c] = max(0, q.subtree[n][c]-node.Lend[c])
		}
		if node.Parent != Root {
			q.subtree[node.Parent][c] += q.subtree[n][c] - q.own[n][c]
		}
	}
}

// Fork returns a copy whose usage is independent.
func (q *Quota) Fork() *Quota {
	f := *q
	f.usage = matrix(q.nodes, len(q.resources))
	for n := range q.usage {
		copy(f.usage[n], q.usage[n])
	}
	return &f
}

// Add counts amounts, by cell, as used by the node. Nothing is counted if there is an
// error: no such node, another length, an amount below 0, a sum that is too large.
// Whether it fits is not checked; see Available.
func (q *Quota) Add(node int, amounts []int64) error {
	if err := q.check(node, amounts); err != nil {
		return err
	}
	for c, v := range amounts {
		for n := node; n != Root; n = q.nodes[n].Parent {
			if v > mostAmount-q.usage[n][c] {
				return fmt.Errorf("share: what %q uses of cell %d: %w", q.nodes[n].Name, c, ErrOverflow)
			}
		}
	}
	q.add(node, amounts)
	return nil
}

// Remove takes back what Add counted. It is an error, and nothing is taken back, if the
// node uses less.
func (q *Quota) Remove(node int, amounts []int64) error {
	if err := q.check(node, amounts); err != nil {
		return err
	}
	for c, v := range amounts {
		if v > q.usage[node][c] {
			return fmt.Errorf("share: %q uses %d of cell %d, less than %d: %w", q.nodes[node].Name, q.usage[node][c], c, v, ErrNegative)
		}
	}
	q.remove(node, amounts)
	return nil
}

func (q *Quota) check(node int, amounts []int64) error {
	if node < 0 || node >= len(q.nodes) {
		return fmt.Errorf("share: node %d is none of %d: %w", node, len(q.nodes), ErrNode)
	}
	return checkVector(q.nodes[node].Name, "amount", amounts, len(q.resources))
}

func (q *Quota) add(node int, amounts []int64) {
	for c, v := range amounts {
		for n := node; n != Root && v > 0; n = q.nodes[n].Parent {
			kept := max(0, q.own[n][c]-q.usage[n][c])
			q.usage[n][c] += v
			v -= kept
		}
	}
}

func (q *Quota) remove(node int, amounts []int64) {
	for c, v := range amounts {
		for n := node; n != Root && v > 0; n = q.nodes[n].Parent {
			above := max(0, q.usage[n][c]-q.own[n][c])
			q.usage[n][c] -= v
			v = min(v, above)
		}
	}
}

// Usage returns what the node and all below it use of the cell, without what those below
// use of what they keep to themselves.
func (q *Quota) Usage(node, cell int) int64 { return q.usage[node][cell] }

// Available returns how much more of the cell the node may use, from its own quota and
// by borrowing; 0 where less than nothing is left.
func (q *Quota) Available(node, cell int) int64 { return max(0, q.available(node, cell, false)) }

// Potential returns how much of the cell the node might use if nothing were used.
func (q *Quota) Potential(node, cell int) int64 { return q.potential[node][cell] }

// available may be below 0 where lenders use more than their quota. With empty set it is
// as if nothing were used.
func (q *Quota) available(n, c int, empty bool) int64 {
	subtree, own, usage := q.subtree[n][c], q.own[n][c], q.usage[n][c]
	if empty {
		usage = 0
	}
	parent := q.nodes[n].Parent
	if parent == Root {
		return subtree - usage
	}
	above := q.available(parent, c, empty)
	if limit := q.nodes[n].Borrow; limit != nil && limit[c] < mostAmount {
		above = min(above, subtree-own-max(0, usage-own)+limit[c])
	}
	return max(0, own-usage) + above
}

// Borrows reports whether the node, with the amounts added, would use more than the
// quota of its subtree of a cell that it adds to. That is so for no amounts (nil) never.
func (q *Quota) Borrows(node int, add []int64) bool {
	for c, v := range add {
		if v > 0 && q.usage[node][c]+v > q.subtree[node][c] {
			return true
		}
	}
	return false
}

// fits reports whether the node may use the amounts.
func (q *Quota) fits(node int, amounts []int64) bool {
	for c, v := range amounts {
		if v > 0 && v > q.available(node, c, false) {
			return false
		}
	}
	return true
}

// root returns the node at the top above n.
func (q *Quota) root(n int) int {
	for q.nodes[n].Parent != Root {
		n = q.nodes[n].Parent
	}
	return n
}

// diverge returns the ancestors of two nodes, or the nodes, that are children of the
// lowest node above both. Both are the same if one node is above the other, or the same.
func (q *Quota) diverge(a, b int) (int, int) {
	for q.depth[a] > q.depth[b] {
		if q.nodes[a].Parent == b {
			return a, a
		}
		a = q.nodes[a].Parent
	}
	for q.depth[b] > q.depth[a] {
		if q.nodes[b].Parent == a {
			return b, b
		}
		b = q.nodes[b].Parent
	}
	for a != b && q.nodes[a].Parent != q.nodes[b].Parent {
		a, b = q.nodes[a].Parent, q.nodes[b].Parent
	}
	return a, b
}
