package interpodaffinity

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// The reasons, in the order in which Filter looks for them.
const (
	// ReasonAffinity is given for nodes that are not near what the workload
	// requires. Displacing others cannot help.
	ReasonAffinity = "node(s) didn't match workload affinity rules"
	// ReasonAntiAffinity is given for nodes that are near something that the
	// workload must not be near.
	ReasonAntiAffinity = "node(s) didn't match workload anti-affinity rules"
	// ReasonExistingAntiAffinity is given for nodes that are near a workload
	// that must not be near this one.
	ReasonExistingAntiAffinity = "node(s) didn't satisfy existing workloads anti-affinity rules"
	// ReasonNotSignable is given by Sign for workloads with terms.
	ReasonNotSignable = "workloads with InterPodAffinity are not signable"
)

var (
	notNear     = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, ReasonAffinity)
	notApart    = extpoints.NewStatus(extpoints.Unschedulable, ReasonAntiAffinity)
	notWanted   = extpoints.NewStatus(extpoints.Unschedulable, ReasonExistingAntiAffinity)
	notSignable = extpoints.NewStatus(extpoints.Unschedulable, ReasonNotSignable)
	skip        = extpoints.NewStatus(extpoints.Skip)
)

// InterPodAffinity is the plugin.
type InterPodAffinity struct {
	hardWeight     int32
	ignoreExisting bool
	compat         extpoints.Compat
}

// New makes the plugin. Its arguments are [Args].
func New(a Args, h extpoints.Handle) (*InterPodAffinity, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	a = a.WithDefaults()
	return &InterPodAffinity{
		hardWeight:     *a.HardPodAffinityWeight,
		ignoreExisting: a.IgnorePreferredTermsOfExistingPods,
		compat:         h.Compat(),
	}, nil
}

// Name returns the plugin's name.
func (*InterPodAffinity) Name() string { return Name }

// Sign refuses workloads with terms, whose verdicts change with every workload
// that is placed, and signs the labels and the namespace of all others: by
// those the terms of the workloads on nodes select them. The reference leaves
// the namespace out, and with IgnorePreferredTermsOfExistingPods the labels as
// well, though anti-affinity in Filter depends on both.
func (*InterPodAffinity) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	if w.Affinity != nil || w.AntiAffinity != nil {
		return nil, notSignable
	}
	return []extpoints.SignFragment{
		helper.LabelsFragment(w),
		{Key: helper.SignNamespace, Value: w.Namespace},
	}, nil
}

var (
	_ extpoints.PreFilterExtensions = (*InterPodAffinity)(nil)
	_ extpoints.FilterPlugin        = (*InterPodAffinity)(nil)
	_ extpoints.PreScorePlugin      = (*InterPodAffinity)(nil)
	_ extpoints.ScoreNormalizer     = (*InterPodAffinity)(nil)
	_ extpoints.EnqueueExtensions   = (*InterPodAffinity)(nil)
	_ extpoints.NodeLocalPlugin     = (*InterPodAffinity)(nil)
	_ extpoints.SignPlugin          = (*InterPodAffinity)(nil)
)
