package noderesources

import (
	"math"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// kind tells the resources apart without comparing names for each node.
type kind uint8

const (
	cpu kind = iota
	memory
	storage
	scalar
)

// resource is one that counts in a score.
type resource struct {
	kind   kind
	name   string
	weight int64
}

func resourcesOf(list []ResourceWeight) []resource {
	resources := make([]resource, len(list))
	for i, r := range list {
		k := scalar
		switch r.Name {
		case model.CPU:
			k = cpu
		case model.Memory:
			k = memory
		case model.EphemeralStorage:
			k = storage
		}
		resources[i] = resource{kind: k, name: r.Name, weight: r.Weight}
	}
	return resources
}

// capacity is what the node has of the resource.
func (r *resource) capacity(n *model.Node) int64 {
	switch r.kind {
	case cpu:
		return n.Allocatable.CPU
	case memory:
		return n.Allocatable.Memory
	case storage:
		return n.Allocatable.EphemeralStorage
	}
	return n.Allocatable.Scalar(r.name)
}

// requested is what was requested of the resource on the node.
func (r *resource) requested(n *extpoints.NodeInfo) int64 {
	switch r.kind {
	case cpu:
		return n.Requested.CPU
	case memory:
		return n.Requested.Memory
	case storage:
		return n.Requested.EphemeralStorage
	}
	return n.Requested.Scalar(r.name)
}

// estimated is the load of the resource on the node that Fit scores with.
func (r *resource) estimated(n *extpoints.NodeInfo) int64 {
	switch r.kind {
	case cpu:
		return n.EstimatedCPU
	case memory:
		return n.EstimatedMemory
	}
	return r.requested(n)
}

// counts reports whether a request of that size makes the resource count: a
// scalar that the workload does not ask for is passed over.
func (r *resource) counts(request int64) bool { return r.kind != scalar || request != 0 }

// meanScorer scores a node by the weighted mean over resources.
//
// Rules: kube-scheduler plugins/noderesources/{resource_allocation,
// least_allocated,most_allocated,requested_to_capacity_ratio}.go, 1.37.1.
type meanScorer struct {
	resources []resource
	// score is the score of one resource of which the node has capacity,
	// above 0, and of which requested is taken, the workload included.
	score func(requested, capacity int64) int64
	// positiveOnly leaves resources that score 0 or less out of the mean, and
	// rounds it to the nearest whole number instead of down.
	positiveOnly bool
}

func newMeanScorer(s Strategy) *meanScorer {
	m := &meanScorer{resources: resourcesOf(s.Resources)}
	switch s.Type {
	case MostAllocated:
		m.score = mostAllocated
	case RequestedToCapacityRatio:
		m.score = byShape(s.Shape)
		m.positiveOnly = true
	default:
		m.score = leastAllocated
	}
	return m
}

// leastAllocated is the free part, rounded down; 0 on a node that would be
// overloaded.
func leastAllocated(requested, capacity int64) int64 {
	if requested > capacity {
		return 0
	}
	return percent(capacity-requested, capacity)
}

// mostAllocated is the used part, rounded down. Estimates may well make it more
// than the whole.
func mostAllocated(requested, capacity int64) int64 {
	return percent(min(requested, capacity), capacity)
}

// percent is part/whole in percent, rounded down. Amounts so large that a
// hundred times as much is no int64 any more are scaled down first, and a part
// that is none, because the sum of the loads on a node was no int64, is brought
// back; the reference would get nonsense there.
func percent(part, whole int64) int64 {
	const limit = math.MaxInt64 / 100
	part = min(max(part, 0), whole)
	if part > limit {
		part, whole = part>>8, whole>>8
	}
	return part * 100 / whole
}

// sum adds what is used and what is asked for; too much for an int64 is as
// much as there can be.
func sum(used, request int64) int64 {
	if used > math.MaxInt64-request {
		return math.MaxInt64
	}
	return used + request
}

// byShape reads the score off a curve over the utilization in whole percent.
func byShape(shape []helper.ShapePoint) func(requested, capacity int64) int64 {
	scaled := make([]helper.ShapePoint, len(shape))
	for i, p := range shape {
		scaled[i] = helper.ShapePoint{Utilization: p.Utilization, Score: p.Score * (extpoints.MaxScore / maxShapeScore)}
	}
	curve := helper.BrokenLinear(scaled)
	const full = 100
	return func(requested, capacity int64) int64 {
		if requested > capacity {
			return curve(full)
		}
		return curve(percent(requested, capacity))
	}
}

// requests lists what the workload asks for, in the order of the resources: the
// estimate of CPU and memory, the request of everything else; or its FitLoad.
func (m *meanScorer) requests(w *model.Workload) []int64 {
	load, rest := w.EstimatedLoad(), &w.Requests
	if w.FitLoad != nil {
		load, rest = *w.FitLoad, w.FitLoad
	}
	list := make([]int64, len(m.resources))
	for i, r := range m.resources {
		switch r.kind {
		case cpu:
			list[i] = load.CPU
		case memory:
			list[i] = load.Memory
		default:
			list[i] = rest.Get(r.name)
		}
	}
	return list
}

// mean is a weighted mean in the making.
type mean struct{ sum, weights int64 }

func (m *meanScorer) add(to *mean, r *resource, requested, capacity int64) {
	score := m.score(requested, capacity)
	if m.positiveOnly && score <= 0 {
		return
	}
	to.sum += score * r.weight
	to.weights += r.weight
}

func (m *meanScorer) result(of mean) int64 {
	switch {
	case of.weights == 0:
		return 0
	case m.positiveOnly:
		return int64(math.Round(float64(of.sum) / float64(of.weights)))
	}
	return of.sum / of.weights
}

// node scores a node for a workload with the requests. Resources that the node
// does not have do not count.
func (m *meanScorer) node(n *extpoints.NodeInfo, requests []int64) int64 {
	var total mean
	for i := range m.resources {
		r := &m.resources[i]
		if !r.counts(requests[i]) {
			continue
		}
		if capacity := r.capacity(n.Node); capacity != 0 {
			m.add(&total, r, sum(r.estimated(n), requests[i]), capacity)
		}
	}
	return m.result(total)
}
