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

// What the load-watcher service of the configuration measures gets to the engine.
func TestReadLoads(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"window": {"duration": "15m", "end": %d}, "data": {"NodeMetricsMap": {"n1": {"metrics": [{"type": "CPU", "operator": "AVG", "value": 42}]}}}}`, time.Now().Unix())
	}))
	defer service.Close()
	name := file(t, `
profiles:
- plugins: {multiPoint: {enabled: [{name: TargetLoadPacking, weight: 5}]}}
  pluginConfig: [{name: TargetLoadPacking, args: {watcherAddress: "`+service.URL+`"}}]
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
	if l := o.Object.(*model.NodeLoad); len(l.Resources) != 1 || l.Resources[0].Average != 42 {
		t.Errorf("%+v", l)
	}
}
