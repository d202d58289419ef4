package agent

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are what an agent counts, with a registry of their own: several agents may
// be in one process.
type metrics struct {
	registry       *prometheus.Registry
	tasks          *prometheus.GaugeVec
	ends           *prometheus.CounterVec
	hookFailures   *prometheus.CounterVec
	starts         prometheus.Counter
	orphans        prometheus.Counter
	stale          prometheus.Counter
	pollFailures   prometheus.Counter
	reportFailures prometheus.Counter
	unreported     prometheus.Gauge
	term           prometheus.Gauge
}

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "berth_agent_" + name, Help: help})
	}
	counters := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "berth_agent_" + name, Help: help}, []string{label})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "berth_agent_" + name, Help: help})
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		tasks: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "berth_agent_tasks", Help: "Tasks on the node that have not ended, by what they are doing.",
		}, []string{"phase"}),
		ends:           counters("tasks_ended_total", "Tasks that ended, by their last state.", "state"),
		hookFailures:   counters("hook_failures_total", "Prologs and epilogs that failed.", "hook"),
		starts:         counter("tasks_started_total", "Tasks whose shim was started."),
		orphans:        counter("orphans_total", "Tasks that were ended because no server listed them."),
		stale:          counter("stale_answers_total", "Answers refused because their leader was replaced."),
		pollFailures:   counter("poll_failures_total", "Polls and registrations that failed."),
		reportFailures: counter("report_failures_total", "Batches of reports that were not taken."),
		unreported:     gauge("reports_pending", "Reports that no server has taken yet."),
		term:           gauge("term", "The highest term of a leader that was seen."),
	}
	m.registry.MustRegister(m.tasks, m.ends, m.hookFailures, m.starts, m.orphans, m.stale,
		m.pollFailures, m.reportFailures, m.unreported, m.term,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}
