package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// patience is how long tests wait for what must come. It is generous: it only passes
// where something is broken.
const patience = 60 * time.Second

// fakeServer is the servers, as an agent sees them: a list of tasks with orders. Its
// zero value is not ready; use newServer.
type fakeServer struct {
	mu      sync.Mutex
	changed chan struct{} // closed when something changes
	term    uint64
	index   uint64
	tasks   map[job.TaskID]bool
	orders  map[job.TaskID]indexedOrder
	known   bool // the node is registered

	registrations []api.Registration
	polls         []api.PollRequest
	reports       map[job.TaskID][]api.Report
	down          bool // no request gets through
}

type indexedOrder struct {
	order api.Order
	index uint64
}

var errDown = errors.New("the servers are down")

func newServer() *fakeServer {
	return &fakeServer{
		changed: make(chan struct{}), term: 1, index: 1,
		tasks: map[job.TaskID]bool{}, orders: map[job.TaskID]indexedOrder{},
		reports: map[job.TaskID][]api.Report{},
	}
}

// change does f under the lock, and wakes up who waits.
func (s *fakeServer) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *fakeServer) Register(_ context.Context, r api.Registration) (resp api.Registered, err error) {
	s.change(func() {
		if s.down {
			err = errDown
			return
		}
		s.registrations = append(s.registrations, r)
		s.known = true
		resp.Term = s.term
	})
	return resp, err
}

func (s *fakeServer) Poll(ctx context.Context, r api.PollRequest) (api.PollResponse, error) {
	s.change(func() { s.polls = append(s.polls, r) })
	const heartbeat = 2 * time.Second
	due := time.After(heartbeat)
	for {
		s.mu.Lock()
		resp, changed, down := s.answer(r, heartbeat), s.changed, s.down
		s.mu.Unlock()
		if down {
			return api.PollResponse{}, errDown
		}
		if resp.Unregistered || resp.Index != r.Since {
			return resp, nil
		}
		select {
		case <-changed:
		case <-due:
			return resp, nil
		case <-ctx.Done():
			return api.PollResponse{}, ctx.Err()
		}
	}
}

func (s *fakeServer) answer(r api.PollRequest, heartbeat time.Duration) api.PollResponse {
	resp := api.PollResponse{
		Term: s.term, Index: s.index, Heartbeat: job.Duration(heartbeat), Unregistered: !s.known,
	}
	for id := range s.tasks {
		resp.Tasks = append(resp.Tasks, id)
		if o := s.orders[id]; o.index > r.Since {
			resp.Orders = append(resp.Orders, o.order)
		}
	}
	return resp
}

func (s *fakeServer) Report(_ context.Context, r api.ReportRequest) (resp api.ReportResponse, err error) {
	s.change(func() {
		if s.down {
			err = errDown
			return
		}
		for _, report := range r.Tasks {
			s.reports[report.Task] = append(s.reports[report.Task], report)
		}
		resp.Term = s.term
	})
	return resp, err
}

// order puts a task on the node, or replaces its order.
func (s *fakeServer) order(o api.Order) {
	s.change(func() {
		s.index++
		s.tasks[o.Task] = true
		s.orders[o.Task] = indexedOrder{o, s.index}
	})
}

// stop has a task ended that was ordered before.
func (s *fakeServer) stop(id job.TaskID, stop api.Stop) {
	s.mu.Lock()
	o := s.orders[id].order
	s.mu.Unlock()
	o.Task, o.Stop = id, &stop
	s.order(o)
}

// unlist takes a task off the node.
func (s *fakeServer) unlist(id job.TaskID) {
	s.change(func() {
		s.index++
		delete(s.tasks, id)
		delete(s.orders, id)
	})
}

