package sidebyside

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// Cost is what one decision costs.
type Cost struct {
	// CPU is the processor time of the whole process, that of collecting
	// garbage included: the median of the batches. Unlike the time that passes
	// it hardly depends on what else the machine does.
	CPU time.Duration
	// Allocs is how often memory is allocated: the mean of all batches.
	Allocs float64
	// Decisions is how many were measured.
	Decisions int
}

// Measure lets the sides take turns, a batch each, until the slower one has used
// about so much processor time. It returns what a decision costs each of them.
func Measure(sides []Side, each time.Duration) []Cost {
	size := batchSize(sides, each)
	meters := make([]meter, len(sides))
	for rounds := 0; rounds < minRounds || slowest(meters) < each && rounds < maxRounds; rounds++ {
		for i, s := range sides {
			meters[i].run(s, size)
		}
	}
	costs := make([]Cost, len(sides))
	for i := range meters {
		costs[i] = meters[i].cost(size)
	}
	return costs
}

// A batch has at least minBatch decisions, after warmUp that do not count: the
// other side has had the caches of the processor.
const (
	minBatch             = 20
	warmUp               = 5
	minRounds, maxRounds = 5, 50
)

// batchSize tries a few decisions and returns how many make about a tenth of the
// time on the slower side.
func batchSize(sides []Side, each time.Duration) int {
	size := Batch
	for _, s := range sides {
		decide(s, warmUp) // whatever is done only once
		took, _ := decide(s, warmUp)
		size = min(size, int(each/10/max(took/warmUp, 1)))
	}
	return max(size, minBatch)
}

// meter adds up the batches of a side.
type meter struct {
	batches []time.Duration
	total   time.Duration
	mallocs uint64
}

// run measures one batch.
func (m *meter) run(s Side, n int) {
	runtime.GC()
	decide(s, warmUp)
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

func (m *meter) cost(size int) Cost {
	slices.Sort(m.batches)
	decisions := size * len(m.batches)
	return Cost{
		CPU:       m.batches[len(m.batches)/2] / time.Duration(size),
		Allocs:    float64(m.mallocs) / float64(decisions),
		Decisions: decisions,
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
