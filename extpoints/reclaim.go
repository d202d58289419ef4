package extpoints

import "time"

// Reclaiming is implemented by the [Preemption] of an engine whose order may be by queues.
// A plugin that displaces others looks for it with a type assertion, and goes by priorities
// alone where it is not there, or Reclaim returns nil.
type Reclaiming interface {
	// Reclaim begins to look for room for the members, all of which are to be placed: one
	// workload, or those of a group. They name one queue and one principal. The priority is
	// the workload's, or the group's. It returns nil where the order is not by queues.
	Reclaim(s *CycleState, priority int32, members []*WorkloadInfo) Reclaim
}

// Reclaim is what the queues say about who is displaced for one workload or group: in its own
// queue those of lower priority, in others those by which these have more than they are
// entitled to, whatever their priority. [model.ReclaimPolicy] has the rules. Only
// PostFilter and GroupPostFilter plugins use it, in the call that they got it in, and from
// one goroutine.
type Reclaim interface {
	// Choose begins anew. It lists, as indexes, those of the list who may be displaced, in
	// the order in which they are: what a queue may lose depends on what others have lost
	// before. All of them together may be more than are needed.
	Choose(list []Leaver) []int
	// Spare lets the one of the index stay, who was chosen. It reports false, and changes
	// nothing, if one who was chosen later could not be displaced then.
	Spare(index int) bool
	// Yields reports whether a workload that is nominated to a node need not be left its
	// room there: it is in the same queue, and of lower priority.
	Yields(nominated *WorkloadInfo) bool
	// Lasts reports whether none of those who are still chosen could win its room back at
	// once. If one could, nobody is to be displaced.
	Lasts() bool
}

// Leaver is what would leave as one: a workload, or all members of a group on whatever nodes.
type Leaver struct {
	Workloads []*WorkloadInfo // one, or the members of the group
	Priority  int32           // as a victim
	Since     time.Time       // since when it runs
}
