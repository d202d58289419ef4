package trace

import "math/rand"

// The target of the arrivals: they stop at 130 % of the GPU capacity.
const (
	targetNumerator   = 13
	targetDenominator = 10
)

// drawsBeforeRanks is how many numbers the published runs spend between the
// pods and the node ranks.
const drawsBeforeRanks = 10

// Order is what a seed decides.
type Order struct {
	// Pods arrive in this order. They point into the trace; a pod may come
	// several times, and its copies have the same name.
	Pods []*Pod
	// Ranks are the ranks of Trace.Nodes, by index: 0 wins a tie.
	Ranks []int
}

// Arrange draws the order of arrival and the node ranks of a seed. The same
// trace and seed give the same order everywhere: the generator and the sequence
// of draws are those of the published runs, hence the numbers that are drawn
// and thrown away.
func (t *Trace) Arrange(seed int64) Order {
	r := rand.New(rand.NewSource(seed))
	r.Int()
	pods := make([]*Pod, len(t.Pods))
	for i := range pods {
		pods[i] = &t.Pods[i]
	}
	r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	pods = t.tune(pods, r)
	for range drawsBeforeRanks {
		r.Int63()
	}
	return Order{Pods: pods, Ranks: r.Perm(len(t.Nodes))}
}

// tune drops or repeats pods until their demand is just within the target.
func (t *Trace) tune(pods []*Pod, r *rand.Rand) []*Pod {
	target := t.Capacity() * targetNumerator / targetDenominator
	sum := demand(pods)
	if sum > target {
		return drop(pods, sum-target, r)
	}
	return t.repeat(pods, target-sum, r)
}

// drop deletes random pods until at least the excess, in milli, is gone.
func drop(pods []*Pod, excess int64, r *rand.Rand) []*Pod {
	for excess > 0 {
		i := r.Intn(len(pods))
		excess -= pods[i].Demand()
		pods = append(pods[:i], pods[i+1:]...)
	}
	return pods
}

// repeat appends random pods of the trace while they fit the room, in milli.
// Whether a pod fits is asked for one of its GPUs, not for all of them: the
// published runs do so, and a pod of several may overshoot the target.
func (t *Trace) repeat(pods []*Pod, room int64, r *rand.Rand) []*Pod {
	for {
		p := &t.Pods[r.Intn(len(t.Pods))]
		if p.Share > room {
			return pods
		}
		pods = append(pods, p)
		room -= p.Demand()
	}
}

func demand(pods []*Pod) int64 {
	var sum int64
	for _, p := range pods {
		sum += p.Demand()
	}
	return sum
}
