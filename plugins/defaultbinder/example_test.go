package defaultbinder_test

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/queuesort"
)

// printer is an orchestrator that starts nothing.
type printer struct{}

func (printer) Bind(_ context.Context, w *model.Workload, b model.Binding) error {
	fmt.Println("start", w.ID, "on", b.Node)
	return nil
}

func (printer) Evict(context.Context, *model.Workload, string) error { return nil }

// Every profile needs a plugin that binds. DefaultBinder calls the orchestrator.
func Example() {
	profile := extpoints.Profile{Name: "small"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	raw, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: printer{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	err = raw.Apply(now, engine.PutNode(&model.Node{Name: "n1"}), engine.Submit(&model.Workload{ID: "w"}))
	raw.Schedule(now)
	for task := raw.NextTask(); task != nil; task = raw.NextTask() {
		task.Run(context.Background())
		raw.Finish(now, task)
	}
	fmt.Println(err)
	// Output:
	// start w on n1
	// <nil>
}
