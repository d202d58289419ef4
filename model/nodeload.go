package model

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// NodeLoad is what was measured on a node: how much of its resources is in use, which is
// another thing than what the workloads on it have requested. Who measures puts the whole
// report in place of the last one. A report that is not renewed stays, and grows old: what
// one is worth that is old, or missing, each plugin says that looks at it.
type NodeLoad struct {
	Node string // identity: the name of the node, which need not be there
	// At is when the measurements end. What was placed later is not in them.
	At time.Time
	// Interval is how long one measurement takes: what was placed less than this before At
	// is in it only in part. 0: not known; see the plugins.
	Interval time.Duration
	Source   string // who has measured, for people; may be empty
	// Resources are the measurements, at most one for each name and window.
	Resources []ResourceLoad
	// Workloads say how much of it some of the workloads on the node use, each once. One
	// that is not in the list was not measured by itself.
	Workloads []WorkloadLoad
}

// ResourceLoad is how much of one resource of a node is in use, in percent of what the
// node has of it, see [Node].Capacity. More than 100 is possible.
type ResourceLoad struct {
	Name string // of the resource
	// Window is the time before [NodeLoad].At that it is about; 0: that moment.
	Window      time.Duration
	Average     float64          // percent
	StdDev      float64          // the standard deviation in percentage points; 0 also where it is not known
	Percentiles []LoadPercentile // each Rank once; none: not known
}

// LoadPercentile is a load that was not exceeded for a part of the time.
type LoadPercentile struct {
	Rank float64 // the part of the time in percent, 0 to 100: 95 for the 95th percentile
	Load float64 // percent
}

// WorkloadLoad is what a workload uses, on an average.
type WorkloadLoad struct {
	ID string // of the workload, which need not be on the node any more
	// Used has the resources that were measured; an amount of 0 is not known.
	Used Resources
}

func (*NodeLoad) sealed() {}

// clone returns a deep copy, nil of nil.
func (l *NodeLoad) clone() *NodeLoad {
	return clonePointer(l, func(l *NodeLoad) {
		l.Resources = cloneEach(l.Resources, func(r *ResourceLoad) { r.Percentiles = slices.Clone(r.Percentiles) })
		l.Workloads = cloneEach(l.Workloads, func(w *WorkloadLoad) { w.Used = w.Used.Clone() })
	})
}

// Validate returns all that is wrong with the load as a [*ValidationError], nil where it
// is valid.
func (l *NodeLoad) Validate() error {
	var c checker
	c.notEmpty("node", l.Node)
	if l.At.IsZero() {
		c.report("at", "must be set")
	}
	c.time("at", l.At)
	c.atLeast("interval", int64(l.Interval), 0)
	c.text("source", l.Source)
	var loads unique[loadKey]
	for i := range l.Resources {
		c.item("resources", i)
		c.resourceLoad(&l.Resources[i])
		loads.check(&c, "name and window", loadKey{l.Resources[i].Name, l.Resources[i].Window})
		c.leave()
	}
	var ids unique[string]
	for i := range l.Workloads {
		c.item("workloads", i)
		c.notEmpty("id", l.Workloads[i].ID)
		c.resources("used", &l.Workloads[i].Used)
		ids.check(&c, "id", l.Workloads[i].ID)
		c.leave()
	}
	return invalid("load of the node", l.Node, c.problems)
}

// loadKey is what a node has one measurement of.
type loadKey struct {
	name   string
	window time.Duration
}

func (c *checker) resourceLoad(r *ResourceLoad) {
	c.notEmpty("name", r.Name)
	c.atLeast("window", int64(r.Window), 0)
	c.share("average", r.Average, math.MaxFloat64)
	c.share("stdDev", r.StdDev, math.MaxFloat64)
	var ranks unique[float64]
	for i := range r.Percentiles {
		c.item("percentiles", i)
		c.share("rank", r.Percentiles[i].Rank, 100)
		c.share("load", r.Percentiles[i].Load, math.MaxFloat64)
		ranks.check(c, "rank", r.Percentiles[i].Rank)
		c.leave()
	}
}

// share reports what is no number from 0 to the most.
func (c *checker) share(field string, value, most float64) {
	switch {
	case value >= 0 && value <= most:
	case most == math.MaxFloat64:
		c.report(field, fmt.Sprintf("%v is not a finite number from 0 on", value))
	default:
		c.report(field, fmt.Sprintf("%v is not between 0 and %v", value, most))
	}
}
