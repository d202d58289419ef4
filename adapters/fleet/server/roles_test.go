package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// action is a row of the table of who may do what: a request, and the status that each
// gets, in the order of callers. In the path and the body, "{job}" is a job of alice
// that is held, "{node}" the node n1.
type action struct {
	route  string // as in routes.go
	path   string // empty: the route's
	body   string
	expect string
}

// callers are who asks, in the order of action.expect.
var callers = []string{"nobody", "alice", "bob", "operator", "agent n1", "agent n2", "server"}

const (
	aJob   = `{"jobs":[{"command":["true"],"hold":true}]}`
	aQueue = `{"name":"night"}`
	aLimit = `{"name":"m","user":"ann","running":3}`

	aReservation = `{"name":"course","nodes":["n9"],"from":"2100-01-01T00:00:00Z","to":"2100-01-02T00:00:00Z"}`
)

var actions = []action{
	//                                                                     nob alice bob oper n1  n2  server
	{"POST /v1/jobs", "", aJob /*                                      */, "401 200 200 200 403 403 403"},
	{"GET /v1/jobs", "", "" /*                                         */, "401 200 200 200 403 403 403"},
	{"GET /v1/jobs/{id}", "/v1/jobs/{job}", "" /*                      */, "401 200 404 200 403 403 403"},
	{"GET /v1/jobs/{id}/explain", "/v1/jobs/{job}/explain", "" /*      */, "401 200 404 200 403 403 403"},
	{"GET /v1/jobs/{id}/logs", "/v1/jobs/{job}/logs", "" /*            */, "401 404 404 404 403 403 403"}, // it has not run
	{"POST /v1/jobs/{id}/cancel", "/v1/jobs/{job}/cancel", "{}" /*     */, "401 200 404 200 403 403 403"},
	{"POST /v1/jobs/{id}/hold", "/v1/jobs/{job}/hold", "{}" /*         */, "401 200 404 200 403 403 403"},
	{"POST /v1/jobs/{id}/release", "/v1/jobs/{job}/release", "{}" /*   */, "401 200 404 200 403 403 403"},
	{"POST /v1/jobs/{id}/requeue", "/v1/jobs/{job}/requeue", "{}" /*   */, "401 200 404 200 403 403 403"},

	{"GET /v1/nodes", "", "" /*                                        */, "401 200 200 200 403 403 403"},
	{"GET /v1/nodes/{name}", "/v1/nodes/{node}", "" /*                 */, "401 200 200 200 403 403 403"},
	{"POST /v1/nodes/{name}/drain", "/v1/nodes/{node}/drain", "{}" /*  */, "401 403 403 204 403 403 403"},
	{"POST /v1/nodes/{name}/resume", "/v1/nodes/{node}/resume", "" /*  */, "401 403 403 204 403 403 403"},
	{"POST /v1/nodes/{name}/maintenance", "/v1/nodes/{node}/maintenance", "{}", "401 403 403 204 403 403 403"},
	{"POST /v1/nodes/{name}/labels", "/v1/nodes/{node}/labels", `{"labels":{"a":"b"}}`, "401 403 403 204 403 403 403"},
	{"DELETE /v1/nodes/{name}", "/v1/nodes/{node}", "" /*              */, "401 403 403 204 403 403 403"},

	{"GET /v1/queues", "", "" /*                                       */, "401 200 200 200 403 403 403"},
	{"PUT /v1/queues/{name}", "/v1/queues/night", aQueue /*            */, "401 403 403 204 403 403 403"},
	{"DELETE /v1/queues/{name}", "/v1/queues/none", "" /*              */, "401 403 403 404 403 403 403"},

	{"GET /v1/accounts", "", "" /*                                     */, "401 200 200 200 403 403 403"},
	{"PUT /v1/accounts/{name}", "/v1/accounts/uni", `{"name":"uni"}`, "401 403 403 204 403 403 403"},
	{"DELETE /v1/accounts/{name}", "/v1/accounts/none", "" /*          */, "401 403 403 404 403 403 403"},
	{"GET /v1/users", "", "" /*                                        */, "401 200 200 200 403 403 403"},
	{"PUT /v1/users/{name}", "/v1/users/ann", `{"name":"ann"}` /*      */, "401 403 403 204 403 403 403"},
	{"DELETE /v1/users/{name}", "/v1/users/none", "" /*                */, "401 403 403 404 403 403 403"},
	{"GET /v1/limits", "", "" /*                                       */, "401 200 200 200 403 403 403"},
	{"PUT /v1/limits/{name}", "/v1/limits/m", aLimit /*                */, "401 403 403 204 403 403 403"},
	{"DELETE /v1/limits/{name}", "/v1/limits/none", "" /*              */, "401 403 403 404 403 403 403"},

	{"GET /v1/shares", "", "" /*                                       */, "401 200 200 200 403 403 403"},
	{"GET /v1/timeline", "", "" /*                                     */, "401 200 200 200 403 403 403"},
	{"GET /v1/order", "", "" /*                                        */, "401 200 200 200 403 403 403"},

	{"GET /v1/reservations", "", "" /*                                 */, "401 200 200 200 403 403 403"},
	{"POST /v1/reservations", "", aReservation /*                      */, "401 403 403 200 403 403 403"},
	{"DELETE /v1/reservations/{name}", "/v1/reservations/none", "" /*  */, "401 403 403 404 403 403 403"},

	{"GET /v1/events", "", "" /*                                       */, "401 200 200 200 403 403 403"},
	{"GET /v1/usage", "", "" /*                                        */, "401 200 200 200 403 403 403"},
	{"GET /v1/records", "", "" /*                                      */, "401 200 200 200 403 403 403"},

	{"GET /v1/self", "", "" /*                                         */, "401 200 200 200 403 403 200"},
	{"GET /v1/tokens", "", "" /*                                       */, "401 403 403 200 403 403 403"},
	{"POST /v1/tokens", "", `{"role":"user","name":"carl"}` /*         */, "401 403 403 200 403 403 403"},
	{"DELETE /v1/tokens/{id}", "/v1/tokens/none", "" /*                */, "401 403 403 404 403 403 403"},
	{"POST /v1/join-tokens", "", `{"role":"agent"}` /*                 */, "401 403 403 200 403 403 403"},
	{"GET /v1/revocations", "", "" /*                                  */, "401 403 403 200 403 403 403"},
	{"POST /v1/revocations", "", `{"id":"user/carl"}` /*               */, "401 403 403 200 403 403 403"},

	{"GET /v1/server/status", "", "" /*                                */, "401 200 200 200 403 403 200"},
	{"GET /v1/server/members", "", "" /*                               */, "401 403 403 200 403 403 403"},
	{"POST /v1/server/members", "", `{"id":"s2","address":"127.0.0.1:1"}`, "401 403 403 403 403 403 403"}, // s1 for s2
	{"DELETE /v1/server/members/{id}", "/v1/server/members/none", "" /**/, "401 403 403 404 403 403 403"},
	{"GET /v1/server/backup", "", "" /*                                */, "401 403 403 200 403 403 403"},
	{"POST /v1/server/restore", "", "no backup" /*                     */, "401 403 403 400 403 403 403"},

	{"POST /v1/agent/register", "", `{"node":"n1","boot":"1","address":"127.0.0.1:1"}`, "401 403 403 403 200 403 403"},
	{"POST /v1/agent/poll", "", `{"node":"n1","boot":"another life"}`, "401 403 403 403 200 403 403"},
	{"POST /v1/agent/report", "", `{"node":"n1"}` /*                   */, "401 403 403 403 200 403 403"},

	// What the server answers besides the table of routes. To join, a token is needed, or
	// a certificate, which is renewed then: with a request for one, which this has not.
	{"POST /v1/join", "", `{"name":"n1"}` /*                           */, "401 400 400 400 400 403 400"},
	{"GET /v1/openapi.yaml", "", "" /*                                 */, "200 200 200 200 200 200 200"},
	{"GET /metrics", "", "" /*                                         */, "200 200 200 200 200 200 200"},
	{"GET /healthz", "", "" /*                                         */, "200 200 200 200 200 200 200"},
	{"GET /readyz", "", "" /*                                          */, "200 200 200 200 200 200 200"},
}

