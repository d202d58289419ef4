package customresources_test

import (
	"context"
	"log"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/engine"
)

// A source reads application groups and network topologies for an engine, if the API server has
// their definitions. Scheduling begins when all that exists has been read.
func ExampleSource() {
	follow := func(ctx context.Context, cluster *rest.Config, eng *engine.Engine) error {
		source, err := customresources.New(customresources.Options{
			Client:    dynamic.NewForConfigOrDie(cluster),
			Discovery: discovery.NewDiscoveryClientForConfigOrDie(cluster),
			Kinds:     []customresources.Kind{customresources.AppGroups, customresources.NetworkTopologies},
			Apply:     eng.Apply,
			Failed:    func(err error) { log.Print(err) },
		})
		if err != nil {
			return err
		}
		if err := source.Check(); err != nil {
			return err // names each definition that is not installed
		}
		go source.Run(ctx)
		<-source.Ready()
		return eng.Run(ctx)
	}
	_ = follow
}
