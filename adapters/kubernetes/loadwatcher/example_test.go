package loadwatcher_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/loadwatcher"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// A source asks a service, here one that is made up, and passes on what it has measured. An engine's
// Apply takes it.
func ExampleSource_Run() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"window": {"duration": "15m", "end": %d},
			"data": {"NodeMetricsMap": {"node-1": {"metrics": [{"type": "CPU", "operator": "AVG", "value": 42}]}}}}`, time.Now().Unix())
	}))
	defer service.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	source, err := loadwatcher.New(loadwatcher.Options{
		Address: service.URL,
		Apply: func(changes ...engine.Change) error {
			for _, c := range changes {
				load := c.Value().(*model.NodeLoad)
				fmt.Printf("%s: %v %% of %s\n", load.Node, load.Resources[0].Average, load.Resources[0].Name)
			}
			stop()
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	source.Run(ctx)
	// Output: node-1: 42 % of cpu
}
