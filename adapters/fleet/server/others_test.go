package server

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// probe is a request of a user, in which "{job}" is the number of a job of somebody else,
// and "{user}" that one's name.
type probe struct {
	route, query, body string
}

// probes have each place where a user can name a job or a user, in every route that is
// for users. The command line and the page have no other way to the servers.
var probes = []probe{
	{"POST /v1/jobs", "", `{"jobs":[{"command":["true"],"after":[{"kind":"afterok","job":"{job}"}]}]}`},
	{"POST /v1/jobs", "", `{"jobs":[{"command":["true"],"after":[{"kind":"afterok","job":"{job}"}]}],"check":true}`},
	{"POST /v1/jobs", "", `{"jobs":[{"command":["true"],"after":[{"kind":"afternotok","job":"{job}"}],"killOnInvalidDep":true}],"check":true}`},
	{"POST /v1/jobs", "", `{"jobs":[{"command":["true"],"after":[{"kind":"afterany","job":"{job}"}]}]}`},
	{"POST /v1/jobs", "", `{"jobs":[{"command":["true"],"after":[{"kind":"after","job":"{job}"}]}]}`},
	{"POST /v1/jobs", "", `{"jobs":[{"command":["true"],"array":"0-1","after":[{"kind":"aftercorr","job":"{job}"}]}]}`},
	{"POST /v1/jobs", "", `{"jobs":[{"name":"a","command":["true"]},{"command":["true"],"after":[{"kind":"afterok","job":"@a"},{"kind":"afterok","job":"{job}"}]}]}`},
	{"POST /v1/jobs", "", `{"jobs":[{"command":["true"],"after":[{"kind":"afterok","job":"@secret plans"}]}]}`},
	{"POST /v1/jobs", "", `{"jobs":[{"command":["true"],"user":"{user}"}]}`},
	{"POST /v1/jobs", "", `{"jobs":[{"name":"secret plans","command":["true"],"singleton":true}],"key":"hers","check":true}`},
	{"GET /v1/jobs", "", ""},
	{"GET /v1/jobs", "owner={user}", ""},
	{"GET /v1/jobs", "name=secret+plans", ""},
	{"GET /v1/jobs", "after={job}&limit=1000", ""},
	{"GET /v1/jobs/{id}", "", ""},
	{"GET /v1/jobs/{id}", "element=0", ""},
	{"GET /v1/jobs/{id}/explain", "", ""},
	{"GET /v1/jobs/{id}/explain", "element=7", ""},
	{"GET /v1/jobs/{id}/logs", "", ""},
	{"GET /v1/jobs/{id}/logs", "attempt=1&rank=0&stream=stderr&offset=-10", ""},
	{"POST /v1/jobs/{id}/cancel", "", `{}`},
	{"POST /v1/jobs/{id}/cancel", "", `{"elements":"0-3","signal":"KILL","reason":"because"}`},
	{"POST /v1/jobs/{id}/hold", "", `{}`},
	{"POST /v1/jobs/{id}/release", "", `{"elements":"0"}`},
	{"POST /v1/jobs/{id}/requeue", "", `{}`},
	{"GET /v1/events", "", ""},
	{"GET /v1/events", "job={job}", ""},
	{"GET /v1/usage", "", ""},
	{"GET /v1/usage", "owner={user}", ""},
	{"GET /v1/usage", "by=job&after={job}", ""},
	{"GET /v1/usage", "by=job&owner={user}", ""},
	{"GET /v1/records", "owner={user}", ""},
	{"GET /v1/records", "after=0&limit=1000", ""},
	{"GET /v1/order", "", ""},
	{"GET /v1/self", "", ""},

	// These say nothing of jobs, but for how many there are and what they take.
	{"GET /v1/nodes", "", ""},
	{"GET /v1/nodes/{name}", "", ""},
	{"GET /v1/queues", "", ""},
	{"GET /v1/accounts", "", ""},
	{"GET /v1/users", "", ""},
	{"GET /v1/limits", "", ""},
	{"GET /v1/shares", "", ""},
	{"GET /v1/timeline", "", ""},
	{"GET /v1/reservations", "", ""},
	{"GET /v1/server/status", "", ""},
}

