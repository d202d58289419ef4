package podtopologyspread

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// The reasons.
const (
	// Reason is given for nodes in a domain that has too much already.
	Reason = "node(s) didn't match workload topology spread constraints"
	// ReasonMissingLabel is given for nodes without the label of a constraint.
	ReasonMissingLabel = Reason + " (missing required label)"
)

var (
	tooSkewed    = extpoints.NewStatus(extpoints.Unschedulable, Reason)
	missingLabel = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, ReasonMissingLabel)
	unsignable   = extpoints.NewStatus(extpoints.Unschedulable, "workloads with topology spread constraints are not signable")
	skip         = extpoints.NewStatus(extpoints.Skip)
)

// PodTopologySpread is the plugin.
//
// Rules: kube-scheduler plugins/podtopologyspread (plugin.go, common.go,
// filtering.go, scoring.go), 1.37.1.
type PodTopologySpread struct {
	// defaults are the constraints of workloads that have none, by mode,
	// still without selectors.
	defaults map[model.SpreadMode][]constraint
	// systemDefaults: defaults are those of System, which also score nodes
	// that lack one of the keys.
	systemDefaults bool
	compat         extpoints.Compat
}

// New makes the plugin. Its arguments are [Args].
func New(a Args, h extpoints.Handle) (*PodTopologySpread, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	a = a.WithDefaults()
	p := &PodTopologySpread{defaults: map[model.SpreadMode][]constraint{}, systemDefaults: a.DefaultingType == System, compat: h.Compat()}
	list := a.DefaultConstraints
	if p.systemDefaults {
		list = systemConstraints
	}
	for i := range list {
		p.defaults[list[i].Mode] = append(p.defaults[list[i].Mode], constraintOf(&list[i], nil))
	}
	return p, nil
}

// Name returns the plugin's name.
func (*PodTopologySpread) Name() string { return Name }

// NodeLocal implements [extpoints.NodeLocalPlugin]: so it is for
// workloads that no constraint concerns.
func (p *PodTopologySpread) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return key, len(w.Spread) == 0 && (len(p.defaults) == 0 || !isReplica(w.Workload))
}

// Sign signs nothing for workloads that no constraint concerns, and refuses the
// others: where they go depends on all the nodes, and on each other.
//
// The reference refuses every workload where there are default constraints,
// because it cannot know when a service will select the workload. Here that is
// written in the workload.
func (p *PodTopologySpread) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	if len(w.Spread) > 0 || len(p.defaults) > 0 && isReplica(w) {
		return nil, unsignable
	}
	return nil, nil
}

var (
	_ extpoints.PreFilterExtensions = (*PodTopologySpread)(nil)
	_ extpoints.FilterPlugin        = (*PodTopologySpread)(nil)
	_ extpoints.PreScorePlugin      = (*PodTopologySpread)(nil)
	_ extpoints.ScoreNormalizer     = (*PodTopologySpread)(nil)
	_ extpoints.EnqueueExtensions   = (*PodTopologySpread)(nil)
	_ extpoints.NodeLocalPlugin     = (*PodTopologySpread)(nil)
	_ extpoints.SignPlugin          = (*PodTopologySpread)(nil)
)

// constraints lists the constraints of the mode that concern the workload: its
// own, or where it has none at all, of either mode, the default ones.
func (p *PodTopologySpread) constraints(w *model.Workload, mode model.SpreadMode) []constraint {
	var list []constraint
	if len(w.Spread) > 0 {
		for i := range w.Spread {
			if w.Spread[i].Mode == mode {
				list = append(list, constraintOf(&w.Spread[i], w.Labels))
			}
		}
		return list
	}
	if isReplica(w) {
		list = slices.Clone(p.defaults[mode])
		for i := range list {
			list[i].selector = w.OwnerSelector
		}
	}
	return list
}
