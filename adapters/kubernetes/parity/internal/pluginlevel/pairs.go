package pluginlevel

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	kgangscheduling "k8s.io/kubernetes/pkg/scheduler/framework/plugins/gangscheduling"
	kimagelocality "k8s.io/kubernetes/pkg/scheduler/framework/plugins/imagelocality"
	kinterpodaffinity "k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	knodeaffinity "k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	knodedeclaredfeatures "k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodedeclaredfeatures"
	knodename "k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	knodeports "k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	knoderesources "k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	knodeunschedulable "k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	kpodgrouppodscount "k8s.io/kubernetes/pkg/scheduler/framework/plugins/podgrouppodscount"
	kpodtopologyspread "k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	kqueuesort "k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	kschedulinggates "k8s.io/kubernetes/pkg/scheduler/framework/plugins/schedulinggates"
	ktainttoleration "k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	ktopologyaware "k8s.io/kubernetes/pkg/scheduler/framework/plugins/topologyaware"
	kvolumebinding "k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	kvolumerestrictions "k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
	kvolumezone "k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
	"sigs.k8s.io/scheduler-plugins/pkg/noderesources"
	"sigs.k8s.io/scheduler-plugins/pkg/podstate"
	"sigs.k8s.io/scheduler-plugins/pkg/trimaran/loadvariationriskbalancing"
	"sigs.k8s.io/scheduler-plugins/pkg/trimaran/lowriskovercommitment"
	"sigs.k8s.io/scheduler-plugins/pkg/trimaran/targetloadpacking"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/plugins"
)

// pair is one plugin of each side, made with the same arguments.
type pair struct {
	name      string // the plugin's, and in brackets the arguments'
	reference fwk.Plugin
	subject   subjectPlugin
	args      string
}

// constructor makes a plugin of the reference.
type constructor func(context.Context, runtime.Object, fwk.Handle, feature.Features) (fwk.Plugin, error)

// plain is a constructor that wants no features.
func plain(f func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error)) constructor {
	return func(ctx context.Context, args runtime.Object, h fwk.Handle, _ feature.Features) (fwk.Plugin, error) {
		return f(ctx, args, h)
	}
}

// constructors are those of the reference, by the plugin's name.
var constructors = map[string]constructor{
	plugins.NodeName:                        knodename.New,
	plugins.NodeUnschedulable:               knodeunschedulable.New,
	plugins.TaintToleration:                 ktainttoleration.New,
	plugins.NodePorts:                       knodeports.New,
	plugins.NodeAffinity:                    knodeaffinity.New,
	plugins.NodeResourcesFit:                knoderesources.NewFit,
	plugins.NodeResourcesBalancedAllocation: knoderesources.NewBalancedAllocation,
	plugins.ImageLocality:                   plain(kimagelocality.New),
	plugins.SchedulingGates:                 kschedulinggates.New,
	plugins.PrioritySort:                    plain(kqueuesort.New),
	plugins.PodTopologySpread:               kpodtopologyspread.New,
	plugins.InterPodAffinity:                kinterpodaffinity.New,
	plugins.NodeDeclaredFeatures:            knodedeclaredfeatures.New,
	plugins.VolumeRestrictions:              kvolumerestrictions.New,
	plugins.VolumeZone:                      kvolumezone.New,
	plugins.VolumeBinding:                   kvolumebinding.New,
	plugins.GangScheduling:                  kgangscheduling.New,
	plugins.PodGroupPodsCount:               kpodgrouppodscount.New,
	plugins.TopologyPlacementGenerator: func(ctx context.Context, args runtime.Object, h fwk.Handle, f feature.Features) (fwk.Plugin, error) {
		return ktopologyaware.New(ctx, args, h, f)
	},
	plugins.NodeResourcesAllocatable:   plain(noderesources.NewAllocatable),
	plugins.PodState:                   plain(podstate.New),
	plugins.TargetLoadPacking:          plain(targetloadpacking.New),
	plugins.LoadVariationRiskBalancing: plain(loadvariationriskbalancing.New),
	plugins.LowRiskOverCommitment:      plain(lowriskovercommitment.New),
	plugins.Peaks:                      plain(newPeaks),
	plugins.SySched:                    plain(newSySched),
	plugins.NetworkOverhead:            plain(newOverhead),
	plugins.NodeResourceTopologyMatch:  plain(newTopologyMatch),
	plugins.DefaultPreemption: func(ctx context.Context, args runtime.Object, h fwk.Handle, f feature.Features) (fwk.Plugin, error) {
		return defaultpreemption.New(ctx, args, h, f)
	},
}

// newReference makes a plugin of the reference. Those that are only made once in a
// process's life are the framework's own.
func newReference(t *twin.Twin, v variant) (fwk.Plugin, error) {
	make, ok := constructors[v.plugin]
	if !ok {
		return t.Reference.Plugin(v.plugin), nil
	}
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	p, err := make(t.Reference.Context, v.reference, t.Reference.Framework, features)
	reference.BindVolumesAtOnce(p)
	return p, err
}

// newPair makes both plugins.
func newPair(t *twin.Twin, h *extpointstest.Handle, v variant, mutation Mutation) (*pair, error) {
	ref, err := newReference(t, v)
	if err != nil {
		return nil, err
	}
	if h.Mode = extpoints.KubeScheduler137; v.name == allHints {
		h.Mode = extpoints.Improved
	}
	sub, err := plugins.Default()[v.plugin](v.subject, h)
	if err != nil {
		return nil, err
	}
	p := &pair{name: v.plugin, reference: ref, subject: subjectPlugin{sub, mutation}}
	if v.name != "" {
		p.name += " (" + v.name + ")"
	}
	if v.subject != nil {
		p.args = twin.JSON(v.subject)
	}
	return p, nil
}

// newPairs makes the pairs of all variants.
func newPairs(t *twin.Twin, h *extpointstest.Handle, mutation Mutation) ([]*pair, error) {
	var pairs []*pair
	for _, v := range variants(t.Source) {
		p, err := newPair(t, h, v, mutation)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}
