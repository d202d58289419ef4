package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// three are a fleet of three servers, and what ends each.
type three struct {
	*fleet
	servers []*Server
	configs []Config
	stops   []func()
}

func begunThree(t *testing.T, changes ...func(*Config)) *three {
	t.Helper()
	changes = append(changes, func(c *Config) { c.Slowness = 1 })
	w := &three{fleet: begun(t, changes...)}
	w.servers, w.configs, w.stops = []*Server{w.server}, []Config{w.server.cfg}, []func(){w.stop}
	token := w.joinToken(api.RoleServer).Token
	for _, id := range []string{"s2", "s3"} {
		cfg := w.config(id)
		for _, change := range changes {
			change(&cfg)
		}
		cfg.Join = &Join{Servers: []string{w.server.Addr().String()}, Token: token}
		s, stop := w.start(cfg)
		t.Cleanup(stop)
		w.servers, w.configs, w.stops = append(w.servers, s), append(w.configs, cfg), append(w.stops, stop)
	}
	eventually(t, func() bool {
		members, err := w.server.replica.Members()
		voters := 0
		for _, m := range members {
			if m.Voter {
				voters++
			}
		}
		return err == nil && voters == 3
	})
	return w
}

// leader is the place of the server that leads.
func (w *three) leader() int {
	w.t.Helper()
	found := -1
	eventually(w.t, func() bool {
		for i, s := range w.servers {
			if s.leading.Load() != nil {
				found = i
				return true
			}
		}
		return false
	})
	return found
}

// While leaders change, each submission is there once, if it was acknowledged, and not
// more than once if not; what others ask for on the way does not fail for long.
func TestLeadersChangeUnderRequests(t *testing.T) {
	w := begunThree(t)
	const users, each = 4, 12
	var all sync.WaitGroup
	var ids sync.Map
	done := make(chan struct{})
	for u := range users {
		who := pki.Identity{Role: pki.User, Name: fmt.Sprintf("u%d", u)}
		var callers []*caller
		for _, s := range w.servers {
			c := w.as(who)
			c.address = s.Addr().String()
			callers = append(callers, c)
		}
		all.Go(func() {
			for n := range each {
				in := api.SubmitRequest{Key: fmt.Sprintf("k%d", n), Jobs: []job.Spec{sleeper()}}
				for try := 0; ; try++ {
					if try == 1000 {
						t.Errorf("%s cannot submit", who)
						return
					}
					got := callers[(n+try)%len(callers)].ask("POST", "/v1/jobs", in)
					var out api.SubmitResponse
					if got.err == nil && got.status == 200 && json.Unmarshal(got.body, &out) == nil {
						ids.Store(fmt.Sprintf("%s %s", who.Name, in.Key), out.Jobs[0])
						break
					}
					if got.err == nil && !slices.Contains([]int{429, 503, 504}, got.status) {
						t.Errorf("%d %s", got.status, got.body)
						return
					}
					time.Sleep(5 * time.Millisecond) // as clients do: or the servers refuse one for asking too often
				}
			}
		})
	}
	go func() {
		all.Wait()
		close(done)
	}()
	changes := 0
	for going := true; going; {
		before := w.leader()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if w.servers[before].replica.TransferLeadership(ctx) == nil {
			changes++
		}
		cancel()
		select {
		case <-done:
			going = false
		case <-time.After(20 * time.Millisecond):
		}
	}
	require.Positive(t, changes)
	seen := map[job.ID]bool{}
	ids.Range(func(_, id any) bool {
		require.False(t, seen[id.(job.ID)], "one job for two keys")
		seen[id.(job.ID)] = true
		return true
	})
	require.Len(t, seen, users*each)
	var list api.JobList
	w.as(oscar).must("GET", "/v1/jobs?limit=1000", nil, &list)
	require.Len(t, list.Jobs, users*each, "no submission is there twice")
}

