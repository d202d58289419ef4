package configlevel

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/config/configtest"
)

// kubePlugins are the plugins of [configtest.Registry] on kube-scheduler's side.
func kubePlugins() frameworkruntime.Registry {
	r := frameworkruntime.Registry{}
	for name := range configtest.Points {
		r[name] = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
			return kubePlugin(named(name)), nil
		}
	}
	return r
}

type named string

func (n named) Name() string { return string(n) }

// Each of these serves one point. None of their methods is ever called.
type (
	queueSorts   struct{ fwk.QueueSortPlugin }
	preFilters   struct{ fwk.PreFilterPlugin }
	filters      struct{ fwk.FilterPlugin }
	postFilters  struct{ fwk.PostFilterPlugin }
	preScores    struct{ fwk.PreScorePlugin }
	scores       struct{ fwk.ScorePlugin }
	reserves     struct{ fwk.ReservePlugin }
	permits      struct{ fwk.PermitPlugin }
	binds        struct{ fwk.BindPlugin }
	preEnqueues  struct{ fwk.PreEnqueuePlugin }
	preBinds     struct{ fwk.PreBindPlugin }
	postBinds    struct{ fwk.PostBindPlugin }
	generates    struct{ fwk.PlacementGeneratePlugin }
	scoresPlaces struct{ fwk.PlacementScorePlugin }
	groupFilters struct{ fwk.PodGroupPostFilterPlugin }
)

func kubePlugin(name named) fwk.Plugin {
	switch name {
	case "Coscheduling":
		return struct {
			named
			queueSorts
			preFilters
			postFilters
			reserves
			permits
		}{named: name}
	case "CapacityScheduling":
		return struct {
			named
			preFilters
			postFilters
			reserves
		}{named: name}
	case "TargetLoadPacking":
		return struct {
			named
			scores
		}{named: name}
	case "LoadVariationRiskBalancing":
		return struct {
			named
			preScores
			scores
		}{named: name}
	case "NodeResourceTopologyMatch":
		return struct {
			named
			filters
			reserves
			scores
		}{named: name}
	case "SpecialBinder":
		return struct {
			named
			binds
		}{named: name}
	case "Sorter":
		return struct {
			named
			queueSorts
		}{named: name}
	}
	return struct {
		named
		preEnqueues
		preFilters
		filters
		postFilters
		preScores
		scores
		reserves
		permits
		preBinds
		postBinds
		generates
		scoresPlaces
		groupFilters
	}{named: name}
}
