package defaultpreemption

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
)

// trial tries nodes out for one workload, one after the other.
type trial struct {
	engine  extpoints.Preemption
	cycle   *extpoints.CycleState
	w       *extpoints.WorkloadInfo
	queues  *queues // nil where priorities alone decide
	budgets budgets

	// Of the node that is being tried. The state speaks of all nodes, and hears
	// of members of groups that leave other nodes; but those nodes themselves
	// stay as they are, because the filters look at the one node only.
	state extpoints.CycleState
	node  extpoints.NodeInfo

	// Kept between nodes to save the allocation.
	possible                    roster
	violating, allowed, victims []*unit
}

func newTrial(engine extpoints.Preemption, s *extpoints.CycleState, w *extpoints.WorkloadInfo, q *queues) *trial {
	t := &trial{
		engine: engine, cycle: s, w: w, queues: q,
		budgets: newBudgets(s.View().Budgets()), possible: newRoster(s.View(), s.Now(), w.Priority),
	}
	t.possible.anyone = q != nil
	return t
}

var noVictims = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "No preemption victims found for incoming workload")

// victimsOn finds the workloads that must leave the node so that the workload
// fits there; or says why that cannot be done.
//
// Rules: kube-scheduler plugins/defaultpreemption/default_preemption.go
// SelectVictimsOnNode, 1.37.1.
func (t *trial) victimsOn(node *extpoints.NodeInfo) (*extpoints.Victims, *extpoints.Status) {
	t.possible.begin()
	if err := t.possible.add(node); err != nil {
		return nil, extpoints.AsStatus(err)
	}
	t.queues.choose(&t.possible)
	if len(t.possible.list) == 0 {
		return nil, noVictims
	}
	t.cycle.CopyTo(&t.state)
	node.CopyTo(&t.node)
	for _, u := range t.possible.list {
		if st := t.remove(u); st != nil {
			return nil, st
		}
	}
	if st := t.engine.RunFilters(&t.state, t.w, &t.node); !st.IsSuccess() {
		return nil, st
	}
	t.queues.sort(t.possible.list)
	t.violating, t.allowed = t.budgets.split(t.possible.list, t.violating, t.allowed)
	violations, st := t.reprieve()
	if st != nil {
		return nil, st
	}
	if len(t.victims) == 0 {
		return nil, extpoints.AsStatus(fmt.Errorf("expected at least one victim on node %q", node.Node.Name))
	}
	if !t.queues.last() {
		return nil, notLasting
	}
	if len(t.violating) > 0 && len(t.allowed) > 0 || t.queues != nil {
		importance(t.victims, (*unit).important)
	}
	return &extpoints.Victims{Workloads: workloads(t.victims), BudgetViolations: violations}, nil
}

// reprieve puts the workloads back one by one, as far as there is room, and
// keeps the others in t.victims. It counts those of them that no budget allows.
func (t *trial) reprieve() (violations int, st *extpoints.Status) {
	t.victims = t.victims[:0]
	if st := t.reprieveEach(t.violating); st != nil {
		return 0, st
	}
	for _, u := range t.victims {
		violations += u.breaks
	}
	return violations, t.reprieveEach(t.allowed)
}

func (t *trial) reprieveEach(list []*unit) *extpoints.Status {
	for _, u := range list {
		if st := t.add(u); st != nil {
			return st
		}
		if t.engine.RunFilters(&t.state, t.w, &t.node).IsSuccess() && t.queues.spare(u) {
			continue
		}
		if st := t.remove(u); st != nil {
			return st
		}
		t.victims = append(t.victims, u)
	}
	return nil
}

// add puts what leaves as one back.
func (t *trial) add(u *unit) *extpoints.Status {
	if !u.whole() {
		return t.addOne(u.WorkloadInfo, &t.node)
	}
	for i, m := range u.bond.members {
		if st := t.addOne(m.WorkloadInfo, t.nodeOf(u.bond, i)); st != nil {
			return st
		}
	}
	return nil
}

func (t *trial) addOne(w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if node == &t.node {
		node.AddWorkload(w)
	}
	if st := t.engine.AddWorkload(&t.state, t.w, w, node); !st.IsSuccess() {
		return st
	}
	return nil
}

// remove takes what leaves as one off.
func (t *trial) remove(u *unit) *extpoints.Status {
	if !u.whole() {
		return t.removeOne(u.WorkloadInfo, &t.node)
	}
	for i, m := range u.bond.members {
		if st := t.removeOne(m.WorkloadInfo, t.nodeOf(u.bond, i)); st != nil {
			return st
		}
	}
	return nil
}

func (t *trial) removeOne(w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if node == &t.node {
		node.RemoveWorkload(w.ID)
	}
	if st := t.engine.RemoveWorkload(&t.state, t.w, w, node); !st.IsSuccess() {
		return st
	}
	return nil
}

// nodeOf is where the i-th member is: on the node that is being tried, or on one
// that stays as it is.
func (t *trial) nodeOf(b *bond, i int) *extpoints.NodeInfo {
	if b.members[i].Node == t.node.Node.Name {
		return &t.node
	}
	return b.nodes[i]
}
