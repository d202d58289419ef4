package queuesort

import "github.com/berth-project/berth/extpoints"

// Name is the plugin's name.
const Name = "PrioritySort"

// PrioritySort is the plugin. It has no state.
type PrioritySort struct{}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*PrioritySort, error) {
	return &PrioritySort{}, nil
}

// Name returns the plugin's name.
func (*PrioritySort) Name() string { return Name }

// Less puts the higher priority first, and of equal ones the earlier
// timestamp. Two that agree in both are equal; the queue decides.
//
// Rule: kube-scheduler plugins/queuesort/priority_sort.go, 1.37.1.
func (*PrioritySort) Less(a, b *extpoints.Queued) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.Timestamp.Before(b.Timestamp)
}

var _ extpoints.QueueSortPlugin = (*PrioritySort)(nil)
