package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/model/modeltest"
)

// remote is a fakeServer of another process.
type remote struct{ url string }

func call[Q, A any](ctx context.Context, url string, q Q) (a A, err error) {
	data, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", url, bytes.NewReader(data))
	if err != nil {
		return a, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("status %d", resp.StatusCode)
	}
	return a, json.NewDecoder(resp.Body).Decode(&a)
}

func (r remote) Register(ctx context.Context, q api.Registration) (api.Registered, error) {
	return call[api.Registration, api.Registered](ctx, r.url+"/register", q)
}

func (r remote) Poll(ctx context.Context, q api.PollRequest) (api.PollResponse, error) {
	return call[api.PollRequest, api.PollResponse](ctx, r.url+"/poll", q)
}

func (r remote) Report(ctx context.Context, q api.ReportRequest) (api.ReportResponse, error) {
	return call[api.ReportRequest, api.ReportResponse](ctx, r.url+"/report", q)
}

// serve is the other end of remote.
func (s *fakeServer) serve(t *testing.T) string {
	mux := http.NewServeMux()
	handle(mux, "/register", s.Register)
	handle(mux, "/poll", s.Poll)
	handle(mux, "/report", s.Report)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	return web.URL
}

func handle[Q, A any](mux *http.ServeMux, path string, f func(context.Context, Q) (A, error)) {
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		var q Q
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a, err := f(r.Context(), q)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		json.NewEncoder(w).Encode(a)
	})
}

// childAgentEnv has the data folder of an agent that is a process of its own, and
// childServerEnv where its servers are.
const (
	childAgentEnv  = "BERTH_TEST_AGENT"
	childServerEnv = "BERTH_TEST_SERVER"
)

// childAgent is that process. It is there to be killed.
func childAgent() int {
	program, err := os.Executable()
	if err != nil {
		return 2
	}
	a, err := New(Config{Node: "n1", Address: "127.0.0.1:1", DataDir: os.Getenv(childAgentEnv),
		Server: remote{os.Getenv(childServerEnv)}, Shim: program, Accounts: AccountsOwn, Cgroup: NoCgroup})
	if err != nil {
		return 2
	}
	fmt.Fprintln(os.Stderr, a.Run(context.Background()))
	return 3
}

// startChild starts an agent that is a process of its own; kill is by SIGKILL.
func startChild(t *testing.T, dir, url string) (kill func()) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childAgentEnv+"="+dir, childServerEnv+"="+url)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	return func() {
		require.NoError(t, cmd.Process.Kill())
		require.EqualError(t, cmd.Wait(), "signal: killed")
	}
}

// TestAgentKilled: SIGKILL of the agent leaves its task alone, and the next agent
// goes on with it.
func TestAgentKilled(t *testing.T) {
	dir, shared := openFolder(t), sharedFolder(t)
	gate, ran := filepath.Join(shared, "gate"), filepath.Join(shared, "ran")
	n := &node{t: t, server: newServer(), dir: dir}
	o := script(1, "echo $$ >>"+ran+"; while [ ! -e "+gate+" ]; do sleep 0.02; done; echo done")
	n.server.order(o)
	kill := startChild(t, dir, n.server.serve(t))
	n.server.running(t, o.Task)
	pid := file(t, ran)
	kill()
	require.True(t, lives(pid))

	n.start(nil)
	require.NoError(t, os.WriteFile(gate, nil, 0o666))
	require.Equal(t, job.Completed, n.server.ended(t, o.Task).State)
	require.Equal(t, "done\n", n.log(o.Task, "stdout"))
	require.Equal(t, pid, file(t, ran), "it ran once")
}

// TestAgentKilledAtRandom kills agents at any moment, while tasks start, run and end.
// None runs twice, and of each it is said in the end what is true.
func TestAgentKilledAtRandom(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	const kills, perKill = 15, 4
	n := &node{t: t, server: newServer(), dir: openFolder(t)}
	url, shared := n.server.serve(t), sharedFolder(t)
	var all []job.TaskID
	for range kills {
		kill := startChild(t, n.dir, url)
		for range perKill {
			id := taskID(len(all) + 1)
			all = append(all, id)
			n.server.order(script(len(all), fmt.Sprintf("echo x >>%s/%s; sleep 0.0%d", shared, id, r.IntN(10))))
		}
		// Some are killed before they found out anything, some after all has ended.
		time.Sleep(time.Duration(r.Int64N(int64(250 * time.Millisecond))))
		kill()
	}
	n.start(nil)
	states := map[job.State]int{}
	for _, id := range all {
		state := n.server.ended(t, id).State
		states[state]++
		text, _ := os.ReadFile(filepath.Join(shared, id.String()))
		switch state {
		case job.Completed:
			require.Equal(t, "x\n", string(text), id)
		case job.BootFail:
			require.Empty(t, string(text), id)
		default:
			t.Errorf("task %s: %s", id, state)
		}
	}
	t.Logf("ends: %v", states)
	require.NotZero(t, states[job.Completed])
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	for id, reports := range n.server.reports {
		ends := map[job.State]bool{}
		for _, report := range reports {
			if report.State.Ended() {
				ends[report.State] = true
			}
		}
		require.Len(t, ends, 1, "task %s was said to have ended in different ways: %s", id, strings.TrimSpace(asJSON(t, reports)))
	}
}