// A server that does not lead hands requests on as who made them, whatever she says.
func TestHandedOn(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	leader := w.leader()
	follower := w.servers[(leader+1)%3]
	token := w.token(api.TokenRequest{Role: api.RoleUser, Name: "alice"})
	// With HTTP/1.1 a caller can name headers that are not to be handed on.
	plain := w.bearing(token.Token)
	plain.http.Transport.(*http.Transport).ForceAttemptHTTP2 = false
	for name, c := range map[string]*caller{"a certificate": w.as(alice), "a token": w.bearing(token.Token), "HTTP/1.1": plain} {
		c.address = follower.Addr().String()
		c.must("GET", "/v1/self", nil, nil)
		c.headers = map[string]string{"X-Forwarded-For": "1.2.3.4", "Forwarded": "for=x"}
		if name == "HTTP/1.1" {
			c.headers["Connection"] = onBehalf + ", Authorization"
		}
		id := c.submit(sleeper())[0]
		var j api.Job
		w.as(oscar).must("GET", jobPath(id, ""), nil, &j)
		require.Equal(t, "alice", j.Owner, name)
		c.refused(http.StatusForbidden, "GET", "/v1/tokens", nil)
		c.must("GET", jobPath(id, ""), nil, &j)
	}
	// What the browser of another site's page sends is refused; what its own sends is not.
	c := w.as(alice)
	c.address = follower.Addr().String()
	c.headers = map[string]string{"Origin": "https://" + c.address}
	c.submit(sleeper())
	c.headers = map[string]string{"Origin": "https://" + w.servers[leader].Addr().String()}
	c.refused(http.StatusForbidden, "POST", "/v1/jobs", aJob)
	// It is handed on once.
	s := w.as(self1)
	s.address = follower.Addr().String()
	s.headers = map[string]string{onBehalf: handed(w.as(alice))}
	s.refused(http.StatusServiceUnavailable, "GET", "/v1/jobs", nil)
	s.refused(http.StatusServiceUnavailable, "GET", "/v1/self", nil)
	// An agent's poll waits there as long as anywhere.
	var out api.PollResponse
	n := w.as(nodeN1)
	w.agent("n1")
	n.address = follower.Addr().String()
	n.must("POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: "1"}, &out)
	n.must("POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: "1", Since: out.Index}, &out)
	// A removed token is refused there too.
	w.as(oscar).must("DELETE", "/v1/tokens/"+token.ID, nil, nil)
	plain.headers = nil
	plain.refused(http.StatusUnauthorized, "GET", "/v1/self", nil)
	plain.refused(http.StatusUnauthorized, "GET", "/v1/jobs", nil)
}

// A poll waits for news, and none is lost between two polls.
func TestNoNewsIsLost(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, node := f.as(alice), f.agent("n1")
	for range 20 {
		id := a.submit(job.Spec{Command: []string{"true"}, Resources: job.Resources{CPU: 100}})[0]
		o := node.order(id)
		a.must("POST", jobPath(id, "/cancel"), nil, nil)
		for o.Stop == nil {
			o = node.order(id)
		}
		require.Equal(t, job.Cancelled, o.Stop.State)
		node.report(o.Task, job.Cancelled)
	}
}

// Orders that are too large for one answer come in several, each order once, also where
// all were made at once.
func TestLargeOrders(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, node := f.as(alice), &agent{caller: f.as(nodeN1), name: "n1", boot: "1"}
	script := "#!/bin/sh\n" + strings.Repeat("#", 200_000)
	id := a.submit(job.Spec{Script: script, Array: indexes(t, "0-59"), Resources: job.Resources{CPU: 100}})[0]
	r := node.registration()
	r.Machine.CPU, r.Machine.MaxTasks = 100_000, 1000
	node.must("POST", "/v1/agent/register", r, nil)
	var placed []job.TaskID
	eventually(t, func() bool {
		placed = nil
		for k := range f.server.state.View().TasksOn("n1") {
			placed = append(placed, k.ID)
		}
		return len(placed) == 60
	})
	read := func() (within bool) {
		seen, answers := map[job.TaskID]bool{}, 0
		for len(seen) < len(placed) {
			var out api.PollResponse
			got := node.ask("POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: "1", Since: node.seen.Index, After: node.seen.After})
			require.Equal(t, 200, got.status, "%s", got.body)
			require.Less(t, len(got.body), 2*maxOrders)
			require.NoError(t, json.Unmarshal(got.body, &out))
			require.Equal(t, placed, out.Tasks, "all that belong there are always listed")
			require.NotEmpty(t, out.Orders)
			for _, o := range out.Orders {
				require.False(t, seen[o.Task], "twice")
				require.Equal(t, id, o.Task.Job)
				seen[o.Task] = true
			}
			within = within || out.After != (job.TaskID{})
			node.seen = out
			answers++
		}
		require.Greater(t, answers, 2)
		require.Zero(t, node.seen.After)
		return within
	}
	read()
	// All are made anew by one command.
	r2, err := f.server.propose(t.Context(), &state.Command{Restored: true})
	require.NoError(t, err)
	require.Nil(t, r2.Err)
	require.True(t, read())
}

// A server that cannot do what a leader has to do ends, so that another leads.
func TestFailedLeaderEnds(t *testing.T) {
	t.Parallel()
	f := &fleet{t: t, logged: &logged{}}
	cfg := f.config("s1")
	cfg.Bootstrap = true
	s, err := New(t.Context(), cfg)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- s.Run(t.Context()) }()
	eventually(t, func() bool { return s.leading.Load() != nil })
	broken := errors.New("the engine has stopped")
	s.fail(broken)
	s.fail(broken) // says nothing new
	require.ErrorIs(t, <-done, broken)
}

// An agent that was told of a newer leader gets nothing from an older one; one that
// speaks of another life is told to register.
func TestTerms(t *testing.T) {
	t.Parallel()
	f := begun(t)
	n := f.agent("n1")
	n.refused(http.StatusServiceUnavailable, "POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: "1", Term: 1 << 40})
	var out api.PollResponse
	n.must("POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: "2"}, &out)
	require.True(t, out.Unregistered)
	require.Empty(t, out.Orders)
	// What a leader decided in another term is refused.
	r, err := f.server.propose(t.Context(), &state.Command{Term: 1 << 40, Purge: &state.Purge{}})
	require.NoError(t, err)
	require.NotNil(t, r.Err)
}

// evilAgent answers requests for logs as somebody who has taken a node over.
func (f *fleet) evilAgent(answer http.HandlerFunc) *agent {
	f.t.Helper()
	dir := f.t.TempDir()
	c, err := f.authority.Issue(pki.Grant{Identity: nodeN1})
	require.NoError(f.t, err)
	require.NoError(f.t, c.Save(filepath.Join(dir, "c.pem"), true))
	require.NoError(f.t, f.authority.Save(dir, true))
	k, err := pki.NewKeeper(pki.Files{CA: filepath.Join(dir, pki.CAFile), Credential: filepath.Join(dir, "c.pem")}, hclog.NewNullLogger())
	require.NoError(f.t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(f.t, err)
	srv := &http.Server{Handler: answer}
	f.t.Cleanup(func() { srv.Close() })
	go func() { _ = srv.Serve(tls.NewListener(l, k.ServerTLS("http/1.1"))) }()
	a := &agent{caller: f.as(nodeN1), name: "n1", boot: "1"}
	r := a.registration()
	r.Address = l.Addr().String()
	a.must("POST", "/v1/agent/register", r, nil)
	return a
}

// An agent cannot have the server fetch something else for it, or answer as the server.
func TestAgentsAnswers(t *testing.T) {
	t.Parallel()
	f := begun(t)
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, "what is only for inside")
	}))
	defer inside.Close()
	var answer atomic.Value
	answer.Store(http.HandlerFunc(nil))
	node := f.evilAgent(func(w http.ResponseWriter, r *http.Request) { answer.Load().(http.HandlerFunc)(w, r) })
	a := f.as(alice)
	id := node.ran(a)
	path := jobPath(id, "/logs")
	for _, status := range []int{301, 302, 303, 307, 308} {
		answer.Store(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inside.URL, status) }))
		a.refused(http.StatusBadGateway, "GET", path, nil)
	}
	require.Zero(t, asked.Load(), "no redirection is followed")
	for _, status := range []int{204, 206, 304, 401, 403, 500, 503, 599, 999} {
		answer.Store(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Set-Cookie", "a=b")
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(status)
		}))
		got := a.ask("GET", path, nil)
		require.Equal(t, http.StatusBadGateway, got.status, status)
		require.Empty(t, got.header.Get("Set-Cookie"))
	}
	answer.Store(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "it is elsewhere", 404) }))
	require.Equal(t, "node n1: it is elsewhere", a.refused(http.StatusNotFound, "GET", path, nil).Message)
	answer.Store(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "%s %s", r.URL.RequestURI(), r.Header.Get("Authorization"))
	}))
	got := a.ask("GET", path+"?stream=stderr&offset=-5&evil=1%26x%3d2", nil)
	require.Equal(t, 200, got.status)
	require.Equal(t, fmt.Sprintf("/v1/tasks/%d_0.1.0/logs/stderr?offset=-5 ", id), string(got.body))
	require.Equal(t, "application/octet-stream", got.header.Get("Content-Type"), "it is no page for a browser")
	require.Equal(t, "1", got.header.Get(api.AttemptHeader))

	// What the agent breaks off is no whole answer.
	answer.Store(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "so far")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	require.Error(t, a.ask("GET", path, nil).err)

	// Nobody but the node's own agent is asked: here another node's listens.
	other := &agent{caller: f.as(nodeN2), name: "n2", boot: "1"}
	r := other.registration()
	n1 := f.server.state.View().Node("n1")
	r.Address = n1.Address
	other.must("POST", "/v1/agent/register", r, nil)
	node.moved(node.registration()) // n1 is elsewhere
	a.refused(http.StatusBadGateway, "GET", path, nil)
}
