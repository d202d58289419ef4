package devicepacking

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// gains remembers what workloads would gain on the nodes as they are, prices apart. A
// placement changes one node, and few kinds of workloads make up most, so nearly
// every score is known from an earlier cycle.
//
// Nothing is told to it: what it knows of a node holds for the content that the node had, and that
// is compared. So what it returns is what would be computed anew, on branches too.
type gains struct {
	mix   *mix
	slots []atomic.Pointer[nodeGains]

	mu    sync.Mutex
	kinds map[demandKind]int // numbers; what has the same one gains the same
}

// mostKinds is how many kinds are remembered, eight bytes each and node. With one more, all is
// forgotten.
const mostKinds = 512

// demandKind is what the gain of a workload depends on, on a node of one model: what it asks
// for, with at most one request of the class. Of a resource the amount is the share, of
// count 1.
type demandKind struct{ cpu, share, count int64 }

// nodeGains is what is known of a node with this content.
type nodeGains struct {
	node    *model.Node // frozen
	cpu     int64       // requested
	used    int64       // of the resource, if devices are counted by one
	free    []int64
	uniform bool           // all devices are of the class and of one model
	gains   []atomic.Int64 // by number of kind, as packed; 0: not known
}

// gainMemory holds the present gains, of whichever mix was looked at last.
type gainMemory struct {
	present atomic.Pointer[gains]
}

// of returns what is remembered for the mix, and the number of the kind.
func (p *gainMemory) of(m *mix, k demandKind, slots int) (*gains, int) {
	g := p.present.Load()
	if g == nil || g.mix != m || len(g.slots) < slots {
		g = p.forget(m, slots)
	}
	if number := g.number(k); number >= 0 {
		return g, number
	}
	g = p.forget(m, slots)
	return g, g.number(k)
}

// forget begins anew.
func (p *gainMemory) forget(m *mix, slots int) *gains {
	g := &gains{mix: m, slots: make([]atomic.Pointer[nodeGains], slots), kinds: map[demandKind]int{}}
	p.present.Store(g)
	return g
}

// number is -1 where there are too many.
func (g *gains) number(k demandKind) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	number, ok := g.kinds[k]
	if !ok {
		if number = len(g.kinds); number == mostKinds {
			return -1
		}
		g.kinds[k] = number
	}
	return number
}

// of is what is known of the node, with room for the number; nil where the node has no slot.
func (g *gains) of(from *supply, node *extpoints.NodeInfo, number int) *nodeGains {
	if int(node.Slot) >= len(g.slots) {
		return nil
	}
	slot := &g.slots[node.Slot]
	known := slot.Load()
	if known == nil || len(known.gains) <= number || !known.isOf(from, node) {
		known = newNodeGains(from, node)
		known.gains = make([]atomic.Int64, (number/16+1)*16)
		slot.Store(known)
	}
	return known
}

func newNodeGains(from *supply, node *extpoints.NodeInfo) *nodeGains {
	n := &nodeGains{node: node.Node, cpu: node.Requested.CPU, uniform: true}
	if from.ofResource() {
		n.used = node.Requested.Scalar(from.resource)
		return n
	}
	var b buffer
	left := newPool(&b, from.class, node)
	n.free, n.uniform = slices.Clone(node.DeviceFree), left.uniform && left.index == nil
	return n
}

// isOf reports whether the node still is as it was.
func (k *nodeGains) isOf(from *supply, node *extpoints.NodeInfo) bool {
	if k.node != node.Node || k.cpu != node.Requested.CPU {
		return false
	}
	if from.ofResource() {
		return k.used == node.Requested.Scalar(from.resource)
	}
	return slices.Equal(k.free, node.DeviceFree)
}

// packed is a gain as it is kept: never 0.
func packed(gain int64) int64 { return gain<<1 | 1 }

func unpacked(kept int64) int64 { return kept >> 1 }
