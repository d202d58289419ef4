package kubernetes_test

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// Schedule a cluster from a program of one's own. A real one makes the client with
// kubernetes.NewForConfig of client-go.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	profile := plugins.DefaultProfile()
	adapter, err := kubernetes.New(kubernetes.Options{Client: fake.NewClientset(), Profiles: []string{profile.Name}})
	if err != nil {
		fmt.Println(err)
		return
	}
	eng, err := engine.New(engine.Config{
		Profiles:     []extpoints.Profile{profile},
		Orchestrator: adapter,
		Listener:     adapter.Listener(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error, 2)
	go func() { ended <- adapter.Run(ctx, eng) }()
	<-adapter.Ready() // the engine knows the cluster
	go func() { ended <- eng.Run(ctx) }()

	stop() // a real program goes on until it is told to end
	fmt.Println(<-ended, <-ended)
	// Output: <nil> <nil>
}
