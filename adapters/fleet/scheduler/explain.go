package scheduler

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Why says why an element waits, in one line: what the state knows, and if that is
// nothing, what the engine said when it was last tried.
func (c *Controller) Why(v state.View, j *state.Job, index int32) (job.Reason, string) {
	now := time.Now()
	if w := v.Waits(j, now); !w.None() {
		return w.Reason, w.Message
	}
	if w := v.ElementWaits(j, index, now); !w.None() {
		return w.Reason, w.Message
	}
	if never := overQueue(v.Queue(j.Spec.Queue), j.Spec); never != "" {
		return job.ReasonBadConstraints, never
	}
	id := nextTask(v, j, index)
	p, waits := c.position(v, id)
	if reason, message, held := turn(&p); held {
		return reason, message
	}
	if r := v.Reservation(j.Spec.Reservation); r != nil {
		if never := OutlastsReservation(j.Spec, r); never != "" {
			return job.ReasonReservation, never
		}
	}
	if message, never, tried := c.reasons.of(id, j.Spec); tried {
		if never || mayNeverFit(j.Spec) {
			if problems := c.census.Never(v, j.Spec); len(problems) > 0 {
				return job.ReasonBadConstraints, strings.Join(problems, "; ")
			}
		}
		return job.ReasonResources, claimed(v, j, index) + message
	}
	if !waits {
		p, waits = c.eng.Load().Queue(id.String())
	}
	switch {
	case waits && p.Place == queue.Binding:
		return job.ReasonPriority, "it is about to start on node " + p.Node
	case waits && p.Place == queue.OldBinding:
		return job.ReasonPriority, fmt.Sprintf("its start on node %s was called off, and that has not been answered", p.Node)
	case waits:
		return job.ReasonPriority, "it has not been tried yet"
	}
	if limit := j.Spec.Array.Limit; limit > 0 && j.Active() >= limit {
		return job.ReasonArrayLimit, fmt.Sprintf("%d elements run, as many as the array allows at once", j.Active())
	}
	if q := v.Queue(j.Spec.Queue); q != nil && q.MaxRunning > 0 {
		return job.ReasonQueueLimit, fmt.Sprintf("queue %s lets a user run %d tasks at once", q.Name, q.MaxRunning)
	}
	return job.ReasonPriority, "other elements of the job go first"
}

// position is where a task stands in the order by queues; false where there is none, for it
// takes the engine's time.
func (c *Controller) position(v state.View, id job.TaskID) (queue.Position, bool) {
	if !v.ByQueues() {
		return queue.Position{}, false
	}
	return c.eng.Load().Queue(id.String())
}

// Expected says when, at the latest, and where an element is expected to start. It is
// known only of one that has a reservation; of others it is false.
func (c *Controller) Expected(v state.View, j *state.Job, element int32) (start time.Time, nodes []string, ok bool) {
	p, ok := c.eng.Load().Promise(waitingName(j, nextTask(v, j, element)))
	if !ok {
		return time.Time{}, nil, false
	}
	return p.Current, slices.Compact(slices.Sorted(maps.Values(p.Nodes))), true
}

// waitingName is the name under which the engine has what waits: a task's own, or that of its gang.
func waitingName(j *state.Job, id job.TaskID) string {
	if j.Spec.Tasks > 1 {
		return groupID(id)
	}
	return id.String()
}

// nextTask is the first task of an element's next attempt.
func nextTask(v state.View, j *state.Job, index int32) job.TaskID {
	return job.TaskID{Job: j.ID, Element: index, Attempt: v.NextAttempt(j.ID, index)}
}

// Explain says why an element waits, or why it is where it is, node by node, as far
// as the engine has it.
func (c *Controller) Explain(v state.View, j *state.Job, index int32) (*api.Explanation, error) {
	s, _ := v.StateOf(j, index)
	out := &api.Explanation{Job: j.ID, Element: index, State: s, Tasks: j.Spec.Tasks}
	if s == job.Pending {
		out.Reason, out.Message = c.Why(v, j, index)
		if r := v.LastRecord(j.ID, index); r != nil && r.Outcome.State == job.Preempted {
			out.Message += "; its last attempt was ended: " + r.Outcome.Message
		}
		out.ExpectedStart, out.ExpectedNodes, _ = c.Expected(v, j, index)
		out.Forecast, out.Calibration = c.Forecast(v, j, index), c.Calibration()
	}
	x, err := c.eng.Load().Explain(nextTask(v, j, index).String(), engine.ExplainOptions{AllFilters: true})
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return out, nil
	case err != nil:
		return nil, err
	case x.Undecided:
		return out, nil
	}
	explainTurn(v, x, out)
	for _, p := range x.Scores {
		out.Scores = append(out.Scores, scoreName(p.Plugin))
	}
	now := time.Now()
	for i := range x.Nodes {
		node := &model.Node{}
		if n := v.Node(x.Nodes[i].Node); n != nil {
			node = nodeModel(n, now)
		}
		out.Nodes = append(out.Nodes, verdict(x.Workload, node, &x.Nodes[i]))
	}
	return out, nil
}

// verdict is what speaks for and against a node.
func verdict(w *model.Workload, node *model.Node, n *engine.NodeExplanation) api.NodeVerdict {
	out := api.NodeVerdict{Node: n.Node, Feasible: n.Feasible, Unseen: n.Unseen, Total: n.Total}
	for _, r := range n.Verdicts {
		out.Verdicts = append(out.Verdicts, api.Verdict{Plugin: r.Plugin, Reasons: inWords(w, node, r.Plugin, r.Reasons, true)})
	}
	for _, s := range n.Scores {
		out.Scores = append(out.Scores, s.Weighted)
	}
	return out
}

// Counts says how many workloads are in each part of the engine's queue.
func (c *Controller) Counts() map[string]int {
	q := c.eng.Load().QueueCounts()
	return map[string]int{
		"active": q.Active, "backoff": q.Backoff + q.ErrorBackoff, "unschedulable": q.Unschedulable,
		"gated": q.Gated, "inFlight": q.InFlight + q.Permit + q.Binding, "oldBinding": q.OldBinding,
	}
}
