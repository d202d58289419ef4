package metrics

import "k8s.io/component-base/metrics"

// definer makes metrics and registers them. Names are whole: with subsystem.
type definer struct{ registry metrics.KubeRegistry }

func (d definer) counter(level metrics.StabilityLevel, name, help string) *metrics.Counter {
	c := metrics.NewCounter(&metrics.CounterOpts{Name: name, Help: help, StabilityLevel: level})
	d.registry.MustRegister(c)
	return c
}

func (d definer) counters(level metrics.StabilityLevel, name, help string, labels ...string) *metrics.CounterVec {
	c := metrics.NewCounterVec(&metrics.CounterOpts{Name: name, Help: help, StabilityLevel: level}, labels)
	d.registry.MustRegister(c)
	return c
}

func (d definer) gauge(level metrics.StabilityLevel, name, help string) *metrics.Gauge {
	g := metrics.NewGauge(&metrics.GaugeOpts{Name: name, Help: help, StabilityLevel: level})
	d.registry.MustRegister(g)
	return g
}

func (d definer) gauges(level metrics.StabilityLevel, name, help string, labels ...string) *metrics.GaugeVec {
	g := metrics.NewGaugeVec(&metrics.GaugeOpts{Name: name, Help: help, StabilityLevel: level}, labels)
	d.registry.MustRegister(g)
	return g
}

func (d definer) histogram(level metrics.StabilityLevel, name, help string, buckets []float64) *metrics.Histogram {
	h := metrics.NewHistogram(&metrics.HistogramOpts{Name: name, Help: help, StabilityLevel: level, Buckets: buckets})
	d.registry.MustRegister(h)
	return h
}

func (d definer) histograms(level metrics.StabilityLevel, name, help string, buckets []float64, labels ...string) *metrics.HistogramVec {
	h := metrics.NewHistogramVec(&metrics.HistogramOpts{Name: name, Help: help, StabilityLevel: level, Buckets: buckets}, labels)
	d.registry.MustRegister(h)
	return h
}
