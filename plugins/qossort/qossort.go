package qossort

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Name is the plugin's name.
const Name = "QOSSort"

// QOSSort is the plugin. It has no state.
type QOSSort struct{}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*QOSSort, error) { return &QOSSort{}, nil }

// Name returns the plugin's name.
func (*QOSSort) Name() string { return Name }

// Less puts the higher priority first, of equal ones the more guaranteed class, and of
// those the earlier timestamp. Two that agree in all are equal; the queue decides.
func (*QOSSort) Less(a, b *extpoints.Queued) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	if one, other := rank(a.Workload), rank(b.Workload); one != other {
		return one < other
	}
	return a.Timestamp.Before(b.Timestamp)
}

// rank is less for the more guaranteed.
func rank(w *model.Workload) int {
	switch w.QoSClass() {
	case model.Guaranteed:
		return 0
	case model.Burstable:
		return 1
	}
	return 2
}

var _ extpoints.QueueSortPlugin = (*QOSSort)(nil)
