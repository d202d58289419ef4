package server

import (
	"net/http"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// listNodes answers GET /v1/nodes.
func (s *Server) listNodes(r *request) (any, error) {
	limit, err := r.page()
	if err != nil {
		return nil, err
	}
	after := r.URL.Query().Get("after")
	v := s.state.View()
	out := api.NodeList{Nodes: []api.Node{}}
	for n := range v.Nodes() {
		if after != "" && n.Node <= after {
			continue
		}
		if len(out.Nodes) == limit {
			out.After = out.Nodes[limit-1].Name
			break
		}
		out.Nodes = append(out.Nodes, viewNode(r.lead, v, n))
	}
	return out, nil
}

// showNode answers GET /v1/nodes/{name}.
func (s *Server) showNode(r *request) (any, error) {
	v := s.state.View()
	n := v.Node(r.PathValue("name"))
	if n == nil {
		return nil, fail(http.StatusNotFound, api.CodeNotFound, "there is no node %q", r.PathValue("name"))
	}
	return viewNode(r.lead, v, n), nil
}

// change has what an operator wants of a node recorded.
func (s *Server) change(r *request, c *state.NodeChange) (any, error) {
	c.Node = r.PathValue("name")
	_, err := s.do(r, &state.Command{Node: c})
	return nil, err
}

// drain answers POST /v1/nodes/{name}/drain.
func (s *Server) drain(r *request) (any, error) {
	var in api.Drain
	if err := r.decode(&in, true); err != nil {
		return nil, err
	}
	return s.change(r, &state.NodeChange{Drain: &api.Drain{Reason: in.Reason, Deadline: in.Deadline}})
}

// resume answers POST /v1/nodes/{name}/resume. It ends a maintenance window too.
func (s *Server) resume(r *request) (any, error) {
	return s.change(r, &state.NodeChange{Resume: true})
}

// maintenance answers POST /v1/nodes/{name}/maintenance. A window of no time takes
// back the one that there is.
func (s *Server) maintenance(r *request) (any, error) {
	var in api.Maintenance
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	if in.From.IsZero() && in.To.IsZero() {
		return s.change(r, &state.NodeChange{ClearMaintenance: true})
	}
	if !in.From.Before(in.To) {
		return nil, invalid("to", "it is not after from")
	}
	if in.To.Before(time.Now()) {
		return nil, invalid("to", "it has passed")
	}
	return s.change(r, &state.NodeChange{Maintenance: &in})
}

// label answers POST /v1/nodes/{name}/labels.
func (s *Server) label(r *request) (any, error) {
	var in api.Labels
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	if len(in.Labels) == 0 {
		return nil, invalid("labels", "there are none")
	}
	for k, v := range in.Labels {
		if err := job.CheckLabel(k, v); err != nil {
			return nil, invalid("labels", "%v", err)
		}
	}
	return s.change(r, &state.NodeChange{Labels: in.Labels})
}

// removeNode answers DELETE /v1/nodes/{name}.
func (s *Server) removeNode(r *request) (any, error) {
	_, err := s.do(r, &state.Command{RemoveNode: r.PathValue("name")})
	return nil, err
}

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
	if err := job.CheckName(q.Name); err != nil {
		return nil, invalid("name", "%v", err)
	}
	for i := range q.Nodes {
		if err := q.Nodes[i].Validate(); err != nil {
			return nil, invalid("nodes", "%v", err)
		}
		q.Nodes[i] = q.Nodes[i].WithDefaults()
	}
	if q.MaxQueued < -1 {
		return nil, invalid("maxQueued", "it must be a number, 0 for %d, or -1 for no limit", api.DefaultMaxQueued)
	}
	if q.MaxRunning < 0 || q.DefaultTime < 0 || q.MaxTime < 0 {
		return nil, invalid("limits", "they cannot be negative")
	}
	if q.MaxTime > 0 && q.DefaultTime > q.MaxTime {
		return nil, invalid("defaultTime", "it is %s, more than maxTime, %s: a job without a limit would be refused", q.DefaultTime, q.MaxTime)
	}
	if q.DefaultMemoryPerCPU > api.MaxDefaultMemory {
		return nil, invalid("defaultMemoryPerCPU", "it is %s, at most %s is allowed", q.DefaultMemoryPerCPU, api.MaxDefaultMemory)
	}
	if q.MaxStored > state.MaxStored {
		return nil, invalid("maxStored", "it is %s, at most %s is allowed", q.MaxStored, job.Bytes(state.MaxStored))
	}
	if q.Priority < job.MinPriority || q.Priority > job.MaxPriority {
		return nil, invalid("priority", "it must be from %d to %d", job.MinPriority, job.MaxPriority)
	}
	_, err := s.do(r, &state.Command{PutQueue: &q})
	return nil, err
}

// removeQueue answers DELETE /v1/queues/{name}.
func (s *Server) removeQueue(r *request) (any, error) {
	_, err := s.do(r, &state.Command{RemoveQueue: r.PathValue("name")})
	return nil, err
}
