package metrics

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

func TestReports(t *testing.T) {
	h := newHistory(t)
	m := h.metrics
	for range 4 {
		m.APIWriteQueued("pod_binding")
	}
	m.APIWriteMerged("pod_binding")
	m.APIWriteRetried("pod_binding", "conflict")
	m.APIWrite("pod_binding", WriteSucceeded, time.Second)
	m.APIWrite("pod_binding", "gone", time.Second)
	m.ClaimCreated(true)
	m.ClaimCreated(false)
	m.ConditionsAwaited("p", ConditionsTimeout, time.Second, []string{"gpu", "gpu", "net"}, []string{"gpu"})
	m.EventsQueued(7)
	m.EventsLost(1, "overflow")
	h.expect(`
		scheduler_pending_async_api_calls{call_type="pod_binding"} 1
		scheduler_async_api_call_execution_total{call_type="pod_binding",result="error"} 1
		scheduler_async_api_call_execution_total{call_type="pod_binding",result="success"} 1
		scheduler_async_api_call_execution_duration_seconds_count{call_type="pod_binding",result="error"} 1
		scheduler_async_api_call_execution_duration_seconds_sum{call_type="pod_binding",result="error"} 1
		scheduler_async_api_call_execution_duration_seconds_count{call_type="pod_binding",result="success"} 1
		scheduler_async_api_call_execution_duration_seconds_sum{call_type="pod_binding",result="success"} 1
		berth_api_writes_total{call="pod_binding",result="gone"} 1
		berth_api_writes_total{call="pod_binding",result="success"} 1
		berth_api_writes_merged_total{call="pod_binding"} 1
		berth_api_write_retries_total{call="pod_binding",cause="conflict"} 1
		dynamic_resource_allocation_resourceclaim_creates_total{admin_access="false",owner_api_group="",owner_api_kind="Pod",status="failure"} 1
		dynamic_resource_allocation_resourceclaim_creates_total{admin_access="false",owner_api_group="",owner_api_kind="Pod",status="success"} 1
		scheduler_dra_bindingconditions_allocations_total{driver="gpu",profile="p",status="timeout"} 1
		scheduler_dra_bindingconditions_wait_duration_seconds_count{driver="gpu",profile="p",status="timeout"} 2
		scheduler_dra_bindingconditions_wait_duration_seconds_sum{driver="gpu",profile="p",status="timeout"} 2
		scheduler_dra_bindingconditions_wait_duration_seconds_count{driver="net",profile="p",status="timeout"} 1
		scheduler_dra_bindingconditions_wait_duration_seconds_sum{driver="net",profile="p",status="timeout"} 1
		berth_events_queued 7
		berth_events_lost_total{cause="overflow"} 1`)
}

func TestVolumeFailures(t *testing.T) {
	h := newHistory(t)
	l := h.metrics.Listener()
	failure := func(plugin, point string) engine.FailedEvent {
		return engine.FailedEvent{Err: fmt.Errorf("wrapped: %w", &extpoints.PluginError{Plugin: plugin, Point: point, Err: errRefused})}
	}
	l.Failed(failure(plugins.VolumeBinding, "Filter"))
	l.Failed(failure(plugins.VolumeBinding, "Unreserve"))
	l.Failed(failure(plugins.NodePorts, "Filter"))
	w := spec("a", 1)
	l.Submitted(engine.SubmittedEvent{Workload: w})
	for _, point := range []string{"Reserve", "PreBind"} {
		l.Popped(engine.PoppedEvent{Workload: w, Attempt: 1})
		l.Rejected(engine.RejectedEvent{Workload: w, Code: extpoints.Error, Err: failure(plugins.VolumeBinding, point).Err})
	}
	h.expect(`
		scheduler_volume_scheduling_stage_error_total{operation="assume"} 1
		scheduler_volume_scheduling_stage_error_total{operation="bind"} 1
		scheduler_volume_scheduling_stage_error_total{operation="predicate"} 1
		berth_failures_total 3`)
}

func TestSampledOnlyWithASource(t *testing.T) {
	m := New(Options{Profiles: []extpoints.Profile{plugins.DefaultProfile()}})
	if got := series(t, m, []string{"scheduler_pending_pods", "scheduler_cache_size"}); len(got) > 0 {
		t.Errorf("got %v without an engine", got)
	}
}

