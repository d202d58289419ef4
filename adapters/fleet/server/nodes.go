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
	if err := checkReason(in.Reason); err != nil {
		return nil, err
	}
	return s.change(r, &state.NodeChange{Drain: &api.Drain{Reason: in.Reason, Deadline: in.Deadline}})
}

// checkReason refuses a reason of an operator that is too long: jobs that wait are told it.
func checkReason(reason string) error {
	if len(reason) > api.MaxReason {
		return invalid("reason", "it is longer than %d characters", api.MaxReason)
	}
	return nil
}

// resume answers POST /v1/nodes/{name}/resume.
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
	if err := checkReason(in.Reason); err != nil {
		return nil, err
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
