package extender_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fault is one way in which a server is bad.
type fault struct {
	name    string
	handler http.HandlerFunc
	want    string // in the error; URL stands for that of the question
	only    string // the verb that it is bad at; empty: all
}

const maxAnswer = 1 << 16

var faults = []fault{
	{name: "down", want: `Post "URL": dial tcp`}, // no handler: nobody listens
	{name: "slow", want: `Post "URL": context deadline exceeded`, handler: func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done() // until the client goes away
	}},
	{name: "slow in the middle", want: "decode the answer to VERB of the extender at URL URL: ", handler: func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"NodeNames":["n1"`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}},
	{name: "hangs up", want: `Post "URL": EOF`, handler: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	{name: "hangs up in the middle", want: "decode the answer to VERB of the extender at URL URL: unexpected EOF", handler: func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"NodeNames":["n1"`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}},
	{name: "500", want: "failed VERB with extender at URL URL, code 500", handler: func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"NodeNames":["n1"]}`, http.StatusInternalServerError)
	}},
	{name: "204", want: "failed VERB with extender at URL URL, code 204", handler: func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}},
	{name: "no JSON", want: "decode the answer to VERB of the extender at URL URL: invalid character '<'", handler: says("<html>")},
	{name: "empty", want: "the answer to VERB of the extender at URL URL is empty", handler: says("")},
	{name: "another type", want: "decode the answer to VERB of the extender at URL URL: json: cannot unmarshal string", handler: says(`"n1"`)},
	{name: "huge", want: "the answer to VERB of the extender at URL URL is longer than 65536 bytes", handler: func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"Error":"`)
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(strings.Repeat("x", 4096))); err != nil {
				return
			}
		}
	}},
	{name: "deep", want: "decode the answer to VERB of the extender at URL URL: ", handler: says(strings.Repeat("[", 20000))},
	{name: "a field of another type", only: "filter", want: "decode the answer to filter of the extender at URL URL: json: cannot unmarshal number", handler: says(`{"NodeNames":["n1"],"FailedNodes":{"n2":5}}`)},
	{name: "a node that was not asked about", only: "filter", want: `the answer claims a filtered node "n9" which is not found in the input node list`, handler: says(`{"NodeNames":["n1","n9"]}`)},
	{name: "its own error", only: "filter", want: "no licence server", handler: says(`{"NodeNames":["n1"],"Error":"no licence server"}`)},
	{name: "points that are no whole number", only: "prioritize", want: "decode the answer to prioritize of the extender at URL URL: json: cannot unmarshal number 1.5", handler: says(`[{"Host":"n1","Score":1.5}]`)},
	{name: "its own error", only: "bind", want: "no such node", handler: says(`{"Error":"no such node"}`)},
}

// readAll reads the question: only then does a server notice that its client has
// gone away.
func readAll(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // a client that goes away sooner is no matter
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// good are sound answers about the nodes n1 and n2.
var good = map[string]string{"filter": `{"NodeNames":["n2","n1"]}`, "prioritize": `[{"Host":"n2","Score":10}]`, "bind": `{}`}

// bench is an engine with one extender that is bad at one verb until it is
// repaired.
type bench struct {
	*engine.Raw
	now      time.Time
	url      string
	repaired atomic.Bool
	bound    []string // by the orchestrator
	failed   []string // what the listener was told besides
	last     string   // why the workload was rejected
}

func newBench(t *testing.T, f fault, verb string, ignorable bool) *bench {
	b := &bench{now: epoch}
	server := newPipes(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		readAll(r)
		asked := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if asked == verb && !b.repaired.Load() {
			f.handler(w, r)
			return
		}
		fmt.Fprint(w, good[asked])
	}))
	const url = "http://licences.example/x"
	b.url = url + "/" + verb
	x := newExtender(t, url, func(c *extender.Config) {
		c.Name, c.NodeCacheCapable, c.Ignorable = "licences", true, ignorable
		c.MaxAnswer = maxAnswer
	})
	server.reach(x)
	outside := x.Extender
	if f.handler == nil {
		elsewhere := newExtender(t, url, func(c *extender.Config) { c.NodeCacheCapable = true })
		unreachable(elsewhere)
		m := &moved{Extender: x, verb: verb, bench: b, elsewhere: elsewhere}
		outside.Filter, outside.Prioritize, outside.Bind = m.filter, m.prioritize, m.bind
	}
	raw, err := engine.NewRaw(engine.Config{
		Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: b,
		Extenders: []extpoints.Extender{outside},
		Listener: engine.Listener{
			Failed:   func(e engine.FailedEvent) { b.failed = append(b.failed, e.Err.Error()) },
			Rejected: func(e engine.RejectedEvent) { b.last = e.Message },
		},
	})
	require.NoError(t, err)
	b.Raw = raw
	require.NoError(t, raw.Apply(epoch,
		engine.PutNode(&model.Node{Name: "n1", Allocatable: model.Resources{CPU: 1000}}),
		engine.PutNode(&model.Node{Name: "n2", Allocatable: model.Resources{CPU: 1000}}),
		engine.Submit(&model.Workload{ID: "uid-w", Namespace: "shop", Name: "web", Requests: model.Resources{CPU: 100}}),
	))
	return b
}

