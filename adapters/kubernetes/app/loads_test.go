package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// What the load-watcher service or the Prometheus of the configuration measures gets to the engine.
func TestReadLoads(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/watcher":
			fmt.Fprintf(w, `{"window": {"duration": "15m", "end": %d}, "data": {"NodeMetricsMap": {"n1": {"metrics": [{"type": "CPU", "operator": "AVG", "value": 42}]}}}}`, time.Now().Unix())
		case r.Header.Get("Authorization") == "Bearer secret":
			fmt.Fprint(w, `{"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"instance": "n1"}, "value": [1, "0.42"]}]}}`)
		default:
			t.Errorf("%s, authorization %q", r.URL, r.Header.Get("Authorization"))
		}
	}))
	defer service.Close()
	for args, resources := range map[string]int{
		`watcherAddress: "` + service.URL + `"`:                                             1,
		`metricProvider: {type: Prometheus, address: "` + service.URL + `", token: secret}`: 2,
	} {
		readLoads(t, args, resources)
	}
}

func readLoads(t *testing.T, args string, resources int) {
	t.Helper()
	name := file(t, `
profiles:
- plugins: {multiPoint: {enabled: [{name: TargetLoadPacking, weight: 5}]}}
  pluginConfig: [{name: TargetLoadPacking, args: {`+args+`}}]
`)
	s := inMemory(t, kubetest.NewServer(node()), config.Registry{}, "--leader-elect=false", "--config="+name)
	ref := model.ObjectRef{Kind: model.NodeLoadKind, ID: "n1"}
	ctx, stop := context.WithCancel(t.Context())
	view := s.engine.View()
	reading := start(ctx, s.readLoads)
	o, there := view.Object(ref)
	for !there { // Wait may return without a change
		var err error
		if view, err = view.Wait(t.Context(), engine.QueryObject(ref)); err != nil {
			t.Fatal(err)
		}
		o, there = view.Object(ref)
	}
	stop()
	if err := reading.end(); err != nil {
		t.Error(err)
	}
	if l := o.Object.(*model.NodeLoad); len(l.Resources) != resources || l.Resources[0].Average != 42 {
		t.Errorf("%+v", l)
	}
}
