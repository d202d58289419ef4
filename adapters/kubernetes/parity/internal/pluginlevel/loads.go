package pluginlevel

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"sigs.k8s.io/scheduler-plugins/pkg/trimaran/peaks"

	"github.com/berth-project/berth/adapters/kubernetes/loadwatcher"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// watcher is a load-watcher service that says whatever it is told to.
type watcher struct {
	url     string
	answers sync.Map // by path
	serial  atomic.Int64
}

// theWatcher is never closed: scheduler-plugins' collectors, which nothing ends, keep asking it. What
// they and the plugins have to say of it in klog's own log is left out.
var theWatcher = sync.OnceValue(func() *watcher {
	klog.SetLogger(klog.Logger{})
	w := &watcher{}
	w.url = httptest.NewServer(w).URL
	return w
})

// ServeHTTP implements [http.Handler].
func (w *watcher) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	text, ok := w.answers.Load(strings.TrimSuffix(r.URL.Path, "/watcher"))
	if !ok {
		http.NotFound(to, r)
		return
	}
	_, _ = io.WriteString(to, text.(string))
}

// serve makes an address that answers with the text until forget is called.
func (w *watcher) serve(text string) (address string, forget func()) {
	path := fmt.Sprintf("/%d", w.serial.Add(1))
	w.answers.Store(path, text)
	return w.url + path, func() { w.answers.Delete(path) }
}

// metric is one of load-watcher's, in percent.
type metric struct {
	Type     string  `json:"type"`
	Operator string  `json:"operator"`
	Value    float64 `json:"value"`
}

type metrics struct {
	Metrics []metric `json:"metrics"`
}

// watched is what a service says about the nodes at a time.
func watched(nodes map[string]metrics, end time.Time) string {
	text, err := json.Marshal(map[string]any{
		"timestamp": end.Unix(), "window": map[string]any{"duration": "15m", "start": end.Add(-15 * time.Minute).Unix(), "end": end.Unix()},
		"source": "made up", "data": map[string]any{"NodeMetricsMap": nodes},
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// measurement is what is measured on the nodes. Either nothing that is on a node is in it yet or all
// is: for the reference the time at which a pod has come is the real one.
type measurement struct {
	nodes  map[string]metrics
	recent bool // nothing is in it yet
}

func newMeasurement(s *generate.Source) measurement {
	m := measurement{nodes: map[string]metrics{}}
	for i := range s.Nodes {
		if i == 0 || s.Percent(90) {
			m.nodes[generate.NodeName(i)] = metrics{append(newMetrics(s, "CPU", i == 0), newMetrics(s, "Memory", false)...)}
		}
	}
	m.recent = s.Percent(50)
	return m
}

// serve makes an address at which it is found until forget is called, by who takes it for now.
func (m *measurement) serve(now time.Time) (address string, forget func()) {
	end := now.Add(time.Hour)
	if m.recent {
		end = now.Add(-time.Hour)
	}
	return theWatcher().serve(watched(m.nodes, end))
}

// tellMeasured tells the subject what is measured.
func (c *beside) tellMeasured(m measurement) error {
	address, forget := m.serve(c.Now())
	defer forget()
	c.recent = m.recent
	return c.tellLoads(address)
}

// newMetrics draws those of one resource, in any order. Numbers are quarters: others the reference's
// decoder gets wrong in the last place.
func newMetrics(s *generate.Source, kind string, always bool) []metric {
	if !always && s.Percent(12) {
		return nil
	}
	percent := func() float64 {
		return generate.Pick(s, 0, 1, 12.5, 40, 50, 100, 130, float64(s.IntN(101)), float64(s.IntN(401))/4)
	}
	if s.Percent(25) {
		return []metric{{kind, "Latest", percent()}}
	}
	list := []metric{{kind, "AVG", percent()}}
	if s.Percent(80) {
		list = append(list, metric{kind, "STD", generate.Pick(s, percent(), float64(s.IntN(81))/4)})
	}
	s.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// tellLoads lets the subject ask the service, and forget what it knew before.
func (c *beside) tellLoads(address string) error {
	for _, node := range c.loads {
		c.Subject.Apply(engine.RemoveObject(model.ObjectRef{Kind: model.NodeLoadKind, ID: node}))
	}
	c.loads = nil
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var failed error
	source, err := loadwatcher.New(loadwatcher.Options{
		Address: address,
		Apply: func(changes ...engine.Change) error {
			defer stop()
			c.Subject.Apply(changes...)
			for _, change := range changes {
				c.loads = append(c.loads, change.Value().(*model.NodeLoad).Node)
			}
			return nil
		},
		Failed: func(err error) {
			defer stop()
			failed = err
		},
	})
	if err != nil {
		return err
	}
	source.Run(ctx)
	return failed
}

// newPeaks makes the plugin, which prints its arguments.
func newPeaks(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	out := os.Stdout
	defer func() { os.Stdout = out }()
	os.Stdout = nil // to which nothing can be printed
	return peaks.New(ctx, args, h)
}
