package inproc_test

import (
	"context"
	"fmt"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// Example runs one workload on one node.
func Example() {
	o := inproc.New(inproc.Options{})
	defer o.Close()
	e, err := engine.New(engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: o,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := o.Connect(e); err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()

	if err := o.Join(&model.Node{Name: "n1", Allocatable: model.Resources{CPU: model.Cores(4)}}); err != nil {
		fmt.Println(err)
	}
	done := make(chan struct{})
	err = o.Submit(&model.Workload{ID: "hello", Requests: model.Resources{CPU: model.Cores(0.5)}},
		func(_ context.Context, b model.Binding) error {
			fmt.Println("hello from", b.Node)
			close(done)
			return nil
		})
	if err != nil {
		fmt.Println(err)
	}

	<-done
	stop()
	fmt.Println("the engine ended:", <-ended)
	// Output:
	// hello from n1
	// the engine ended: <nil>
}
