package noderesources

import (
	"math"
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// fitNeeds holds, from PreFilter to Filter, what the workload asks for.
var fitNeeds = extpoints.NewStateKey[*needs](Name + "/needs")

// Fit is the plugin NodeResourcesFit.
//
// Rules: kube-scheduler plugins/noderesources/fit.go, 1.37.1.
type Fit struct {
	handle        extpoints.Handle
	compat        extpoints.Compat
	ignored       map[string]bool // scalars
	ignoredGroups map[string]bool // parts of scalars' names before the slash
	tables        *rejectionTables
	scorer        *meanScorer
	// placements scores whole placements; always MostAllocated.
	placements *meanScorer
}

// NewFit makes the plugin. Its arguments are [FitArgs].
func NewFit(a FitArgs, h extpoints.Handle) (*Fit, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	a = a.WithDefaults()
	return &Fit{
		handle:        h,
		compat:        h.Compat(),
		ignored:       setOf(a.IgnoredResources),
		ignoredGroups: setOf(a.IgnoredResourceGroups),
		tables:        newRejectionTables(),
		scorer:        newMeanScorer(a.Strategy),
		placements:    newMeanScorer(Strategy{Type: MostAllocated, Resources: a.Strategy.Resources}),
	}, nil
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}

// Name returns the plugin's name.
func (*Fit) Name() string { return Name }

// needs is a request in the form that Filter wants.
type needs struct {
	request *model.Resources
	// scalars are those of the request with an amount above 0 that are not
	// ignored, by name.
	scalars []model.Scalar
	// served says which of the scalars the devices of a class can serve, on
	// nodes that do not offer them; nil: none. Whether they do there is for
	// DynamicResources to say.
	served []bool
	reject *rejections
}

// needsOf prepares a request. With a nil ignore every scalar counts.
func (f *Fit) needsOf(request *model.Resources, ignore func(name string) bool) *needs {
	n := &needs{request: request}
	var names []string
	for _, s := range request.Scalars {
		if s.Amount > 0 && (ignore == nil || !ignore(s.Name)) {
			n.scalars = append(n.scalars, s)
		}
	}
	slices.SortFunc(n.scalars, func(a, b model.Scalar) int { return strings.Compare(a.Name, b.Name) })
	for _, s := range n.scalars {
		names = append(names, s.Name)
	}
	n.reject = f.tables.of(names)
	return n
}

// servedBy finds out which of the scalars devices can serve.
func (n *needs) servedBy(devices extpoints.Devices) *needs {
	for i := range n.scalars {
		if helper.DeviceClassFor(devices, n.scalars[i].Name) != nil {
			if n.served == nil {
				n.served = make([]bool, len(n.scalars))
			}
			n.served[i] = true
		}
	}
	return n
}

// ignores reports whether Filter does not look at the scalar. The reference
// ignores what Kubernetes calls extended resources only; the names that are not
// are listed here. (k8s.io/kubernetes pkg/apis/core/v1/helper/helpers.go
// IsExtendedResourceName, 1.37.1; a name without a slash that none of these
// rules knows cannot occur there and is ignored if the arguments say so.)
func (f *Fit) ignores(name string) bool {
	if len(f.ignored) == 0 && len(f.ignoredGroups) == 0 {
		return false
	}
	if strings.Contains(name, "kubernetes.io/") || strings.HasPrefix(name, "requests.") ||
		strings.HasPrefix(name, "hugepages-") || strings.HasPrefix(name, "attachable-volumes-") {
		return false
	}
	group, _, grouped := strings.Cut(name, "/")
	return f.ignored[name] || grouped && f.ignoredGroups[group]
}

// PreFilter prepares the request. It never says Skip: even a workload that asks
// for nothing takes one of the places of [model.Node].MaxWorkloads.
func (f *Fit) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	fitNeeds.Set(s, f.needsIn(s, w))
	return nil, nil
}

// needsIn is what the workload needs in a cycle.
func (f *Fit) needsIn(s *extpoints.CycleState, w *extpoints.WorkloadInfo) *needs {
	n := f.needsOf(&w.Requests, f.ignores)
	if len(n.scalars) == 0 {
		return n
	}
	return n.servedBy(s.View().Devices())
}

// Filter rejects nodes without room and gives every reason. The code is
// UnschedulableAndUnresolvable where the workload asks for more of something
// than the whole node has; then displacing others would not help.
func (f *Fit) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	n, ok := fitNeeds.Get(s)
	if !ok {
		n = f.needsIn(s, w)
	}
	return n.reject.get(n.lackingOn(node.Node, &node.Requested, len(node.Workloads)))
}

// lackingOn says what the node lacks, used of it being taken by count workloads,
// and whether it would lack some of it even if it were empty.
func (n *needs) lackingOn(node *model.Node, used *model.Resources, count int) (l lacking, unresolvable bool) {
	if int64(count)+1 > places(node) {
		l = lacksPlaces
	}
	request, all := n.request, &node.Allocatable
	if request.CPU > 0 && request.CPU > all.CPU-used.CPU {
		l |= lacksCPU
		unresolvable = request.CPU > all.CPU
	}
	if request.Memory > 0 && request.Memory > all.Memory-used.Memory {
		l |= lacksMemory
		unresolvable = unresolvable || request.Memory > all.Memory
	}
	if request.EphemeralStorage > 0 && request.EphemeralStorage > all.EphemeralStorage-used.EphemeralStorage {
		l |= lacksStorage
		unresolvable = unresolvable || request.EphemeralStorage > all.EphemeralStorage
	}
	for i := range n.scalars {
		want := &n.scalars[i]
		has := all.Scalar(want.Name)
		if n.served != nil && n.served[i] && has <= 0 {
			continue
		}
		if want.Amount > has-used.Scalar(want.Name) {
			l |= firstScalar << i
			unresolvable = unresolvable || want.Amount > has
		}
	}
	return l, unresolvable
}

// places is how many workloads the node may have.
func places(n *model.Node) int64 {
	switch {
	case n.MaxWorkloads == model.Unlimited:
		return math.MaxInt64
	case n.MaxWorkloads < 0:
		return 0
	}
	return n.MaxWorkloads
}

var unsignable = extpoints.NewStatus(extpoints.Unschedulable, helper.DeviceResourcesUnsignable)

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads the requests and the load that scoring
// counts. Where devices may serve what the workload asks for, that depends on their classes.
func (*Fit) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	if helper.WantsDeviceResources(s.View, w.Workload) {
		return key, false
	}
	return helper.AppendRequests(key, w.Workload), true
}

// Sign signs the requests and the estimated load. Workloads that devices may
// serve are not signed.
func (f *Fit) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	if helper.WantsDeviceResources(f.handle.View, w) {
		return nil, unsignable
	}
	return helper.RequestsFragments(w), nil
}

var (
	_ extpoints.PreFilterPlugin      = (*Fit)(nil)
	_ extpoints.FilterPlugin         = (*Fit)(nil)
	_ extpoints.PreScorePlugin       = (*Fit)(nil)
	_ extpoints.ScorePlugin          = (*Fit)(nil)
	_ extpoints.PlacementScorePlugin = (*Fit)(nil)
	_ extpoints.EnqueueExtensions    = (*Fit)(nil)
	_ extpoints.NodeLocalPlugin      = (*Fit)(nil)
	_ extpoints.SignPlugin           = (*Fit)(nil)
)