func TestQueuesAreThereWhenEmpty(t *testing.T) {
	h := newHistory(t)
	families, err := h.metrics.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"scheduler_pending_pods": 6, "scheduler_queued_entities": 8, "scheduler_cache_size": 3}
	for _, f := range families {
		if n, ok := want[f.GetName()]; ok && len(f.Metric) != n {
			t.Errorf("%s has %d series, want %d", f.GetName(), len(f.Metric), n)
		}
		delete(want, f.GetName())
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestTwoEnginesShareNothing(t *testing.T) {
	one, other := newHistory(t), newHistory(t)
	one.apply(node("n1", 1000), submit("a", 1))
	one.settle()
	one.expect(`scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1`)
	other.expect(`scheduler_schedule_attempts_total`)
}

// What kube-scheduler has with its feature gates only is there only where it is asked for.
func TestGroupsAndPlacementsAreOptional(t *testing.T) {
	names := func(o Options) (groups, placements []string) {
		o.Profiles = []extpoints.Profile{plugins.DefaultProfile()}
		m := New(o)
		l := m.Listener()
		l.Decided(engine.GroupEvent{Group: &model.Group{ID: "g"}}) // must not fail
		ch := make(chan *prometheus.Desc, 1000)
		m.Registry().Registerer().(prometheus.Collector).Describe(ch)
		close(ch)
		for d := range ch {
			switch s := d.String(); {
			case strings.Contains(s, "podgroup_"), strings.Contains(s, "workload_preemption"):
				groups = append(groups, s)
			case strings.Contains(s, "placement"):
				placements = append(placements, s)
			}
		}
		return groups, placements
	}
	for _, o := range []Options{{}, {Groups: true}, {Groups: true, Placements: true}} {
		want := [2]int{}
		if o.Groups {
			want[0] = 5
		}
		if o.Placements {
			want[1] = 3
		}
		groups, placements := names(o)
		if got := [2]int{len(groups), len(placements)}; got != want {
			t.Errorf("groups %t, placements %t: %v metrics, want %v: %v", o.Groups, o.Placements, got, want, append(groups, placements...))
		}
	}
}

// An engine that runs, and somebody who gathers all the time.
func TestGatheringWhileTheEngineRuns(t *testing.T) {
	config := engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: &history{},
	}
	m := New(Options{Profiles: config.Profiles})
	config.Listener, config.Workers = m.Listener(), 2
	e, err := engine.New(config)
	if err != nil {
		t.Fatal(err)
	}
	m.Sample(e)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	all.Go(func() {
		for ctx.Err() == nil {
			if _, err := m.Registry().Gather(); err != nil {
				t.Error(err)
			}
		}
	})
	changes := []engine.Change{node("n1", 1000)}
	for i := range 100 { // for more than one worker
		changes = append(changes, node(fmt.Sprint("full-", i), 1))
	}
	for i := range 100 {
		changes = append(changes, submit(fmt.Sprint("pod-", i), 20))
	}
	if err := e.Apply(changes...); err != nil {
		t.Fatal(err)
	}
	for view := e.View(); placed(view) < 50; {
		if view, err = view.Wait(ctx, engine.QueryWorkloads()); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	all.Wait()
	if got := series(t, m, []string{"scheduler_pod_scheduling_attempts"}); len(got) != 2 || got[0] != "scheduler_pod_scheduling_attempts_count 50" {
		t.Errorf("got %v", got)
	}
}

func placed(v *engine.View) (n int) {
	for range v.WorkloadsIn(model.Bound) {
		n++
	}
	return n
}

// A pod's way to its node, as the listener sees it.
func BenchmarkListener(b *testing.B) {
	m := New(Options{Profiles: []extpoints.Profile{plugins.DefaultProfile()}})
	l := m.Listener()
	w := spec("a", 1)
	move := queue.Move{ID: w.ID, To: queue.Active, Event: queue.WorkloadAdded}
	at := engine.PlacedEvent{Workload: w, Binding: model.Binding{Workload: w.ID, Node: "n1"}}
	b.ReportAllocs()
	for b.Loop() {
		l.Submitted(engine.SubmittedEvent{Workload: w})
		l.Enqueued(engine.QueuedEvent{Move: move})
		l.Popped(engine.PoppedEvent{Workload: w, Attempt: 1})
		l.Filtered(engine.FilteredEvent{Workload: w, Evaluated: 100, Feasible: 90})
		l.Scored(engine.ScoredEvent{Workload: w})
		l.Selected(engine.SelectedEvent{Workload: w})
		l.Reserved(at)
		l.Permitted(at)
		l.Bound(at)
		l.Confirmed(at)
	}
}
