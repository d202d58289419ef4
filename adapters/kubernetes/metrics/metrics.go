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
	// Now is the clock; its differences must be those of a monotonic one.
	// Default time.Now.
	Now func() time.Time
}

// Metrics are the metrics of one engine. Nothing is shared with another value:
// two engines in a process can each have their own.
//
// Its methods may be called by any goroutine; the functions of the listener and the
// meter are called by the engine.
type Metrics struct {
	registry  metrics.KubeRegistry
	reference reference
	own       own
	recorder  recorder
	sampler   *sampler
	clock     func() time.Duration // of the meter
}

// New makes the metrics of an engine and registers them. What the flags of
// component-base say of all metrics (--disabled-metrics, --show-hidden-metrics-
// for-version, --allow-metric-labels) must be applied before.
func New(o Options) *Metrics {
	m := &Metrics{registry: metrics.NewKubeRegistry(), sampler: newSampler()}
	if now, start := o.Now, time.Now(); now == nil {
		o.Now = time.Now
		m.clock = func() time.Duration { return time.Since(start) } // half the price: it reads no wall clock
	} else {
		start = now()
		m.clock = func() time.Duration { return now().Sub(start) }
	}
	d := definer{m.registry}
	m.reference.define(d, o.Groups)
	m.own.define(d)
	m.registry.CustomMustRegister(m.sampler)
	m.recorder = recorder{
		m: m, series: newShared(m), now: o.Now,
		profiles: map[string]*profile{}, pods: map[string]*pod{}, trees: map[string]*tree{},
	}
	for i := range o.Profiles {
		p := newProfile(m, o.Profiles[i].Name, preempts(&o.Profiles[i].Plugins))
		m.recorder.profiles[o.Profiles[i].Name] = p
		if i == 0 {
			m.recorder.profiles[""] = p
		}
	}
	return m
}

// preempts reports whether DefaultPreemption is a PostFilter plugin.
func preempts(p *extpoints.Plugins) bool {
	named := func(set extpoints.PluginSet) bool {
		return slices.ContainsFunc(set.Enabled, func(r extpoints.PluginRef) bool { return r.Name == plugins.DefaultPreemption })
	}
	off := slices.Contains(p.PostFilter.Disabled, plugins.DefaultPreemption) || slices.Contains(p.PostFilter.Disabled, extpoints.AllPlugins)
	return named(p.PostFilter) || named(p.MultiPoint) && !off
}

// Registry is where the metrics are registered, to be served, or gathered together
// with those of the process (prometheus.Gatherers). It must not be reset, so it is
// not for HandlerWithReset: the listener keeps the series that it counts in, and
// would go on counting in what nobody sees any more.
func (m *Metrics) Registry() metrics.KubeRegistry { return m.registry }
