package trace

import (
	"cmp"
	"maps"
	"slices"
)

// typicalPercent is the part of all pods that the typical ones stand for.
const typicalPercent = 95

// TypicalPod is a shape that is common in the trace, and how common.
type TypicalPod struct {
	Shape
	Weight float64 // its part of all typical pods; the weights add up to 1
}

// Typical are the typical pods of a trace, the most common first. What a free
// GPU is worth is judged by whether they could use it.
type Typical []TypicalPod

// Typical returns the most common shapes that together make up 95 % of the
// pods, those without a GPU included. Of equally common ones the larger comes
// first, by CPU, share, number of GPUs and spec.
func (t *Trace) Typical() Typical { return t.mostCommon(typicalPercent) }

// Mix returns all shapes, as Typical returns the most common ones.
func (t *Trace) Mix() Typical { return t.mostCommon(100) }

// mostCommon returns the most common shapes that make up so much of the pods.
func (t *Trace) mostCommon(percent int) Typical {
	counts := map[Shape]int{}
	for i := range t.Pods {
		counts[t.Pods[i].Shape]++
	}
	shapes := slices.SortedFunc(maps.Keys(counts), func(a, b Shape) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), b.compare(a))
	})
	covered := 0
	for i, s := range shapes {
		covered += counts[s]
		if 100*covered >= percent*len(t.Pods) {
			return weigh(shapes[:i+1], counts, covered, len(t.Pods))
		}
	}
	return nil // no pods
}

// weigh divides twice, by the number of all pods first, because the published runs do:
// dividing the counts directly differs in the last digit.
func weigh(shapes []Shape, counts map[Shape]int, covered, all int) Typical {
	typical := make(Typical, len(shapes))
	share := float64(covered) / float64(all)
	for i, s := range shapes {
		typical[i] = TypicalPod{Shape: s, Weight: float64(counts[s]) / float64(all) / share}
	}
	return typical
}

func (s Shape) compare(other Shape) int {
	return cmp.Or(
		cmp.Compare(s.CPU, other.CPU),
		cmp.Compare(s.Share, other.Share),
		cmp.Compare(s.GPUs, other.GPUs),
		cmp.Compare(s.Spec, other.Spec),
	)
}

// The buckets of Typical.Fragment, in the order in which they are added up.
const (
	lackBoth = iota // neither CPU nor GPUs suffice
	lackGPU         // GPUs do not suffice, and what a fitting pod cannot use of them
	lackCPU
	noGPUNeeded        // a pod without GPUs fits: the GPUs are of no use to it
	noGPUNeededLackCPU // and it does not even fit
	noAccess           // the model is not accepted
	buckets
)

// Fragment is how much of a node's idle GPU capacity, in milli, the typical
// pods could not use, in expectation: the sum over them of weight and of the
// idle milli that are out of reach for them. The node is given by its model,
// its CPU left, and the milli left on each device.
//
// Schedulers that compare fragments compare almost equal numbers, so the last
// digit decides: the terms are added in typical order into buckets by cause,
// and the buckets in their order.
func (t Typical) Fragment(model string, cpu int64, gpus []int64) float64 {
	idle := total(gpus)
	var bucket [buckets]float64
	for i := range t {
		cause, lost := t[i].lost(model, cpu, gpus, idle)
		// The conversion forbids a fused multiply-add, which some processors
		// have and which rounds differently.
		bucket[cause] += float64(float64(lost) * t[i].Weight)
	}
	return total(bucket[:])
}

// Lost is how much of a node's idle GPU capacity, in milli, the shape cannot use.
func (s *Shape) Lost(model string, cpu int64, gpus []int64) int64 {
	_, milli := s.lost(model, cpu, gpus, total(gpus))
	return milli
}

// lost is how much of the idle capacity the shape cannot use, and why.
func (s *Shape) lost(model string, cpu int64, gpus []int64, idle int64) (cause int, milli int64) {
	fitting, leftover := 0, int64(0)
	for _, g := range gpus {
		if g >= s.Share {
			fitting++
		} else {
			leftover += g
		}
	}
	switch {
	case s.GPUs == 0 && cpu >= s.CPU:
		return noGPUNeeded, idle
	case s.GPUs == 0:
		return noGPUNeededLackCPU, idle
	case !s.Spec.Accepts(model):
		return noAccess, idle
	case fitting < s.GPUs && cpu < s.CPU:
		return lackBoth, idle
	case fitting < s.GPUs:
		return lackGPU, idle
	case cpu < s.CPU:
		return lackCPU, idle
	default:
		return lackGPU, leftover
	}
}

// total adds the values in their order.
func total[T int64 | float64](values []T) T {
	var sum T
	for _, v := range values {
		sum += v
	}
	return sum
}
