package loadwatcher

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/model"
)

const (
	cpuAverage    = "avg_over_time(instance:node_cpu:ratio[15m])"
	cpuDeviation  = "stddev_over_time(instance:node_cpu:ratio[15m])"
	memoryAverage = "avg_over_time(instance:node_memory_utilisation:ratio[15m])"
)

// vectorOf is an answer with these values, each a node and a number.
func vectorOf(values ...string) string {
	var list []string
	for i := 0; i < len(values); i += 2 {
		list = append(list, fmt.Sprintf(`{"metric": {"instance": %q}, "value": [1700000000.5, %q]}`, values[i], values[i+1]))
	}
	return `{"status": "success", "data": {"resultType": "vector", "result": [` + strings.Join(list, ",") + `]}}`
}

// asking is a source whose Prometheus gives the answer to each query; what it does not have fails.
func asking(t *testing.T, r *reports, answers map[string]string) *Source {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		answer, has := answers[request.URL.Query().Get("query")]
		switch {
		case request.URL.Path != "/base/api/v1/query":
			t.Errorf("%s %s", request.Method, request.URL)
		case !has:
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"status": "error", "errorType": "execution", "error": "query timed out"}`)
		default:
			fmt.Fprint(w, answer)
		}
	}))
	t.Cleanup(server.Close)
	s, err := New(Options{Provider: Prometheus, Address: server.URL + "/base", Apply: r.apply})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What Prometheus has becomes the load of the nodes; what fails, is empty or absurd is left out and said, and the rest
// is taken.
func TestPrometheus(t *testing.T) {
	load := func(name string, average, deviation float64) model.ResourceLoad {
		return model.ResourceLoad{Name: name, Window: 15 * time.Minute, Average: average, StdDev: deviation}
	}
	const noNode = "the answer has no node; is there no such recording rule?"
	for _, c := range []struct {
		name     string
		answers  map[string]string
		want     map[string][]model.ResourceLoad
		problems []string
	}{
		{
			"all", map[string]string{
				cpuAverage: vectorOf("n1", "0.5", "n2:9100", "0.25"), cpuDeviation: vectorOf("n1", "0.125"),
				memoryAverage: vectorOf("n1", "1.25"), "stddev_over_time(instance:node_memory_utilisation:ratio[15m])": vectorOf("n1", "0"),
			},
			map[string][]model.ResourceLoad{"n1": {load(model.CPU, 50, 12.5), load(model.Memory, 125, 0)}, "n2": {load(model.CPU, 25, 0)}}, nil,
		},
		{
			"only one", map[string]string{cpuAverage: vectorOf("n1", "0.5"), memoryAverage: vectorOf()},
			map[string][]model.ResourceLoad{"n1": {load(model.CPU, 50, 0)}},
			[]string{cpuDeviation + ": the answer has status 422 Unprocessable Entity: query timed out", memoryAverage + ": " + noNode},
		},
		{
			"absurd values", map[string]string{cpuAverage: vectorOf("n1", "NaN", "n2", "-1", "n3", "+Inf", "n4", "1e9", "n5", "x", "", "1", "n6", "0.5"), cpuDeviation: vectorOf("n6", "NaN"), memoryAverage: "<html>"},
			map[string][]model.ResourceLoad{"n6": {load(model.CPU, 50, 0)}},
			[]string{"node n1: NaN % is no load", "node n2: -100 % is no load", "node n3: +Inf % is no load", "node n4: 1e+11 % is no load", "node n5: strconv.ParseFloat", "a value has no label instance", "node n6: NaN % is no load", "invalid character '<'"},
		},
		{"nothing", nil, map[string][]model.ResourceLoad{}, []string{cpuAverage + ": the answer has status 422", memoryAverage + ": the answer has status 422"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &reports{}
			before := time.Now().Truncate(time.Millisecond)
			err := asking(t, r, c.answers).poll(t.Context())
			if len(c.problems) == 0 && err != nil {
				t.Error(err)
			}
			for _, want := range c.problems {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
			got := map[string][]model.ResourceLoad{}
			for _, l := range r.list {
				got[l.Node] = l.Resources
				if l.At.Before(before) || l.At.After(time.Now()) || l.Source != "Prometheus" {
					t.Errorf("%+v", l)
				}
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
