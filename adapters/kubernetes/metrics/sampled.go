package metrics

import (
	"iter"
	"sync/atomic"

	"k8s.io/component-base/metrics"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Source is what the sampled metrics are read from: an [engine.Engine].
type Source interface {
	QueueCounts() queue.Counts
	View() *engine.View
}

// Sample begins to read the sampled metrics from the engine whenever they are
// gathered. Each time it takes the engine's lock for a moment, and goes through
// all that the engine has recorded on the goroutine that gathers: some ten
// nanoseconds for each object. Before Sample there are no such metrics.
func (m *Metrics) Sample(s Source) { m.sampler.source.Store(&s) }

// sampler collects what is read when somebody asks: pending_pods, inflight_events
// and cache_size of kube-scheduler (pkg/scheduler/metrics/metrics.go and
// backend/cache/cache.go updateMetrics, 1.37.1) and two of our own.
type sampler struct {
	metrics.BaseStableCollector
	source atomic.Pointer[Source]

	pendingPods, inFlightEvents, cacheSize *metrics.Desc
	rememberedEvents, storeObjects         *metrics.Desc
}

var _ metrics.StableCollector = (*sampler)(nil)

func newSampler() *sampler {
	desc := func(level metrics.StabilityLevel, name, help string, labels ...string) *metrics.Desc {
		return metrics.NewDesc(name, help, labels, nil, level, "")
	}
	return &sampler{
		pendingPods: desc(metrics.STABLE, "scheduler_pending_pods",
			"Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulableEntities that the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never attempted to schedule because they are gated; 'incomplete' means number of pods in incompletePodGroupPods; 'pending' means number of pods in pendingPodGroupPods.",
			"queue"),
		inFlightEvents: desc(metrics.ALPHA, "scheduler_inflight_events",
			"Number of events currently tracked in the scheduling queue.", "event"),
		cacheSize: desc(metrics.ALPHA, "scheduler_cache_size",
			"Number of nodes, pods, and assumed (bound) pods in the scheduler cache.", "type"),
		rememberedEvents: desc(metrics.ALPHA, "berth_remembered_events",
			"Number of changes in the cluster that are remembered for the pods that are being scheduled."),
		storeObjects: desc(metrics.ALPHA, "berth_store_objects",
			"Number of objects that the scheduler has recorded, by kind; pods are of kind Workload.", "kind"),
	}
}

// DescribeWithStability implements [metrics.StableCollector].
func (s *sampler) DescribeWithStability(ch chan<- *metrics.Desc) {
	for _, d := range []*metrics.Desc{s.pendingPods, s.inFlightEvents, s.cacheSize, s.rememberedEvents, s.storeObjects} {
		ch <- d
	}
}

// CollectWithStability implements [metrics.StableCollector].
func (s *sampler) CollectWithStability(ch chan<- metrics.Metric) {
	source := s.source.Load()
	if source == nil {
		return
	}
	send := func(d *metrics.Desc, value int, labels ...string) {
		ch <- metrics.NewLazyConstMetric(d, metrics.GaugeValue, float64(value), labels...)
	}
	c := (*source).QueueCounts()
	send(s.pendingPods, c.Active, activeQueue)
	send(s.pendingPods, c.Backoff+c.ErrorBackoff, backoffQueue)
	send(s.pendingPods, c.Unschedulable, unschedulableQueue)
	send(s.pendingPods, c.Gated, gatedQueue)
	send(s.pendingPods, c.Incomplete, "incomplete")
	send(s.pendingPods, c.Joining, "pending")
	send(s.inFlightEvents, c.InFlight+c.Permit, "PodPopped") // those on Permit are in flight there
	send(s.rememberedEvents, c.Events)
	s.collectObjects((*source).View(), send)
}

func (s *sampler) collectObjects(v *engine.View, send func(*metrics.Desc, int, ...string)) {
	nodes := count(v.Nodes())
	assumed, placed, all := 0, 0, 0
	for w := range v.Workloads() {
		all++
		if w.Node != "" && w.Phase.TakesRoom() {
			placed++
		}
		if w.Phase == model.Assumed || w.Phase == model.Bound {
			assumed++
		}
	}
	send(s.cacheSize, nodes, "nodes")
	send(s.cacheSize, placed, "pods")
	send(s.cacheSize, assumed, "assumed_pods")
	send(s.storeObjects, nodes, "Node")
	send(s.storeObjects, all, "Workload")
	send(s.storeObjects, count(v.Groups()), "Group")
	send(s.storeObjects, count(v.Budgets()), "Budget")
	send(s.storeObjects, count(v.Namespaces()), "Namespace")
	for _, kind := range model.ObjectKinds {
		send(s.storeObjects, count(v.Objects(kind)), string(kind))
	}
}

func count[R any](records iter.Seq[R]) (n int) {
	for range records {
		n++
	}
	return n
}
