package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// fleet are servers that answer as a script says, and remember what they were
// asked.
type fleet struct {
	mu    sync.Mutex
	asked []string // "place method path?query body"
	hosts []string
	pool  *x509.CertPool
}

// answer writes the answer to the n-th request that a server gets, from 0.
type answer func(w http.ResponseWriter, r *http.Request, n int)

// newFleet starts a server for each of the answers; nil is an address where none
// listens.
func newFleet(t *testing.T, answers ...answer) *fleet {
	f := &fleet{pool: x509.NewCertPool()}
	for place, a := range answers {
		if a == nil {
			f.hosts = append(f.hosts, closedAddress(t))
			continue
		}
		n := 0
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, err)
			f.mu.Lock()
			f.asked = append(f.asked, strings.TrimSpace(fmt.Sprintf("%d %s %s %s", place, r.Method, r.URL.RequestURI(), body)))
			k := n
			n++
			f.mu.Unlock()
			a(w, r, k)
		}))
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.EnableHTTP2 = true
		server.StartTLS()
		t.Cleanup(server.Close)
		f.pool.AddCert(server.Certificate())
		f.hosts = append(f.hosts, server.Listener.Addr().String())
	}
	return f
}

// closedAddress is one where nobody listens.
func closedAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

func (f *fleet) client(t *testing.T, patience time.Duration) *Client {
	c, err := New(Config{Servers: f.hosts, TLS: &tls.Config{RootCAs: f.pool}, Token: "secret", Patience: patience})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// places are the servers that were asked, in order.
func (f *fleet) places() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	for _, a := range f.asked {
		b.WriteByte(a[0])
	}
	return b.String()
}

// fails answers with an error of ours.
func fails(w http.ResponseWriter, status int, code api.ErrorCode) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(api.Error{Status: status, Code: code, Message: "it is " + string(code)})
}

func always(status int, code api.ErrorCode) answer {
	return func(w http.ResponseWriter, _ *http.Request, _ int) { fails(w, status, code) }
}

func works(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, `{"elements":3}`) }

// hangsUp breaks the connection after the request was read.
func hangsUp(http.ResponseWriter, *http.Request, int) { panic(http.ErrAbortHandler) }

// Which server is asked, for what is safe to repeat (hold) and what is not
// (requeue).
func TestFailover(t *testing.T) {
	const patience = 2 * time.Second
	noLeader := always(503, api.CodeNoLeader)
	unknown := always(504, api.CodeUnknown)
	for name, c := range map[string]struct {
		servers []answer
		hold    string // the places that are asked
		requeue string
	}{
		"the first works":          {[]answer{works, works}, "0", "0"},
		"nobody listens":           {[]answer{nil, works}, "1", "1"},
		"no leader":                {[]answer{noLeader, works}, "01", "01"},
		"an unknown outcome":       {[]answer{unknown, works}, "01", "0"},
		"a connection breaks":      {[]answer{hangsUp, works}, "01", "0"},
		"a proxy without a server": {[]answer{always(502, ""), works}, "01", "0"},
		"not allowed":              {[]answer{always(403, api.CodeForbidden), works}, "0", "0"},
		"a mistake in the server":  {[]answer{always(500, api.CodeInternal), works}, "0", "0"},
		"a leader is found later": {[]answer{func(w http.ResponseWriter, r *http.Request, n int) {
			if n < 2 {
				fails(w, 503, api.CodeNoLeader)
				return
			}
			works(w, r, n)
		}, noLeader}, "01010", "01010"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, c.servers...)
			_, _ = f.client(t, patience).Hold(t.Context(), 17, api.Selection{})
			assert.Equal(t, c.hold, f.places(), "hold")
			f = newFleet(t, c.servers...)
			_, _ = f.client(t, patience).Requeue(t.Context(), 17, api.Selection{})
			assert.Equal(t, c.requeue, f.places(), "requeue")
		})
	}
}

func TestStaysWithTheServerThatAnswers(t *testing.T) {
	f := newFleet(t, always(503, api.CodeNoLeader), works)
	c := f.client(t, time.Second)
	for range 3 {
		_, err := c.Hold(t.Context(), 17, api.Selection{})
		require.NoError(t, err)
	}
	assert.Equal(t, "0111", f.places())
}

