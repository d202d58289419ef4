package server

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// viewJob is a job as lists show it.
func viewJob(lead *leadership, v state.View, j *state.Job) api.Job {
	out := api.Job{
		ID: j.ID, Name: j.Spec.Name, Owner: j.Owner, Queue: j.Spec.Queue, State: j.State(), Priority: j.Spec.Priority,
		Elements: j.Elements(), Counts: j.Counts.ByState(), Array: !j.Spec.Array.IsZero(), Tasks: j.Spec.Tasks,
		Submitted: j.Submitted, Started: j.Started, Ended: j.Ended,
		Usage: usageOf(&j.Used), GPUSeconds: seconds(j.Used.GPUMicros),
	}
	if j.Counts.Of(job.Pending) > 0 {
		index, ok := v.NextWaiting(j, -1)
		if !ok {
			index = firstPending(v, j)
		}
		out.Reason, out.Message = lead.Why(v, j, index)
		out.Eligible = eligible(v, j, index, out.Reason)
		out.ExpectedStart, out.ExpectedNodes, _ = lead.Expected(v, j, index)
		out.Forecast = lead.Forecast(v, j, index)
	}
	if r := v.Failure(j); r != nil {
		if out.Message = whyFailed(r); out.Message != "" && out.Array {
			out.Message = fmt.Sprintf("element %d: %s", r.Element, out.Message)
		}
	}
	if j.CancelReason != "" && j.Done() && j.Counts.Of(job.Cancelled)+j.Counts.Of(job.Deadline) > 0 {
		out.Message = j.CancelReason
	}
	for _, n := range j.LastNodes {
		if n != "" { // a task that was never placed has none
			out.Nodes = append(out.Nodes, n)
		}
	}
	if nodes := activeNodes(v, j); len(nodes) > 0 {
		out.Nodes = nodes
	}
	return out
}

// eligible is when an element that waits for the reason may start, or is tried again, zero
// where that is not known.
func eligible(v state.View, j *state.Job, index int32, why job.Reason) (at time.Time) {
	if e := v.Element(j.ID, index); e != nil && why == job.ReasonBackoff {
		at = e.Eligible
	}
	switch why {
	case job.ReasonBeginTime:
		at = j.Spec.Begin
	case job.ReasonReservation:
		w := v.Waits(j, time.Now())
		at = w.Until
	}
	return at
}

// firstPending is the first element that waits, of those with rows.
func firstPending(v state.View, j *state.Job) int32 {
	for e := range v.Elements(j.ID) {
		if e.State == job.Pending {
			return e.Index
		}
	}
	return 0
}

// activeNodes are the nodes that a job runs on, not too many.
func activeNodes(v state.View, j *state.Job) []string {
	if j.Active() == 0 {
		return nil
	}
	var out []string
	for e := range v.Elements(j.ID) {
		for _, n := range e.Nodes {
			if len(out) == api.MaxNodesShown {
				return out
			}
			if n != "" && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// oneElement is an element in whatever state it is.
func oneElement(lead *leadership, v state.View, j *state.Job, index int32) api.Element {
	if e := v.Element(j.ID, index); e != nil {
		return viewElement(lead, v, j, e)
	}
	out := api.Element{Index: index}
	if out.State, _ = v.StateOf(j, index); out.State == job.Pending {
		out.Reason, out.Message = lead.Why(v, j, index)
	}
	if rec := v.LastRecord(j.ID, index); rec != nil {
		out.Attempt = rec.Attempt
	}
	return out
}

func viewElement(lead *leadership, v state.View, j *state.Job, e *state.Element) api.Element {
	out := api.Element{Index: e.Index, State: e.State, Attempt: e.Attempt, Eligible: e.Eligible}
	if e.State == job.Pending {
		out.Reason, out.Message = lead.Why(v, j, e.Index)
		return out
	}
	for k := range v.AttemptTasks(job.TaskID{Job: e.Job, Element: e.Index, Attempt: e.Attempt}) {
		t := api.Task{ID: k.ID, Node: k.Node, State: k.State, Started: k.Started, GPUs: k.GPUs}
		if k.Stop != nil {
			t.Stopping = string(k.Stop.State)
			if k.Stop.Reason != "" {
				t.Stopping += ": " + k.Stop.Reason
			}
		}
		out.Tasks = append(out.Tasks, t)
	}
	return out
}

func viewAttempt(r *state.Record) api.Attempt {
	return api.Attempt{
		Element: r.Element, Attempt: r.Attempt, State: r.Outcome.State, Nodes: r.Nodes,
		Placed: r.Placed, Started: r.Started, Ended: r.Ended,
		Exit: r.Outcome.Exit, Rank: r.Outcome.Rank, Message: r.Outcome.Message,
		Usage: usageOf(&r.Used), GPUSeconds: seconds(r.Used.GPUMicros),
	}
}

func usageOf(t *state.Total) api.Usage {
	return api.Usage{
		CPUSeconds: seconds(t.CPUMicros), PeakMemory: t.PeakMemory, ReadBytes: t.ReadBytes, WriteBytes: t.WriteBytes,
	}
}

func seconds(micros int64) float64 { return float64(micros) / 1e6 }

// notOver is a maintenance window, nil where it has passed: then it says nothing of the node.
func notOver(m *api.Maintenance, now time.Time) *api.Maintenance {
	if m == nil || !now.Before(m.To) {
		return nil
	}
	return m
}

func viewNode(lead *leadership, v state.View, n *state.Node) api.Node {
	return api.Node{
		Name: n.Node, Address: n.Address, State: n.State, Drain: n.Drain, Maintenance: notOver(n.Maintenance, time.Now()),
		Unhealthy: n.Ailment(), Labels: n.AllLabels(), Machine: n.Machine, Version: n.Version,
		Registered: n.Registered, Seen: lead.Seen(n.Node), Used: v.Used(n.Node).Used,
		Load: lead.Load(n.Node),
	}
}
