package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// printer is an orchestrator that only says what it is asked to do.
type printer struct{}

func (printer) Bind(_ context.Context, w *model.Workload, b model.Binding) error {
	fmt.Printf("%s starts on %s\n", w.ID, b.Node)
	return nil
}

func (printer) Evict(_ context.Context, w *model.Workload, reason string) error {
	fmt.Printf("%s must leave: %s\n", w.ID, reason)
	return nil
}

// Run an engine until a workload has been bound.
func ExampleEngine() {
	eng, err := engine.New(engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: printer{}, // yours: Bind and Evict
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- eng.Run(ctx) }()

	view := eng.View()
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "node-1", Allocatable: model.Resources{CPU: model.Cores(4), Memory: model.GiB(8)}}),
		engine.Submit(&model.Workload{ID: "web-1", Requests: model.Resources{CPU: model.Cores(0.5), Memory: model.GiB(1)}}),
	)
	for w, _ := view.Workload("web-1"); err == nil && w.Phase != model.Bound; w, _ = view.Workload("web-1") {
		view, err = view.Wait(ctx, engine.QueryWorkload("web-1"))
	}
	stop()
	fmt.Println(errors.Join(err, <-done))
	// Output:
	// web-1 starts on node-1
	// <nil>
}

// Drive an engine by hand: every method does its work before it returns, and
// time is whatever the caller says.
func ExampleRaw() {
	raw, err := engine.NewRaw(engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: printer{},
		Listener: engine.Listener{Rejected: func(e engine.RejectedEvent) {
			fmt.Printf("%s: %s\n", e.Workload.ID, e.Message)
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	err = raw.Apply(now,
		engine.PutNode(&model.Node{Name: "node-1", Allocatable: model.Resources{CPU: model.Cores(1)}}),
		engine.Submit(&model.Workload{ID: "small", Priority: 1, Requests: model.Resources{CPU: model.Cores(0.7)}}),
		engine.Submit(&model.Workload{ID: "large", Requests: model.Resources{CPU: model.Cores(0.7)}}),
	)
	for raw.Schedule(now) {
		for task := raw.NextTask(); task != nil; task = raw.NextTask() {
			task.Run(context.Background())
			raw.Finish(now, task)
		}
	}
	fmt.Println(err)
	// Output:
	// small starts on node-1
	// large: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming workload.
	// <nil>
}

// Record a run, replay it, and replay it with a profile that scores otherwise: the
// first decision that differs is found.
func ExampleReplay() {
	cfg := engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: printer{},
	}
	var log bytes.Buffer
	recorded := cfg
	recorded.Recorder = engine.NewRecorder(&log)
	raw, err := engine.NewRaw(recorded)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	err = raw.Apply(now,
		engine.PutNode(&model.Node{Name: "bare", Allocatable: model.Resources{CPU: model.Cores(4)}}),
		engine.PutNode(&model.Node{Name: "cached", Images: []model.NodeImage{{Names: []string{"app:1"}, Size: model.GiB(1)}}, Allocatable: model.Resources{CPU: model.Cores(4)}}),
		engine.Submit(&model.Workload{ID: "web", Images: []string{"app:1"}, Requests: model.Resources{CPU: model.Cores(1)}}),
	)
	raw.Schedule(now)
	fmt.Println(err)

	replayed, err := engine.Replay(cfg, bytes.NewReader(log.Bytes()))
	if err != nil {
		fmt.Println(err)
		return
	}
	w, _ := replayed.View().Workload("web")
	fmt.Println(w.Phase, w.Node)

	cfg.Profiles = []extpoints.Profile{plugins.DefaultProfile()}
	cfg.Profiles[0].Remove(plugins.ImageLocality)
	_, err = engine.Replay(cfg, bytes.NewReader(log.Bytes()))
	var d *engine.Divergence
	if errors.As(err, &d) {
		fmt.Println(d.Line, d.Workload, d.Want, d.Got)
		fmt.Println(len(d.Config), "settings differ")
	}
	// Output:
	// <nil>
	// Assumed cached
	// 3 web node "cached" node "bare"
	// 2 settings differ
}

// Ask what would happen if there were one more node, without touching the
// engine.
func ExampleBranch() {
	eng, err := engine.New(engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: printer{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "small", Allocatable: model.Resources{CPU: model.Cores(1)}}),
		engine.Submit(&model.Workload{ID: "large", Requests: model.Resources{CPU: model.Cores(4)}}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	plan := eng.Branch()
	today, err := plan.Schedule(now, "large")
	fmt.Println(today.Message, err)
	err = plan.Apply(now, engine.PutNode(&model.Node{Name: "bigger", Allocatable: model.Resources{CPU: model.Cores(8)}}))
	fmt.Println(err)
	then, err := plan.Schedule(now, "large")
	fmt.Println(then.Binding.Node, err)
	// Output:
	// 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. <nil>
	// <nil>
	// bigger <nil>
}

// Ask whether there would be room for a workload, and whether its queue would let it have it.
func ExampleBranch_Held() {
	eng, err := engine.New(engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: printer{},
		Order:        engine.OrderByQueues,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n", Allocatable: model.Resources{CPU: model.Cores(8)}}),
		engine.PutObject(&model.Queue{Name: "research", Max: map[string]int64{model.CPU: model.Cores(2)}}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	plan := eng.Branch()
	err = plan.Apply(now, engine.Submit(&model.Workload{ID: "large", Queue: "research", Requests: model.Resources{CPU: model.Cores(4)}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	held, err := plan.Held(now, "large")
	fmt.Println(held, err)
	room, err := plan.Schedule(now, "large")
	fmt.Println(room.Binding.Node, err)
	// Output:
	// queue "research": max: "large" asks for 2000m cpu too much, whatever else runs <nil>
	// n <nil>
}

// Ask why a workload waits.
func ExampleEngine_Explain() {
	eng, err := engine.New(engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: printer{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "busy", Allocatable: model.Resources{CPU: model.Cores(0.1)}}),
		engine.PutNode(&model.Node{
			Name:        "reserved",
			Allocatable: model.Resources{CPU: model.Cores(8)},
			Taints:      []model.Taint{{Key: "team", Value: "vision", Effect: model.NoSchedule}},
		}),
		engine.Submit(&model.Workload{ID: "job", Requests: model.Resources{CPU: model.Cores(0.5)}}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	why, err := eng.Explain("job", engine.ExplainOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(why.Message)
	for _, node := range why.Nodes {
		for _, v := range node.Verdicts {
			fmt.Println(node.Node, v.Plugin, v.Code, v.Reasons)
		}
	}
	// Output:
	// 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).
	// busy NodeResourcesFit UnschedulableAndUnresolvable [Insufficient cpu]
	// reserved TaintToleration UnschedulableAndUnresolvable [node(s) had untolerated taint(s)]
}

// Ask when something that waits will start: at the latest, and probably.
func ExampleRaw_Forecast() {
	raw, err := engine.NewRaw(engine.Config{
		Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: printer{},
		Backfill: engine.Backfill{Mode: engine.EASY},
		Forecast: engine.ForecastOptions{Runs: 19},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	job := func(id string) engine.Change {
		return engine.Submit(&model.Workload{ID: id, Principal: "ann", Requests: model.Resources{CPU: model.Cores(1)}, Limit: time.Hour})
	}
	start := func() {
		for raw.Schedule(now) {
			for task := raw.NextTask(); task != nil; task = raw.NextTask() {
				task.Settle(nil)
				raw.Finish(now, task)
			}
		}
	}
	err = raw.Apply(now, engine.PutNode(&model.Node{Name: "node-1", Allocatable: model.Resources{CPU: model.Cores(1)}}))
	for i := range 10 { // Ann says an hour, and her jobs take 10 to 19 minutes
		id := fmt.Sprintf("job-%d", i)
		err = errors.Join(err, raw.Apply(now, job(id)))
		start()
		now = now.Add(time.Duration(10+i) * time.Minute)
		err = errors.Join(err, raw.Apply(now, engine.Finish(id)))
	}
	err = errors.Join(err, raw.Apply(now, job("runs"), job("waits")))
	start()

	promise, _ := raw.Promise("waits")
	forecast, failed := raw.Forecast(context.Background(), now)
	fmt.Println(errors.Join(err, failed))
	fmt.Println("at the latest in", promise.Current.Sub(now))
	for _, s := range forecast.Starts {
		fmt.Printf("%s starts in %v (P50), %v (P90)\n", s.ID, s.P50.Sub(now).Round(time.Second), s.P90.Sub(now).Round(time.Second))
	}
	fmt.Printf("of %d starts %d were by the P50, %d by the P90\n", forecast.Calibration.Starts, forecast.Calibration.ByP50, forecast.Calibration.ByP90)
	// Output:
	// <nil>
	// at the latest in 1h0m0s
	// waits starts in 15m0s (P50), 19m0s (P90)
	// of 0 starts 0 were by the P50, 0 by the P90
}
