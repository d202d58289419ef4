package server

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// metrics are the server's.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_http_requests_total", Help: "Requests, by route and status.",
		}, []string{"route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "berth_http_request_seconds", Help: "How long requests took; polls and streams wait.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}, []string{"route"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, &stateCollector{s}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// count counts the requests of a route.
func (m *metrics) count(route string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		sw := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		h.ServeHTTP(sw, r)
		m.requests.WithLabelValues(route, strconv.Itoa(sw.status)).Inc()
		m.seconds.WithLabelValues(route).Observe(time.Since(start).Seconds())
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// stateCollector reads the state when it is asked.
type stateCollector struct{ s *Server }

var (
	elementsDesc = prometheus.NewDesc("berth_elements", "Elements of jobs that are known, by state.", []string{"state"}, nil)
	jobsDesc     = prometheus.NewDesc("berth_jobs", "Jobs that are known.", nil, nil)
	nodesDesc    = prometheus.NewDesc("berth_nodes", "Nodes, by state.", []string{"state"}, nil)
	queueDesc    = prometheus.NewDesc("berth_queue_tasks", "Tasks that wait for nodes, by place in the queue; on the leader.", []string{"queue"}, nil)
	leaderDesc   = prometheus.NewDesc("berth_leader", "1 where this server leads.", nil, nil)
	termDesc     = prometheus.NewDesc("berth_raft_term", "The newest term that this server has seen.", nil, nil)
	appliedDesc  = prometheus.NewDesc("berth_raft_applied_index", "The last entry that is in the state.", nil, nil)
	commitDesc   = prometheus.NewDesc("berth_raft_commit_index", "The last entry that is committed.", nil, nil)
	commandsDesc = prometheus.NewDesc("berth_raft_commands_total", "Commands applied since the start.", nil, nil)
	entriesDesc  = prometheus.NewDesc("berth_raft_entries_total", "Log entries applied since the start.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *stateCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		elementsDesc, jobsDesc, nodesDesc, queueDesc, leaderDesc, termDesc, appliedDesc, commitDesc, commandsDesc, entriesDesc,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *stateCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	v := c.s.state.View()
	counts, jobs := map[job.State]float64{}, 0
	for j := range v.Jobs() {
		jobs++
		for s, n := range j.Counts.ByState() {
			counts[s] += float64(n)
		}
	}
	gauge(jobsDesc, float64(jobs))
	for s, n := range counts {
		gauge(elementsDesc, n, string(s))
	}
	nodes := map[api.NodeState]float64{}
	for n := range v.Nodes() {
		nodes[n.State]++
	}
	for s, n := range nodes {
		gauge(nodesDesc, n, string(s))
	}
	leads := 0.0
	if l := c.s.leading.Load(); l != nil {
		leads = 1
		for place, n := range l.Counts() {
			gauge(queueDesc, float64(n), place)
		}
	}
	gauge(leaderDesc, leads)
	st := c.s.replica.Stats()
	gauge(termDesc, float64(st.Term))
	gauge(appliedDesc, float64(st.AppliedIndex))
	gauge(commitDesc, float64(st.CommitIndex))
	ch <- prometheus.MustNewConstMetric(commandsDesc, prometheus.CounterValue, float64(st.Commands))
	ch <- prometheus.MustNewConstMetric(entriesDesc, prometheus.CounterValue, float64(st.Entries))
}

// healthz answers 200 while the server works.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	if err := s.replica.Err(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// readyz answers 200 while the server knows who leads.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if _, ok := s.replica.Leader(); !ok || !s.takesPart() {
		http.Error(w, "no server leads, as far as this one knows", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}
