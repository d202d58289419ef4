package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// garbage is what no route should be troubled by.
func garbage() map[string]string {
	return map[string]string{
		"nothing": "", "no JSON": "{", "text": "hello", "null": "null", "a list": "[]", "a number": "1e999", "a string": `"x"`,
		"two values": "{}{}", "an unknown field": `{"nobodyKnows":1}`, "NULs": "\x00\x00", "a NUL": `{"reason":"a\u0000b"}`,
		"invalid UTF-8":         "{\"reason\":\"\xff\xfe\"}",
		"deep lists":            strings.Repeat("[", 100_000),
		"deep objects":          strings.Repeat(`{"jobs":`, 50_000),
		"deep inside":           `{"jobs":[{"env":` + strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5000) + `}]}`,
		"wrong types":           `{"jobs":7,"elements":{},"role":[],"node":1,"name":false,"labels":"x","id":{},"csr":[]}`,
		"nulls":                 `{"jobs":[null,null],"elements":null,"labels":null,"tasks":[null],"machine":null,"expires":null}`,
		"too many jobs":         `{"jobs":[` + strings.TrimSuffix(strings.Repeat("{},", 100_000), ",") + `]}`,
		"too large":             `{"reason":"` + strings.Repeat("x", maxBody) + `"}`,
		"too large, and spaces": strings.Repeat(" ", maxBody) + `{}`,
		"large numbers":         `{"jobs":[{"command":["a"],"tasks":99999999999999999999}]}`,
		"negative":              `{"jobs":[{"command":["a"],"tasks":-1,"resources":{"cpu":"-1"},"timeLimit":"-1s"}]}`,
		"a large array":         `{"jobs":[{"command":["a"],"array":"0-9999999"}]}`,
		"many ranges":           `{"jobs":[{"command":["a"],"array":"` + strings.TrimSuffix(strings.Repeat("1,", 200_000), ",") + `"}]}`,
		"times":                 `{"from":"9999-12-31T23:59:59-23:59","to":"0000-01-01T00:00:00Z","expires":"x","deadline":"1"}`,
	}
}

// Whatever is sent to whichever route, it is refused or taken, and the server goes on.
func TestGarbage(t *testing.T) {
	t.Parallel()
	f := begun(t)
	f.agent("n1")
	people := map[pki.Role]*caller{
		pki.User: f.as(alice), pki.Operator: f.as(oscar), pki.Agent: f.as(nodeN1), pki.Server: f.as(self1),
	}
	try := func(c *caller, method, path, name, body string) {
		got := c.ask(method, path, body)
		if got.err != nil { // the body was not read to its end
			require.Contains(t, name, "too large", "%s %s: %v", method, path, got.err)
			return
		}
		require.Less(t, got.status, 500, "%s %s with %s: %s", method, path, name, got.body)
		if got.status >= 400 {
			var e api.Error
			require.NoError(t, json.Unmarshal(got.body, &e), "%s %s with %s: %s", method, path, name, got.body)
			require.Less(t, len(got.body), 64<<10, "errors are short: %s %s with %s", method, path, name)
		}
	}
	fill := strings.NewReplacer("{id}", "1", "{name}", "n1")
	for name, body := range garbage() {
		for i, rt := range f.server.routes() {
			method, path, _ := strings.Cut(rt.pattern, " ")
			if rt.pattern == "GET /v1/server/backup" {
				continue // it answers with one, whatever the body
			}
			if testing.Short() && len(body) > 64<<10 && i%4 > 0 {
				continue // all routes read bodies in the same way
			}
			try(people[rt.roles[len(rt.roles)-1]], method, fill.Replace(path), name, body)
		}
		try(f.with(nil), "POST", "/v1/join", name, body)
		try(people[pki.User], "POST", "/v1/join", name, body)
	}
	people[pki.User].submit(sleeper())
	require.NotContains(t, f.logged.String(), "panic")
}

