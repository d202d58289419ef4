package loadwatcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// reports are what a source has passed on.
type reports struct {
	list    []*model.NodeLoad
	refused error
}

func (r *reports) apply(changes ...engine.Change) error {
	if r.refused != nil {
		return r.refused
	}
	for _, c := range changes {
		r.list = append(r.list, c.Value().(*model.NodeLoad))
	}
	return nil
}

// body is an answer whose window ends then.
func body(end time.Time, nodes string) string {
	return fmt.Sprintf(`{"timestamp": 1, "window": {"duration": "15m", "start": %d, "end": %d}, "source": "Prometheus", "data": {"NodeMetricsMap": {%s}}}`,
		end.Add(-15*time.Minute).Unix(), end.Unix(), nodes)
}

// serving is a source whose service gives the answers, one after the other and then the last; an
// empty one is a failure.
func serving(t *testing.T, r *reports, answers ...string) *Source {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodGet || request.URL.Path != "/base/watcher" {
			t.Errorf("%s %s", request.Method, request.URL)
		}
		next := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		if next == "" {
			http.Error(w, "no metrics", http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, next)
	}))
	t.Cleanup(server.Close)
	s, err := New(Options{Address: server.URL + "/base", Apply: r.apply})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What the service measures becomes the load of the nodes.
func TestPoll(t *testing.T) {
	end := time.Now().Add(-time.Minute).Truncate(time.Second).UTC()
	const quarter = 15 * time.Minute
	for _, c := range []struct {
		name, metrics string
		want          []model.ResourceLoad
	}{
		{"as Prometheus measures", `{"name": "c", "type": "CPU", "operator": "AVG", "rollup": "15m", "value": 40.5}, {"type": "CPU", "operator": "STD", "value": 3},
			{"type": "Memory", "operator": "AVG", "value": 20}, {"type": "Energy", "operator": "AVG", "value": 7}`,
			[]model.ResourceLoad{{Name: model.CPU, Window: quarter, Average: 40.5, StdDev: 3}, {Name: model.Memory, Window: quarter, Average: 20}}},
		{"as the metrics server does", `{"type": "Memory", "operator": "Latest", "value": 101}`, []model.ResourceLoad{{Name: model.Memory, Average: 101}}},
		{"both", `{"type": "CPU", "operator": "Latest", "value": 9}, {"type": "CPU", "operator": "AVG", "value": 8}`,
			[]model.ResourceLoad{{Name: model.CPU, Window: quarter, Average: 8}, {Name: model.CPU, Average: 9}}},
		{"as one of old does", `{"type": "CPU", "value": 5}`, []model.ResourceLoad{{Name: model.CPU, Window: quarter, Average: 5}}},
		{"the average comes before one without a name", `{"type": "CPU", "operator": "AVG", "value": 6}, {"type": "CPU", "value": 5}`,
			[]model.ResourceLoad{{Name: model.CPU, Window: quarter, Average: 6}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &reports{}
			if err := serving(t, r, body(end, `"n": {"metrics": [`+c.metrics+`]}`)).poll(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := []*model.NodeLoad{{Node: "n", At: end, Source: "load-watcher: Prometheus", Resources: c.want}}
			if !reflect.DeepEqual(r.list, want) {
				t.Errorf("got %+v, want %+v", r.list[0], want[0])
			}
		})
	}
}

// A service that fails or lies leaves what was measured before alone, and says why.
func TestPollInVain(t *testing.T) {
	const good = `"n": {"metrics": [{"type": "CPU", "operator": "AVG", "value": 40}]}`
	now := time.Now()
	for _, c := range []struct{ name, answer, want string }{
		{"an error", "", "the answer has status 404 Not Found"},
		{"no JSON", "<html>", "the answer: invalid character '<'"},
		{"another type", `{"data": 7}`, "the answer: json: cannot unmarshal number"},
		{"nothing", `{}`, "the answer has no node"},
		{"no time", `{"data": {"NodeMetricsMap": {` + good + `}}}`, "the answer has no window.end"},
		{"of the future", body(now.Add(time.Hour), good), "which is yet to come"},
		{"a bad node", body(now, `"n": {"metrics": [{"type": "CPU", "operator": "AVG", "value": -1}]}`), `load of the node "n": resources[0].average: -1 is not a finite number from 0 on`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &reports{}
			err := serving(t, r, c.answer).poll(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || len(r.list) != 0 {
				t.Errorf("got %v, %v, want %q", r.list, err, c.want)
			}
		})
	}
}

// One bad node does not keep the others from being reported; one that was not measured is not
// reported.
func TestPollOfSome(t *testing.T) {
	r := &reports{}
	err := serving(t, r, body(time.Now(), `"bad": {"metrics": [{"type": "CPU", "operator": "STD", "value": 1}, {"type": "CPU", "value": -5}]},
		"good": {"metrics": [{"type": "CPU", "value": 5}]}, "none": {"metrics": []}`)).poll(t.Context())
	if err == nil || !strings.Contains(err.Error(), `"bad"`) || len(r.list) != 1 || r.list[0].Node != "good" {
		t.Errorf("%+v, %v", r.list, err)
	}
}

// A report is passed on once, and again where it was refused.
func TestPollOnlyWhatIsNew(t *testing.T) {
	const node = `"n": {"metrics": [{"type": "CPU", "value": 5}]}`
	first := time.Now().Add(-time.Hour)
	r := &reports{refused: errors.New("not now")}
	s := serving(t, r, body(first, node), body(first, node), body(first, node), body(first.Add(-time.Minute), node), body(first.Add(time.Minute), node))
	if err := s.poll(t.Context()); !errors.Is(err, r.refused) {
		t.Errorf("refused: %v", err)
	}
	r.refused = nil
	for i, want := range []int{1, 1, 1, 2} {
		if err := s.poll(t.Context()); err != nil || len(r.list) != want {
			t.Errorf("%d: %d reports, %v, want %d", i, len(r.list), err, want)
		}
	}
}

// failing is a transport that fails every other time.
type failing struct{ asked atomic.Int64 }

func (f *failing) RoundTrip(*http.Request) (*http.Response, error) {
	if f.asked.Add(1)%2 == 0 {
		return nil, errors.New("no route")
	}
	text := body(time.Now(), `"n": {"metrics": [{"type": "CPU", "value": 5}]}`)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text))}, nil
}

