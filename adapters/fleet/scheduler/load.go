package scheduler

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/loadawarescheduling"
	"github.com/berth-project/berth/plugins/loadvariationriskbalancing"
	"github.com/berth-project/berth/plugins/targetloadpacking"
)

// Load says whether agents measure how busy nodes are, and how that counts where tasks are
// placed. The zero value: nobody measures anything.
type Load struct {
	// Policy is one of:
	//
	//   - Measure: agents measure, and it is shown. Tasks are placed as without it.
	//   - LoadAware: tasks stay off nodes that would be busier than Thresholds, and prefer
	//     those that are less busy, by the last minute.
	//   - TargetLoadPacking: tasks are packed onto nodes that are busy, but not busier than
	//     Target, by the last minute.
	//   - LoadVariationRiskBalancing: tasks prefer nodes with a load that is low and varies
	//     little, by the longest time that was measured.
	//
	// Empty: nobody measures.
	Policy string `json:"policy,omitempty"`
	// Thresholds are those of LoadAware, by "cpu" and "memory": 1 to 100 percent of what tasks
	// may use, with what the task is expected to use; 0: none. What is not there is 100: a
	// task that asks for all processors of a node has to find some.
	Thresholds map[string]int64 `json:"thresholds,omitempty"`
	// Target is that of TargetLoadPacking, in percent: 1 to 100. Default: 80.
	Target int64 `json:"target,omitempty"`
	// MaxAge is how old a measurement may be to count, at least a minute. Default: 5 min.
	MaxAge job.Duration `json:"maxAge,omitzero"`
	// Weight is that of the score among those of other plugins, 1 to 100. Default: 1 for
	// LoadAware; 10 for the others, which otherwise would not come through.
	Weight int32 `json:"weight,omitempty"`
}

// The policies; see Load.
const (
	loadMeasure   = "Measure"
	loadAware     = "LoadAware"
	loadPacking   = "TargetLoadPacking"
	loadVariation = "LoadVariationRiskBalancing"
)

var loadPolicies = []string{loadMeasure, loadAware, loadPacking, loadVariation}

// Validate lists everything that is wrong with it in one error.
func (l Load) Validate() error {
	var problems []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	bad(l.Policy != "" && !slices.Contains(loadPolicies, l.Policy), "policy: %q is none of those there are: %s",
		l.Policy, strings.Join(loadPolicies, ", "))
	bad(l.Policy == "" && (l.Thresholds != nil || l.Target != 0 || l.MaxAge != 0 || l.Weight != 0),
		"policy: it is empty, so that nothing else counts; one of %s", strings.Join(loadPolicies, ", "))
	for _, name := range slices.Sorted(maps.Keys(l.Thresholds)) {
		bad(name != model.CPU && name != model.Memory, "thresholds: %q is neither %s nor %s", name, model.CPU, model.Memory)
		bad(l.Thresholds[name] < 0 || l.Thresholds[name] > 100, "thresholds: %s: %d is not between 0 and 100", name, l.Thresholds[name])
	}
	known := l.Policy != "" && slices.Contains(loadPolicies, l.Policy)
	bad(known && l.Thresholds != nil && l.Policy != loadAware, "thresholds: %s has none, only %s", l.Policy, loadAware)
	bad(l.Target < 0 || l.Target > 100, "target: %d is not between 1 and 100; 0 is the default", l.Target)
	bad(known && l.Target != 0 && l.Policy != loadPacking, "target: %s has none, only %s", l.Policy, loadPacking)
	bad(l.MaxAge != 0 && time.Duration(l.MaxAge) < time.Minute, "maxAge: %v is less than a minute", l.MaxAge)
	bad(l.Weight < 0 || l.Weight > 100, "weight: %d is not between 1 and 100; 0 is the default", l.Weight)
	return errors.Join(problems...)
}

func (l Load) withDefaults() Load {
	l.MaxAge = cmp.Or(l.MaxAge, job.Duration(5*time.Minute))
	l.Target = cmp.Or(l.Target, 80)
	if l.Weight == 0 {
		l.Weight = 10
		if l.Policy == loadAware {
			l.Weight = 1
		}
	}
	thresholds := map[string]int64{model.CPU: 100, model.Memory: 100}
	maps.Copy(thresholds, l.Thresholds)
	l.Thresholds = thresholds
	return l
}

// places reports whether tasks are placed by it.
func (l Load) places() bool { return l.Policy != "" && l.Policy != loadMeasure }

// use adds the plugin of the policy to a profile.
func (l Load) use(p *extpoints.Profile) {
	l = l.withDefaults()
	age, weight := time.Duration(l.MaxAge), extpoints.Weight(l.Weight)
	switch l.Policy {
	case loadAware:
		// A node that is not heard of lately scores worst, but may be taken: a fleet must not
		// stand still because measurements are late. What a task used is free when it has
		// ended, and in a plan when it must have.
		extpoints.Use(p, loadawarescheduling.New, loadawarescheduling.Args{
			MaxAge: age, AllowExpired: true, WithoutLeft: true, Thresholds: l.Thresholds,
		}, weight)
	case loadPacking:
		// Tasks say what they need, and get no more: it is not to be multiplied.
		extpoints.Use(p, targetloadpacking.New, targetloadpacking.Args{MaxAge: age, Target: l.Target, Multiplier: new(1.0)}, weight)
	case loadVariation:
		extpoints.Use(p, loadvariationriskbalancing.New, loadvariationriskbalancing.Args{MaxAge: age}, weight)
	}
}