// The query of a request is checked, too.
func TestQueries(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a := f.as(alice)
	id := f.agent("n1").ran(a)
	wrong := []string{"-1", "x", "1e3", "0x1", "99999999999999999999", "%00", "%ff", "1%2C2", "%0d%0aX-Evil:%201"}
	for path, fields := range map[string][]string{
		"/v1/jobs":              {"limit", "after", "state"},
		jobPath(id, ""):         {"element"},
		"/v1/nodes":             {"limit"},
		"/v1/records":           {"limit", "after", "since"},
		"/v1/usage":             {"by"},
		"/v1/events":            {"job"},
		jobPath(id, "/logs"):    {"element", "attempt", "rank", "stream"},
		jobPath(id, "/explain"): {"element"},
	} {
		for _, field := range fields {
			for _, value := range wrong {
				got := a.ask("GET", path+"?"+field+"="+value, nil)
				require.NoError(t, got.err)
				require.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, got.status, "%s %s=%s: %s", path, field, value, got.body)
				require.Empty(t, got.header.Get("X-Evil"))
			}
		}
	}
	a.refused(http.StatusBadRequest, "GET", "/v1/jobs?limit=1001", nil)
	a.refused(http.StatusBadRequest, "GET", "/v1/usage?by=job&after=-1", nil)
	a.refused(http.StatusNotFound, "GET", jobPath(id, "/logs?element=1"), nil)
	a.refused(http.StatusBadRequest, "GET", jobPath(id, "/logs?rank=1"), nil)
	a.refused(http.StatusNotFound, "GET", jobPath(id, "/logs?attempt=2"), nil)
	a.must("GET", "/v1/jobs?state=,&name=%ff&queue=..%2f..&owner=%0d%0a", nil, nil)
}

// Names and numbers in paths lead nowhere else, and into no header.
func TestPaths(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, op := f.as(alice), f.as(oscar)
	f.agent("n1")
	for _, id := range []string{
		"0", "-1", "1.0", "+1", "1e1", "18446744073709551615", "18446744073709551616", "%00", "..%2f1", "1%2f..%2f2", "x", "%ff", "1%00", "%0d%0a",
	} {
		got := a.ask("GET", "/v1/jobs/"+id, nil)
		require.NoError(t, got.err)
		require.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, got.status, id)
	}
	for _, name := range []string{"..", "%2e%2e", "..%2fn1", "n1%00", "n1%2f", "N1", "%0d%0aX-Evil:1", "%ff", strings.Repeat("n", 10_000)} {
		for _, r := range [][2]string{{"GET", "/v1/nodes/"}, {"DELETE", "/v1/nodes/"}, {"DELETE", "/v1/tokens/"}, {"DELETE", "/v1/queues/"}, {"DELETE", "/v1/server/members/"}} {
			got := op.ask(r[0], r[1]+name, nil)
			require.NoError(t, got.err)
			require.NotContains(t, []int{200, 204}, got.status, "%s %s%s", r[0], r[1], name)
			require.Less(t, got.status, 500, "%s %s%s: %s", r[0], r[1], name, got.body)
			require.Empty(t, got.header.Get("X-Evil"))
		}
		got := op.ask("PUT", "/v1/queues/"+name, aQueue)
		require.NotEqual(t, 204, got.status)
	}
	for _, stream := range []string{"..%2f..%2fserver.pem", "stdout%00", "STDOUT", "report.json", "shim.log"} {
		id := a.submit(sleeper())[0]
		got := a.ask("GET", jobPath(id, "/logs?stream="+stream), nil)
		require.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, got.status)
	}
	op.must("GET", "/v1/nodes/n1", nil, nil)
}

// Pages are as large as asked for, up to a limit, and together have everything once.
func TestPagesOfJobs(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a := f.as(alice)
	specs := make([]job.Spec, 25)
	for i := range specs {
		specs[i] = sleeper()
	}
	ids := a.submit(specs...)
	f.as(bob).submit(specs...)
	for _, limit := range []int{1, 7, 25, 1000} {
		seen, after := map[job.ID]bool{}, ""
		for {
			var page api.JobList
			a.must("GET", fmt.Sprintf("/v1/jobs?limit=%d&after=%s", limit, after), nil, &page)
			require.LessOrEqual(t, len(page.Jobs), limit)
			for _, j := range page.Jobs {
				require.False(t, seen[j.ID], "twice")
				seen[j.ID] = true
			}
			if after = page.After; after == "" {
				break
			}
		}
		require.Len(t, seen, len(ids))
	}
}

