package metrics

import (
	"maps"
	"sync/atomic"

	"k8s.io/component-base/metrics"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// measured adds what the engine measures for the metrics.
func (m *Metrics) measured(l *engine.Listener) {
	r, s := &m.reference, newMeasured(m)
	l.PluginRan = func(e engine.PluginRanEvent) {
		s.ran.of(call{e.Plugin, e.Point, e.Code}).Observe(e.Took.Seconds())
	}
	l.PluginEvaluated = func(e engine.PluginEvaluatedEvent) {
		s.evaluated.of(evaluation{e.Plugin, e.Point, e.Profile}).Add(float64(e.Times))
	}
	l.HintRan = func(e engine.HintRanEvent) {
		s.hints.of(hint{e.Plugin, e.Event, hintLabel(e.Hint, e.Err)}).Observe(e.Took.Seconds())
	}
	l.ChangeOffered = func(e engine.ChangeOfferedEvent) { s.events.of(e.Event).Observe(e.Took.Seconds()) }
	if r.groupAttempts != nil {
		r.measuredGroups(l)
	}
	if r.placements != nil {
		r.measuredPlacements(l)
	}
}

// measuredGroups adds what kube-scheduler has where groups are on.
func (r *reference) measuredGroups(l *engine.Listener) {
	l.PreemptionTried = func(e engine.PluginRanEvent) {
		if !displaces(e.Plugin) {
			return
		}
		who := podEntity
		if e.Point == "GroupPostFilter" {
			who = groupEntity
			r.groupPreemptions.WithLabelValues(e.Code.String()).Inc()
		}
		r.preemptionEvaluated.WithLabelValues(who, e.Code.String()).Observe(e.Took.Seconds())
	}
	l.PreemptionEnded = func(e engine.PreemptionEndedEvent) {
		result := WriteSucceeded
		if e.Failed {
			result = failed
		}
		r.preemptionExecuted.WithLabelValues(preemptor(e.Group), result).Observe(e.Took.Seconds())
	}
}

// measuredPlacements adds what kube-scheduler has where placements are on.
func (r *reference) measuredPlacements(l *engine.Listener) {
	l.PlacementsGenerated = func(e engine.PlacementsGeneratedEvent) {
		r.placements.WithLabelValues(e.Profile).Add(float64(e.Count))
	}
	l.PlacementTried = func(e engine.PlacementTriedEvent) {
		result := "infeasible"
		if e.Feasible {
			result = "feasible"
		}
		r.placementsTried.WithLabelValues(result, e.Profile).Inc()
		r.placementTook.WithLabelValues(result, e.Profile).Observe(e.Took.Seconds())
	}
}

// preemptor: framework/preemption/executor.go Type, 1.37.1.
func preemptor(g *model.Group) string {
	switch {
	case g == nil:
		return podEntity
	case g.Composite:
		return "compositepodgroup"
	}
	return groupEntity
}

// hintLabel: backend/queue/scheduling_queue.go queueingHintToLabel, 1.37.1.
func hintLabel(h extpoints.Hint, err error) string {
	switch {
	case err != nil:
		return "Error"
	case h == extpoints.HintQueue:
		return "Queue"
	}
	return "QueueSkip"
}

// measured are the series that count what is measured.
type measured struct {
	ran       sharedMemo[call, metrics.ObserverMetric]
	evaluated memo[evaluation, metrics.CounterMetric]
	hints     memo[hint, metrics.ObserverMetric]
	events    memo[extpoints.ClusterEvent, metrics.ObserverMetric]
}

type call struct {
	plugin, point string
	code          extpoints.Code
}

type evaluation struct{ plugin, point, profile string }

type hint struct {
	plugin string
	event  extpoints.ClusterEvent
	said   string
}

func newMeasured(m *Metrics) *measured {
	r := &m.reference
	s := &measured{
		evaluated: newMemo(func(e evaluation) metrics.CounterMetric {
			return r.pluginAsked.WithLabelValues(e.plugin, PointLabel(e.point), e.profile)
		}),
		hints: newMemo(func(h hint) metrics.ObserverMetric {
			return r.hintTook.WithLabelValues(h.plugin, EventLabel(h.event), h.said)
		}),
		events: newMemo(func(e extpoints.ClusterEvent) metrics.ObserverMetric {
			return r.eventTook.WithLabelValues(EventLabel(e))
		}),
	}
	s.ran.make = func(c call) metrics.ObserverMetric {
		return r.pluginTook.WithLabelValues(c.plugin, PointLabel(c.point), c.code.String())
	}
	return s
}

// sharedMemo is a memo that several goroutines use at once.
type sharedMemo[K comparable, V any] struct {
	made atomic.Pointer[map[K]V] // never changed, only replaced
	make func(K) V
}

func (m *sharedMemo[K, V]) of(key K) V {
	for {
		made := m.made.Load()
		if made != nil {
			if v, ok := (*made)[key]; ok {
				return v
			}
		}
		next := map[K]V{}
		if made != nil {
			next = maps.Clone(*made)
		}
		next[key] = m.make(key)
		if m.made.CompareAndSwap(made, &next) {
			return next[key]
		}
	}
}