// What is others' is as if it were not there, by whatever way a user asks for it: with the
// number of somebody's job, in whatever state, she gets the answer that she gets with a
// number that no job has.
func TestNothingOfOthers(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, b := f.as(alice), f.as(bob)
	node := f.agent("n1")
	secret := func(s job.Spec) job.ID {
		s.Name, s.Command = "secret plans", []string{"true"}
		return a.submit(s)[0]
	}
	a.must("POST", "/v1/jobs", `{"jobs":[{"name":"secret plans","command":["true"],"hold":true}],"key":"hers"}`, nil)
	ended := secret(job.Spec{})
	o := node.order(ended)
	node.report(o.Task, job.Running)
	node.report(o.Task, job.Completed)
	running := secret(job.Spec{})
	node.report(node.order(running).Task, job.Running)
	cancelled := secret(job.Spec{Hold: true, Array: indexes(t, "0-7")})
	a.must("POST", jobPath(cancelled, "/cancel"), nil, nil)

	probed := map[string]bool{}
	ask := func(p probe, id job.ID, user string) (status int, body string) {
		method, path, _ := strings.Cut(p.route, " ")
		fill := strings.NewReplacer("{id}", id.String(), "{job}", id.String(), "{name}", "n1", "{user}", user)
		got := b.ask(method, fill.Replace(path+"?"+p.query), fill.Replace(p.body))
		require.NoError(t, got.err)
		if !strings.Contains(p.query+p.body, "secret") { // else it is what was sent
			require.NotContains(t, string(got.body), "secret plans", "%+v", p)
		}
		return got.status, regexp.MustCompile(`\b(`+id.String()+`|`+user+`)\b`).ReplaceAllString(string(got.body), "...")
	}
	const nobodys = job.ID(987654321)
	for _, p := range probes {
		probed[p.route] = true
		namesOne := strings.Contains(p.route+p.query+p.body, "{")
		want, wantBody := ask(p, nobodys, "nemo")
		for _, id := range []job.ID{ended, running, cancelled} {
			status, body := ask(p, id, alice.Name)
			if namesOne && !strings.Contains(p.route, "{name}") {
				require.Equal(t, fmt.Sprint(want, wantBody), fmt.Sprint(status, body), "%+v of job %d", p, id)
			}
		}
	}
	for _, rt := range f.server.routes() {
		if len(rt.roles) == len(people) {
			require.True(t, probed[rt.pattern], "what users can ask for with %s is to be probed here", rt.pattern)
		}
	}

	var own api.Job
	for id, want := range map[job.ID]job.State{running: job.Running, ended: job.Completed, cancelled: job.Cancelled} {
		a.must("GET", jobPath(id, ""), nil, &own)
		require.Equal(t, want, own.State, "nothing was done to it")
	}
	const after = `{"jobs":[{"command":["true"],"after":[{"kind":"afterok","job":"%d"}]}]}`
	b.must("POST", "/v1/jobs", fmt.Sprintf(after, b.submit(sleeper())[0]), nil)
	f.as(oscar).must("POST", "/v1/jobs", fmt.Sprintf(after, running), nil)
}

// A submission that is repeated gets its answer, also when a job that it depends on is
// not known any more.
func TestRepeatedAfterItsDependencyIsGone(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a := f.as(alice)
	first := a.submit(sleeper())[0]
	body := fmt.Sprintf(`{"jobs":[{"command":["true"],"after":[{"kind":"afterok","job":"%d"}]}],"key":"k"}`, first)
	var once, again api.SubmitResponse
	a.must("POST", "/v1/jobs", body, &once)
	body = strings.ReplaceAll(body, fmt.Sprintf("%q", first.String()), `"987654321"`)
	a.must("POST", "/v1/jobs", body, &again)
	require.Equal(t, once.Jobs, again.Jobs)
	require.True(t, again.Repeated)
}
