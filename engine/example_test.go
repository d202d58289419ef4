package engine_test

import (
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
		Registry:     plugins.Default(),
		Orchestrator: printer{},
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
		engine.Change{PutNode: &model.Node{Name: "node-1", Allocatable: model.Resources{CPU: 4000, Memory: 8 << 30}}},
		engine.Change{Submit: &model.Workload{ID: "web-1", Requests: model.Resources{CPU: 500, Memory: 1 << 30}}},
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
		Registry:     plugins.Default(),
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
		engine.Change{PutNode: &model.Node{Name: "node-1", Allocatable: model.Resources{CPU: 1000}}},
		engine.Change{Submit: &model.Workload{ID: "small", Priority: 1, Requests: model.Resources{CPU: 700}}},
		engine.Change{Submit: &model.Workload{ID: "large", Requests: model.Resources{CPU: 700}}},
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
	// large: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
	// <nil>
}

// Ask what would happen if there were one more node, without touching the
// engine.
func ExampleBranch() {
	eng, err := engine.New(engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Registry:     plugins.Default(),
		Orchestrator: printer{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.Change{PutNode: &model.Node{Name: "small", Allocatable: model.Resources{CPU: 1000}}},
		engine.Change{Submit: &model.Workload{ID: "large", Requests: model.Resources{CPU: 4000}}},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	plan := eng.Branch()
	today, err := plan.Schedule(now, "large")
	fmt.Println(today.Message, err)
	err = plan.Apply(now, engine.Change{PutNode: &model.Node{Name: "bigger", Allocatable: model.Resources{CPU: 8000}}})
	fmt.Println(err)
	then, err := plan.Schedule(now, "large")
	fmt.Println(then.Binding.Node, err)
	// Output:
	// 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling. <nil>
	// <nil>
	// bigger <nil>
}

// Ask why a workload waits.
func ExampleEngine_Explain() {
	eng, err := engine.New(engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Registry:     plugins.Default(),
		Orchestrator: printer{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.Change{PutNode: &model.Node{Name: "busy", Allocatable: model.Resources{CPU: 100}}},
		engine.Change{PutNode: &model.Node{
			Name:        "reserved",
			Allocatable: model.Resources{CPU: 8000},
			Taints:      []model.Taint{{Key: "team", Value: "vision", Effect: model.NoSchedule}},
		}},
		engine.Change{Submit: &model.Workload{ID: "job", Requests: model.Resources{CPU: 500}}},
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