// One user who asks too often is held back, and nobody else is.
func TestRate(t *testing.T) {
	t.Parallel()
	f := begun(t, func(c *Config) { c.Limits = Limits{Rate: 0.001, Burst: 20} })
	a := f.as(alice)
	token := f.bearing(f.token(api.TokenRequest{Role: api.RoleUser, Name: "alice"}).Token)
	for i := range 20 {
		[]*caller{a, token}[i%2].must("GET", "/v1/self", nil, nil) // she is one, however she comes
	}
	for _, c := range []*caller{a, token} {
		got := c.ask("GET", "/v1/self", nil)
		require.Equal(t, http.StatusTooManyRequests, got.status)
		require.NotEmpty(t, got.header.Get("Retry-After"))
	}
	a.refused(http.StatusTooManyRequests, "POST", "/v1/join", "{}")
	for _, c := range []*caller{f.as(bob), f.as(oscar)} {
		c.must("GET", "/v1/self", nil, nil)
	}
	a.refused(http.StatusForbidden, "GET", "/v1/tokens", nil) // what she may not do is not counted
}

// What makes much work counts for more.
func TestRateOfWork(t *testing.T) {
	t.Parallel()
	f := begun(t, func(c *Config) { c.Limits = Limits{Rate: 0.001, Burst: 20} })
	a := f.as(alice)
	id := a.submit(job.Spec{Command: []string{"x"}, Array: indexes(t, "0-99999"), Hold: true})[0]
	a.must("POST", jobPath(id, "/requeue"), nil, nil)
	got := a.ask("POST", jobPath(id, "/requeue"), nil)
	require.Equal(t, http.StatusTooManyRequests, got.status)
	specs := slices.Repeat([]job.Spec{sleeper()}, 150)
	b := f.as(bob)
	b.submit(specs...)
	got = b.ask("POST", "/v1/jobs", api.SubmitRequest{Jobs: specs})
	require.Equal(t, http.StatusTooManyRequests, got.status)
	for range 3 {
		f.as(oscar).submit(specs...)
	}
}

// The books of limits do not grow with the users who ever were.
func TestLimitsForget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(Limits{Rate: 1, Burst: 1, Streams: 10})
		for i := range 1000 {
			l.allow(pki.Identity{Role: pki.User, Name: fmt.Sprint(i)}, 1)
		}
		require.Len(t, l.users, 1000)
		time.Sleep(2 * forgetAfter)
		l.allow(alice, 1)
		l.allow(alice, 1)
		require.Len(t, l.users, 1)
	})
}

// Streams are limited, for each user to a tenth, and given back.
func TestStreams(t *testing.T) {
	t.Parallel()
	f := begun(t, func(c *Config) { c.Limits.Streams = 20 })
	a := f.as(alice)
	open := func(c *caller) (status int, end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "GET", "https://"+c.address+"/v1/events?follow=true", nil)
		require.NoError(t, err)
		got, err := c.http.Do(r) //nolint:bodyclose // It is closed at the end of the stream.
		require.NoError(t, err)
		return got.StatusCode, func() {
			cancel()
			got.Body.Close()
		}
	}
	var ends []func()
	for range 2 {
		status, end := open(a)
		require.Equal(t, 200, status)
		ends = append(ends, end)
	}
	status, end := open(a)
	require.Equal(t, http.StatusTooManyRequests, status)
	end()
	status, end = open(f.as(bob))
	require.Equal(t, 200, status)
	ends = append(ends, end)
	for range 17 {
		status, end := open(f.as(oscar))
		require.Equal(t, 200, status)
		ends = append(ends, end)
	}
	status, end = open(f.as(oscar))
	require.Equal(t, http.StatusTooManyRequests, status)
	end()
	for _, end := range ends {
		end()
	}
	eventually(t, func() bool {
		f.server.limits.mu.Lock()
		defer f.server.limits.mu.Unlock()
		return f.server.limits.all == 0 && len(f.server.limits.open) == 0
	})
}

// A stream of events goes on where it was left, and says what is missing.
func TestEvents(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a := f.as(alice)
	a.submit(sleeper(), sleeper(), sleeper())
	read := func(query string) (events []api.Event) {
		got := a.ask("GET", "/v1/events"+query, nil)
		require.Equal(t, 200, got.status)
		for lines := bufio.NewScanner(bytes.NewReader(got.body)); lines.Scan(); {
			var e api.Event
			require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
			events = append(events, e)
		}
		return events
	}
	all := read("")
	require.Len(t, all, 3)
	require.Equal(t, all[1:], read("?after="+all[0].ID))
	require.Empty(t, read("?after="+all[2].ID))
	for _, id := range []string{"x", "-1.0", "1.-1", "%00", "99999999999999999999999.1", ".", "1.99999999999999999999999999"} {
		refused := a.refused(http.StatusBadRequest, "GET", "/v1/events?after="+id, nil)
		require.Len(t, refused.Problems, 1, id)
		require.Equal(t, "after", refused.Problems[0].Field, id)
	}
}