// Every route has a row, and every row is right for everybody.
func TestRoles(t *testing.T) {
	t.Parallel()
	f := begun(t)
	var rows, routes []string
	for _, a := range actions {
		rows = append(rows, a.route)
	}
	for _, rt := range f.server.routes() {
		routes = append(routes, rt.pattern)
	}
	require.ElementsMatch(t, append(routes, outside...), rows, "each route needs its row here")

	everybody := []*caller{
		f.with(nil), f.as(alice), f.as(bob), f.as(oscar), f.as(nodeN1), f.as(nodeN2), f.as(self1),
	}
	for _, a := range actions {
		for i, want := range strings.Fields(a.expect) {
			got := everybody[i].ask(a.request(f))
			require.NoError(t, got.err)
			require.Equal(t, want, fmt.Sprint(got.status), "%s by %s: %s", a.route, callers[i], got.body)
		}
	}
}

// request is the row's, with a job and a node that were made for it.
func (a *action) request(f *fleet) (method, path string, body any) {
	method, path, _ = strings.Cut(a.route, " ")
	if a.path != "" {
		path = a.path
	}
	if strings.Contains(path, "{job}") {
		path = strings.ReplaceAll(path, "{job}", f.as(alice).submit(sleeper())[0].String())
	}
	f.agent("n1") // it may have been removed
	path = strings.ReplaceAll(path, "{node}", "n1")
	if a.body == "" {
		return method, path, nil
	}
	return method, path, a.body
}

