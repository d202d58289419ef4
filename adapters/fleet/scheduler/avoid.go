package scheduler

import (
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/model"
)

// avoidFor is how long an attempt is kept from nodes on which others of its element have
// failed, and everybody from a node that is distrusted. It ends: the nodes that are left may be full for days, or too small together,
// and a node that could not start a task may have been mended.
const avoidFor = 10 * time.Minute

// avoided are the nodes that an element's next attempt is kept from: that of the last
// attempt, all that could not start one, and all that claim that its job is mistaken, of
// any element. Until is when that ends. Where no other node could take it, only those of
// its own attempts are avoided, or only the last one, or none.
func (c *Controller) avoided(v state.View, j *state.Job, q *state.Queue, index int32) (nodes []string, until time.Time) {
	var all, own, last []string
	for _, claim := range j.Claims {
		if end := avoidUntil(claim.At); !end.IsZero() {
			all = append(all, claim.Node)
			until = later(until, end)
		}
	}
	if e := v.Element(j.ID, index); e != nil {
		if end := avoidUntil(e.Eligible); !end.IsZero() {
			own, last = failedOn(v, j, e), []string{e.Avoid}
			until = later(until, end)
		}
	}
	for _, nodes := range [][]string{slices.Concat(all, own), own, last} {
		nodes = named(nodes)
		if len(nodes) > 0 && c.othersThan(nodes, j, q) {
			return nodes, until
		}
	}
	return nil, time.Time{}
}

// avoidUntil is until when nodes are avoided for what was at a time, zero where that is
// over. What is yet to come was written when a leader's clock was wrong, and may be new.
func avoidUntil(at time.Time) time.Time {
	now := time.Now()
	if at.After(now) {
		at = now
	}
	if until := at.Add(avoidFor); until.After(now) {
		return until
	}
	return time.Time{}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// failedOn are the nodes of an element's own attempts that the next is kept from.
func failedOn(v state.View, j *state.Job, e *state.Element) []string {
	nodes := []string{e.Avoid}
	for _, claim := range e.Claims {
		nodes = append(nodes, claim.Node)
	}
	if !j.Spec.Retry.SameNode {
		nodes = append(nodes, v.FailedOn(e)...)
	}
	return nodes
}

// named are the names that there are, each once.
func named(nodes []string) []string {
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n string) bool { return n == "" })
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// othersThan reports whether the nodes besides those could take an attempt of the job,
// whatever ended.
func (c *Controller) othersThan(nodes []string, j *state.Job, q *state.Queue) bool {
	var others []*model.Node
	for _, n := range c.nodes {
		if !n.Unschedulable && !slices.Contains(nodes, n.Name) {
			others = append(others, n)
		}
	}
	return len(others) > 0 && len(never(others, q, j.Spec)) == 0
}

// claimed says which node claims that the job of an element is mistaken, where others have
// yet to confirm it.
func claimed(v state.View, j *state.Job, index int32) string {
	e := v.Element(j.ID, index)
	if e == nil || len(e.Claims) == 0 {
		return ""
	}
	last := e.Claims[len(e.Claims)-1]
	return last.Node + ": " + last.Says + "; another node is tried: "
}

// stands reports whether the engine has the offer as it would be made now.
func (o *offer) stands(attempt int32, held job.Reason) bool {
	return o.attempt == attempt && held == "" && (o.avoids.IsZero() || time.Now().Before(o.avoids))
}
