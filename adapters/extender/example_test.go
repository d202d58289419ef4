package extender_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// licences is a server that knows where licences are to be had.
func licences(w http.ResponseWriter, r *http.Request) {
	var question struct {
		Pod       struct{ Metadata struct{ Name string } }
		NodeNames []string
	}
	if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Println("asked about", question.Pod.Metadata.Name, "on", question.NodeNames)
	answer := map[string]any{"NodeNames": []string{"n2"}, "FailedNodes": map[string]string{"n1": "no licence"}}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		fmt.Println(err)
	}
}

// nobody is an orchestrator that has nothing to do in the example.
type nobody struct{}

func (nobody) Bind(context.Context, *model.Workload, model.Binding) error { return nil }
func (nobody) Evict(context.Context, *model.Workload, string) error       { return nil }

// Example asks a server about workloads that need a licence, and about no other.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(licences))
	defer server.Close()
	x, err := extender.New(extender.Config{
		Name:             "licences",
		URLPrefix:        server.URL,
		FilterVerb:       "filter",
		NodeCacheCapable: true,
		ManagedResources: []extender.ManagedResource{{Name: "example.com/licence"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer x.Close()

	e, err := engine.NewRaw(engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: nobody{},
		Extenders:    []extpoints.Extender{x.Extender},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Now()
	room := model.Resources{CPU: 4000, Scalars: []model.Scalar{{Name: "example.com/licence", Amount: 1}}}
	err = e.Apply(now,
		engine.PutNode(&model.Node{Name: "n1", Allocatable: room}),
		engine.PutNode(&model.Node{Name: "n2", Allocatable: room}),
		engine.Submit(&model.Workload{ID: "simulation", Requests: room}),
		engine.Submit(&model.Workload{ID: "report", Requests: model.Resources{CPU: 100}}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for e.Schedule(now) {
		t := e.NextTask()
		b, _ := t.Binding()
		fmt.Println(b.Workload, "goes to", b.Node)
	}
	// Output:
	// asked about simulation on [n1 n2]
	// simulation goes to n2
	// report goes to n1
}
