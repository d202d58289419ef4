package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// Go on after a restart without a record of one's own: replay the recording, and tell a new
// engine what came of it.
func ExampleView_Changes() {
	cfg := engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: printer{},
	}
	var log bytes.Buffer // a file, in a program that is to survive
	recorded := cfg
	recorded.Recorder = engine.NewRecorder(&log)
	first, err := engine.NewRaw(recorded)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	err = first.Apply(now,
		engine.PutNode(&model.Node{Name: "node-1", Allocatable: model.Resources{CPU: model.Cores(1)}}),
		engine.Submit(&model.Workload{ID: "runs", Requests: model.Resources{CPU: model.Cores(1)}}),
		engine.Submit(&model.Workload{ID: "waits", Requests: model.Resources{CPU: model.Cores(1)}}),
	)
	for first.Schedule(now) {
		for task := first.NextTask(); task != nil; task = first.NextTask() {
			task.Run(context.Background())
			first.Finish(now, task)
		}
	}
	fmt.Println(err)

	// The program is killed here, and started again.
	replayed, err := engine.Replay(cfg, bytes.NewReader(log.Bytes()))
	if err != nil {
		fmt.Println(err)
		return
	}
	eng, err := engine.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(slices.Collect(replayed.View().Changes())...)
	for w := range eng.View().Workloads() {
		fmt.Printf("%s: %v on %q\n", w.ID, w.Phase, w.Node)
	}
	fmt.Println(err)
	// Output:
	// runs starts on node-1
	// <nil>
	// runs: Confirmed on "node-1"
	// waits: Pending on ""
	// <nil>
}
