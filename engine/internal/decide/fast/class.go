package fast

import (
	"math/bits"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
)

// Plugins are asked what is not known.
type Plugins interface {
	SlotPlugins
	// Filter is what the filters say of the node that are not asked by slot.
	Filter(node *extpoints.NodeInfo) framework.Verdict
	// Claimed are the places, in order, of the nodes where the workload must leave room to
	// others that are nominated there. Of these nothing is remembered: FilterClaimed is asked.
	Claimed() []int32
	FilterClaimed(node *extpoints.NodeInfo) framework.Verdict
	// Score is what the Score plugins say of the nodes that are not asked by slot, raw, in the form
	// of [framework.Framework.RawScores].
	Score(nodes []*extpoints.NodeInfo) (*framework.Scores, framework.Skips, bool)
	// Normalize is [framework.Framework.Normalize].
	Normalize(score int, nodes []*extpoints.NodeInfo, scores []int64) bool
	// Present is when the decision is made. Ages is for how long what the plugins have said so far
	// holds, see [extpoints.Cycle.AgesHold].
	Present() time.Time
	Ages() (after, before time.Time)
	// Weights are those of the Score plugins; Normalized those of them that normalise.
	Weights() []int64
	Normalized() []int
}

// SlotPlugins are those of the plugins that look at other nodes. What they say is not remembered:
// it changes with whatever is placed somewhere.
type SlotPlugins interface {
	// BySlot reports whether there are any that filter, and that score.
	BySlot() (filters, scores bool)
	// FilterSlots says which of the slots they accept: see [framework.Framework.FilterSlots].
	FilterSlots(slots []int32) (accepted uint64, ok bool)
	// FilterBySlot is what all filters say of a node, where local is what Filter says.
	FilterBySlot(node *extpoints.NodeInfo, local framework.Verdict) framework.Verdict
	// ScoreSlots is what they say of the feasible nodes: see [framework.Framework.ScoreSlots].
	ScoreSlots(slots []int32, scores []int64, add func(scores []int64, weight int64)) (ran framework.Skips, ok bool)
}

// Nodes are the nodes of a frozen view.
type Nodes interface {
	Len() int
	// Block is the block of the view: see [snapshot.View.Block].
	Block(i int) *snapshot.Block
}

// Class is what is known of the nodes for the workloads of one class.
type Class struct {
	key    classKey
	size   int // nodes
	blocks []*block
	// version changes with everything that is known of the filters.
	version uint64
	seen    int // how often it was asked for
	// skips is what PreScore skips, the same whenever it is asked; hasSkips: it was.
	skips    framework.Skips
	hasSkips bool
	// told is the diagnosis that was made last, while it holds.
	told told
	// holds is when what is known holds.
	holds interval

	newer, older *Class // in the cache, in the order of use
}

// classKey is the profile and the key that its plugins made.
type classKey struct {
	profile *framework.Framework
	key     string
}

// told is the diagnosis of a class that fits nowhere, of a search from the start index, while
// nothing is known that was not known then.
type told struct {
	diagnosis *framework.Diagnosis
	version   uint64
	start     int
}

// block is what is known of 64 nodes. In the masks bit k speaks of node k.
type block struct {
	// from is what infos was compared with.
	from  *snapshot.Block
	infos snapshot.Block
	slots [snapshot.BlockSize]int32
	// known are the nodes whose verdicts are known, ok those of them that are feasible,
	// scored those of these whose totals are known.
	known, ok, scored uint64
	verdicts          [snapshot.BlockSize]framework.Verdict
	// totals are the weighted sums over the scores that are not normalised, raw has those
	// that are, one list for each plugin.
	totals [snapshot.BlockSize]int64
	raw    [][snapshot.BlockSize]int64
	// best and atBest are the best total of the nodes in bestOf, and the nodes that have it;
	// bestOf is 0 where that is not known, as when another total has become known. A node that
	// has changed is out of ok, or its total becomes known anew.
	best           int64
	atBest, bestOf uint64
	// same says, for each plugin that normalises, of which nodes it is known that they have the
	// same raw score.
	same []uint64
}

// begin forgets all that the class knows if it may be different at the time, because a report has
// grown too old. That happens once in a while, so it is not worth knowing of which node it was.
func (c *Class) begin(present time.Time) {
	if !c.holds.has(present) {
		clear(c.blocks)
		c.told, c.holds = told{}, interval{}
	}
}

// at returns the block as it is in the view.
func (c *Class) at(nodes Nodes, i int) *block {
	b := c.blocks[i]
	if b == nil {
		b = &block{}
		c.blocks[i] = b
	}
	if from := nodes.Block(i); b.from != from {
		b.follow(from)
	}
	return b
}

// follow forgets what is known of nodes that have changed.
func (b *block) follow(from *snapshot.Block) {
	var changed uint64
	for k, info := range from {
		if b.infos[k] != info {
			b.infos[k], b.slots[k] = info, 0
			if info != nil {
				b.slots[k] = info.Slot
			}
			changed |= 1 << k
		}
	}
	b.from = from
	b.known &^= changed
	b.ok &^= changed
	b.scored &^= changed
}

// ask asks the filters about the nodes of the mask that are not known. It reports false where
// one of them failed.
func (c *Class) ask(b *block, mask uint64, plugins Plugins) bool {
	missing := mask &^ b.known
	if missing == 0 {
		return true
	}
	c.version++
	for ; missing != 0; missing &= missing - 1 {
		k := bits.TrailingZeros64(missing)
		v := plugins.Filter(b.infos[k])
		switch {
		case v.Status == nil:
			b.ok |= 1 << k
		case !v.Status.IsRejected():
			return false
		}
		b.verdicts[k] = v
		b.known |= 1 << k
	}
	return true
}
