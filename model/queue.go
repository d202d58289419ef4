package model

import (
	"fmt"
	"maps"
	"time"
)

// OrderPolicy says in what order the parts of a queue get their turn: the queues below it,
// and the principals with workloads in it.
type OrderPolicy string

// The order policies; the empty value means OrderShare.
const (
	OrderFIFO     OrderPolicy = "FIFO"     // the one whose first workload came first
	OrderPriority OrderPolicy = "Priority" // the one whose first workload has the highest priority, then as FIFO
	// OrderShare: the one that uses least of what it is entitled to. Those come first that
	// use less than they are guaranteed. Among the others, what they use beyond that
	// counts: its dominant share, the largest of its shares of the resources of the
	// cluster, over the weight; where these are equal, the same with what is guaranteed.
	OrderShare OrderPolicy = "Share"
	// OrderUsage: the one that has used least for its weight, by what it has had over
	// time, of which the older counts less: see [Queue].HalfLife. Those come first that use less
	// than they are guaranteed now. One that has used nothing comes before any that has; equal ones go
	// as FIFO. It is Fair Tree: what a queue has used is what all below it have, and of two
	// queues all in the one come before all in the other. History displaces nobody: for
	// the reclaim of what is not guaranteed it is as FIFO.
	OrderUsage OrderPolicy = "Usage"
)

// ReclaimPolicy says whose workloads in other queues may be displaced so that a queue gets
// what it is entitled to. Within a queue, and where none is named, those of lower priority
// may be, as always; a priority in another queue says nothing by itself. The plugin
// DefaultPreemption does it, where the order is by queues.
//
// One who leaves is in a queue that has more than it is guaranteed, of everything that is
// asked for and that it is guaranteed any of, as have all queues above it up to where the ways
// of the two queues part; runs for the MinRuntime of these; and these are not Protected. Then it is
// enough that the queue of the one who waits stays within its own guarantee. Otherwise the policy
// of the queue in which the ways part decides between the two queues below that: with
// OrderShare the one of higher Priority wins, and of equal ones what each uses beyond its
// guarantee counts, over the weight: with the room won, the one must not have more than the
// other has left; or if that does not make enough room, less than the other has. With
// OrderPriority the priorities of the two workloads decide, and with OrderFIFO nobody leaves.
// What has more gives first. Nobody leaves if any of them could win the room back at once.
type ReclaimPolicy string

// The reclaim policies; the empty value means ReclaimNever.
const (
	ReclaimNever ReclaimPolicy = "Never"
	ReclaimLower ReclaimPolicy = "LowerPriority" // those of lower priority than the one that waits
	ReclaimAny   ReclaimPolicy = "Any"
)

// PerMillion is the whole in fractions that are given in millionths.
const PerMillion = 1_000_000

// Queue is a part of the order in which workloads are placed, and what the workloads in
// it may use together. Queues make a tree. Amounts are by the name of a resource, in its
// unit: see [Resources.Get].
//
// What Guaranteed, Max, Lend and Borrow say decides which waiting workload may be placed;
// they displace nothing by themselves. Reclaim does, and wins back what is guaranteed. Guarantees may add up to more than there is: then each is
// honoured as long as there is room, in the order of the queues. A queue whose workloads
// use more than it is entitled to, because the queue has been changed since or because they were
// placed by somebody else, keeps them, and gets nothing more until they are fewer.
type Queue struct {
	Name string // identity, unique among queues
	// Parent is the name of the queue that it is part of; empty: it is at the top. Where
	// there is no such queue yet, the workloads wait for it.
	Parent string
	// Weight is its part of what is shared, in relation to its siblings. Those without a weight
	// (0) come after all that have one, and are equal among each other: queues for
	// which nobody says a weight share equally.
	Weight int64
	// Priority puts it before all siblings of lower priority, whatever they use or have used,
	// unless the policy of the parent is OrderFIFO.
	Priority int32
	// Guaranteed is what it can count on; 0 where it is not said.
	Guaranteed map[string]int64
	// Max is the most that it may use; no limit where it is not said.
	Max map[string]int64
	// Lend is how much of what it does not use of Guaranteed others may use; all of
	// it where it is not said.
	Lend map[string]int64
	// Borrow is how much it may use beyond Guaranteed; no limit where it is not said.
	Borrow map[string]int64
	// Protected is the part of its fair share that nobody may reclaim from it, in
	// millionths; see PerMillion. Its fair share is the part that its weight is of those of its
	// siblings that use anything or have something waiting; of the same part of the queue
	// above. It is compared with its dominant share, before one leaves.
	Protected int64
	// Policy orders what is in it. Empty: OrderShare. Workloads of one principal go in the
	// order of the profile.
	Policy OrderPolicy
	// HalfLife is for OrderUsage, which needs it: after it, what has been used counts half. It
	// is from a second to 10,000 days; there is none that stands for no decay, or for no
	// memory.
	//
	// What runs uses what it requests, from when it gets a node until it leaves it. The order
	// goes by what each part will have used when the next interval ends, if what runs now runs
	// until then. Intervals are HalfLife / 2016, at least a second: within one only what starts
	// and ends changes the order. Each queue remembers its own parts, by name, also those that
	// run nothing, are empty or gone, until all is decayed; where it gets another HalfLife, what
	// counts at that moment decays by the new one from then on.
	HalfLife time.Duration
	// Prices, for OrderUsage, make one number of different resources: the price of each, for a
	// core, a GiB of memory or ephemeral storage, a thousandth of a device of a class, or one of
	// another resource. What is not named costs nothing. Without any the usage is that of the dominant
	// resource: the one of which the part has used most in relation to what the cluster offers.
	Prices map[string]int64
	// Reclaim says whom in other queues its own workloads, not those in queues below it, may
	// displace. Empty: ReclaimNever.
	Reclaim ReclaimPolicy
	// MinRuntime is for how long a workload of it, or of a queue below it, runs at least
	// before it may be displaced for a queue that is not below it; 0: it may be at any time.
	MinRuntime time.Duration
}

