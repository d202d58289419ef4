package sidebyside

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// Cost is what one decision costs, for each pod that it is about.
type Cost struct {
	// CPU is the processor time of the whole process, that of collecting
	// garbage included: the median of the batches. Unlike the time that passes
	// it hardly depends on what else the machine does.
	CPU time.Duration
	// Allocs is how often memory is allocated: the mean of all batches.
	Allocs float64
	// Pods is how many were decided on.
	Pods int
}

// Measure lets the sides take turns, a batch each, until the slower one has used
// about so much processor time. It returns what a decision of the row costs each
// of them.
func Measure(r Row, sides []Side, each time.Duration) []Cost {
	size := batchSize(r, sides, each)
	meters := make([]meter, len(sides))
	for rounds := 0; rounds < minRounds || slowest(meters) < each && rounds < maxRounds; rounds++ {
		for i, s := range sides {
			meters[i].run(s, r.decisions(warmUp), size)
		}
	}
	costs := make([]Cost, len(sides))
	for i := range meters {
		costs[i] = meters[i].cost(size, r.Pods())
	}
	return costs
}

// A batch decides on at least minBatch pods, after warmUp that do not count: the
// other side has had the caches of the processor.
const (
	minBatch             = 20
	warmUp               = 5
	minRounds, maxRounds = 5, 50
)

// batchSize tries a few decisions and returns how many make about a tenth of the
// time on the slower side.
func batchSize(r Row, sides []Side, each time.Duration) int {
	tried, size := r.decisions(warmUp), r.decisions(Batch)
	for _, s := range sides {
		decide(s, tried) // whatever is done only once
		took, _ := decide(s, tried)
		size = min(size, int(each/10/max(took/time.Duration(tried), 1)))
	}
	return max(size, r.decisions(minBatch))
}

// decisions is how many decisions are about at least so many pods.
func (r Row) decisions(pods int) int { return (pods + r.Pods() - 1) / r.Pods() }

// meter adds up the batches of a side.
type meter struct {
	batches []time.Duration
	total   time.Duration
	mallocs uint64
}

// run measures one batch.
func (m *meter) run(s Side, before, n int) {
	runtime.GC()
	decide(s, before)
	took, mallocs := decide(s, n)
	m.batches = append(m.batches, took)
	m.total += took
	m.mallocs += mallocs
}

// decide makes n decisions and returns what they took, without making pods and
// taking them away.
func decide(s Side, n int) (took time.Duration, mallocs uint64) {
	for n > 0 {
		chunk := min(n, s.Limit())
		n -= chunk
		s.Queue(chunk)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := cpu()
		for range chunk {
			s.Decide()
		}
		took += cpu() - start
		runtime.ReadMemStats(&after)
		mallocs += after.Mallocs - before.Mallocs
		s.Reset()
	}
	return took, mallocs
}

func (m *meter) cost(size, each int) Cost {
	slices.Sort(m.batches)
	pods := size * len(m.batches) * each
	return Cost{
		CPU:    m.batches[len(m.batches)/2] / time.Duration(size*each),
		Allocs: float64(m.mallocs) / float64(pods),
		Pods:   pods,
	}
}

// cpu is the processor time that the process has used so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("sidebyside: %v", err))
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func slowest(meters []meter) time.Duration {
	var longest time.Duration
	for i := range meters {
		longest = max(longest, meters[i].total)
	}
	return longest
}
