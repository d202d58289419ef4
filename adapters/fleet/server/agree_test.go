package server

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// at is the caller at another server.
func (c *caller) at(s *Server) *caller {
	other := *c
	other.address = s.Addr().String()
	return &other
}

// hold keeps a server that does not lead from applying what the leader decides from now
// on: it stays behind until the test ends, or release is called. It goes on answering.
// Should it come to lead, it hands over: it could not begin.
func (w *three) hold(s *Server) (release func()) {
	w.t.Helper()
	s.polls.mu.Lock()
	ctx, end := context.WithCancel(w.t.Context())
	var over sync.WaitGroup
	over.Go(func() {
		for ctx.Err() == nil {
			_ = s.replica.TransferLeadership(ctx)
			time.Sleep(5 * time.Millisecond)
		}
	})
	release = sync.OnceFunc(func() {
		end()
		over.Wait()
		s.polls.mu.Unlock()
	})
	w.t.Cleanup(release)
	// The first change can be seen, and is not through. Those after it wait.
	w.as(oscar).must("PUT", "/v1/queues/held", `{"name":"held"}`, nil)
	eventually(w.t, func() bool { return s.state.View().Queue("held") != nil })
	return release
}

// asked are requests that different parts of a server answer.
var asked = []string{"/v1/self", "/v1/jobs", "/v1/server/status"}

// A token is good at all servers when it was created, and at none when it was removed;
// and so are certificates until they are revoked: also at a server that is behind.
func TestServersAgree(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	leader := w.leader()
	op := w.as(oscar).at(w.servers[leader])
	w.hold(w.servers[(leader+1)%3])

	made := w.token(api.TokenRequest{Role: api.RoleUser, Name: "alice"})
	token := w.bearing(made.Token)
	for _, s := range w.servers {
		for _, path := range asked {
			token.at(s).must("GET", path, nil, nil)
		}
		token.at(s).refused(http.StatusForbidden, "GET", "/v1/tokens", nil)
	}
	op.must("DELETE", "/v1/tokens/"+made.ID, nil, nil)
	for _, s := range w.servers {
		for _, path := range asked {
			token.at(s).refused(http.StatusUnauthorized, "GET", path, nil)
		}
		token.at(s).refused(http.StatusUnauthorized, "POST", "/v1/jobs", aJob)
	}

	lost, err := w.authority.Issue(pki.Grant{Identity: bob})
	require.NoError(t, err)
	for _, s := range w.servers {
		w.with(lost).at(s).must("GET", "/v1/self", nil, nil)
	}
	op.must("POST", "/v1/revocations", api.RevocationRequest{ID: pki.Serial(lost.Cert)}, nil)
	for _, s := range w.servers {
		for _, path := range asked {
			cutOff(w.with(lost).at(s), "GET", path, nil)
		}
		cutOff(w.with(lost).at(s), "POST", "/v1/join", w.request(bob))
	}

	join := w.joinToken(api.RoleAgent)
	for i, s := range w.servers {
		who := pki.Identity{Role: pki.Agent, Name: "n" + string(rune('5'+i))}
		w.bearing(join.Token).at(s).must("POST", "/v1/join", w.request(who), nil)
	}
	op.must("DELETE", "/v1/tokens/"+join.ID, nil, nil)
	for _, s := range w.servers {
		w.bearing(join.Token).at(s).refused(http.StatusUnauthorized, "POST", "/v1/join", w.request(nodeN2))
	}
}

// A server that starts does not know yet what was decided while it was away. It never
// calls a good token bad: it has the leader asked, or says that there is none.
func TestServerStartsBehind(t *testing.T) {
	w := begunThree(t)
	for range 3 {
		away := map[int]int{0: 1, 1: 2, 2: 1}[w.leader()] // s1 is never started again
		w.stops[away]()
		token := w.bearing(w.token(api.TokenRequest{Role: api.RoleUser, Name: "alice"}).Token)
		s, stop := w.start(w.configs[away])
		t.Cleanup(stop)
		w.servers[away], w.stops[away] = s, stop
		for _, path := range asked {
			eventually(t, func() bool {
				got := token.at(s).ask("GET", path, nil)
				require.NoError(t, got.err)
				require.Contains(t, []int{http.StatusOK, http.StatusServiceUnavailable}, got.status, "%s", got.body)
				return got.status == http.StatusOK
			})
		}
	}
}

// A server that is cut off from the majority says nothing about anybody: a token may
// have been created or removed meanwhile.
func TestServerAloneIdentifiesNobody(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	token := w.bearing(w.token(api.TokenRequest{Role: api.RoleUser, Name: "alice"}).Token)
	unknown, _, err := pki.NewBearer()
	require.NoError(t, err)
	w.stops[1]()
	w.stops[2]()
	alone := w.servers[0]
	eventually(t, func() bool { return alone.leading.Load() == nil })
	// Each answer takes as long as a leader is looked for: all are asked for at once.
	callers := []*caller{token, token, token, w.bearing(unknown), w.as(alice), w.as(oscar)}
	paths := append(slices.Clone(asked), asked[0], asked[0], asked[0])
	answers := make([]got, len(callers))
	var all sync.WaitGroup
	for i, c := range callers {
		c = c.at(alone)
		all.Go(func() { answers[i] = c.ask("GET", paths[i], nil) })
	}
	all.Wait()
	for _, got := range answers {
		e := token.refusal(got, http.StatusServiceUnavailable)
		require.Equal(t, api.CodeNoLeader, e.Code)
		require.Equal(t, "1", got.header.Get("Retry-After"))
	}
	w.with(nil).at(alone).refused(http.StatusUnauthorized, "GET", "/v1/self", nil) // nothing was shown
}

// What goes on for long ends with the token that it was asked for with.
func TestStreamsEndWithTheirToken(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	leader := w.leader()
	for i, end := range []func(made api.TokenResponse){
		func(made api.TokenResponse) { w.as(oscar).must("DELETE", "/v1/tokens/"+made.ID, nil, nil) },
		func(api.TokenResponse) {
			w.as(oscar).must("POST", "/v1/revocations", api.RevocationRequest{ID: "user/alice"}, nil)
		},
	} {
		made := w.token(api.TokenRequest{Role: api.RoleUser, Name: "alice"})
		c := w.bearing(made.Token).at(w.servers[(leader+i)%3]) // the leader, and another
		c.submit(job.Spec{Command: []string{"true"}, Hold: true})
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		ask, err := http.NewRequestWithContext(ctx, "GET", "https://"+c.address+"/v1/events?follow=true", nil)
		require.NoError(t, err)
		ask.Header.Set("Authorization", "Bearer "+made.Token)
		stream, err := c.http.Do(ask)
		require.NoError(t, err)
		defer stream.Body.Close()
		lines := bufio.NewScanner(stream.Body)
		require.True(t, lines.Scan())
		end(made)
		for lines.Scan() {
		}
		require.NoError(t, ctx.Err(), "the stream was ended")
	}
}
