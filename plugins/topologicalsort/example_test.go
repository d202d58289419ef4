package topologicalsort_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/topologicalsort"
)

// The database is tried first, although it came last.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, topologicalsort.New, topologicalsort.Args{}, extpoints.InPlaceOf(plugins.PrioritySort))
	raw, err := engine.NewRaw(engine.Config{
		Profiles:     []extpoints.Profile{profile},
		Orchestrator: inproc.New(inproc.Options{}),
		Listener:     engine.Listener{Popped: func(e engine.PoppedEvent) { fmt.Println(e.Workload.ID) }},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	of := func(component string) map[string]string {
		return map[string]string{"app": "shop", "component": component}
	}
	err = raw.Apply(now,
		engine.PutNode(&model.Node{Name: "n1"}),
		engine.PutObject(&model.AppGraph{ID: "shop", Components: []model.AppComponent{{Name: "db"}, {Name: "web"}}}),
		engine.Submit(&model.Workload{ID: "web", Labels: of("web")}),
		engine.Submit(&model.Workload{ID: "db", Labels: of("db")}),
	)
	for raw.Schedule(now) {
	}
	fmt.Println(err)
	// Output:
	// db
	// web
	// <nil>
}
