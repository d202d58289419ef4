package main

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

func main() {
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		panic(err)
	}
	err = eng.Apply(engine.PutNode(&model.Node{Name: "n1", Allocatable: model.Resources{CPU: model.Cores(8)}}),
		engine.Submit(&model.Workload{ID: "web-1", Requests: model.Resources{CPU: model.Cores(0.5)}}))
	plan, failed := eng.Branch().Schedule(time.Now(), "web-1")
	fmt.Println("web-1 goes to", plan.Binding.Node, err, failed)
}
