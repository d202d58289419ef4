package pluginlevel

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// inHistories are the plugins of kubernetes-sigs/scheduler-plugins that histories are about.
var inHistories = []string{
	plugins.NodeResourcesAllocatable, plugins.PodState,
	plugins.TargetLoadPacking, plugins.LoadVariationRiskBalancing, plugins.LowRiskOverCommitment, plugins.Peaks,
	plugins.SySched, plugins.NetworkOverhead, plugins.NodeResourceTopologyMatch,
}

// SchedulerPluginsDecisions returns the options of a history, for package decisionlevel, in which
// the reference runs one of the plugins of kubernetes-sigs/scheduler-plugins behind its own, and
// the subject its plugin of the same name, with the same arguments. Cases go through the plugins.
// What is measured and the custom resources are the same from the beginning to the end.
func SchedulerPluginsDecisions(number uint64) decisionlevel.Options {
	d := &decided{name: inHistories[number%uint64(len(inHistories))]}
	return decisionlevel.Options{With: d.name, Plan: d.plan, Reference: d.configure, Change: d.change, Begin: d.begin}
}

// decided is the plugin that a history is about.
type decided struct {
	beside
	name      string
	variant   variant
	measured  measurement
	reference fwk.Plugin
}

// plan makes the case one about the plugin.
func (d *decided) plan(p *generate.Plan) {
	switch d.name {
	case plugins.NodeResourcesAllocatable, plugins.PodState:
		return
	case plugins.SySched, plugins.NetworkOverhead:
		p.Custom = true
	case plugins.NodeResourceTopologyMatch:
		p.Custom, p.Simple, p.Tame = true, true, true
	default:
		p.Measured, p.Simple, p.Tame = true, true, true
	}
	// Some look at pods by themselves, and see none on a node before that is confirmed.
	p.Prompt = true
}

// configure enables the plugin in the reference.
func (d *decided) configure(s *generate.Source, cfg *reference.Config) {
	address, forget := "", func() {}
	if s.Measured {
		d.measured = newMeasurement(s)
		address, forget = d.measured.serve(time.Now())
	}
	all := slices.Concat(ofSchedulerPlugins(s), ofLoads(s, address), ofCustom(s))
	d.variant = generate.Pick(s, slices.DeleteFunc(all, func(v variant) bool { return v.plugin != d.name })...)
	cfg.Registry = frameworkruntime.Registry{d.name: func(ctx context.Context, args runtime.Object, h fwk.Handle) (p fwk.Plugin, err error) {
		defer forget() // it is asked when the plugin is made
		make, ok := remembering[d.name]
		if !ok {
			make = constructors[d.name]
		}
		d.reference, err = make(ctx, args, h, feature.Features{})
		return d.reference, err
	}}
	cfg.Added = []string{d.name}
	if d.variant.reference != nil {
		cfg.Args[d.name] = d.variant.reference
	}
	cfg.Options = nowhere().Options
}

// change enables the plugin in the subject.
func (d *decided) change(cfg *engine.Config) {
	make, ok := asUpstream[d.name]
	if !ok {
		make = plugins.Default()[d.name]
	}
	p := &cfg.Profiles[0]
	p.Plugins = append(p.Plugins, extpoints.Entry{Name: d.name, New: make, Args: d.variant.subject})
}

// begin tells both sides of what is measured and of the custom resources.
func (d *decided) begin(t *twin.Twin) error {
	d.beside = beside{Twin: t, complete: true}
	if t.Measured {
		return d.tellMeasured(d.measured)
	}
	if t.Custom {
		if err := d.tellCustom(); err != nil {
			return err
		}
		d.connect(d.reference)
	}
	return nil
}
