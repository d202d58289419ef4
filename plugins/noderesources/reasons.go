package noderesources

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// TooMany is the reason given for nodes that may not have one more workload.
const TooMany = "Too many workloads"

// insufficient starts the reason for a resource; its name follows.
const insufficient = "Insufficient "

// lacking is a set of things that a node does not have enough of. The first
// four bits are these; the bit firstScalar<<i is the i-th scalar of the request.
type lacking uint32

const (
	lacksPlaces lacking = 1 << iota
	lacksCPU
	lacksMemory
	lacksStorage
	firstScalar
)

var baseReasons = [...]string{TooMany, insufficient + model.CPU, insufficient + model.Memory, insufficient + model.EphemeralStorage}

// maxScalarsKept is the largest number of scalars for which rejections are
// kept, and maxTables the number of different lists of scalars.
const (
	maxScalarsKept = 3
	maxTables      = 64
)

// rejections makes each rejection once: on a cluster of thousands of full nodes
// a cycle asks for the same few thousands of times. A table is for one list of
// scalars; its rejections are made when first asked for. Which of two equal
// ones made at the same time is kept makes no difference, because a Status
// never changes.
type rejections struct {
	scalars []string
	// made has the rejections by unresolvable and lacking; nil where there
	// are too many combinations to keep.
	made []atomic.Pointer[extpoints.Status]
}

func newRejections(scalars []string) *rejections {
	r := &rejections{scalars: scalars}
	if len(scalars) <= maxScalarsKept {
		r.made = make([]atomic.Pointer[extpoints.Status], 2*firstScalar<<len(scalars))
	}
	return r
}

// get returns the rejection for what the node lacks, nil for nothing.
func (r *rejections) get(l lacking, unresolvable bool) *extpoints.Status {
	if l == 0 {
		return nil
	}
	if r.made == nil {
		return r.make(l, unresolvable)
	}
	i := l << 1
	if unresolvable {
		i |= 1
	}
	if status := r.made[i].Load(); status != nil {
		return status
	}
	status := r.make(l, unresolvable)
	r.made[i].Store(status)
	return status
}

func (r *rejections) make(l lacking, unresolvable bool) *extpoints.Status {
	var reasons []string
	for i, reason := range baseReasons {
		if l&(1<<i) != 0 {
			reasons = append(reasons, reason)
		}
	}
	for i, name := range r.scalars {
		if l&(firstScalar<<i) != 0 {
			reasons = append(reasons, insufficient+name)
		}
	}
	code := extpoints.Unschedulable
	if unresolvable {
		code = extpoints.UnschedulableAndUnresolvable
	}
	return extpoints.NewStatus(code, reasons...)
}

// rejectionTables keeps the tables of a plugin by list of scalars. Clusters have
// few of these lists at a time; beyond maxTables of them all are forgotten, since most may
// be of scalars that there are no more.
type rejectionTables struct {
	plain  *rejections // without scalars
	tables sync.Map    // key of scalars -> *rejections
	count  atomic.Int32
}

func newRejectionTables() *rejectionTables { return &rejectionTables{plain: newRejections(nil)} }

func (t *rejectionTables) of(scalars []string) *rejections {
	if len(scalars) == 0 {
		return t.plain
	}
	key := strings.Join(scalars, "\x00")
	if found, ok := t.tables.Load(key); ok {
		return found.(*rejections)
	}
	table := newRejections(scalars)
	if t.count.Add(1) > maxTables {
		t.tables.Clear()
		t.count.Store(1)
	}
	t.tables.Store(key, table)
	return table
}
