package engine_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// Measure how often a plugin is asked, and how long it takes.
func ExampleListener_measure() {
	asked, took := map[string]int{}, map[string]time.Duration{}
	var clock time.Duration
	raw, err := engine.NewRaw(engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: printer{},
		SampleEvery:  1, // measure every cycle; the default is one in ten
		// A clock that goes on by a millisecond whenever it is read, so that the numbers are
		// always the same. Leave it out in an Engine, which has a clock.
		Clock: func() time.Duration { clock += time.Millisecond; return clock },
		Listener: engine.Listener{
			PluginEvaluated: func(e engine.PluginEvaluatedEvent) { asked[e.Point+" "+e.Plugin] += e.Times },
			PluginRan:       func(e engine.PluginRanEvent) { took[e.Point+" "+e.Plugin] += e.Took },
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	err = raw.Apply(now,
		engine.PutNode(&model.Node{Name: "node-1", Allocatable: model.Resources{CPU: model.Cores(4)}}),
		engine.PutNode(&model.Node{Name: "node-2", Allocatable: model.Resources{CPU: model.Cores(8)}}),
		engine.Submit(&model.Workload{ID: "web-1", Requests: model.Resources{CPU: model.Cores(2)}}),
	)
	raw.Schedule(now)
	fmt.Println(asked["Filter NodeResourcesFit"], "nodes filtered by NodeResourcesFit")
	fmt.Println(took["PreFilter NodeResourcesFit"], "for its PreFilter")
	fmt.Println(err)
	// Output:
	// 2 nodes filtered by NodeResourcesFit
	// 1ms for its PreFilter
	// <nil>
}
