package loadawarescheduling

import (
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "LoadAwareScheduling"

// Args are the arguments. Maps are by resource: model.CPU, model.Memory,
// model.EphemeralStorage or a scalar's name.
type Args struct {
	// MaxAge is the age from which on a measurement is too old. Default: 3 minutes.
	MaxAge time.Duration
	// KeepExpired has the filter go by measurements of any age.
	KeepExpired bool
	// AllowExpired lets nodes whose measurement is too old pass the filter.
	AllowExpired bool
	// Thresholds are in percent, 0 to 100: the filter rejects nodes that would be busier. 0:
	// none. Nil: 65 for CPU and 95 for memory.
	Thresholds map[string]int64
	// Weights say how much a resource counts in the score, 1 to 100. Empty: 1 each for CPU
	// and memory, unless DominantWeight is set.
	Weights map[string]int64
	// DominantWeight is how much the busiest of the resources counts besides, 0 to 100.
	DominantWeight int64
	// ScalingFactors are how much of what a workload may use or requests it is estimated to
	// use, in percent, 1 to 100. Those for CPU and memory are 85 and 70 where they are not
	// here. What is not here is estimated as nothing.
	ScalingFactors map[string]int64
	// AfterPlaced is for how long after it was placed a workload is counted with its estimate,
	// if that is more than what was measured. Default: until a measurement that began later.
	AfterPlaced time.Duration
	// WithoutLeft takes off what those used that have left the node since, as far as it was
	// measured by itself: what is not there in a trial or in a plan has left. Default: it
	// counts until the next measurement, as in Koordinator.
	WithoutLeft bool
	// Aggregated, where not nil, says which of the measurements count.
	Aggregated *Aggregated
}

// Aggregated says which of the measurements of a node count.
type Aggregated struct {
	// Thresholds, where there are some, take the place of those of the arguments, for what
	// Filter names.
	Thresholds map[string]int64
	// Filter and Score are what the filter with these thresholds, and the score, go by. The
	// zero Measure in Score: what they go by otherwise.
	Filter, Score Measure
}

// Measure is one of the measurements of a resource.
type Measure struct {
	// Type is "avg", "p50", "p90", "p95" or "p99".
	Type string
	// Window is that of the measurement. 0: the longest that has the type and, where none
	// has, what counts without Aggregated.
	Window time.Duration
}

// defaultMaxAge is that of a measurement.
const defaultMaxAge = 3 * time.Minute

func (a Args) withDefaults() Args {
	if a.MaxAge == 0 {
		a.MaxAge = defaultMaxAge
	}
	if a.Thresholds == nil {
		a.Thresholds = map[string]int64{model.CPU: 65, model.Memory: 95}
	}
	if len(a.Weights) == 0 && a.DominantWeight == 0 {
		a.Weights = map[string]int64{model.CPU: 1, model.Memory: 1}
	}
	factors := map[string]int64{model.CPU: 85, model.Memory: 70}
	maps.Copy(factors, a.ScalingFactors)
	a.ScalingFactors = factors
	return a
}

// Validate lists everything that is wrong with the arguments in one error.
//
// Rules: Koordinator pkg/scheduler/apis/config/validation, commit a7a1b76b.
func (a Args) Validate() error {
	var p helper.Problems
	between := func(field string, list map[string]int64, least int64) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if name == "" {
				p.Addf(field, "a name is empty")
			}
			if v := list[name]; v < least || v > 100 {
				p.Addf(field, "%d of %q is not between %d and 100", v, name, least)
			}
		}
	}
	if a.MaxAge < 0 {
		p.Addf("maxAge", "%v is negative", a.MaxAge)
	}
	between("thresholds", a.Thresholds, 0)
	between("weights", a.Weights, 1)
	if a.DominantWeight < 0 || a.DominantWeight > 100 {
		p.Addf("dominantWeight", "%d is not between 0 and 100", a.DominantWeight)
	}
	between("scalingFactors", a.ScalingFactors, 1)
	factors := a.withDefaults().ScalingFactors
	for _, name := range slices.Sorted(maps.Keys(a.Weights)) {
		if _, ok := factors[name]; !ok {
			p.Addf("weights", "%q has no scaling factor", name)
		}
	}
	if a.AfterPlaced < 0 {
		p.Addf("afterPlaced", "%v is negative", a.AfterPlaced)
	}
	if g := a.Aggregated; g != nil {
		between("aggregated.thresholds", g.Thresholds, 0)
		g.Filter.check(&p, "aggregated.filter", len(g.Thresholds) == 0)
		g.Score.check(&p, "aggregated.score", true)
	}
	return p.Err(Name)
}

// ranks are the percentiles that there are, by type.
var ranks = map[string]float64{"p50": 50, "p90": 90, "p95": 95, "p99": 99}

// average is the type that is no percentile.
const average = "avg"

func (m Measure) check(p *helper.Problems, field string, mayBeNone bool) {
	if _, ok := ranks[m.Type]; !ok && m.Type != average && !(mayBeNone && m.Type == "") {
		p.Addf(field+".type", "%q is not one of avg, p50, p90, p95, p99", m.Type)
	}
	if m.Window < 0 {
		p.Addf(field+".window", "%v is negative", m.Window)
	}
}

// LoadAwareScheduling is the plugin. It has no state.
type LoadAwareScheduling struct {
	handle     extpoints.Handle
	maxAge     time.Duration // of a measurement that is not too old
	args       Args
	thresholds []threshold // of the filter, by name of resource
	filter     Measure     // what they are for
	scored     []string    // the resources that the score looks at, by name
}

type threshold struct {
	resource string
	percent  int64
	status   *extpoints.Status // for nodes that would be beyond it
}
