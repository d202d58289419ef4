package metrics

import (
	"strconv"

	"k8s.io/component-base/metrics"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
)

// memo keeps what make returns. The listener looks up its series in memos: to
// look one up by its label values costs several times what counting costs.
type memo[K comparable, V any] struct {
	made map[K]V
	make func(K) V
}

func newMemo[K comparable, V any](make func(K) V) memo[K, V] {
	return memo[K, V]{map[K]V{}, make}
}

func (m *memo[K, V]) of(key K) V {
	v, ok := m.made[key]
	if !ok {
		v = m.make(key)
		m.made[key] = v
	}
	return v
}

// outcome is how attempts end: how often, and after what time.
type outcome struct {
	count metrics.CounterMetric
	took  metrics.ObserverMetric
}

func (o outcome) ended(seconds float64) {
	o.took.Observe(seconds)
	o.count.Inc()
}

// point is an extension point and what it said.
type point struct {
	name string
	code extpoints.Code
}

// profile has the series of one profile.
type profile struct {
	preempts bool // DefaultPreemption is a PostFilter plugin

	results              memo[string, outcome]
	groups               memo[string, outcome] // where groups are on
	points               memo[point, metrics.ObserverMetric]
	phases               memo[string, metrics.ObserverMetric]
	rejectors            memo[string, metrics.GaugeMetric] // by plugin
	feasible, infeasible metrics.CounterMetric
}

func newProfile(m *Metrics, name string, preempts bool) *profile {
	r := &m.reference
	return &profile{
		preempts: preempts,
		results: newMemo(func(result string) outcome {
			return outcome{r.attempts.WithLabelValues(result, name), r.attemptTook.WithLabelValues(result, name)}
		}),
		groups: newMemo(func(result string) outcome {
			return outcome{r.groupAttempts.WithLabelValues(result, name), r.groupAttemptTook.WithLabelValues(result, name)}
		}),
		points: newMemo(func(p point) metrics.ObserverMetric {
			return r.pointTook.WithLabelValues(p.name, p.code.String(), name)
		}),
		phases: newMemo(func(phase string) metrics.ObserverMetric {
			return m.own.phaseTook.WithLabelValues(phase, name)
		}),
		rejectors: newMemo(func(plugin string) metrics.GaugeMetric {
			return r.unschedulable.WithLabelValues(plugin, name)
		}),
		feasible:   m.own.nodes.WithLabelValues("feasible", name),
		infeasible: m.own.nodes.WithLabelValues("infeasible", name),
	}
}

// shared are the series that have no profile.
type shared struct {
	binding       metrics.GaugeMetric
	permits       memo[extpoints.Code, metrics.ObserverMetric]
	sli           memo[string, metrics.ObserverMetric] // by attempts
	arrivals      memo[arrival, metrics.CounterMetric]
	treeArrivals  memo[arrival, metrics.CounterMetric]
	aloneArrivals memo[arrival, metrics.CounterMetric]
	alone, trees  [len(queueLabels)]metrics.GaugeMetric // entities by place, nil for no queue
}

// arrival is that something gets into a queue because of an event.
type arrival struct {
	queue string
	event extpoints.ClusterEvent
}

func newShared(m *Metrics) shared {
	r := &m.reference
	s := shared{
		binding: r.goroutines.WithLabelValues("binding"),
		permits: newMemo(func(c extpoints.Code) metrics.ObserverMetric {
			return r.permitWaited.WithLabelValues(c.String())
		}),
		sli: newMemo(func(attempts string) metrics.ObserverMetric { return r.sliTook.WithLabelValues(attempts) }),
		arrivals: newMemo(func(a arrival) metrics.CounterMetric {
			return r.incomingPods.WithLabelValues(a.queue, EventLabel(a.event))
		}),
		treeArrivals:  newMemo(func(a arrival) metrics.CounterMetric { return entityArrivals(r, a, groupEntity) }),
		aloneArrivals: newMemo(func(a arrival) metrics.CounterMetric { return entityArrivals(r, a, podEntity) }),
	}
	for place, label := range queueLabels {
		if label != "" {
			s.alone[place] = r.queued.WithLabelValues(label, podEntity)
			s.trees[place] = r.queued.WithLabelValues(label, groupEntity)
		}
	}
	return s
}

func entityArrivals(r *reference, a arrival, kind string) metrics.CounterMetric {
	return r.incoming.WithLabelValues(a.queue, EventLabel(a.event), kind)
}

// queueLabels are the queues of places.
var queueLabels = [...]string{
	queue.Active:        activeQueue,
	queue.Backoff:       backoffQueue,
	queue.ErrorBackoff:  backoffQueue,
	queue.Unschedulable: unschedulableQueue,
	queue.Gated:         gatedQueue,
	queue.InFlight:      "",
}

// arrivalLabel is the queue that something arrives in at a place: gated pods are
// among the unschedulable there. (scheduling_queue.go moveToActiveQ, 1.37.1.)
func arrivalLabel(p queue.Place) string {
	if p == queue.Gated {
		return unschedulableQueue
	}
	return queueLabels[p]
}

// mostAttempts is the number of attempts from which on it does not matter how
// many there were. (schedule_one.go getAttemptsLabel, 1.37.1.)
const mostAttempts = 15

var attemptsLabels = func() (labels [mostAttempts]string) {
	for i := range labels {
		labels[i] = strconv.Itoa(i + 1)
	}
	labels[mostAttempts-1] += "+"
	return labels
}()

func attemptsLabel(attempts int) string {
	return attemptsLabels[min(max(attempts, 1), mostAttempts)-1]
}
