package server

import (
	"fmt"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// listQueues answers GET /v1/queues.
func (s *Server) listQueues(r *request) (any, error) {
	v := s.state.View()
	type count struct{ pending, running int32 }
	counts := map[string]count{}
	for j := range v.Jobs() {
		c := counts[j.Spec.Queue]
		c.pending += j.Counts.Of(job.Pending)
		c.running += j.Active()
		counts[j.Spec.Queue] = c
	}
	out := api.QueueList{}
	for _, q := range v.Queues() {
		c := counts[q.Name]
		out.Queues = append(out.Queues, api.QueueStatus{Queue: *q, Pending: c.pending, Running: c.running})
	}
	return out, nil
}

// putQueue answers PUT /v1/queues/{name}.
func (s *Server) putQueue(r *request) (any, error) {
	var q api.Queue
	if err := r.decode(&q, false); err != nil {
		return nil, err
	}
	if q.Name != r.PathValue("name") {
		return nil, invalid("name", "it is not that of the path")
	}
	if problems := append(queueProblems(&q), s.state.View().CheckQueue(&q)...); len(problems) > 0 {
		return nil, notValid(problems)
	}
	_, err := s.do(r, &state.Command{PutQueue: &q})
	return nil, err
}

// removeQueue answers DELETE /v1/queues/{name}.
func (s *Server) removeQueue(r *request) (any, error) {
	_, err := s.do(r, &state.Command{RemoveQueue: r.PathValue("name")})
	return nil, err
}

// queueProblems says all that is wrong with a queue by itself, and fills in defaults. Its
// place among others is for the state.
func queueProblems(q *api.Queue) (list []api.Problem) {
	bad := func(field, format string, args ...any) {
		list = append(list, api.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if err := job.CheckName(q.Name); err != nil {
		bad("name", "%v", err)
	}
	for i := range q.Nodes {
		if err := q.Nodes[i].Validate(); err != nil {
			bad("nodes", "%v", err)
		}
		q.Nodes[i] = q.Nodes[i].WithDefaults()
	}
	if q.MaxQueued < -1 {
		bad("maxQueued", "it must be a number, 0 for %d, or -1 for no limit", api.DefaultMaxQueued)
	}
	if q.MaxRunning < 0 || q.DefaultTime < 0 || q.MaxTime < 0 {
		bad("limits", "they cannot be negative")
	}
	if q.MaxTime > 0 && q.DefaultTime > q.MaxTime {
		bad("defaultTime", "it is %s, more than maxTime, %s: a job without a limit would be refused", q.DefaultTime, q.MaxTime)
	}
	if q.DefaultMemoryPerCPU > api.MaxDefaultMemory {
		bad("defaultMemoryPerCPU", "it is %s, at most %s is allowed", q.DefaultMemoryPerCPU, api.MaxDefaultMemory)
	}
	if q.MaxStored > state.MaxStored {
		bad("maxStored", "it is %s, at most %s is allowed", q.MaxStored, job.Bytes(state.MaxStored))
	}
	if q.Priority < job.MinPriority || q.Priority > job.MaxPriority {
		bad("priority", "it must be from %d to %d", job.MinPriority, job.MaxPriority)
	}
	return list
}
