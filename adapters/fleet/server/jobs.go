package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// How many jobs that are submitted, and how many elements that something is done to,
// count as one request more.
const (
	jobsARequest     = 10
	elementsARequest = 10_000
)

// submit answers POST /v1/jobs.
func (s *Server) submit(r *request) (any, error) {
	var in api.SubmitRequest
	unread := r.decodeJobs(&in)
	if unread != nil && !errors.Is(unread, job.ErrInvalid) {
		return nil, unread
	}
	if len(in.Key) > 128 {
		return nil, invalid("key", "it is longer than 128 characters")
	}
	if len(in.Jobs) > job.MaxJobs { // before much is made of them
		return nil, invalid("jobs", "there are %d, at most %d are allowed", len(in.Jobs), job.MaxJobs)
	}
	if !s.limits.allow(r.who, len(in.Jobs)/jobsARequest) {
		return nil, errRate
	}
	v := s.state.View()
	specs := make([]job.Spec, len(in.Jobs))
	for i := range in.Jobs {
		if in.Jobs[i].Queue == "" {
			in.Jobs[i].Queue = v.QueueOf(r.who.Name)
		}
		specs[i] = in.Jobs[i].WithDefaults()
	}
	if err := job.CheckRead(specs, unread); err != nil {
		return nil, err
	}
	repeated := v.Submitted(r.who.Name, in.Key)
	if err := s.mayBe(r, v, specs, repeated); err != nil {
		return nil, err
	}
	if !repeated {
		if err := mayStore(v, r.who.Name, specs); err != nil {
			return nil, err
		}
	}
	for i := range specs {
		after := slices.Clone(specs[i].After)
		for d := range after {
			if n, ok := job.Resolve(specs, &after[d]); ok {
				after[d].Job = "+" + strconv.Itoa(n)
			}
		}
		specs[i].After = after
	}
	out := api.SubmitResponse{Warnings: warnings(v, specs)}
	submission := &state.Submit{Specs: specs, Owner: r.who.Name, Key: in.Key}
	if in.Check {
		if refused := v.MayQueue(submission); refused.Err != nil && !repeated {
			return nil, statusOf(refused.Err)
		}
		return out, nil
	}
	result, err := s.do(r, &state.Command{Submit: submission})
	out.Jobs, out.Repeated = result.Jobs, result.Repeated
	if out.Repeated && !same(s.state.View(), out.Jobs, specs) {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the key %q was used before for something else, and that is the answer: nothing was submitted now", in.Key))
	}
	return out, err
}

// same reports whether jobs were submitted as specs, as far as they are known. What they
// depend on has got numbers meanwhile, so that is left out.
func same(v state.View, ids []job.ID, specs []job.Spec) bool {
	text := func(s job.Spec) string {
		s.After = nil
		out, _ := json.Marshal(s) // it was read from that
		return string(out)
	}
	if len(ids) != len(specs) {
		return false
	}
	for i, id := range ids {
		if j := v.Job(id); j != nil && text(*j.Spec) != text(specs[i]) {
			return false
		}
	}
	return true
}

// mayBe refuses what the user may not ask for, and fills in what the queue says. Jobs that
// repeated ones depend on may be gone by now.
func (s *Server) mayBe(r *request, v state.View, specs []job.Spec, repeated bool) error {
	e := invalid("", "")
	e.Problems = nil
	bad := func(i int, field, format string, args ...any) {
		e.Problems = append(e.Problems, api.Problem{
			Field: fmt.Sprintf("jobs[%d].%s", i, field), Message: fmt.Sprintf(format, args...),
		})
	}
	for i := range specs {
		spec := &specs[i]
		for d := range spec.After {
			if id, ok := spec.After[d].ID(); ok && !repeated && r.find(v, id) == nil {
				bad(i, fmt.Sprintf("after[%d].job", d), notThere, id)
			}
		}
		if !repeated && expired(spec.Deadline) {
			bad(i, "deadline", "it has passed: %s", spec.Deadline.UTC().Format(time.RFC3339))
		}
		if name := spec.Reservation; name != "" {
			if why := mayReserve(v, r.who.Name, name); why != "" {
				bad(i, "reservation", "%s", why)
			}
		}
		if spec.User != "" && spec.User != r.who.Name && !r.operator() {
			bad(i, "user", "you may run jobs as %s only", r.who.Name)
		}
		q := v.Queue(spec.Queue)
		if q == nil {
			bad(i, "queue", "there is no queue %q; see the queues with: berth queue", spec.Queue)
			continue
		}
		takeDefaults(spec, q)
		if q.MaxTime > 0 && (spec.TimeLimit == 0 || spec.TimeLimit > q.MaxTime) {
			bad(i, "timeLimit", "queue %s allows at most %s", q.Name, q.MaxTime)
		}
		if spec.Priority > q.MaxPriority && !r.operator() {
			bad(i, "priority", "queue %s allows at most %d", q.Name, q.MaxPriority)
		}
	}
	if len(e.Problems) > 0 {
		return e
	}
	return nil
}

