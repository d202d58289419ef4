// Package configtest has what tests of configuration files share: the plugins that
// are not kube-scheduler's and that the files in ../testdata name, and the feature
// gates that a file asks for. The module adapters/kubernetes/parity uses it, too.
package configtest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Gates are the feature gates that the file changes, by name: those in a first line
// "# gates: One=true,Other=false".
func Gates(file []byte) (map[string]bool, error) {
	first, _, _ := bytes.Cut(file, []byte("\n"))
	list, found := strings.CutPrefix(string(first), "# gates: ")
	if !found {
		return nil, nil
	}
	gates := map[string]bool{}
	for _, gate := range strings.Split(list, ",") {
		name, value, _ := strings.Cut(gate, "=")
		if value != "true" && value != "false" {
			return nil, fmt.Errorf("%q is neither %s=true nor %s=false", gate, name, name)
		}
		gates[name] = value == "true"
	}
	return gates, nil
}

// Points are the extension points that each plugin serves, in the words of a file.
var Points = map[string][]string{
	"Coscheduling":               {"queueSort", "preFilter", "postFilter", "reserve", "permit"},
	"CapacityScheduling":         {"preFilter", "postFilter", "reserve"},
	"TargetLoadPacking":          {"score"},
	"LoadVariationRiskBalancing": {"preScore", "score"},
	"NodeResourceTopologyMatch":  {"filter", "reserve", "score"},
	"SpecialBinder":              {"bind"},
	"Sorter":                     {"queueSort"},
	"Everything": {"preEnqueue", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit",
		"preBind", "postBind", "placementGenerate", "placementScore", "podGroupPostFilter"},
}

// Registry has the plugins of Points and those of kube-scheduler. The former let
// everything pass, and take arguments in the form in which a file's reach them, or
// none.
func Registry() config.Registry {
	r := config.DefaultRegistry()
	for name := range Points {
		r[name] = extpoints.FactoryOf(func(*runtime.Unknown, extpoints.Handle) (extpoints.Plugin, error) {
			return newPlugin(named(name)), nil
		})
	}
	return r
}

func newPlugin(name named) extpoints.Plugin {
	switch name {
	case "Coscheduling":
		return struct {
			named
			sorts
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
			sorts
		}{named: name}
	}
	return everything{named: name}
}

type named string

func (n named) Name() string { return string(n) }

// Each of these serves one point.
type (
	sorts       struct{}
	preFilters  struct{}
	filters     struct{}
	postFilters struct{}
	preScores   struct{}
	scores      struct{}
	reserves    struct{}
	permits     struct{}
	binds       struct{}
)

// everything serves all points that take any number of plugins, and one more.
type everything struct {
	named
	preFilters
	filters
	postFilters
	preScores
	scores
	reserves
	permits
}

func (sorts) Less(a, b *extpoints.Queued) bool { return a.Timestamp.Before(b.Timestamp) }

func (preFilters) PreFilter(*extpoints.CycleState, *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	return nil, nil
}

func (filters) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	return nil
}

func (postFilters) PostFilter(*extpoints.CycleState, *extpoints.WorkloadInfo, extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	return nil, extpoints.NewStatus(extpoints.Unschedulable)
}

func (preScores) PreScore(*extpoints.CycleState, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) *extpoints.Status {
	return nil
}

func (scores) Score(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) (int64, *extpoints.Status) {
	return 0, nil
}

func (reserves) Reserve(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) *extpoints.Status {
	return nil
}
func (reserves) Unreserve(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) {}

func (permits) Permit(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (*extpoints.Status, time.Duration) {
	return nil, 0
}

func (binds) Bind(context.Context, *extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) *extpoints.Status {
	return extpoints.NewStatus(extpoints.Skip)
}

func (everything) PreEnqueue(*model.Workload) *extpoints.Status { return nil }

func (everything) PreBindPreFlight(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (extpoints.PreFlight, *extpoints.Status) {
	return extpoints.PreFlight{}, extpoints.NewStatus(extpoints.Skip)
}

func (everything) PreBind(context.Context, *extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) *extpoints.Status {
	return nil
}

func (everything) PostBind(context.Context, *extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) {
}

func (everything) GeneratePlacements(_ *extpoints.CycleState, _ *extpoints.GroupInfo, parent *extpoints.Placement) ([]extpoints.Placement, *extpoints.Status) {
	return []extpoints.Placement{*parent}, nil
}

func (everything) ScorePlacement(*extpoints.CycleState, *extpoints.GroupInfo, *extpoints.Assignments) (int64, *extpoints.Status) {
	return 0, nil
}

func (everything) GroupPostFilter(*extpoints.CycleState, *extpoints.GroupInfo, extpoints.GroupTrial) (*extpoints.GroupPostFilterResult, *extpoints.Status) {
	return nil, extpoints.NewStatus(extpoints.Unschedulable)
}