// A body that does not come is not waited for, whoever sends it.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	const short = 200 * time.Millisecond
	f := begun(t, func(c *Config) { c.Limits.Body = short })
	for name, c := range map[string]*caller{"a user": f.as(alice), "nobody": f.with(nil)} {
		for _, path := range []string{"/v1/jobs", "/v1/tokens", "/v1/join", "/v1/nodes/n1/resume", "/nothing"} {
			for _, one := range []bool{true, false} {
				c.http.Transport.(*http.Transport).ForceAttemptHTTP2 = !one
				in, out := io.Pipe()
				go func() { _, _ = io.WriteString(out, "{") }()
				r, err := http.NewRequestWithContext(t.Context(), "POST", "https://"+c.address+path, in)
				require.NoError(t, err)
				got, err := c.http.Do(r) // which waits for ever, without the limit
				if err == nil {
					require.GreaterOrEqual(t, got.StatusCode, 400, "%s %s", name, path)
					got.Body.Close()
				}
				in.Close()
			}
		}
	}
	// What takes longer than a body may is not ended by it.
	for _, two := range []bool{true, false} {
		a := f.agent("n1")
		a.http.Transport.(*http.Transport).ForceAttemptHTTP2 = two
		a.must("POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: "1"}, &a.seen)
		began := time.Now()
		got := a.ask("POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: "1", Since: a.seen.Index})
		require.Equal(t, 200, got.status, "%s", got.body)
		require.Greater(t, time.Since(began), short, "it waits for the next heartbeat")
	}
}

// The same key is one submission, however many send it at once.
func TestSubmitOnce(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a := f.as(alice)
	in := api.SubmitRequest{Key: "k", Jobs: []job.Spec{sleeper(), sleeper()}}
	answers := make([]api.SubmitResponse, 50)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			got := a.ask("POST", "/v1/jobs", in)
			if got.err != nil || got.status != 200 || json.Unmarshal(got.body, &answers[i]) != nil {
				t.Errorf("%v %d %s", got.err, got.status, got.body)
			}
		})
	}
	all.Wait()
	first := 0
	for _, r := range answers {
		require.Equal(t, answers[0].Jobs, r.Jobs)
		if !r.Repeated {
			first++
		}
	}
	require.Equal(t, 1, first)
	var list api.JobList
	a.must("GET", "/v1/jobs", nil, &list)
	require.Len(t, list.Jobs, 2)
	// The key is hers alone.
	var other api.SubmitResponse
	f.as(bob).must("POST", "/v1/jobs", in, &other)
	require.False(t, other.Repeated)
	require.NotEqual(t, answers[0].Jobs, other.Jobs)
}

// What a job's file says of its environment is for the job alone, and may not be taken
// for what Berth says. That a program is preloaded is the user's own affair: it is run
// as her.
func TestEnvironmentOfJobs(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a := f.as(alice)
	for _, name := range []string{"BERTH_JOB_ID", "BERTH_", "A=B", "", "A B", "1A", "A\x00", "A\n", strings.Repeat("A", 300)} {
		e := a.refused(http.StatusBadRequest, "POST", "/v1/jobs",
			api.SubmitRequest{Jobs: []job.Spec{{Command: []string{"a"}, Env: map[string]string{name: "x"}}}})
		require.Contains(t, e.Problems[0].Field, "jobs[0].env")
	}
	a.refused(http.StatusBadRequest, "POST", "/v1/jobs",
		api.SubmitRequest{Jobs: []job.Spec{{Command: []string{"a"}, Env: map[string]string{"A": "x\x00y"}}}})
	secret := "hunter2-hunter2"
	f.secret(secret)
	node := f.agent("n1")
	id := a.submit(job.Spec{Command: []string{"a"}, Env: map[string]string{"LD_PRELOAD": "/tmp/x.so", "PASSWORD": secret}})[0]
	o := node.order(id)
	require.Equal(t, secret, o.Run.Spec.Env["PASSWORD"])
	require.NotContains(t, string(f.as(bob).ask("GET", "/v1/events", nil).body), secret)
}