// A server that hangs is left by the next call.
func TestLeavesTheServerThatHangs(t *testing.T) {
	hangs := func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() }
	f := newFleet(t, hangs, works)
	c := f.client(t, time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := c.Hold(ctx, 17, api.Selection{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	for range 2 {
		_, err = c.Hold(t.Context(), 17, api.Selection{})
		require.NoError(t, err)
	}
	assert.Equal(t, "011", f.places())
}

func TestUnreachable(t *testing.T) {
	f := newFleet(t, nil, nil)
	_, err := f.client(t, -1).Nodes(t.Context(), 0, "")
	require.ErrorIs(t, err, ErrUnreachable)
	for _, host := range f.hosts {
		assert.ErrorContains(t, err, host)
	}

	// Which servers answer is said of each, whichever was asked last.
	for _, answers := range [][]answer{{always(503, api.CodeNoLeader), nil}, {nil, always(503, api.CodeNoLeader)}} {
		f = newFleet(t, answers...)
		_, err = f.client(t, -1).Nodes(t.Context(), 0, "")
		for i, host := range f.hosts {
			want := map[bool]string{true: host + ": dial tcp", false: host + " answers, and reaches no leader"}[answers[i] == nil]
			assert.ErrorContains(t, err, want)
		}
	}

	f = newFleet(t, works)
	f.pool = x509.NewCertPool()
	_, err = f.client(t, time.Hour).Nodes(t.Context(), 0, "") // returns at once, or the test never ends
	require.ErrorIs(t, err, ErrUnreachable)
	assert.ErrorContains(t, err, "certificate")

	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	f = newFleet(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		cancel(enough)
		fails(w, 503, api.CodeNoLeader)
	})
	_, err = f.client(t, time.Hour).Nodes(ctx, 0, "")
	require.ErrorIs(t, err, enough)
}

func TestErrors(t *testing.T) {
	f := newFleet(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		switch n {
		case 0:
			w.WriteHeader(400)
			fmt.Fprint(w, `{"status":400,"code":"invalid","message":"the job cannot be accepted","problems":[{"field":"jobs[0].name","message":"is bad"}]}`)
		case 1:
			http.Error(w, "what is that", 404)
		case 2:
			http.Redirect(w, &http.Request{}, "https://elsewhere.example/", http.StatusTemporaryRedirect)
		default:
			fmt.Fprint(w, `{"jobs": 5}`)
		}
	})
	c := f.client(t, -1)
	var answered *api.Error
	_, err := c.Submit(t.Context(), api.SubmitRequest{})
	require.ErrorAs(t, err, &answered)
	assert.Equal(t, api.CodeInvalid, answered.Code)
	assert.Equal(t, []api.Problem{{Field: "jobs[0].name", Message: "is bad"}}, answered.Problems)

	_, err = c.Job(t.Context(), 1)
	require.ErrorAs(t, err, &answered)
	assert.Equal(t, api.CodeNotFound, answered.Code)
	assert.Equal(t, 404, answered.Status)
	assert.Contains(t, answered.Message, "what is that")

	_, err = c.Jobs(t.Context(), JobFilter{})
	require.ErrorAs(t, err, &answered)
	assert.Equal(t, 307, answered.Status, "a redirect is not followed: the token would go with it")

	_, err = c.Jobs(t.Context(), JobFilter{})
	assert.ErrorContains(t, err, "cannot be read")
}

