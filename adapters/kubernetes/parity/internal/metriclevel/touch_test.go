package metriclevel

import (
	"reflect"
	"time"

	kubemetrics "k8s.io/component-base/metrics"
	claims "k8s.io/dynamic-resource-allocation/resourceclaim/metrics"
	volumes "k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding/metrics"
	reference "k8s.io/kubernetes/pkg/scheduler/metrics"

	"github.com/berth-project/berth/adapters/kubernetes/metrics"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

// touchReference gives every metric of kube-scheduler a series: without one it
// cannot be seen.
func touchReference() {
	for _, v := range []any{
		reference.EventHandlingLatency, reference.QueuedEntities, reference.InFlightEvents, reference.Goroutines,
		reference.BatchAttemptStats, reference.BatchCacheFlushed, reference.BatchRescoreAttempts, reference.BatchRescoreDuration,
		reference.GetNodeHintDuration, reference.StoreScheduleResultsDuration, reference.PodSchedulingSLIDuration,
		reference.PreQueueingHintEvaluations, reference.FrameworkExtensionPointDuration, reference.PluginExecutionDuration,
		reference.PermitWaitDuration, reference.CacheSize, reference.PluginEvaluationTotal, reference.SchedulerQueueIncomingPods,
		reference.SchedulerQueueIncomingEntities, reference.PreemptionGoroutinesDuration, reference.PreemptionGoroutinesExecutionTotal,
		reference.AsyncAPICallsTotal, reference.AsyncAPICallDuration, reference.AsyncAPIPendingCalls,
		reference.GeneratedPlacementsTotal, reference.PlacementEvaluations, reference.PlacementEvaluationDuration,
		reference.DRABindingConditionsAllocationsTotal, reference.DRABindingConditionsPreBindDuration,
		reference.WorkloadPreemptionAttempts, reference.PreemptionWorkloadDisruptions, reference.PreemptionEvaluationDuration,
		reference.PreemptionExecutionDuration, reference.PreemptionPDBViolations,
		claims.ResourceClaimCreate, volumes.VolumeSchedulingStageFailed, volumes.VolumeBindingRequestSchedulerBinderCache,
	} {
		touch(v)
	}
	reference.PodScheduled("", 0)
	reference.PodGroupScheduled("", 0)
	reference.ActivePods().Set(0)
	reference.UnschedulableReason("", "").Set(0)
	stop := make(chan struct{})
	recorder := reference.NewMetricsAsyncRecorder(10, time.Hour, stop)
	recorder.ObserveQueueingHintDurationAsync("", "", "", 0)
	recorder.FlushMetrics()
	close(stop)
}

// touch makes the series of empty labels. How many there are is known to the metric
// alone, which refuses any other number.
func touch(vec any) {
	for n := 1; n < 6; n++ {
		if try(vec, make([]string, n)) {
			return
		}
	}
}

func try(vec any, labels []string) (ok bool) {
	defer func() { ok = recover() == nil }()
	switch v := vec.(type) {
	case *kubemetrics.CounterVec:
		v.WithLabelValues(labels...).Add(0)
	case *kubemetrics.GaugeVec:
		v.WithLabelValues(labels...).Set(0)
	case *kubemetrics.HistogramVec:
		v.WithLabelValues(labels...).Observe(0)
	default:
		panic(reflect.TypeOf(vec))
	}
	return true
}

// touchBerth makes everything happen once of which Berth's metrics tell.
func touchBerth() (*metrics.Metrics, error) {
	profile := plugins.DefaultProfile()
	m := metrics.New(metrics.Options{Profiles: []extpoints.Profile{profile}, Groups: true, Placements: true})
	raw, err := engine.NewRaw(engine.Config{
		Profiles: []extpoints.Profile{profile}, Orchestrator: nobody{}, Listener: m.Listener(),
	})
	if err != nil {
		return nil, err
	}
	m.Sample(raw)
	touchListener(m.Listener())
	touchMeasured(m.Listener())
	m.APIWriteQueued("")
	m.APIWriteMerged("")
	m.APIWriteRetried("", "")
	m.APIWrite("", metrics.WriteSucceeded, 0)
	m.ClaimCreated(true)
	m.ConditionsAwaited("", metrics.ConditionsMet, 0, []string{""}, []string{""})
	m.EventsQueued(0)
	m.EventsLost(1, "")
	return m, nil
}

func touchMeasured(m engine.Listener) {
	m.PluginRan(engine.PluginRanEvent{})
	m.PluginEvaluated(engine.PluginEvaluatedEvent{})
	m.HintRan(engine.HintRanEvent{Event: queue.WorkloadAdded})
	m.ChangeOffered(engine.ChangeOfferedEvent{Event: queue.WorkloadAdded})
	m.PreemptionTried(engine.PluginRanEvent{Point: "GroupPostFilter", Plugin: plugins.DefaultPreemption})
	m.PreemptionEnded(engine.PreemptionEndedEvent{})
	m.PlacementsGenerated(engine.PlacementsGeneratedEvent{})
	m.PlacementTried(engine.PlacementTriedEvent{})
}

func touchListener(l engine.Listener) {
	group := &model.Group{ID: "g"}
	for _, w := range []*model.Workload{{ID: "a"}, {ID: "b", Group: "g"}} {
		placed := engine.PlacedEvent{Workload: w, Binding: model.Binding{Workload: w.ID, Node: "n"}}
		l.Submitted(engine.SubmittedEvent{Workload: w})
		l.Enqueued(engine.QueuedEvent{Move: queue.Move{ID: w.ID, Group: w.Group, To: queue.Active, Event: queue.WorkloadAdded}})
		l.Popped(engine.PoppedEvent{Workload: w, Attempt: 1})
		l.Filtered(engine.FilteredEvent{Workload: w})
		l.Rejected(engine.RejectedEvent{Workload: w, Code: extpoints.Unschedulable, Plugins: []string{""}})
		l.Decided(engine.GroupEvent{Group: group, Code: extpoints.Unschedulable})
		l.Evicting(engine.EvictingEvent{Workload: w, By: "a"})
		l.Evicting(engine.EvictingEvent{Workload: w, ByGroup: "g"})
		l.Popped(engine.PoppedEvent{Workload: w, Attempt: 2})
		l.Selected(engine.SelectedEvent{Workload: w})
		l.Reserved(placed)
		l.Waiting(engine.WaitingEvent{PlacedEvent: placed})
		l.Permitted(placed)
		l.Bound(placed)
	}
	l.Failed(engine.FailedEvent{Err: &extpoints.PluginError{Point: "Filter", Plugin: plugins.VolumeBinding}})
}

// nobody is an orchestrator that is asked nothing.
type nobody struct{ extpoints.Orchestrator }
