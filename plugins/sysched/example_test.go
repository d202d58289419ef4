package sysched_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/sysched"
)

// A web server goes where another is, and not where a database makes other calls.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, sysched.New, sysched.Args{}, extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	web, db := []string{"accept", "read", "write"}, []string{"fsync", "mmap", "read", "write"}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1", MaxWorkloads: 10}),
		engine.PutNode(&model.Node{Name: "n2", MaxWorkloads: 10}),
		engine.Adopt(&model.Workload{ID: "db", Syscalls: db}, model.Binding{Node: "n1"}),
		engine.Adopt(&model.Workload{ID: "web-1", Syscalls: web}, model.Binding{Node: "n2"}),
		engine.Submit(&model.Workload{ID: "web-2", Syscalls: web}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "web-2")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// n2 <nil> <nil>
}
