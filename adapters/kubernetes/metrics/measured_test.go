package metrics

import (
	"fmt"
	"sync"
	"testing"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// The engine's clock goes on by a millisecond at each reading, too, and every
// cycle is sampled.

func TestPluginsOfAPodThatFits(t *testing.T) {
	h := newHistory(t, func(c *engine.Config) { fewPlugins(c.Profiles) })
	h.apply(node("n1", 1000), node("n2", 1000), node("n3", 300), submit("a", 700))
	h.settle()
	h.expect(`
		scheduler_plugin_execution_duration_seconds_count{extension_point="PreEnqueue",plugin="SchedulingGates",status="Success"} 1
		scheduler_plugin_execution_duration_seconds_sum{extension_point="PreEnqueue",plugin="SchedulingGates",status="Success"} 0.001
		scheduler_plugin_execution_duration_seconds_count{extension_point="PreFilter",plugin="NodeResourcesFit",status="Success"} 1
		scheduler_plugin_execution_duration_seconds_sum{extension_point="PreFilter",plugin="NodeResourcesFit",status="Success"} 0.001
		scheduler_plugin_execution_duration_seconds_count{extension_point="Filter",plugin="NodeResourcesFit",status="Success"} 1
		scheduler_plugin_execution_duration_seconds_sum{extension_point="Filter",plugin="NodeResourcesFit",status="Success"} 0.001
		scheduler_plugin_execution_duration_seconds_count{extension_point="PreScore",plugin="NodeAffinity",status="Skip"} 1
		scheduler_plugin_execution_duration_seconds_sum{extension_point="PreScore",plugin="NodeAffinity",status="Skip"} 0.001
		scheduler_plugin_execution_duration_seconds_count{extension_point="Score",plugin="NodeResourcesFit",status="Success"} 1
		scheduler_plugin_execution_duration_seconds_sum{extension_point="Score",plugin="NodeResourcesFit",status="Success"} 0.001
		scheduler_plugin_execution_duration_seconds_count{extension_point="Bind",plugin="DefaultBinder",status="Success"} 1
		scheduler_plugin_execution_duration_seconds_sum{extension_point="Bind",plugin="DefaultBinder",status="Success"} 0.001
		scheduler_plugin_evaluation_total{extension_point="PreFilter",plugin="NodeResourcesFit",profile="default-scheduler"} 1
		scheduler_plugin_evaluation_total{extension_point="Filter",plugin="NodeResourcesFit",profile="default-scheduler"} 3
		scheduler_plugin_evaluation_total{extension_point="Score",plugin="NodeResourcesFit",profile="default-scheduler"} 2`)
}

// fewPlugins leaves the first profile few of its plugins.
func fewPlugins(profiles []extpoints.Profile) {
	profiles[0].Plugins = nil
	for _, e := range []extpoints.Entry{
		{Name: plugins.PrioritySort, Points: []extpoints.Point{"QueueSort"}},
		{Name: plugins.SchedulingGates, Points: []extpoints.Point{"PreEnqueue"}},
		{Name: plugins.NodeAffinity, Points: []extpoints.Point{"PreScore", "Score"}},
		{Name: plugins.NodeResourcesFit, Points: []extpoints.Point{"PreFilter", "Filter", "Score"}},
		{Name: plugins.DefaultBinder, Points: []extpoints.Point{"Bind"}},
	} {
		e.New = plugins.Default()[e.Name]
		profiles[0].Plugins = append(profiles[0].Plugins, e)
	}
}

func TestEventsAndHints(t *testing.T) {
	h := newHistory(t)
	h.apply(node("n1", 1000), submit("a", 700), submit("b", 700))
	h.settle()
	h.apply(node("n2", 100)) // too small
	h.apply(node("n3", 1000))
	h.settle()
	h.apply(engine.Remove("b"))
	h.expect(`
		scheduler_event_handling_duration_seconds_count{event="AssignedPodAdd"} 2
		scheduler_event_handling_duration_seconds_sum{event="AssignedPodAdd"} 0.002
		scheduler_event_handling_duration_seconds_count{event="AssignedPodDelete"} 1
		scheduler_event_handling_duration_seconds_sum{event="AssignedPodDelete"} 0.001
		scheduler_event_handling_duration_seconds_count{event="NodeAdd"} 3
		scheduler_event_handling_duration_seconds_sum{event="NodeAdd"} 0.015
		scheduler_event_handling_duration_seconds_count{event="UnscheduledPodAdd"} 2
		scheduler_event_handling_duration_seconds_sum{event="UnscheduledPodAdd"} 0.018
		scheduler_queueing_hint_execution_duration_seconds_count{event="NodeAdd",hint="Queue",plugin="NodeResourcesFit"} 1
		scheduler_queueing_hint_execution_duration_seconds_sum{event="NodeAdd",hint="Queue",plugin="NodeResourcesFit"} 0.001
		scheduler_queueing_hint_execution_duration_seconds_count{event="NodeAdd",hint="QueueSkip",plugin="NodeResourcesFit"} 1
		scheduler_queueing_hint_execution_duration_seconds_sum{event="NodeAdd",hint="QueueSkip",plugin="NodeResourcesFit"} 0.001`)
}

func TestHintThatFails(t *testing.T) {
	h := newHistory(t)
	h.metrics.Listener().HintRan(engine.HintRanEvent{Plugin: "p", Hint: extpoints.HintQueue, Err: errRefused})
	h.expect(`
		scheduler_queueing_hint_execution_duration_seconds_count{event="",hint="Error",plugin="p"} 1
		scheduler_queueing_hint_execution_duration_seconds_sum{event="",hint="Error",plugin="p"} 0`)
}

func TestPreemptionIsMeasured(t *testing.T) {
	h := newHistory(t)
	urgent := func(w *model.Workload) { w.Priority = 10 }
	h.apply(node("n1", 1000), submit("a", 700))
	h.settle()
	h.apply(submit("b", 700, urgent))
	h.settle()
	h.apply(submit("c", 700, urgent)) // b, for which the room is kept, is as urgent
	h.settle()
	h.evict = errRefused
	h.apply(node("n2", 1000), submit("d", 900), engine.Remove("c"))
	h.settle()
	h.apply(submit("e", 900, urgent))
	h.settle()
	h.expect(`
		scheduler_preemption_evaluation_duration_seconds_count{preemptor="pod",result="Success"} 2
		scheduler_preemption_evaluation_duration_seconds_sum{preemptor="pod",result="Success"} 0.002
		scheduler_preemption_evaluation_duration_seconds_count{preemptor="pod",result="Unschedulable"} 2
		scheduler_preemption_evaluation_duration_seconds_sum{preemptor="pod",result="Unschedulable"} 0.002
		scheduler_preemption_execution_duration_seconds_count{preemptor="pod",result="error"} 1
		scheduler_preemption_execution_duration_seconds_sum{preemptor="pod",result="error"} 0.001
		scheduler_preemption_execution_duration_seconds_count{preemptor="pod",result="success"} 1
		scheduler_preemption_execution_duration_seconds_sum{preemptor="pod",result="success"} 0.003`)
}

// Several goroutines that look up the same series for the first time get the same.
func TestSharedMemo(t *testing.T) {
	var m sharedMemo[int, *int]
	m.make = func(n int) *int { return &n }
	var all sync.WaitGroup
	seen := make([][]*int, 4)
	for i := range seen {
		all.Go(func() {
			for key := range 100 {
				seen[i] = append(seen[i], m.of(key))
			}
		})
	}
	all.Wait()
	for i := range seen {
		for key, v := range seen[i] {
			if v != seen[0][key] || *v != key {
				t.Fatal(fmt.Sprint("goroutine ", i, " got another ", key))
			}
		}
	}
}
