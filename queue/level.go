package queue

import (
	"math"
	"math/bits"

	ledgers "github.com/berth-project/berth/queue/share"
)

// Level is a part of the order by queues: a queue, or what a principal has in the queue
// above it. In a list of all there are limits, too.
type Level struct {
	Queue     string // its name; empty for a limit
	Principal string // empty for a queue; of a limit on each principal, the one whose use it is
	// Limit is the name of a limit, empty for a part. Used of Capacity, its Amount, counts
	// towards it, in its unit. The other fields are empty then, but for Principal and Resource.
	Limit  string
	Weight int64 // its part of what is shared beside it, in relation to the others
	// Resource is the one of which it uses most. Empty where it uses nothing.
	Resource string
	// Used of Capacity is its dominant share, in the unit of the resource.
	Used, Capacity int64
	// Use is what the workloads in it request that have a node, by resource.
	Use map[string]int64
	// Past is what has been used in it, decayed, by resource and in its unit times seconds,
	// rounded down; by prices, one amount without a name of a resource. It and the next two are
	// empty where the queue above does not go by [model.OrderUsage], or nothing was used.
	Past map[string]int64
	// PastOf is the resource that counts: of whose PastCapacity it has used most.
	PastOf string
	// PastCapacity is the capacity of that resource, or by prices what all of the cluster
	// costs, at least 1.
	PastCapacity int64
	Waiting      int // how many workloads wait in it, gated and rejected ones aside
}

// level describes the part, as of a time for what it has used.
func (t *tree) level(p *part, tick int64) Level {
	l := Level{Queue: p.name, Weight: p.weight, Used: p.dominant.used, Waiting: p.waiting}
	if p.leaf != nil {
		l.Queue, l.Principal = t.queueOf(p.leaf.key), p.leaf.key.principal
	}
	for r := range p.used {
		if n := p.used[r].amount(); n > 0 {
			if l.Use == nil {
				l.Use = map[string]int64{}
			}
			l.Use[t.names[r]] = n
		}
	}
	t.levelPast(p, &l, tick)
	if p.resource >= 0 {
		l.Resource, l.Capacity = t.names[p.resource], p.dominant.capacity
	}
	return l
}

// levelPast fills in what the part has used, as of a time.
func (t *tree) levelPast(p *part, l *Level, tick int64) {
	if p.parent == nil || p.parent.book == nil {
		return
	}
	b := p.parent.book
	note := func(name string, n int, unit uint64, of int64) past {
		used := b.ledger.UsageBy(n, tick)
		if whole := floor(used, unit); whole > 0 {
			if l.Past == nil {
				l.Past = map[string]int64{}
			}
			l.Past[name] = whole
		}
		return past{used, of}
	}
	if len(b.prices) > 0 {
		if n, known := b.entries[p.entry()]; known {
			note("", n, 1_000_000, 1)
			l.PastCapacity = max(t.cost(b, t.offered)/1000, 1)
		}
		return
	}
	most := past{of: 1}
	of := p.entry()
	for r, name := range t.names {
		of.Resource = name
		n, known := b.entries[of]
		if !known {
			continue
		}
		capacity := t.offered(r)
		if s := note(name, n, 1000, capacity); most.compareWeighted(1, s, 1) < 0 {
			most, l.PastOf, l.PastCapacity = s, name, capacity
		}
	}
}

// offered is how much of the resource all nodes have.
func (t *tree) offered(r int) int64 {
	if r < len(t.capacity) {
		return t.capacity[r].amount()
	}
	return 0
}

// floor is n over the unit, rounded down.
func floor(n ledgers.Uint128, unit uint64) int64 {
	if n.Hi >= unit {
		return math.MaxInt64
	}
	whole, _ := bits.Div64(n.Hi, n.Lo, unit)
	return int64(min(whole, math.MaxInt64))
}