// takeDefaults fills in what the queue says of a job that says nothing.
func takeDefaults(spec *job.Spec, q *state.Queue) {
	switch spec.TimeLimit {
	case 0:
		spec.TimeLimit = q.DefaultTime
	case job.NoTimeLimit:
		spec.TimeLimit = 0
	}
	if spec.Resources.Memory == 0 {
		spec.Resources.Memory = q.DefaultMemory(spec.Resources.CPU)
	}
}

// mayStore refuses jobs for which a user has too much stored already.
func mayStore(v state.View, owner string, specs []job.Spec) error {
	has, limit := v.Stored(owner), v.StoredLimit(owner)
	var more int64
	for i := range specs {
		more += state.StoredSize(&specs[i])
	}
	if has+more <= limit {
		return nil
	}
	mebi := func(n int64) float64 { return float64(n) / (1 << 20) }
	return fail(http.StatusConflict, api.CodeConflict,
		"the servers store %.1f MiB of the jobs of user %q, this would be %.1f MiB more, and %.1f MiB are allowed; "+
			"wait until jobs have ended and are forgotten, within minutes, submit shorter scripts or smaller arrays, "+
			"or have an operator raise maxStored of a queue",
		mebi(has), owner, mebi(more), mebi(limit))
}

// job finds the job of the path, if the caller may see it.
func (r *request) job(v state.View) (*state.Job, error) {
	text := r.PathValue("id")
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, invalid("id", "%q is no number of a job", text)
	}
	j := r.find(v, job.ID(id))
	if j == nil {
		return nil, fail(http.StatusNotFound, api.CodeNotFound, notThere, id)
	}
	return j, nil
}

// notThere is what is said of a job that find does not find.
const notThere = "there is no job %d, or it is not yours"

// find finds a job by its number; nil where the caller may not see it, as if it were not
// there. Every number that comes from a caller goes through it.
func (r *request) find(v state.View, id job.ID) *state.Job {
	if j := v.Job(id); j != nil && r.mayHave(j.Owner) {
		return j
	}
	return nil
}

// mayHave reports whether the caller may see and change what is the owner's.
func (r *request) mayHave(owner string) bool { return r.operator() || r.who.Name == owner }

// stateNames are all states, for people.
func stateNames() string {
	names := make([]string, len(job.States))
	for i, st := range job.States {
		names[i] = string(st)
	}
	return strings.Join(names, ", ")
}

// listJobs answers GET /v1/jobs.
func (s *Server) listJobs(r *request) (any, error) {
	limit, err := r.page()
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	var before job.ID
	if after := q.Get("after"); after != "" {
		n, err := strconv.ParseUint(after, 10, 64)
		if err != nil {
			return nil, invalid("after", "it is not what an answer had")
		}
		before = job.ID(n)
	}
	states := map[job.State]bool{}
	for _, st := range strings.FieldsFunc(q.Get("state"), func(c rune) bool { return c == ',' }) {
		state := job.State(strings.ToUpper(st))
		if !slices.Contains(job.States, state) {
			return nil, invalid("state", "%.80q is no state of a job, it is one of %s", st, stateNames())
		}
		states[state] = true
	}
	v := s.state.View()
	out := api.JobList{Jobs: []api.Job{}}
	for j := range v.JobsBefore(before) {
		switch {
		case !r.mayHave(j.Owner), q.Get("owner") != "" && j.Owner != q.Get("owner"),
			q.Get("queue") != "" && j.Spec.Queue != q.Get("queue"), q.Get("name") != "" && j.Spec.Name != q.Get("name"),
			len(states) > 0 && !states[j.State()]:
			continue
		}
		if len(out.Jobs) == limit {
			out.After = out.Jobs[limit-1].ID.String()
			break
		}
		out.Jobs = append(out.Jobs, viewJob(r.lead, v, j))
	}
	return out, nil
}

// showJob answers GET /v1/jobs/{id}.
func (s *Server) showJob(r *request) (any, error) {
	v := s.state.View()
	j, err := r.job(v)
	if err != nil {
		return nil, err
	}
	out := api.JobDetail{Job: viewJob(r.lead, v, j), Spec: *j.Spec}
	records := v.RecordsOf(j.ID)
	if r.URL.Query().Has("element") {
		index, err := r.element(j)
		if err != nil {
			return nil, err
		}
		records = v.RecordsOfElement(j.ID, index)
		out.Elements = []api.Element{oneElement(r.lead, v, j, index)}
	} else {
		for e := range v.Elements(j.ID) {
			if len(out.Elements) == api.MaxAttemptsShown {
				break
			}
			out.Elements = append(out.Elements, viewElement(r.lead, v, j, e))
		}
	}
	list, place := failures(records)
	out.Failures = list
	for _, rec := range lastAttempts(records) {
		at := viewAttempt(rec)
		if kind, ok := failedAs(rec); ok {
			at.Failure = place[kind]
		}
		out.Attempts = append(out.Attempts, at)
	}
	return out, nil
}

