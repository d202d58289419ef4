package trace

// Recorder follows one run and measures it. The scheduler tells it the outcome
// of each arrival, in order; it keeps what the measures need of the cluster.
type Recorder struct {
	trace     *Trace
	typical   Typical
	meter     *Meter
	pods      int
	step      Step
	fragments []float64 // by node
}

// NewRecorder returns the recorder of a run on the empty cluster of the trace.
func NewRecorder(t *Trace) *Recorder {
	r := &Recorder{
		trace:     t,
		typical:   t.Typical(),
		meter:     NewMeter(t.Capacity()),
		fragments: make([]float64, len(t.Nodes)),
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		r.fragments[i] = r.typical.Fragment(n.Model, n.CPU, n.Idle())
	}
	r.step.Fragmented = total(r.fragments)
	return r
}

// Dropped records that no node had room for the pod.
func (r *Recorder) Dropped(pod *Pod) { r.arrive(pod) }

// Placed records that the pod went to the node (an index into Trace.Nodes),
// which then has this much CPU left, in milli cores, and this many milli on
// each of its GPUs. The slice is only read, and not kept.
func (r *Recorder) Placed(pod *Pod, node int, cpu int64, gpus []int64) {
	r.fragments[node] = r.typical.Fragment(r.trace.Nodes[node].Model, cpu, gpus)
	r.step.Fragmented = total(r.fragments) // anew each time: adding differences would drift
	r.step.Used += pod.Demand()
	r.arrive(pod)
}

func (r *Recorder) arrive(pod *Pod) {
	r.pods++
	r.step.Arrived += pod.Demand()
	r.meter.Add(r.step)
}

// Run returns the measures of the run so far.
func (r *Recorder) Run(policy Policy, seed int64) Run {
	return Run{
		Policy:        policy,
		Seed:          seed,
		Pods:          r.pods,
		Allocation:    r.meter.Allocation(),
		Fragmentation: r.meter.Fragmentation(),
	}
}
