package queue

import (
	"math"
	"time"

	"github.com/berth-project/berth/model"
)

// resourceSeconds is the most that a workload can use that has so much of a resource for
// so long, rounded up; without an end to it there is no bound.
func resourceSeconds(n int64, limit time.Duration) int64 {
	seconds := int64((limit + time.Second - 1) / time.Second)
	if seconds == 0 || n > math.MaxInt64/seconds {
		return math.MaxInt64
	}
	return n * seconds
}

// charged is a workload that has a node, and when it must have ended; never where nobody says.
type charged struct {
	*model.Workload
	end int64
}

// requested is what the workload requests of the resource or of the class of devices.
func requested(w *model.Workload, resource string) int64 {
	return saturated(w.Requests.Get(resource), w.DevicesOf(resource))
}

func saturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
