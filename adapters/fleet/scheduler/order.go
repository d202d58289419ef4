package scheduler

import "github.com/berth-project/berth/extpoints"

const orderName = "JobOrder"

// order is the order in which workloads are tried: by priority, then by the number
// of the job, the element and the attempt. It does not depend on when the engine
// heard of them, so a new leader goes on in the same order.
type order struct{}

var _ extpoints.QueueSortPlugin = order{}

// Name implements extpoints.Plugin.
func (order) Name() string { return orderName }

// Less implements extpoints.QueueSortPlugin.
func (order) Less(a, b *extpoints.Queued) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return taskOf(a.Workload).id.Compare(taskOf(b.Workload).id) < 0
}