func (*Queue) sealed() {}

// clone returns a deep copy, nil of nil.
func (q *Queue) clone() *Queue {
	return clonePointer(q, func(q *Queue) {
		q.Guaranteed, q.Max = maps.Clone(q.Guaranteed), maps.Clone(q.Max)
		q.Lend, q.Borrow = maps.Clone(q.Lend), maps.Clone(q.Borrow)
		q.Prices = maps.Clone(q.Prices)
	})
}

// The values that the enumerated fields of a queue may have, in the order in which
// messages list them.
var (
	orderPolicies   = []OrderPolicy{OrderFIFO, OrderPriority, OrderShare, OrderUsage}
	reclaimPolicies = []ReclaimPolicy{ReclaimNever, ReclaimLower, ReclaimAny}
)

// Validate returns all that is wrong with the queue as a [*ValidationError], nil
// where it is valid.
func (q *Queue) Validate() error {
	var c checker
	c.notEmpty("name", q.Name)
	c.text("parent", q.Parent)
	if q.Parent == q.Name && q.Name != "" {
		c.report("parent", "must not be the queue itself")
	}
	c.between("weight", q.Weight, 0, maxWeight)
	c.amountsByName("guaranteed", q.Guaranteed)
	c.amountsByName("max", q.Max)
	for _, name := range sortedKeys(q.Max) {
		if most := q.Max[name]; most >= 0 && q.Guaranteed[name] > most {
			c.report("max", fmt.Sprintf("%d of %q is less than the %d that are guaranteed", most, name, q.Guaranteed[name]))
		}
	}
	c.amountsByName("lend", q.Lend)
	c.amountsByName("borrow", q.Borrow)
	c.between("protected", q.Protected, 0, PerMillion)
	oneOfOrEmpty(&c, "policy", q.Policy, orderPolicies)
	q.checkHistory(&c)
	for _, name := range sortedKeys(q.Prices) {
		c.notEmpty("prices", name)
		c.between("prices", q.Prices[name], 0, maxWeight)
	}
	oneOfOrEmpty(&c, "reclaim", q.Reclaim, reclaimPolicies)
	if q.MinRuntime < 0 {
		c.report("minRuntime", fmt.Sprintf("%v is negative", q.MinRuntime))
	}
	return invalid("queue", q.Name, c.problems)
}

// The bounds of half-lives.
const (
	shortestHalfLife = time.Second
	longestHalfLife  = 10_000 * 24 * time.Hour
)

// halfLife reports one that is none.
func (c *checker) halfLife(d time.Duration) {
	if d < shortestHalfLife || d > longestHalfLife {
		c.report("halfLife", fmt.Sprintf("%v is not between %v and %v: what has been used must decay", d, shortestHalfLife, longestHalfLife))
	}
}

// checkHistory reports what is wrong with how usage counts.
func (q *Queue) checkHistory(c *checker) {
	if q.Policy != OrderUsage {
		if q.HalfLife != 0 {
			c.report("halfLife", "must be 0 where policy is not "+string(OrderUsage))
		}
		if len(q.Prices) > 0 {
			c.report("prices", "must be empty where policy is not "+string(OrderUsage))
		}
		return
	}
	c.halfLife(q.HalfLife)
}

// maxWeight is the largest weight of a queue, the most shares of a principal, and the highest price.
const maxWeight = 1 << 30

// amountsByName reports what is no amount of a resource.
func (c *checker) amountsByName(field string, amounts map[string]int64) {
	for _, name := range sortedKeys(amounts) {
		if name == "" {
			c.report(field, "has an empty name")
		}
		c.text(field, name)
		if n := amounts[name]; n < 0 {
			c.report(field, fmt.Sprintf("%d of %q is less than 0", n, name))
		}
	}
}
