package metrics

import "k8s.io/component-base/metrics"

// own are the metrics that kube-scheduler does not have, berth_store_objects and
// berth_remembered_events apart, which are sampled.
type own struct {
	phaseTook    *metrics.HistogramVec
	nodes        *metrics.CounterVec
	evictions    *metrics.CounterVec
	failures     *metrics.Counter
	merged       *metrics.CounterVec
	writes       *metrics.CounterVec
	retries      *metrics.CounterVec
	eventsQueued *metrics.Gauge
	eventsLost   *metrics.CounterVec
}

func (o *own) define(d definer) {
	o.phaseTook = d.histograms(metrics.ALPHA, "berth_phase_duration_seconds",
		"Time that a phase of an attempt to schedule a pod takes: filter (PreFilter, Filter and extenders), score (PreScore, Score, normalizing and extenders), postfilter, reserve, permit (without waiting), bind (from when it may be bound: waiting for a place, PreBind, Bind and PostBind). Of members of groups there is only bind.",
		metrics.ExponentialBuckets(0.00001, 2, 22), "phase", "profile")
	o.nodes = d.counters(metrics.ALPHA, "berth_filtered_nodes_total",
		"Number of nodes that were looked at for pods, by what came of it: feasible or infeasible.", "result", "profile")
	o.evictions = d.counters(metrics.ALPHA, "berth_evictions_total",
		"Number of pods that were asked to leave their node, or whose binding was called off, by the kind of preemptor: pod, podgroup, or none.", "for")
	o.failures = d.counter(metrics.ALPHA, "berth_failures_total",
		"Number of failures that did not end an attempt by themselves: of hints, gates, Unreserve, PostBind, PostFilter, evictions.")
	o.writes = d.counters(metrics.ALPHA, "berth_api_writes_total",
		"Number of writes to the API server that are over, by call and result.", "call", "result")
	o.retries = d.counters(metrics.ALPHA, "berth_api_write_retries_total",
		"Number of times that a write to the API server failed and was to be tried again, by call and cause.", "call", "cause")
	o.merged = d.counters(metrics.ALPHA, "berth_api_writes_merged_total",
		"Number of writes to the API server that a later one for the same object took in before they were sent.", "call")
	o.eventsQueued = d.gauge(metrics.ALPHA, "berth_events_queued",
		"Number of Kubernetes events that wait to be written.")
	o.eventsLost = d.counters(metrics.ALPHA, "berth_events_lost_total",
		"Number of Kubernetes events that were never written, by cause.", "cause")
}
