package extpoints

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"sync/atomic"
)

// fewWorkloads is how many workloads a node may have before it gets an index: to go
// through so few costs less than the page of an index that a changed clone copies.
const fewWorkloads = 512

// nodeIndex says where each workload is in the lists of a node. Without it, going
// through the lists gives the same answers.
//
// Clones share the pages of an index. Each page has the token of the index that made
// it, and an index changes only pages with its token; others it copies. To make a copy
// takes the token from the original as well, so that it changes no page of the copy.
type nodeIndex struct {
	token                                             atomic.Pointer[indexToken]
	workloads, withAffinity, withRequiredAntiAffinity listIndex
	totals                                            priorityTotals
}

// indexToken has a size, so that each has an address of its own.
type indexToken struct{ _ byte }

func newNodeIndex(workloads, withAffinity, withRequiredAntiAffinity []*WorkloadInfo) *nodeIndex {
	x := &nodeIndex{totals: totalsOf(workloads)}
	token, all, affine, anti := x.open()
	*all, *affine, *anti = newListIndex(token, workloads), newListIndex(token, withAffinity), newListIndex(token, withRequiredAntiAffinity)
	return x
}

// open returns the index of each list, ready to be changed with the token. All are nil
// where x is.
func (x *nodeIndex) open() (token *indexToken, workloads, withAffinity, withRequiredAntiAffinity *listIndex) {
	if x == nil {
		return nil, nil, nil, nil
	}
	if token = x.token.Load(); token == nil {
		token = &indexToken{}
		x.token.Store(token)
	}
	return token, &x.workloads, &x.withAffinity, &x.withRequiredAntiAffinity
}

// copyTo returns a copy, in the memory of to where that is not nil. Several goroutines
// may take copies of x at the same time.
func (x *nodeIndex) copyTo(to *nodeIndex) *nodeIndex {
	if x == nil {
		return nil
	}
	if to == nil {
		to = &nodeIndex{}
	}
	if x.token.Load() != nil {
		x.token.Store(nil)
	}
	to.token.Store(nil)
	if to.totals = append(to.totals[:0], x.totals...); x.totals == nil {
		to.totals = nil
	}
	to.workloads = append(to.workloads[:0], x.workloads...)
	to.withAffinity = append(to.withAffinity[:0], x.withAffinity...)
	to.withRequiredAntiAffinity = append(to.withRequiredAntiAffinity[:0], x.withRequiredAntiAffinity...)
	return to
}

// listIndex is a hash table of the places in a list of workloads, by their IDs. A cell
// holds a place plus one, or 0 where it is free; a place is in the first cell that was
// free from that of its ID on. The IDs are only in the list itself. The number of pages
// is a power of two, or 0 for an empty list.
type listIndex []*indexPage

type indexPage struct {
	token *indexToken
	cells [pageCells]int32
}

const (
	pageBits  = 7
	pageCells = 1 << pageBits
)

// seed differs from run to run, which shows in nothing but the order of the cells.
var seed = maphash.MakeSeed()

// newListIndex makes an index that is at most half full.
func newListIndex(token *indexToken, list []*WorkloadInfo) listIndex {
	if len(list) == 0 {
		return nil
	}
	x := make(listIndex, 1<<bits.Len(uint(2*len(list)-1)>>pageBits))
	for i := range x {
		x[i] = &indexPage{token: token}
	}
	for i, w := range list {
		x.enter(token, w.ID, i)
	}
	return x
}

// find returns the first place in the list of a workload with the ID for which is
// reports true, -1 where there is none.
func (x listIndex) find(list []*WorkloadInfo, id string, is func(*WorkloadInfo) bool) int {
	first := -1
	if len(list) == 0 {
		return first
	}
	for cell := x.home(id); x.at(cell) >= 0; cell = x.next(cell) {
		if i := x.at(cell); (first < 0 || i < first) && is(list[i]) {
			first = i
		}
	}
	return first
}

// placeOf returns the place of the workload in the list, -1 where it is not there. x
// is nil where the list has no index, here and in append and remove.
func (x *listIndex) placeOf(list []*WorkloadInfo, w *WorkloadInfo) int {
	if x == nil {
		return slices.Index(list, w)
	}
	return x.find(list, w.ID, func(o *WorkloadInfo) bool { return o == w })
}

// append appends the workload to the list.
func (x *listIndex) append(token *indexToken, list []*WorkloadInfo, w *WorkloadInfo) []*WorkloadInfo {
	list = append(list, w)
	switch {
	case x == nil:
	case 4*len(list) > 3*x.cells():
		*x = newListIndex(token, list)
	default:
		x.enter(token, w.ID, len(list)-1)
	}
	return list
}

// remove removes element i from the list by moving the last one into its place; i < 0
// removes nothing.
func (x *listIndex) remove(token *indexToken, list []*WorkloadInfo, i int) []*WorkloadInfo {
	if i < 0 {
		return list
	}
	last := len(list) - 1
	if x != nil {
		x.free(token, list, x.cellOf(list, i))
		if i < last {
			x.set(token, x.cellOf(list, last), i)
		}
	}
	list[i] = list[last]
	list[last] = nil
	list = list[:last]
	if x != nil && (len(*x) > 1 || last == 0) && x.cells() > 8*last {
		*x = newListIndex(token, list)
	}
	return list
}

func (x listIndex) cells() int { return len(x) << pageBits }

func (x listIndex) home(id string) int { return int(maphash.String(seed, id)) & (x.cells() - 1) }

func (x listIndex) next(cell int) int { return (cell + 1) & (x.cells() - 1) }

// at returns the place in the cell, -1 for none.
func (x listIndex) at(cell int) int { return int(x[cell>>pageBits].cells[cell&(pageCells-1)]) - 1 }

func (x listIndex) set(token *indexToken, cell, i int) {
	page := x[cell>>pageBits]
	if page.token != token {
		page = &indexPage{token: token, cells: page.cells}
		x[cell>>pageBits] = page
	}
	page.cells[cell&(pageCells-1)] = int32(i + 1)
}

func (x listIndex) enter(token *indexToken, id string, i int) {
	cell := x.home(id)
	for x.at(cell) >= 0 {
		cell = x.next(cell)
	}
	x.set(token, cell, i)
}

// cellOf returns the cell of place i, which is there.
func (x listIndex) cellOf(list []*WorkloadInfo, i int) int {
	cell := x.home(list[i].ID)
	for x.at(cell) != i {
		cell = x.next(cell)
	}
	return cell
}

// free empties the cell. Places behind it that were not in the first cell of their ID
// only because it was taken move up.
func (x listIndex) free(token *indexToken, list []*WorkloadInfo, cell int) {
	mask := x.cells() - 1
	for next := x.next(cell); x.at(next) >= 0; next = x.next(next) {
		home := x.home(list[x.at(next)].ID)
		if (next-home)&mask >= (next-cell)&mask {
			x.set(token, cell, x.at(next))
			cell = next
		}
	}
	x.set(token, cell, -1)
}