// What goes over the wire, for every method.
func TestRequests(t *testing.T) {
	f := newFleet(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		assert.Equal(t, "Bearer secret", r.Header.Get("Authorization"))
		assert.Equal(t, "berth", r.Header.Get("User-Agent"))
		fmt.Fprint(w, `{}`)
	})
	c := f.client(t, -1)
	ctx := t.Context()
	for _, k := range []struct {
		want string
		call func() error
	}{
		{`POST /v1/jobs {"jobs":[{"name":"a<b"}],"key":"k"}`, func() error {
			_, err := c.Submit(ctx, api.SubmitRequest{Jobs: []job.Spec{{Name: "a<b"}}, Key: "k"})
			return err
		}},
		{`GET /v1/jobs?after=x&limit=5&owner=eve&state=PENDING%2CRUNNING`, func() error {
			_, err := c.Jobs(ctx, JobFilter{Owner: "eve", State: "PENDING,RUNNING", Limit: 5, After: "x"})
			return err
		}},
		{`GET /v1/jobs/17`, func() error { _, err := c.Job(ctx, 17); return err }},
		{`GET /v1/jobs/17/explain?element=3`, func() error { _, err := c.Explain(ctx, 17, 3); return err }},
		{`POST /v1/jobs/17/cancel {"elements":"1-5","signal":"INT"}`, func() error {
			_, err := c.Cancel(ctx, 17, api.Selection{Elements: "1-5", Signal: "INT"})
			return err
		}},
		{`GET /v1/jobs/17?element=0`, func() error { _, err := c.JobElement(ctx, 17, 0); return err }},
		{`POST /v1/jobs/17/hold {}`, func() error { _, err := c.Hold(ctx, 17, api.Selection{}); return err }},
		{`POST /v1/jobs/17/release {}`, func() error { _, err := c.Release(ctx, 17, api.Selection{}); return err }},
		{`POST /v1/jobs/17/requeue {}`, func() error { _, err := c.Requeue(ctx, 17, api.Selection{}); return err }},
		{`GET /v1/jobs/17/logs?attempt=2&element=3&follow=true&offset=-100&rank=1&stream=stderr`, func() error {
			r, err := c.Logs(ctx, 17, api.LogQuery{Element: 3, Attempt: 2, Rank: 1, Stream: api.Stderr, Offset: -100, Follow: true})
			if err != nil {
				return err
			}
			return r.Close()
		}},
		{`GET /v1/nodes?after=n&limit=2`, func() error { _, err := c.Nodes(ctx, 2, "n"); return err }},
		{`GET /v1/nodes/a%2Fb`, func() error { _, err := c.Node(ctx, "a/b"); return err }},
		{`POST /v1/nodes/n/drain {"reason":"disk"}`, func() error { return c.DrainNode(ctx, "n", api.Drain{Reason: "disk"}) }},
		{`POST /v1/nodes/n/resume`, func() error { return c.ResumeNode(ctx, "n") }},
		{`POST /v1/nodes/n/maintenance {"from":"1970-01-01T00:00:01Z","to":"1970-01-01T00:00:02Z"}`, func() error {
			return c.MaintainNode(ctx, "n", api.Maintenance{From: time.Unix(1, 0).UTC(), To: time.Unix(2, 0).UTC()})
		}},
		{`POST /v1/nodes/n/labels {"labels":{"a":"1"}}`, func() error { return c.LabelNode(ctx, "n", api.Labels{Labels: map[string]string{"a": "1"}}) }},
		{`DELETE /v1/nodes/n`, func() error { return c.RemoveNode(ctx, "n") }},
		{`GET /v1/queues`, func() error { _, err := c.Queues(ctx); return err }},
		{`PUT /v1/queues/q {"name":"q"}`, func() error { return c.SetQueue(ctx, api.Queue{Name: "q"}) }},
		{`DELETE /v1/queues/q`, func() error { return c.RemoveQueue(ctx, "q") }},
		{`GET /v1/accounts`, func() error { _, err := c.Accounts(ctx); return err }},
		{`PUT /v1/accounts/x {"name":"x"}`, func() error { return c.SetAccount(ctx, api.Account{Name: "x"}) }},
		{`DELETE /v1/accounts/x`, func() error { return c.RemoveAccount(ctx, "x") }},
		{`GET /v1/users`, func() error { _, err := c.Users(ctx); return err }},
		{`PUT /v1/users/x {"name":"x"}`, func() error { return c.SetUser(ctx, api.User{Name: "x"}) }},
		{`DELETE /v1/users/x`, func() error { return c.RemoveUser(ctx, "x") }},
		{`GET /v1/limits`, func() error { _, err := c.Limits(ctx); return err }},
		{`PUT /v1/limits/x {"name":"x"}`, func() error { return c.SetLimit(ctx, api.Limit{Name: "x"}) }},
		{`DELETE /v1/limits/x`, func() error { return c.RemoveLimit(ctx, "x") }},
		{`GET /v1/shares`, func() error { _, err := c.Shares(ctx); return err }},
		{`GET /v1/timeline`, func() error { _, err := c.Timeline(ctx); return err }},
		{`GET /v1/order?limit=7`, func() error { _, err := c.Order(ctx, 7); return err }},
		{`GET /v1/reservations`, func() error { _, err := c.Reservations(ctx); return err }},
		{`POST /v1/reservations {"name":"r","from":"1970-01-01T00:00:01Z","to":"1970-01-01T00:00:02Z"}`, func() error {
			_, err := c.AddReservation(ctx, api.Reservation{Name: "r", From: time.Unix(1, 0).UTC(), To: time.Unix(2, 0).UTC()})
			return err
		}},
		{`DELETE /v1/reservations/r`, func() error { return c.RemoveReservation(ctx, "r") }},
		{`GET /v1/usage?by=user`, func() error { _, err := c.Usage(ctx, "user", "", ""); return err }},
		{`GET /v1/records?since=1970-01-01T00%3A00%3A01Z`, func() error { _, err := c.Records(ctx, RecordFilter{Since: time.Unix(1, 0)}); return err }},
		{`GET /v1/self`, func() error { _, err := c.Self(ctx); return err }},
		{`POST /v1/tokens {"role":"user","name":"eve"}`, func() error {
			_, err := c.CreateToken(ctx, api.TokenRequest{Role: api.RoleUser, Name: "eve"})
			return err
		}},
		{`GET /v1/tokens`, func() error { _, err := c.Tokens(ctx); return err }},
		{`DELETE /v1/tokens/ab`, func() error { return c.RemoveToken(ctx, "ab") }},
		{`POST /v1/join-tokens {"role":"agent"}`, func() error {
			_, err := c.CreateJoinToken(ctx, api.JoinTokenRequest{Role: api.RoleAgent})
			return err
		}},
		{`GET /v1/revocations`, func() error { _, err := c.Revocations(ctx); return err }},
		{`POST /v1/revocations {"id":"user/eve"}`, func() error { _, err := c.Revoke(ctx, api.RevocationRequest{ID: "user/eve"}); return err }},
		{`POST /v1/join {"name":"n","csr":"x"}`, func() error { _, err := c.Join(ctx, api.JoinRequest{Name: "n", CSR: "x"}); return err }},
		{`GET /v1/server/status`, func() error { _, err := c.ServerStatus(ctx); return err }},
		{`GET /v1/server/members`, func() error { _, err := c.Members(ctx); return err }},
		{`POST /v1/server/members {"id":"s","address":"a"}`, func() error { return c.AddMember(ctx, api.MemberRequest{ID: "s", Address: "a"}) }},
		{`DELETE /v1/server/members/s`, func() error { return c.RemoveMember(ctx, "s") }},
		{`GET /v1/server/backup`, func() error {
			r, err := c.Backup(ctx)
			if err != nil {
				return err
			}
			return r.Close()
		}},
		{`POST /v1/server/restore backup`, func() error { return c.Restore(ctx, strings.NewReader("backup")) }},
		{`POST /v1/agent/report {"node":"n","tasks":null}`, func() error { _, err := c.Report(ctx, api.ReportRequest{Node: "n"}); return err }},
		{`POST /v1/agent/poll {"node":"n","boot":"b","term":3,"since":4}`, func() error {
			_, err := c.Poll(ctx, api.PollRequest{Node: "n", Boot: "b", Term: 3, Since: 4})
			return err
		}},
	} {
		f.asked = nil
		require.NoError(t, k.call(), k.want)
		assert.Equal(t, []string{"0 " + k.want}, f.asked)
	}
	_, err := c.Register(ctx, api.Registration{Node: "n"})
	require.NoError(t, err)
	assert.Contains(t, f.asked[len(f.asked)-1], "POST /v1/agent/register")
}