// What is no route is not there for anybody, and other methods are not allowed.
func TestNoRoute(t *testing.T) {
	t.Parallel()
	f := begun(t)
	for _, r := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/v1/nothing", http.StatusNotFound},
		{"GET", "/v1/", http.StatusNotFound},
		{"TRACE", "/v1/jobs", http.StatusNotFound},
		{"PUT", "/v1/tokens", http.StatusNotFound},
		{"GET", "/debug/pprof/", http.StatusNotFound},
	} {
		for _, c := range []*caller{f.with(nil), f.as(oscar)} {
			got := c.ask(r.method, r.path, nil)
			require.NoError(t, got.err)
			require.Contains(t, []int{r.status, http.StatusMethodNotAllowed}, got.status, "%s %s", r.method, r.path)
		}
	}
}

// A user sees and changes what is hers, and hears nothing of what is others'.
func TestOwnership(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, b, op := f.as(alice), f.as(bob), f.as(oscar)
	node := f.agent("n1")
	ended := node.ran(a)
	waits := a.submit(job.Spec{Name: "secret plans", Command: []string{"sleep", "1"}, Hold: true})[0]
	own := b.submit(sleeper())[0]

	for _, id := range []job.ID{ended, waits} {
		for _, rest := range []string{"", "/explain", "/logs", "/logs?attempt=1"} {
			e := b.refused(http.StatusNotFound, "GET", jobPath(id, rest), nil)
			missing := b.refused(http.StatusNotFound, "GET", jobPath(9999, rest), nil)
			require.Equal(t, strings.ReplaceAll(missing.Message, "9999", id.String()), e.Message, "it must not say that the job exists")
		}
		for _, act := range []string{"cancel", "hold", "release", "requeue"} {
			b.refused(http.StatusNotFound, "POST", jobPath(id, "/"+act), nil)
		}
	}
	var list api.JobList
	for _, query := range []string{"", "?owner=alice", "?name=secret+plans", "?owner=alice&limit=1000", "?after=9999"} {
		b.must("GET", "/v1/jobs"+query, nil, &list)
		for _, j := range list.Jobs {
			require.Equal(t, own, j.ID)
		}
	}
	op.must("GET", "/v1/jobs?owner=alice", nil, &list)
	require.Len(t, list.Jobs, 2)

	var records api.RecordList
	b.must("GET", "/v1/records", nil, &records)
	require.Empty(t, records.Records)
	b.must("GET", "/v1/records?owner=alice", nil, &records)
	require.Empty(t, records.Records)
	a.must("GET", "/v1/records", nil, &records)
	require.Len(t, records.Records, 1)

	var usage api.UsageList
	b.refused(http.StatusForbidden, "GET", "/v1/usage?owner=alice", nil)
	b.refused(http.StatusForbidden, "GET", "/v1/usage?owner=alice&by=job", nil)
	for _, query := range []string{"", "?by=user", "?by=job"} {
		b.must("GET", "/v1/usage"+query, nil, &usage)
		require.Empty(t, usage.Rows, query)
		a.must("GET", "/v1/usage"+query, nil, &usage)
		require.Len(t, usage.Rows, 1, query)
	}

	for _, query := range []string{"", fmt.Sprintf("?job=%d", waits)} {
		require.NotContains(t, string(b.ask("GET", "/v1/events"+query, nil).body), "alice")
		require.Contains(t, string(a.ask("GET", "/v1/events"+query, nil).body), "alice")
	}
	events := string(a.ask("GET", "/v1/events", nil).body)
	require.NotContains(t, events, "bob")
	require.Contains(t, events, `"kind":"node"`, "nodes are everybody's")
}

