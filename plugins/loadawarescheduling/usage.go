package loadawarescheduling

import (
	"math"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// What a workload is estimated to use that says nothing of it.
const (
	unknownCPU    = 250              // milli-CPU
	unknownMemory = int64(200) << 20 // bytes
	interval      = 60 * time.Second // of a report that does not say it
)

// estimate is what the workload is estimated to use of the resource with the scaling factor, which
// is 0 where there is none.
func estimate(w *model.Workload, name string, factor int64) int64 {
	if factor == 0 {
		return 0
	}
	limit := w.UsageLimits.Get(name)
	most := max(limit, w.Requests.Get(name))
	switch {
	case most == 0 && name == model.CPU:
		return unknownCPU
	case most == 0 && name == model.Memory:
		return unknownMemory
	}
	used := math.Round(float64(most) * float64(factor) / 100)
	if limit > 0 {
		used = min(used, float64(limit))
	}
	return toInt(used)
}

// toInt is the number, or the largest that an int64 can hold.
func toInt(x float64) int64 {
	if x >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(x)
}

// usage is what is used of resources on a node.
type usage struct {
	p        *LoadAwareScheduling
	load     *model.NodeLoad
	node     *extpoints.NodeInfo
	measure  Measure // the zero Measure: the plain one
	measured map[string]*model.Resources
	left     model.Resources // what those used that are to be taken off
}

// usageOn is that of the node, by its load.
func (p *LoadAwareScheduling) usageOn(node *extpoints.NodeInfo, load *model.NodeLoad, m Measure) *usage {
	u := &usage{p: p, load: load, node: node, measure: m}
	if len(load.Workloads) > 0 {
		u.measured = make(map[string]*model.Resources, len(load.Workloads))
	}
	for i := range load.Workloads {
		u.measured[load.Workloads[i].ID] = &load.Workloads[i].Used
	}
	if p.args.WithoutLeft {
		u.takeOff()
	}
	return u
}

// takeOff finds out what those used that were measured by themselves, and are not on the node.
func (u *usage) takeOff() {
	there := make(map[string]bool, len(u.measured))
	for _, w := range u.node.Workloads {
		if u.measured[w.ID] != nil {
			there[w.ID] = true
		}
	}
	for i := range u.load.Workloads {
		if w := &u.load.Workloads[i]; !there[w.ID] {
			u.left.Add(&w.Used)
		}
	}
}

// of is what is used of the resource, with the workload: a whole number, which as such may
// be too large for an int64.
func (u *usage) of(name string, w *model.Workload) float64 {
	factor := u.p.args.ScalingFactors[name]
	used := float64(estimate(w, name, factor))
	percent, ok := u.percent(name)
	if ok {
		used += max(0, math.Round(percent/100*float64(helper.CapacityOf(u.node.Node, name)))-float64(u.left.Get(name)))
	}
	for _, other := range u.node.Workloads {
		estimated := estimate(other.Workload, name, factor)
		switch own := u.measured[other.ID]; {
		case !ok:
			used += float64(estimated)
		case own == nil:
			used += float64(estimated)
		case u.isNew(other):
			used += float64(max(0, estimated-own.Get(name)))
		}
	}
	return used
}

// isNew reports whether a workload that was measured was placed when the measurement had begun
// or, where the arguments say so, not long before.
func (u *usage) isNew(w *extpoints.WorkloadInfo) bool {
	took := u.load.Interval
	if took == 0 {
		took = interval
	}
	return w.PlacedAt.After(u.load.At.Add(-took)) || u.p.args.AfterPlaced > 0 && w.PlacedAt.Add(u.p.args.AfterPlaced).After(u.load.At)
}

// percent is the load of the resource, if it was measured.
func (u *usage) percent(name string) (float64, bool) {
	var best *model.ResourceLoad
	for i := range u.load.Resources {
		if r := &u.load.Resources[i]; r.Name == name && u.better(r, best) {
			best = r
		}
	}
	if best == nil {
		if u.measure.Type == "" || u.measure.Window > 0 {
			return 0, false
		}
		plain := *u
		plain.measure = Measure{}
		return plain.percent(name)
	}
	return u.measure.in(best)
}

// better reports whether the measurement is one that counts, rather than the other.
func (u *usage) better(r, than *model.ResourceLoad) bool {
	if u.measure.Type == "" {
		return than == nil || r.Window < than.Window
	}
	if _, ok := u.measure.in(r); !ok {
		return false
	}
	if u.measure.Window > 0 {
		return r.Window == u.measure.Window
	}
	return than == nil || r.Window > than.Window
}

// in is the load that the measurement has of the type.
func (m Measure) in(r *model.ResourceLoad) (float64, bool) {
	if m.Type == "" || m.Type == average {
		return r.Average, true
	}
	for _, p := range r.Percentiles {
		if p.Rank == ranks[m.Type] {
			return p.Load, true
		}
	}
	return 0, false
}