// A submission without a key gets one, the same each time it is repeated.
func TestSubmitKey(t *testing.T) {
	f := newFleet(t, hangsUp, works)
	_, err := f.client(t, time.Second).Submit(t.Context(), api.SubmitRequest{})
	require.NoError(t, err)
	require.Len(t, f.asked, 2)
	assert.Equal(t, f.asked[0][1:], f.asked[1][1:])
	assert.Regexp(t, `"key":"[A-Z2-7]{26}"`, f.asked[0])
}

// Followed events are taken up after the last one where a stream breaks off, and
// none is told twice.
func TestEvents(t *testing.T) {
	stream := func(w http.ResponseWriter, r *http.Request, n int) {
		next := map[string]string{"": "1.1", "1.1": "1.2", "1.2": "2.1", "2.1": "3.1"}[r.URL.Query().Get("after")]
		fmt.Fprintf(w, `{"id":%q,"kind":"submitted"}`+"\n", next)
		if n%2 == 0 {
			_ = http.NewResponseController(w).Flush() // on a test server it does not fail
			panic(http.ErrAbortHandler)
		}
	}
	f := newFleet(t, stream)
	enough := errors.New("enough")
	var ids []string
	err := f.client(t, time.Second).Events(t.Context(), EventFilter{Follow: true, Job: 17}, func(e api.Event) error {
		if ids = append(ids, e.ID); len(ids) == 4 {
			return enough
		}
		return nil
	})
	require.ErrorIs(t, err, enough)
	assert.Equal(t, []string{"1.1", "1.2", "2.1", "3.1"}, ids)
	assert.Equal(t, "0 GET /v1/events?after=1.1&follow=true&job=17", f.asked[1])

	ids = nil
	f = newFleet(t, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, `{"id":"1.1"}`+"\n"+`{"id":"1.2"}`) })
	require.NoError(t, f.client(t, -1).Events(t.Context(), EventFilter{}, func(e api.Event) error {
		ids = append(ids, e.ID)
		return nil
	}))
	assert.Equal(t, []string{"1.1", "1.2"}, ids)

	f = newFleet(t, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, `{"id":"1.1"}`+"\n"+`{"id`) })
	err = f.client(t, -1).Events(t.Context(), EventFilter{}, func(api.Event) error { return nil })
	assert.ErrorContains(t, err, "reading events")
}

