package extender_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/adaptertest"
	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

func TestMain(m *testing.M) { os.Exit(adaptertest.Main(m)) }

// server answers every verb with the text that it is told to, and remembers what
// it was asked.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []string // verb, headers that matter, body
	answers map[string]string
}

func newServer(t testing.TB, answers map[string]string) *server {
	s := &server{answers: answers}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("Content-Type"), body))
	fmt.Fprint(w, s.answers[r.URL.Path])
}

// take returns what was asked since it was last called.
func (s *server) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// newExtender makes one with all verbs, for the URL.
func newExtender(t testing.TB, url string, change func(*extender.Config)) *extender.Extender {
	t.Helper()
	cfg := extender.Config{
		URLPrefix: url, FilterVerb: "filter", PrioritizeVerb: "prioritize", PreemptVerb: "preempt", BindVerb: "bind", Weight: 3,
	}
	if change != nil {
		change(&cfg)
	}
	x, err := extender.New(cfg)
	require.NoError(t, err)
	t.Cleanup(x.Close)
	return x
}

// cluster is two nodes with one workload on the first.
type cluster struct {
	extpoints.Nodes // for the methods that nobody calls
	list            []*extpoints.NodeInfo
}

func newCluster() *cluster {
	c := &cluster{}
	for _, name := range []string{"n1", "n2"} {
		c.list = append(c.list, extpoints.NewNodeInfo(&model.Node{Name: name}))
	}
	c.list[0].AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "uid-v", Name: "v", Namespace: "ns"}})
	return c
}

func (c *cluster) Get(name string) *extpoints.NodeInfo {
	for _, n := range c.list {
		if n.Node.Name == name {
			return n
		}
	}
	return nil
}

func (c *cluster) candidates() map[string]*extpoints.Victims {
	return map[string]*extpoints.Victims{"n1": {Workloads: c.list[0].Workloads, BudgetViolations: 1}, "n2": {}}
}

var waiting = &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "uid-p", Name: "p", Namespace: "ns"}}

var ctx = context.Background()