// until waits until f, which is called under the lock, is true.
func (s *fakeServer) until(t *testing.T, what string, f func() bool) {
	t.Helper()
	limit := time.After(patience)
	for {
		s.mu.Lock()
		ok, changed := f(), s.changed
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// running waits until a task is reported to run.
func (s *fakeServer) running(t *testing.T, id job.TaskID) api.Report {
	t.Helper()
	return s.reported(t, id, func(r api.Report) bool { return r.State == job.Running })
}

// ended waits until a task is reported to have ended.
func (s *fakeServer) ended(t *testing.T, id job.TaskID) api.Report {
	t.Helper()
	return s.reported(t, id, func(r api.Report) bool { return r.State.Ended() })
}

func (s *fakeServer) reported(t *testing.T, id job.TaskID, f func(api.Report) bool) (found api.Report) {
	t.Helper()
	s.until(t, "a report of "+id.String(), func() bool {
		i := slices.IndexFunc(s.reports[id], f)
		if i >= 0 {
			found = s.reports[id][i]
		}
		return i >= 0
	})
	return found
}

// taskID is element 0, attempt 1, rank 0 of a job.
func taskID(n int) job.TaskID { return job.TaskID{Job: job.ID(n), Attempt: 1} }

// script is an order to run a shell script.
func script(n int, text string) api.Order {
	id := taskID(n)
	return api.Order{Task: id, Run: api.Run{
		Spec:  job.Spec{Name: "test", Script: "#!/bin/sh\n" + text},
		Owner: "tester", Hosts: []string{"10.0.0.1"}, Names: []string{"n1"},
	}}
}

// node is an agent under test.
type node struct {
	t      *testing.T
	server *fakeServer
	agent  *Agent
	dir    string
	stop   func() // ends Run and waits for it
}

// newNode starts an agent on a folder of its own.
func newNode(t *testing.T, edit func(*Config)) *node {
	t.Helper()
	n := &node{t: t, server: newServer(), dir: openFolder(t)}
	n.start(edit)
	return n
}

// openFolder is a new folder that all users may pass through to.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "berth")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func testConfig(t testing.TB, dir string, server Server) Config {
	program, err := os.Executable()
	require.NoError(t, err)
	return Config{
		Node: "n1", Address: "127.0.0.1:1", DataDir: dir, Server: server, Shim: program,
		Accounts: AccountsOwn, Cgroup: NoCgroup,
		Logger: hclog.New(&hclog.LoggerOptions{Output: testWriter{t}, Level: hclog.Info}),
	}
}

// testWriter writes to the test's log.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

// start starts an agent on the node's folder; the one before has ended.
func (n *node) start(edit func(*Config)) {
	n.t.Helper()
	c := testConfig(n.t, n.dir, n.server)
	if edit != nil {
		edit(&c)
	}
	var err error
	n.agent, err = New(c)
	require.NoError(n.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.agent.Run(ctx) }()
	n.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(n.t, <-done)
	})
	n.t.Cleanup(func() {
		n.endAll()
		n.stop()
	})
}

// endAll leaves no task behind, by the means of the agent, where it still works.
func (n *node) endAll() {
	n.server.change(func() {
		n.server.index++
		n.server.down = false
		for id := range n.server.tasks {
			delete(n.server.tasks, id)
		}
	})
	for limit := time.Now().Add(patience); time.Now().Before(limit); {
		left := 0
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		works := n.agent.do(ctx, func(t *table) {
			for _, e := range t.tasks {
				if !e.ended {
					left++
					t.stop(e, api.Stop{State: job.Cancelled})
				}
			}
		})
		cancel()
		if !works || left == 0 {
			return
		}
	}
	n.t.Error("tasks do not end")
}

// get asks the agent's handler.
func (n *node) get(path string) (status int, body string, header http.Header) {
	n.t.Helper()
	w := httptest.NewRecorder()
	n.agent.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	body2, err := io.ReadAll(w.Result().Body)
	require.NoError(n.t, err)
	return w.Code, string(body2), w.Header()
}

// log is all that is kept of a task's output.
func (n *node) log(id job.TaskID, stream string) string {
	n.t.Helper()
	status, body, _ := n.get("/v1/tasks/" + id.String() + "/logs/" + stream)
	require.Equal(n.t, http.StatusOK, status, body)
	return body
}

// run runs an order to its end.
func (n *node) run(o api.Order) api.Report {
	n.t.Helper()
	n.server.order(o)
	return n.server.ended(n.t, o.Task)
}

// eventually waits until f is true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// file waits until a file is there, and returns its text.
func file(t *testing.T, path string) string {
	t.Helper()
	var text []byte
	eventually(t, "the file "+path, func() bool {
		var err error
		text, err = os.ReadFile(path)
		return err == nil && len(text) > 0
	})
	return strings.TrimSpace(string(text))
}

// asJSON is v as it goes over the wire.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

// sharedFolder is a folder that all users may write to.
func sharedFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(openFolder(t), "shared")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Chmod(dir, 0o1777))
	return dir
}