// A user cannot have jobs run as somebody else, or go before others.
func TestUserMayNot(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, op := f.as(alice), f.as(oscar)
	op.must("PUT", "/v1/queues/night", api.Queue{Name: "night", Users: []string{"bob"}, MaxQueued: 2}, nil)
	op.refused(http.StatusBadRequest, "PUT", "/v1/queues/night", api.Queue{Name: "night", MaxQueued: -2})
	for field, body := range map[string]string{
		"jobs[0].user":     `{"jobs":[{"command":["id"],"user":"bob"}]}`,
		"jobs[0].priority": `{"jobs":[{"command":["id"],"priority":1}]}`,
	} {
		e := a.refused(http.StatusBadRequest, "POST", "/v1/jobs", body)
		require.Equal(t, field, e.Problems[0].Field)
	}
	e := a.refused(http.StatusBadRequest, "POST", "/v1/jobs", `{"jobs":[
		{"command":["id"],"user":"bob","queue":"nosuch","reservation":"none","after":[{"kind":"afterok","job":"99"}]},
		{"command":["id"],"priority":1}]}`)
	var fields []string
	for _, p := range e.Problems {
		fields = append(fields, p.Field)
	}
	require.Equal(t, []string{"jobs[0].after[0].job", "jobs[0].reservation", "jobs[0].user", "jobs[0].queue", "jobs[1].priority"}, fields)

	a.must("POST", "/v1/jobs", `{"jobs":[{"command":["id"],"user":"alice"}]}`, nil)
	a.refused(http.StatusForbidden, "POST", "/v1/jobs", `{"jobs":[{"command":["id"],"queue":"night"}]}`)
	b := f.as(bob)
	b.refused(http.StatusConflict, "POST", "/v1/jobs",
		`{"jobs":[{"command":["a"],"queue":"night"},{"command":["b"],"queue":"night"},{"command":["c"],"queue":"night"}]}`)
	b.must("POST", "/v1/jobs", `{"jobs":[{"command":["a"],"queue":"night"},{"command":["b"],"queue":"night"}]}`, nil)
	b.refused(http.StatusConflict, "POST", "/v1/jobs", `{"jobs":[{"command":["a"],"queue":"night"}]}`)
}

