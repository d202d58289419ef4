package noderesourcetopologymatch

import (
	"slices"
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// memo remembers what is left in the zones of nodes, by what it depends on: the report and who is
// on the node, both of which are frozen. So it can be used by any cycle and branch, side by side,
// and an entry that is overwritten is only computed again. The most are remembered that have
// different remainders of their slots.
type memo [8192]atomic.Pointer[remembered]

type remembered struct {
	of   *model.NodeTopology
	on   []*extpoints.WorkloadInfo
	late []bool  // of on
	left []int64 // not to be changed
	ok   bool
}

// at is the place for the node.
func (m *memo) at(n *extpoints.NodeInfo) *atomic.Pointer[remembered] {
	return &m[uint32(n.Slot)%uint32(len(m))]
}

// is reports whether the entry is about the same; of none it is false.
func (r *remembered) is(t *model.NodeTopology, n *extpoints.NodeInfo) bool {
	return r != nil && r.of == t && slices.Equal(r.on, n.Workloads)
}
