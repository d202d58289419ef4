package pluginlevel

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	kimagelocality "k8s.io/kubernetes/pkg/scheduler/framework/plugins/imagelocality"
	kinterpodaffinity "k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	knodeaffinity "k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	knodedeclaredfeatures "k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodedeclaredfeatures"
	knodename "k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	knodeports "k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	knoderesources "k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	knodeunschedulable "k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	kpodtopologyspread "k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	kqueuesort "k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	kschedulinggates "k8s.io/kubernetes/pkg/scheduler/framework/plugins/schedulinggates"
	ktainttoleration "k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
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
	plugins.DefaultPreemption: func(ctx context.Context, args runtime.Object, h fwk.Handle, f feature.Features) (fwk.Plugin, error) {
		return defaultpreemption.New(ctx, args, h, f)
	},
}

// newPair makes both plugins.
func newPair(t *twin.Twin, v variant, mutation Mutation) (*pair, error) {
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	ref, err := constructors[v.plugin](t.Reference.Context, v.reference, t.Reference.Framework, features)
	if err != nil {
		return nil, err
	}
	sub, err := plugins.Default()[v.plugin](v.subject, extpointstest.NewHandle())
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
func newPairs(t *twin.Twin, mutation Mutation) ([]*pair, error) {
	var pairs []*pair
	for _, v := range variants(t.Source) {
		p, err := newPair(t, v, mutation)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}
