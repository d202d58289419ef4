package server

import (
	"net"
	"net/http"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// own refuses an agent that speaks for another node than its own.
func (r *request) own(node string) error {
	if r.who.Name != node {
		return fail(http.StatusForbidden, api.CodeForbidden, "%s may not speak for node %q", r.who, node)
	}
	return nil
}

// register answers POST /v1/agent/register.
func (s *Server) register(r *request) (any, error) {
	var in api.Registration
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	if err := r.own(in.Node); err != nil {
		return nil, err
	}
	if _, _, err := net.SplitHostPort(in.Address); err != nil {
		return nil, invalid("address", "%v", err)
	}
	for k, v := range in.Machine.Labels {
		if err := job.CheckLabel(k, v); err != nil {
			return nil, invalid("machine.labels", "%v", err)
		}
	}
	if m := &in.Machine; m.CPU < 0 || m.Memory < 0 || m.Disk < 0 || m.MaxTasks < 0 {
		return nil, invalid("machine", "its amounts cannot be negative")
	}
	r.lead.Heartbeat(in.Node, "")
	_, err := s.do(r, &state.Command{Register: &in})
	return api.Registered{Term: r.lead.term}, err
}

// poll answers POST /v1/agent/poll: when there are orders, or the next heartbeat is
// due.
func (s *Server) poll(r *request) (any, error) {
	var in api.PollRequest
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	if err := r.own(in.Node); err != nil {
		return nil, err
	}
	if in.Term > r.lead.term {
		return nil, errNoLeader // a newer leader has spoken to it
	}
	interval := r.lead.Interval()
	timer := time.NewTimer(interval)
	defer timer.Stop()
	r.lead.Heartbeat(in.Node, in.Unhealthy)
	for {
		news := s.polls.on(in.Node)
		v := s.state.View()
		out := api.PollResponse{Term: r.lead.term, Index: v.Index(), Heartbeat: job.Duration(interval)}
		n := v.Node(in.Node)
		if n == nil || n.Boot != in.Boot {
			out.Unregistered = true
			return out, nil
		}
		if v.Used(in.Node).Index > in.Since || in.Since == 0 {
			s.orders(v, in, &out)
			return out, nil
		}
		select {
		case <-news:
		case <-timer.C:
			s.orders(v, in, &out)
			return out, nil
		case <-r.lead.done:
			return nil, errNoLeader
		case <-r.Context().Done():
			return nil, errNoLeader
		}
	}
}

// orders fills in what an agent is to do.
func (s *Server) orders(v state.View, in api.PollRequest, out *api.PollResponse) {
	out.Tasks = []job.TaskID{}
	for k := range v.TasksOn(in.Node) {
		if !k.Ready {
			continue
		}
		out.Tasks = append(out.Tasks, k.ID)
		if k.Index > in.Since {
			out.Orders = append(out.Orders, orderOf(v, k))
		}
	}
}

// orderOf is what an agent is told of a task.
func orderOf(v state.View, k *state.Task) api.Order {
	j, e := v.Job(k.ID.Job), v.Element(k.ID.Job, k.ID.Element)
	run := api.Run{Spec: *j.Spec, Owner: j.Owner, User: j.Spec.User, GPUs: k.GPUs, Names: e.Nodes}
	if n := v.Node(k.Node); run.User == "" && n != nil && n.Machine.Isolation.Users {
		run.User = j.Owner
	}
	if !j.Spec.Array.IsZero() {
		run.Array = j.Elements()
	}
	for _, name := range e.Nodes {
		host := name
		if n := v.Node(name); n != nil {
			if h, _, err := net.SplitHostPort(n.Address); err == nil {
				host = h
			}
		}
		run.Hosts = append(run.Hosts, host)
	}
	return api.Order{Task: k.ID, Stop: k.Stop, Run: run}
}

// report answers POST /v1/agent/report.
func (s *Server) report(r *request) (any, error) {
	var in api.ReportRequest
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	if err := r.own(in.Node); err != nil {
		return nil, err
	}
	for i := range in.Tasks {
		if st := in.Tasks[i].State; st != job.Running && !st.Ended() {
			return nil, invalid("tasks", "%q is not what becomes of a task", st)
		}
	}
	_, err := s.do(r, &state.Command{Report: &state.Report{Node: in.Node, Tasks: in.Tasks}})
	return api.ReportResponse{Term: r.lead.term}, err
}