// What an operator holds stays held, whatever its user tries.
func TestOperatorsHold(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, op := f.as(alice), f.as(oscar)
	held := func(id job.ID) job.Reason {
		var j api.Job
		a.must("GET", jobPath(id, ""), nil, &j)
		return j.Reason
	}
	id := a.submit(job.Spec{Command: []string{"true"}})[0]
	op.must("POST", jobPath(id, "/hold"), nil, nil)
	a.refused(http.StatusForbidden, "POST", jobPath(id, "/release"), nil)
	a.must("POST", jobPath(id, "/hold"), nil, nil) // does not make it hers
	a.refused(http.StatusForbidden, "POST", jobPath(id, "/release"), nil)
	a.must("POST", jobPath(id, "/requeue"), nil, nil)
	require.Equal(t, job.ReasonHeldAdmin, held(id))
	op.must("POST", jobPath(id, "/release"), nil, nil)
	require.NotEqual(t, job.ReasonHeldAdmin, held(id))

	var n api.Affected
	array := a.submit(job.Spec{Command: []string{"true"}, Array: indexes(t, "0-9"), Begin: time.Now().Add(time.Hour)})[0]
	op.must("POST", jobPath(array, "/hold"), `{"elements":"0-4"}`, &n)
	require.EqualValues(t, 5, n.Elements)
	a.must("POST", jobPath(array, "/hold"), `{"elements":"5"}`, &n)
	require.EqualValues(t, 1, n.Elements)
	a.must("POST", jobPath(array, "/release"), `{"elements":"0-9"}`, &n)
	require.EqualValues(t, 1, n.Elements, "hers alone")
	a.must("POST", jobPath(array, "/release"), nil, &n)
	require.Zero(t, n.Elements)
	op.must("POST", jobPath(array, "/release"), nil, &n)
	require.EqualValues(t, 5, n.Elements)
}

func indexes(t *testing.T, text string) job.Array {
	x, err := job.ParseArray(text)
	require.NoError(t, err)
	return x
}

// An agent speaks for its own node, and of tasks that were placed there.
func TestAgentsSpeakForThemselves(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a := f.as(alice)
	n1 := f.agent("n1")
	id := a.submit(job.Spec{Command: []string{"true"}})[0]
	o := n1.order(id)
	n2 := f.agent("n2")
	r := api.Report{Task: o.Task, State: job.Completed, At: time.Now()}
	n2.refused(http.StatusForbidden, "POST", "/v1/agent/report", api.ReportRequest{Node: "n1", Tasks: []api.Report{r}})
	n2.must("POST", "/v1/agent/report", api.ReportRequest{Node: "n2", Tasks: []api.Report{r}}, nil) // is not heard
	var j api.Job
	a.must("GET", jobPath(id, ""), nil, &j)
	require.Equal(t, job.Starting, j.State)

	for _, bad := range []api.Report{
		{Task: o.Task, State: "FLYING"}, {Task: o.Task, State: job.Pending}, {Task: o.Task, State: job.Starting}, {Task: o.Task},
		{Task: o.Task, State: job.Failed, Usage: api.Usage{CPUSeconds: -1}},
		{Task: o.Task, State: job.Failed, Exit: &api.Exit{Signal: strings.Repeat("KILL", 1000)}},
	} {
		n1.refused(http.StatusBadRequest, "POST", "/v1/agent/report", api.ReportRequest{Node: "n1", Tasks: []api.Report{bad}})
	}
	r.State, r.Message = job.Failed, strings.Repeat("é", 100_000)
	r.Usage.CPUSeconds = 1e300
	n1.must("POST", "/v1/agent/report", api.ReportRequest{Node: "n1", Tasks: []api.Report{r}}, nil)
	var detail api.JobDetail
	a.must("GET", jobPath(id, ""), nil, &detail)
	require.Equal(t, job.Failed, detail.State)
	require.Less(t, len(detail.Attempts[0].Message), 2*api.MaxMessage, "long messages are cut")
	require.Positive(t, detail.Usage.CPUSeconds)

	for _, bad := range []string{
		`{"node":"n1","boot":"1","address":"nowhere"}`,
		`{"node":"n1","boot":"1","address":"a:1","machine":{"cpu":"-1"}}`,
		`{"node":"n1","boot":"1","address":"a:1","machine":{"labels":{"a b":"c"}}}`,
	} {
		n1.refused(http.StatusBadRequest, "POST", "/v1/agent/register", bad)
	}
}