func TestConfig(t *testing.T) {
	for _, c := range []struct{ server, want, err string }{
		{server: "s1", want: "https://s1:7070"},
		{server: "s1:80", want: "https://s1:80"},
		{server: "https://s1:80/", want: "https://s1:80"},
		{server: "[::1]", want: "https://[::1]:7070"},
		{server: "[::1]:80", want: "https://[::1]:80"},
		{server: "http://s1", err: "is not https"},
		{server: "https://s1/path", err: "is no address of a server"},
		{server: "https://u:p@s1", err: "is no address of a server"},
		{server: "", err: "is no address of a server"},
		{server: "a b", err: "is no address of a server"},
		{server: "s1:65535", want: "https://s1:65535"},
		{server: "s1:99999", err: "has a port that there is not"},
	} {
		got, err := New(Config{Servers: []string{c.server}, TLS: &tls.Config{}})
		if c.err != "" {
			assert.ErrorContains(t, err, c.err, c.server)
		} else if assert.NoError(t, err, c.server) {
			assert.Equal(t, c.want, got.servers[0].String())
		}
	}
	_, err := New(Config{TLS: &tls.Config{}})
	assert.ErrorContains(t, err, "Servers is empty")
	_, err = New(Config{Servers: []string{"s"}})
	assert.ErrorContains(t, err, "TLS is nil")
}

// Whatever a server answers, the client has an error or an answer.
func FuzzReadError(f *testing.F) {
	f.Add(404, []byte(`{"status":404,"code":"not_found","message":"no such job"}`), "5")
	f.Add(502, []byte("<html>"), "")
	f.Add(429, []byte(`{"message":5}`), "-1")
	f.Fuzz(func(t *testing.T, status int, body []byte, after string) {
		request := httptest.NewRequest("GET", "https://s1/v1/jobs", nil)
		err := readError(&http.Response{StatusCode: status, Request: request, Header: http.Header{"Retry-After": {after}},
			Body: io.NopCloser(strings.NewReader(string(body)))})
		var answered *api.Error
		require.ErrorAs(t, err, &answered)
		require.NotEmpty(t, err.Error())
		require.Equal(t, status, answered.Status)
	})
}