// One that does not answer is given up in time.
func TestPollInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, p := range []Provider{Service, Prometheus} {
			s, err := New(Options{Provider: p, Address: "http://nobody.example", Apply: (&reports{}).apply, Client: &http.Client{Transport: silent{}}})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := s.poll(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != timeout {
				t.Errorf("%s: %v after %v", p, err, time.Since(began))
			}
		}
	})
}

// silent is a transport that never answers.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Run asks at once and at each interval, goes on after a failure, and ends with its context.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // of all that Run changes while this sleeps
		r, transport := &reports{}, &failing{}
		var failures []error
		s, err := New(Options{
			Address: "http://watcher.example", Client: &http.Client{Transport: transport},
			Apply: func(changes ...engine.Change) error {
				mu.Lock()
				defer mu.Unlock()
				return r.apply(changes...)
			},
			Failed: func(err error) {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, err)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Run(ctx)
		}()
		synctest.Wait()
		mu.Lock()
		if transport.asked.Load() != 1 || len(r.list) != 1 {
			t.Errorf("at once: asked %d times, %d reports", transport.asked.Load(), len(r.list))
		}
		mu.Unlock()
		time.Sleep(defaultInterval * 5 / 2)
		synctest.Wait()
		mu.Lock()
		if transport.asked.Load() != 3 || len(r.list) != 2 || len(failures) != 1 || !strings.Contains(failures[0].Error(), "load-watcher at http://watcher.example: ") {
			t.Errorf("asked %d times, %d reports, %v", transport.asked.Load(), len(r.list), failures)
		}
		mu.Unlock()
		stop()
		<-done
	})
}

func TestOptions(t *testing.T) {
	apply := (&reports{}).apply
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Address: "watcher:2020", Apply: apply}, "is no URL of a service"},
		{Options{Address: "http://a b", Apply: apply}, "address: "},
		{Options{Address: "http://a"}, "apply: must be set"},
		{Options{Address: "http://a", Apply: apply, Interval: -1}, "interval: -1ns is negative"},
		{Options{Provider: "SignalFx", Address: "http://a", Apply: apply}, `"SignalFx" is not one of load-watcher, KubernetesMetricsServer, Prometheus`},
		{Options{Provider: Prometheus, Address: "prometheus:9090", Apply: apply}, "Prometheus: address: "},
		{Options{Provider: MetricsServer, Address: "http://a", Apply: apply}, "address: must be empty"},
		{Options{Provider: MetricsServer, Apply: apply}, "metrics: must be set"},
	} {
		if _, err := New(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o.Address, err)
		}
	}
}