// Whoever a request is on behalf of, only a server is believed.
func TestOnBehalf(t *testing.T) {
	t.Parallel()
	f := begun(t)
	var me api.Self
	for _, who := range []pki.Identity{alice, oscar} {
		c := f.as(who)
		for _, claim := range []string{handed(f.as(oscar)), handed(f.as(self1)), "operator/admin", "", "/"} {
			c.headers = map[string]string{onBehalf: claim}
			c.must("GET", "/v1/self", nil, &me)
			require.Equal(t, who, pki.Identity{Role: pki.Role(me.Role), Name: me.Name}, claim)
		}
	}
	n := f.as(nodeN1)
	n.headers = map[string]string{onBehalf: handed(f.as(oscar))}
	n.refused(http.StatusForbidden, "GET", "/v1/tokens", nil)
	nobody := f.with(nil)
	nobody.headers = n.headers
	nobody.refused(http.StatusUnauthorized, "GET", "/v1/tokens", nil)
	made := f.token(api.TokenRequest{Role: api.RoleUser, Name: "alice"})
	token := f.bearing(made.Token)
	token.headers = nobody.headers
	token.refused(http.StatusForbidden, "GET", "/v1/tokens", nil)

	s := f.as(self1)
	hash, err := pki.HashBearer(made.Token)
	require.NoError(t, err)
	cert := handed(f.as(alice))
	for _, claim := range []string{
		"operator/admin", "bearer", "bearer ", "bearer " + made.Token, "bearer " + hash.String()[:62], "join " + hash.String(), "Bearer " + hash.String(),
		"certificate", "certificate ", "certificate AAAA", cert + "=", strings.Replace(cert, "certificate", "bearer", 1), handed(f.as(alice))[:200],
	} {
		s.headers = map[string]string{onBehalf: claim}
		s.refused(http.StatusUnauthorized, "GET", "/v1/self", nil)
	}
	for _, claim := range []string{cert, "bearer " + hash.String()} {
		s.headers = map[string]string{onBehalf: claim}
		s.must("GET", "/v1/self", nil, &me)
		require.Equal(t, api.Self{Role: api.RoleUser, Name: "alice"}, me)
		s.refused(http.StatusForbidden, "GET", "/v1/tokens", nil)
	}
}

// handed is what a server hands on of a caller's certificate.
func handed(c *caller) string {
	return (&credential{cert: c.http.Transport.(*http.Transport).TLSClientConfig.Certificates[0].Leaf}).String()
}

// The table of routes lets nobody in by mistake.
func TestRoutesNameRoles(t *testing.T) {
	t.Parallel()
	for _, rt := range (&Server{}).routes() {
		require.NotEmpty(t, rt.roles, rt.pattern)
		if rt.where == anywhere {
			require.True(t, strings.HasPrefix(rt.pattern, "GET "), "%s only reads", rt.pattern)
			require.Equal(t, peopleAndServers, rt.roles, "%s: askWho asks as they may", rt.pattern)
			continue
		}
		if slices.Contains(rt.roles, pki.Agent) || slices.Contains(rt.roles, pki.Server) {
			require.Len(t, rt.roles, 1, rt.pattern)
		}
	}
}
