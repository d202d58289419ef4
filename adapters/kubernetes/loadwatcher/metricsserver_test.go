package loadwatcher

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/berth-project/berth/model"
)

// using is a NodeMetrics.
func using(node string, at time.Time, usage string) string {
	return fmt.Sprintf(`{"metadata": {"name": %q}, "timestamp": %q, "window": "20s", "usage": {%s}}`, node, at.Format(time.RFC3339), usage)
}

// measuring is a source whose API server answers so; an empty answer is a failure. All nodes but "gone" have 4 cores and 1000
// bytes.
func measuring(t *testing.T, r *reports, answers ...string) *Source {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path != "/apis/metrics.k8s.io/v1beta1/nodes" {
			t.Errorf("%s %s", request.Method, request.URL)
		}
		next := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		if next == "" {
			http.Error(w, "no metrics server", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind": "NodeMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {}, "items": [%s]}`, strings.TrimSpace(next))
	}))
	t.Cleanup(server.Close)
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Provider: MetricsServer, Metrics: client, Apply: r.apply, Capacity: func(node string) (model.Resources, bool) {
		return model.Resources{CPU: 4000, Memory: 1000}, node != "gone"
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What nodes use, of what they have, is their load; what makes no sense of one is left out and said.
func TestMetricsServer(t *testing.T) {
	at := time.Now().Add(-time.Minute).Truncate(time.Second).UTC()
	r := &reports{}
	s := measuring(t, r, using("n1", at, `"cpu": "500000000n", "memory": "250"`)+","+using("gone", at, `"cpu": "1"`)+","+
		using("n2", at, `"cpu": "8"`)+","+using("n3", at.Add(time.Hour), `"cpu": "1"`)+","+using("n4", at, `"cpu": "-1", "memory": "1Ei"`)+","+
		`{"metadata": {"name": "n5"}, "usage": {"cpu": "1"}}`+","+`{"metadata": {"name": "n6"}, "timestamp": 7}`,
		using("n1", at, `"cpu": "4", "memory": "1"`)+","+using("n2", at.Add(time.Second), `"cpu": "4", "memory": "1"`), "", " ")
	err := s.poll(t.Context())
	for _, want := range []string{"node n2: its use of memory is missing", "node n3: is of ", "node n4: -25 % is no load", "node n4: 1.15", "node n5: has no timestamp", "node n6: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	want := []*model.NodeLoad{
		{Node: "n1", At: at, Interval: 20 * time.Second, Source: "KubernetesMetricsServer", Resources: []model.ResourceLoad{{Name: model.CPU, Average: 12.5}, {Name: model.Memory, Average: 25}}},
		{Node: "n2", At: at, Interval: 20 * time.Second, Source: "KubernetesMetricsServer", Resources: []model.ResourceLoad{{Name: model.CPU, Average: 200}}},
	}
	if !reflect.DeepEqual(r.list, want) {
		t.Errorf("got %+v", r.list)
	}
	// Only what is newer than the last report of the node is passed on.
	if err := s.poll(t.Context()); err != nil || len(r.list) != 3 || r.list[2].Node != "n2" || r.list[2].Resources[0].Average != 100 {
		t.Errorf("%+v, %v", r.list, err)
	}
	for _, want := range []string{"the server is currently unable to handle the request", "the answer has no node"} {
		if err := s.poll(t.Context()); err == nil || !strings.Contains(err.Error(), want) || len(r.list) != 3 {
			t.Errorf("%+v, %v, want %q", r.list, err, want)
		}
	}
}