// lastAttempts are those that ended last, in that order. It keeps few at a time: a job
// may have had hundreds of thousands.
func lastAttempts(records iter.Seq[*state.Record]) []*state.Record {
	var last []*state.Record
	cut := func() {
		slices.SortStableFunc(last, func(a, b *state.Record) int { return a.Ended.Compare(b.Ended) })
		last = last[max(0, len(last)-api.MaxAttemptsShown):]
	}
	for rec := range records {
		if last = append(last, rec); len(last) == 8*api.MaxAttemptsShown {
			cut()
		}
	}
	cut()
	return last
}

// selection reads which elements an action is for, and finds the job.
func (s *Server) selection(r *request) (*state.Job, state.Select, api.Selection, error) {
	var in api.Selection
	if err := r.decode(&in, true); err != nil {
		return nil, state.Select{}, in, err
	}
	j, err := r.job(s.state.View())
	if err != nil {
		return nil, state.Select{}, in, err
	}
	if !s.limits.allow(r.who, int(j.Elements())/elementsARequest) {
		return nil, state.Select{}, in, errRate
	}
	out := state.Select{Job: j.ID, Reason: in.Reason}
	if in.Elements != "" {
		x, err := job.ParseIndexes(in.Elements)
		if err != nil {
			return nil, out, in, invalid("elements", "%v", err)
		}
		out.Elements = &x
	}
	if len(in.Reason) > 1024 {
		return nil, out, in, invalid("reason", "it is longer than 1024 characters")
	}
	return j, out, in, nil
}

// act has a command about elements recorded.
func (s *Server) act(r *request, c *state.Command) (any, error) {
	result, err := s.do(r, c)
	return api.Affected{Elements: result.Elements}, err
}

// cancel answers POST /v1/jobs/{id}/cancel.
func (s *Server) cancel(r *request) (any, error) {
	_, sel, in, err := s.selection(r)
	if err != nil {
		return nil, err
	}
	if in.Signal != "" {
		if err := job.CheckSignal(in.Signal); err != nil {
			return nil, invalid("signal", "%v", err)
		}
	}
	return s.act(r, &state.Command{Cancel: &state.Cancel{Select: sel, State: job.Cancelled, Signal: in.Signal}})
}

// hold answers POST /v1/jobs/{id}/hold.
func (s *Server) hold(r *request) (any, error) { return s.holdOrRelease(r, false) }

// release answers POST /v1/jobs/{id}/release.
func (s *Server) release(r *request) (any, error) { return s.holdOrRelease(r, true) }

func (s *Server) holdOrRelease(r *request, release bool) (any, error) {
	j, sel, _, err := s.selection(r)
	if err != nil {
		return nil, err
	}
	admin := r.operator() && (release || r.who.Name != j.Owner)
	return s.act(r, &state.Command{Hold: &state.Hold{Select: sel, Release: release, Admin: admin}})
}

// requeue answers POST /v1/jobs/{id}/requeue.
func (s *Server) requeue(r *request) (any, error) {
	_, sel, _, err := s.selection(r)
	if err != nil {
		return nil, err
	}
	return s.act(r, &state.Command{Requeue: &sel})
}

// explain answers GET /v1/jobs/{id}/explain.
func (s *Server) explain(r *request) (any, error) {
	v := s.state.View()
	j, err := r.job(v)
	if err != nil {
		return nil, err
	}
	index, err := r.element(j)
	if err != nil {
		return nil, err
	}
	out, err := r.lead.Explain(v, j, index)
	if err != nil {
		return nil, err
	}
	out.Eligible = eligible(v, j, index, out.Reason)
	switch e := v.Element(j.ID, index); {
	case out.State == job.Cancelled, out.State == job.Deadline:
		out.Message = j.CancelReason
	case out.State.Ended():
		out.Message = whyFailed(v.LastRecord(j.ID, index))
	case e != nil && len(e.Nodes) > 0:
		out.Message = "it is on node " + shortNames(e.Nodes)
	}
	records := v.RecordsOfElement(j.ID, index)
	if !r.URL.Query().Has("element") {
		records = v.RecordsOf(j.ID)
	}
	out.Failures, _ = failures(records)
	return out, nil
}

// shortNames is a list of nodes, each once, and the first of them where it is long.
func shortNames(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) > api.MaxNodesShown {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:api.MaxNodesShown], ", "), len(names)-api.MaxNodesShown)
	}
	return strings.Join(names, ", ")
}

// element reads the element of the query, the first of the job where none is named.
func (r *request) element(j *state.Job) (int32, error) {
	if r.URL.Query().Get("element") == "" {
		if first, ok := j.Spec.Array.First(); ok {
			return first, nil
		}
		return 0, nil
	}
	n, err := r.number("element", 0, job.MaxIndex)
	if err != nil {
		return 0, err
	}
	if !j.HasElement(int32(n)) {
		return 0, fail(http.StatusNotFound, api.CodeNotFound, "job %d has no element %d", j.ID, n)
	}
	return int32(n), nil
}