// moved asks somewhere else for one verb, until it is repaired.
type moved struct {
	*extender.Extender
	verb      string
	bench     *bench
	elsewhere *extender.Extender
}

func (m *moved) at(verb string) *extender.Extender {
	if verb == m.verb && !m.bench.repaired.Load() {
		return m.elsewhere
	}
	return m.Extender
}

func (m *moved) filter(ctx context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
	return m.at("filter").Filter(ctx, w, nodes)
}

func (m *moved) prioritize(ctx context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (map[string]int64, error) {
	return m.at("prioritize").Prioritize(ctx, w, nodes)
}

func (m *moved) bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	return m.at("bind").Bind(ctx, w, b)
}

// Bind implements [extpoints.Orchestrator].
func (b *bench) Bind(_ context.Context, w *model.Workload, _ model.Binding) error {
	b.bound = append(b.bound, w.ID)
	return nil
}

// Evict implements [extpoints.Orchestrator].
func (b *bench) Evict(context.Context, *model.Workload, string) error { return errors.New("not asked") }

// settle schedules and binds until there is nothing to do.
func (b *bench) settle() {
	for b.Schedule(b.now) {
		for t := b.NextTask(); t != nil; t = b.NextTask() {
			t.Run(context.Background())
			b.Finish(b.now, t)
		}
	}
}

func (b *bench) node(t *testing.T) (model.Phase, string) {
	t.Helper()
	w, ok := b.View().Workload("uid-w")
	require.True(t, ok, "nothing is lost")
	return w.Phase, w.Node
}

// Every fault is an error that says whose it is, at what, where, and about which
// workload. Without Ignorable the workload waits for another try; with it, and at
// prioritizing in any case, it is placed all the same, and the listener is told.
func TestFaults(t *testing.T) {
	for _, f := range faults {
		for _, verb := range []string{"filter", "prioritize", "bind"} {
			for _, ignorable := range []bool{false, true} {
				if f.only != "" && f.only != verb {
					continue
				}
				t.Run(fmt.Sprint(verb, " ", f.name, " ", ignorable), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { tryFault(t, f, verb, ignorable) })
				})
			}
		}
	}
}

func tryFault(t *testing.T, f fault, verb string, ignorable bool) {
	b := newBench(t, f, verb, ignorable)
	want := strings.NewReplacer("URL URL", "URL "+b.url, "URL", b.url, "VERB", verb).Replace(f.want)
	whose := fmt.Sprintf(`extender "licences": %s workload "shop/web": `, verb)
	b.settle()
	if ignorable || verb == "prioritize" {
		require.Len(t, b.failed, 1)
		require.True(t, strings.HasPrefix(b.failed[0], whose), b.failed[0])
		require.Contains(t, b.failed[0], want)
		phase, _ := b.node(t)
		require.Equal(t, model.Bound, phase)
		require.Equal(t, ignorable && verb == "bind", len(b.bound) == 1, "the Bind plugins are asked where the extender does not matter")
		return
	}
	require.Empty(t, b.failed)
	require.True(t, strings.HasPrefix(b.last, whose), b.last)
	require.Contains(t, b.last, want)
	phase, node := b.node(t)
	require.Equal(t, model.Pending, phase)
	require.Empty(t, node)
	pos, ok := b.Queue("uid-w")
	require.True(t, ok)
	require.Equal(t, queue.ErrorBackoff, pos.Place)

	b.repaired.Store(true)
	b.now = epoch.Add(time.Minute)
	b.Tick(b.now)
	b.settle()
	phase, node = b.node(t)
	require.Equal(t, model.Bound, phase)
	require.Equal(t, "n2", node, "the extender prefers it")
	require.Empty(t, b.bound, "the extender binds")
}

// An engine that is told to stop does so, also while it waits for an extender.
func TestStopDoesNotWait(t *testing.T) {
	asked := make(chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		readAll(r)
		select {
		case asked <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	}))
	defer s.Close()
	for _, verb := range []string{"filter", "prioritize", "bind"} {
		x, err := extender.New(extender.Config{
			URLPrefix: s.URL, HTTPTimeout: time.Hour, Weight: 1,
			FilterVerb: map[string]string{"filter": "f"}[verb], PrioritizeVerb: map[string]string{"prioritize": "p"}[verb], BindVerb: map[string]string{"bind": "b"}[verb],
		})
		require.NoError(t, err)
		e, err := engine.New(engine.Config{
			Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: &bench{},
			Extenders: []extpoints.Extender{x.Extender}, DrainTimeout: -1,
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- e.Run(ctx) }()
		require.NoError(t, e.Apply(
			engine.PutNode(&model.Node{Name: "n1", Allocatable: model.Resources{CPU: 1000}}),
			engine.PutNode(&model.Node{Name: "n2", Allocatable: model.Resources{CPU: 1000}}),
			engine.Submit(&model.Workload{ID: "w", Requests: model.Resources{CPU: 100}}),
		))
		<-asked
		stop()
		require.NoError(t, <-ended)
		w, ok := e.View().Workload("w")
		require.True(t, ok)
		require.Equal(t, model.Pending, w.Phase, verb)
		x.Close()
	}
}
