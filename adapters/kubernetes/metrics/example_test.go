package metrics_test

import (
	"fmt"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/adapters/kubernetes/metrics"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// An engine that is measured under kube-scheduler's names.
func Example() {
	profiles := []extpoints.Profile{plugins.DefaultProfile()}
	m := metrics.New(metrics.Options{Profiles: profiles})
	eng, err := engine.New(engine.Config{Profiles: profiles, Orchestrator: inproc.New(inproc.Options{}), Listener: m.Listener()})
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Sample(eng)
	err = eng.Apply(engine.Submit(&model.Workload{ID: "w"}))
	families, failed := m.Registry().Gather()
	for _, f := range families {
		if f.GetName() == "scheduler_queue_incoming_pods_total" {
			fmt.Println(f.GetName(), f.GetMetric()[0].GetCounter().GetValue())
		}
	}
	fmt.Println(err, failed)
	// Output:
	// scheduler_queue_incoming_pods_total 1
	// <nil> <nil>
}
