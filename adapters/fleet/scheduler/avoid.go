package scheduler

import (
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// avoidFor is how long an attempt is kept from nodes on which others of its element have
// failed. It ends: the nodes that are left may be full for days, or too small together,
// and a node that could not start a task may have been mended.
const avoidFor = 10 * time.Minute

// avoided are the nodes that an element's next attempt is kept from: that of the last
// attempt, and all that could not start one. Until is when that ends. Where no other node
// would do, only the last one is avoided, and where it is the only one, none.
func (c *Controller) avoided(v state.View, j *state.Job, q *state.Queue, index int32) (nodes []string, until time.Time) {
	e := v.Element(j.ID, index)
	if e == nil || j.Spec.Retry.SameNode {
		return nil, until
	}
	until = e.Eligible.Add(avoidFor)
	if left := time.Until(until); left <= 0 || left > avoidFor { // or a leader's clock was wrong
		return nil, time.Time{}
	}
	failed := v.FailedOn(e)
	var last []string
	if e.Avoid != "" {
		last = []string{e.Avoid}
		if !slices.Contains(failed, e.Avoid) {
			failed = append(failed, e.Avoid)
		}
	}
	for _, nodes := range [][]string{failed, last} {
		if len(nodes) > 0 && c.othersThan(nodes, j, q) {
			return nodes, until
		}
	}
	return nil, time.Time{}
}

// othersThan reports whether a node besides those could take a task of the job, as far
// as labels say.
func (c *Controller) othersThan(nodes []string, j *state.Job, q *state.Queue) bool {
	a := nodeAffinity(j.Spec, q, nodes)
	for _, n := range c.nodes {
		if !n.Unschedulable && a.Required.Matches(n) {
			return true
		}
	}
	return false
}

// stands reports whether the engine has the offer as it would be made now.
func (o *offer) stands(attempt int32, held job.Reason) bool {
	return o.attempt == attempt && held == "" && (o.avoids.IsZero() || time.Now().Before(o.avoids))
}
