package explain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/adapters/adaptertest"
	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/internal/golden"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

func TestMain(m *testing.M) { os.Exit(adaptertest.Main(m)) }

// obliging binds and evicts whatever it is asked to, and tells nobody.
type obliging struct{}

func (obliging) Bind(context.Context, *model.Workload, model.Binding) error { return nil }
func (obliging) Evict(context.Context, *model.Workload, string) error       { return nil }

// world is a scheduler with the default plugins, the pods that it is told of, and the
// handler over both.
type world struct {
	t       testing.TB
	engine  *engine.Engine
	pods    cache.Indexer
	handler http.Handler
}

func newWorld(t testing.TB, o explain.Options, change ...func(*engine.Config)) *world {
	t.Helper()
	cfg := engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: obliging{}, RememberDecisions: 2,
	}
	for _, f := range change {
		f(&cfg)
	}
	e, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, engine: e, pods: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
	o.Profiles, o.Pods = []string{v1.DefaultSchedulerName}, corelisters.NewPodLister(w.pods)
	w.handler = explain.NewHandler(e, o)
	return w
}

// run runs f beside the engine, on a clock that moves only when nothing else does.
func run(t *testing.T, o explain.Options, f func(w *world), change ...func(*engine.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, o, change...)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := w.engine.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		defer running.Wait()
		defer cancel()
		f(w)
	})
}

// node has room for so much CPU.
func (w *world) node(name, cpu string, change ...func(*v1.Node)) {
	w.t.Helper()
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}}}
	n.Status.Allocatable = v1.ResourceList{
		v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse("64Gi"), v1.ResourcePods: resource.MustParse("110"),
	}
	for _, f := range change {
		f(n)
	}
	m, err := convert.Node(n)
	if err != nil {
		w.t.Fatal(err)
	}
	w.apply(engine.PutNode(m))
}

func (w *world) apply(changes ...engine.Change) {
	w.t.Helper()
	if err := w.engine.Apply(changes...); err != nil {
		w.t.Fatal(err)
	}
}

// pod asks for so much CPU.
func pod(name, cpu string, change ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)},
	}
	p.Spec.SchedulerName = v1.DefaultSchedulerName
	p.Spec.Containers = []v1.Container{{Name: "c", Image: "i", Resources: v1.ResourceRequirements{
		Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)},
	}}}
	for _, f := range change {
		f(p)
	}
	return p
}

func priority(n int32) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.Priority = &n } }

func on(node string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = node } }

// submitFor is submit for a pod of a principal, which runs for so long.
func (w *world) submitFor(principal string, limit time.Duration, p *v1.Pod) {
	w.t.Helper()
	w.submit(p, func(m *model.Workload) {
		m.Principal, m.Limit = principal, limit
		m.Preemption = model.PreemptNever
	})
}

// submit has the engine place the pod, or know that it is on its node.
func (w *world) submit(p *v1.Pod, change ...func(*model.Workload)) {
	w.t.Helper()
	if err := w.pods.Add(p); err != nil {
		w.t.Fatal(err)
	}
	m, err := convert.Pod(p)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range change {
		f(m)
	}
	if p.Spec.NodeName != "" {
		w.apply(engine.Adopt(m, model.Binding{Node: p.Spec.NodeName}))
		return
	}
	w.apply(engine.Submit(m))
}

// place has the engine place the pod, and waits for it.
func (w *world) place(p *v1.Pod) {
	w.t.Helper()
	w.submit(p)
	synctest.Wait()
}

// ask returns the answer of the handler.
func (w *world) ask(method, path, contentType, body string) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequest(method, path, bytes.NewBufferString(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	if got := answer.Header().Get("Content-Type"); got != "application/json" {
		w.t.Errorf("%s %s: the answer's type is %q", method, path, got)
	}
	return answer
}

// get reads the answer, which must not be an error.
func get[T any](w *world, path string) *T {
	w.t.Helper()
	return read[T](w, w.ask(http.MethodGet, path, "", ""))
}

// simulation simulates the pods of a YAML text.
func simulation[T any](w *world, body string) *T {
	w.t.Helper()
	return read[T](w, w.ask(http.MethodPost, "/explain/simulate", "application/yaml", body))
}

func read[T any](w *world, answer *httptest.ResponseRecorder) *T {
	w.t.Helper()
	if answer.Code != http.StatusOK {
		w.t.Fatalf("%d: %s", answer.Code, answer.Body)
	}
	v := new(T)
	decoder := json.NewDecoder(answer.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		w.t.Fatal(err)
	}
	return v
}

// golden compares an answer with the file, which -update writes anew.
func (w *world) golden(name string, answer *httptest.ResponseRecorder) {
	w.t.Helper()
	if answer.Code != http.StatusOK {
		w.t.Fatalf("%d: %s", answer.Code, answer.Body)
	}
	var text bytes.Buffer
	if err := json.Indent(&text, answer.Body.Bytes(), "", "  "); err != nil {
		w.t.Fatal(err)
	}
	golden.Compare(w.t, filepath.Join("testdata", name), text.Bytes())
}

// refuses expects an error with the code that says so.
func (w *world) refuses(method, path, contentType, body string, code int, says string) *metav1.Status {
	w.t.Helper()
	answer := w.ask(method, path, contentType, body)
	var status metav1.Status
	if err := json.Unmarshal(answer.Body.Bytes(), &status); err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	if answer.Code != code || int(status.Code) != code || status.Kind != "Status" || status.Status != metav1.StatusFailure || status.Reason == "" {
		w.t.Errorf("%s %s: %d, not %d: %+v", method, path, answer.Code, code, status)
	}
	if !strings.Contains(status.Message, says) {
		w.t.Errorf("%s %s: it says\n%s\nand not\n%s", method, path, status.Message, says)
	}
	if code == http.StatusMethodNotAllowed && answer.Header().Get("Allow") == "" {
		w.t.Errorf("%s %s: it does not say what is allowed", method, path)
	}
	return &status
}
