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
	return numbersLess(a.Workload.ID, b.Workload.ID)
}

// numbersLess compares two task IDs, number by number.
func numbersLess(a, b string) bool {
	for a != "" && b != "" {
		i, j := digits(a), digits(b)
		if i != j {
			return i < j // there are no leading zeros
		}
		if a[:i] != b[:j] {
			return a[:i] < b[:j]
		}
		a, b = a[min(i+1, len(a)):], b[min(j+1, len(b)):]
	}
	return a == "" && b != ""
}

// digits is how many digits a text begins with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}
