package server

import (
	"cmp"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
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
	if _, err := s.do(r, &state.Command{Register: &in}); err != nil {
		return nil, err // it is no sign of life of the node that has the name
	}
	r.lead.Heartbeat(in.Node, "")
	return api.Registered{Term: r.lead.term}, nil
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
	done, err := s.watch(r)
	if err != nil {
		return nil, err
	}
	defer done()
	interval := r.lead.Interval()
	wait := interval
	if in.Wait > 0 {
		wait = min(wait, time.Duration(in.Wait))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	if n := s.state.View().Node(in.Node); n != nil && n.Boot == in.Boot {
		r.lead.Heartbeat(in.Node, api.CutMessage(in.Unhealthy))
	} else {
		in.Load = nil // another life of the machine, or another machine, has measured
	}
	refused := ""
	if in.Load != nil {
		if err := r.lead.Measured(in.Node, in.Load); err != nil {
			refused = api.CutMessage(strings.ReplaceAll(err.Error(), "\n", "; "))
			s.cfg.Logger.Debug("a measured load is refused", "node", in.Node, "problem", refused)
		}
	}
	for {
		news := s.polls.on(in.Node)
		v := s.state.View()
		out := api.PollResponse{
			Term: r.lead.term, Index: v.Index(), Heartbeat: job.Duration(interval), Measure: job.Duration(r.lead.MeasureEvery()), LoadRefused: refused,
		}
		n := v.Node(in.Node)
		if n == nil || n.Boot != in.Boot {
			out.Unregistered = true
			return out, nil
		}
		if v.Used(in.Node).Index > in.Since || in.Since == 0 || in.After != (job.TaskID{}) {
			return out, s.orders(v, in, &out)
		}
		select {
		case <-news:
		case <-timer.C:
			return out, s.orders(v, in, &out)
		case <-r.lead.done:
			return nil, errNoLeader
		case <-r.Context().Done():
			return nil, errNoLeader
		}
	}
}

// maxOrders is how large the orders of an answer are, in bytes: agents read no answer
// of any size. Users write what is in them, and one user could have written enough for
// many nodes.
const maxOrders = 4 << 20

// orders fills in what an agent is to do.
func (s *Server) orders(v state.View, in api.PollRequest, out *api.PollResponse) error {
	out.Tasks = []job.TaskID{}
	var fresh []*state.Task
	for k := range v.TasksOn(in.Node) {
		if !k.Ready {
			continue
		}
		out.Tasks = append(out.Tasks, k.ID)
		if k.Index > in.Since || k.Index == in.Since && in.After != (job.TaskID{}) && k.ID.Compare(in.After) > 0 {
			fresh = append(fresh, k)
		}
	}
	slices.SortFunc(fresh, func(a, b *state.Task) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), a.ID.Compare(b.ID))
	})
	size := 0
	for i, k := range fresh {
		o := orderOf(v, k)
		text, err := json.Marshal(&o)
		if err != nil {
			return err
		}
		if size += len(text); size > maxOrders && i > 0 {
			last := fresh[i-1]
			out.Index, out.After = last.Index, last.ID
			return nil
		}
		out.Orders = append(out.Orders, o)
	}
	return nil
}

// orderOf is what an agent is told of a task.
func orderOf(v state.View, k *state.Task) api.Order {
	j, e := v.Job(k.ID.Job), v.Element(k.ID.Job, k.ID.Element)
	run := api.Run{Spec: *j.Spec, Owner: j.Owner, User: j.Spec.User, Try: e.Try(), GPUs: k.GPUs, Names: e.Nodes}
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
	return api.Order{Task: k.ID, Stop: k.Stop, Restored: k.Restored, Run: run}
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
		if err := checkReport(&in.Tasks[i]); err != nil {
			return nil, err
		}
	}
	_, err := s.do(r, &state.Command{Report: &state.Report{Node: in.Node, Tasks: in.Tasks, SecondOpinion: true}})
	return api.ReportResponse{Term: r.lead.term}, err
}

// reported are the states that agents report.
var reported = []job.State{
	job.Running, job.Completed, job.Failed, job.Timeout, job.Cancelled, job.NodeFail, job.OutOfMemory, job.Preempted,
	job.Deadline, job.BootFail, job.Requeued,
}

// maxSignal is longer than any signal's name.
const maxSignal = 16

// checkReport refuses a report that makes no sense, and cuts its message.
func checkReport(r *api.Report) error {
	if !slices.Contains(reported, r.State) {
		return invalid("tasks", "%q is not an outcome of a task", r.State)
	}
	if u := &r.Usage; u.CPUSeconds < 0 || u.PeakMemory < 0 || u.ReadBytes < 0 || u.WriteBytes < 0 {
		return invalid("tasks", "task %s cannot have used less than nothing", r.Task)
	}
	if r.Exit != nil && len(r.Exit.Signal) > maxSignal {
		return invalid("tasks", "task %s: %.20q... is no signal", r.Task, r.Exit.Signal)
	}
	r.Message = api.CutMessage(r.Message)
	return nil
}
