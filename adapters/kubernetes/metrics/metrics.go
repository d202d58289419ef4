package metrics

import (
	"slices"
	"time"

	"k8s.io/component-base/metrics"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// Options say what is measured.
type Options struct {
	// Profiles are those of the engine's configuration; the first is that of
	// pods that name none. Required.
	Profiles []extpoints.Profile
	// Groups registers the metrics about groups of pods: kube-scheduler does so
	// where its feature gate GenericWorkload is on. Default false.
	Groups bool
	// Placements registers the metrics about placements of groups: kube-scheduler does so
	// where its feature gate TopologyAwareWorkloadScheduling is on. Default false.
	Placements bool
	// Now is the clock; its differences must be those of a monotonic one.
	// Default time.Now.
	Now func() time.Time
}

// Metrics are the metrics of one engine. Nothing is shared with another value:
// two engines in a process can each have their own.
//
// Its methods may be called by any goroutine; the functions of the listener are
// called by the engine.
type Metrics struct {
	registry  metrics.KubeRegistry
	reference reference
	own       own
	recorder  recorder
	sampler   *sampler
}

// New makes the metrics of an engine and registers them. What the flags of
// component-base say of all metrics (--disabled-metrics, --show-hidden-metrics-
// for-version, --allow-metric-labels) must be applied before.
func New(o Options) *Metrics {
	m := &Metrics{registry: metrics.NewKubeRegistry(), sampler: newSampler()}
	if o.Now == nil {
		o.Now = time.Now
	}
	d := definer{m.registry}
	m.reference.define(d, o)
	m.own.define(d)
	m.registry.CustomMustRegister(m.sampler)
	m.recorder = recorder{
		m: m, series: newShared(m), now: o.Now,
		profiles: map[string]*profile{}, pods: map[string]*pod{}, trees: map[string]*tree{},
	}
	for i := range o.Profiles {
		p := newProfile(m, o.Profiles[i].Name, preempts(&o.Profiles[i]))
		m.recorder.profiles[o.Profiles[i].Name] = p
		if i == 0 {
			m.recorder.profiles[""] = p
		}
	}
	return m
}

// preempts reports whether a plugin that displaces others is a PostFilter plugin.
func preempts(p *extpoints.Profile) bool {
	return slices.ContainsFunc(p.At("PostFilter"), func(e extpoints.Entry) bool { return displaces(e.Name) })
}

// displaces reports whether the plugin displaces others.
func displaces(plugin string) bool {
	return plugin == plugins.DefaultPreemption || plugin == plugins.PreemptionToleration
}

// Registry is where the metrics are registered, to be served, or gathered together
// with those of the process (prometheus.Gatherers). It must not be reset, so it is
// not for HandlerWithReset: the listener keeps the series that it counts in, and
// would go on counting in what nobody sees any more.
func (m *Metrics) Registry() metrics.KubeRegistry { return m.registry }
