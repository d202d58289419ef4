package queue

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// QueuesGate stands, among the names of plugins, for the order by queues where it gates a
// workload: because a queue or a principal is not there, or because the workload asks for
// more than it could ever have. Only a change of queues, principals, limits or nodes
// opens it.
const QueuesGate = "Queues"

// refusal says why the item can never be placed as the definitions are, nil where it can.
func (t *tree) refusal(it *Item) *Held {
	leaf := t.leafOf(it.Workload)
	if leaf.leaf.missing != nil {
		return leaf.leaf.missing
	}
	for _, m := range it.Members {
		if keyOf(m.Workload) != leaf.leaf.key {
			return &Held{Absent: "the members of its group name different queues or principals"}
		}
	}
	if h := t.check(leaf, it, true); h != nil {
		return t.describe(h, true)
	}
	return nil
}

// status is what the gate says.
func (h *Held) status() *extpoints.Status {
	return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, h.String()).WithPlugin(QueuesGate)
}

// linkToQueues has a parked item wait for a change of definitions, if it is that which
// gates it.
func (q *Queue) linkToQueues(it *Item) {
	if q.tree == nil || it.GatingPlugin != QueuesGate {
		return
	}
	reg := &q.tree.gated
	if !slices.ContainsFunc(it.rejectors, func(j rejector) bool { return j.reg == reg }) {
		it.rejectors = append(it.rejectors, rejector{item: it, reg: reg})
	}
}

// refusedByQueues says why the order by queues can never let the item through, and gates
// it; nil where it can, or where it will be asked again.
func (q *Queue) refusedByQueues(it *Item) *Held {
	if q.tree == nil || q.tree.stale {
		return nil
	}
	refused := q.tree.refusal(it)
	if refused != nil {
		it.gateByQueues(refused)
	}
	return refused
}

func (it *Item) gateByQueues(refused *Held) {
	it.GatingPlugin, it.Gate = QueuesGate, refused.status()
}
