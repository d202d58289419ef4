package defaultpreemption

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// victim is a workload that may have to leave its node.
type victim struct {
	*extpoints.WorkloadInfo
	since time.Time // since when it runs
}

// compare orders victims, the more important first: higher priority, then
// earlier start. (kube-scheduler framework/preemption/util.go
// MoreImportantVictim, 1.37.1, for victims that are no groups.)
func compare(a, b victim) int {
	switch {
	case a.Priority != b.Priority:
		if a.Priority > b.Priority {
			return -1
		}
		return 1
	default:
		return a.since.Compare(b.since)
	}
}

// importance sorts victims. Victims that are equal must come out in the order
// that the reference gets from sort.Slice, which is not stable. [slices.SortFunc]
// takes the same steps; a test watches that.
func importance(list []victim) { slices.SortFunc(list, compare) }

// trial tries nodes out for one workload, one after the other.
type trial struct {
	engine  extpoints.Preemption
	cycle   *extpoints.CycleState
	w       *extpoints.WorkloadInfo
	budgets budgets

	// Of the node that is being tried.
	state extpoints.CycleState
	node  extpoints.NodeInfo

	// Kept between nodes to save the allocation.
	possible, violating, allowed, victims []victim
}

func newTrial(engine extpoints.Preemption, s *extpoints.CycleState, w *extpoints.WorkloadInfo) *trial {
	return &trial{engine: engine, cycle: s, w: w, budgets: newBudgets(s.View().Budgets())}
}

var noVictims = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "No preemption victims found for incoming pod")

// victimsOn finds the workloads that must leave the node so that the workload
// fits there; or says why that cannot be done.
//
// Rules: kube-scheduler plugins/defaultpreemption/default_preemption.go
// SelectVictimsOnNode, 1.37.1.
func (t *trial) victimsOn(node *extpoints.NodeInfo) (*extpoints.Victims, *extpoints.Status) {
	t.findPossible(node)
	if len(t.possible) == 0 {
		return nil, noVictims
	}
	t.cycle.CopyTo(&t.state)
	node.CopyTo(&t.node)
	for _, v := range t.possible {
		if st := t.remove(v); st != nil {
			return nil, st
		}
	}
	if st := t.engine.RunFilters(&t.state, t.w, &t.node); !st.IsSuccess() {
		return nil, st
	}
	importance(t.possible)
	t.split()
	violations, st := t.reprieve()
	if st != nil {
		return nil, st
	}
	if len(t.victims) == 0 {
		return nil, extpoints.AsStatus(fmt.Errorf("expected at least one victim pod on node %q", node.Node.Name))
	}
	if len(t.violating) > 0 && len(t.allowed) > 0 {
		importance(t.victims)
	}
	victims := &extpoints.Victims{Workloads: make([]*extpoints.WorkloadInfo, len(t.victims)), BudgetViolations: violations}
	for i, v := range t.victims {
		victims.Workloads[i] = v.WorkloadInfo
	}
	return victims, nil
}

// findPossible lists the workloads of lower priority on the node. Those that
// have no start time start one after the other from now on.
func (t *trial) findPossible(node *extpoints.NodeInfo) {
	t.possible = t.possible[:0]
	for i, other := range node.Workloads {
		if other.Priority >= t.w.Priority {
			continue
		}
		since := other.PlacedAt
		if since.IsZero() {
			since = t.cycle.Now().Add(time.Duration(i))
		}
		t.possible = append(t.possible, victim{other, since})
	}
}

// split tells the possible victims that no budget allows from the others; each
// counts against the budgets as if all before it had left.
func (t *trial) split() {
	t.violating, t.allowed = t.violating[:0], t.allowed[:0]
	if len(t.budgets.list) == 0 {
		t.allowed = append(t.allowed, t.possible...)
		return
	}
	t.budgets.reset()
	for _, v := range t.possible {
		if t.budgets.violates(v.WorkloadInfo) {
			t.violating = append(t.violating, v)
		} else {
			t.allowed = append(t.allowed, v)
		}
	}
}

// reprieve puts the workloads back one by one, as far as there is room, and
// keeps the others in t.victims. It counts those of them that no budget allows.
func (t *trial) reprieve() (violations int, st *extpoints.Status) {
	t.victims = t.victims[:0]
	if st := t.reprieveEach(t.violating); st != nil {
		return 0, st
	}
	violations = len(t.victims)
	return violations, t.reprieveEach(t.allowed)
}

func (t *trial) reprieveEach(list []victim) *extpoints.Status {
	for _, v := range list {
		t.node.AddWorkload(v.WorkloadInfo)
		if st := t.engine.AddWorkload(&t.state, t.w, v.WorkloadInfo, &t.node); !st.IsSuccess() {
			return st
		}
		if t.engine.RunFilters(&t.state, t.w, &t.node).IsSuccess() {
			continue
		}
		if st := t.remove(v); st != nil {
			return st
		}
		t.victims = append(t.victims, v)
	}
	return nil
}

// remove takes the workload off the node.
func (t *trial) remove(v victim) *extpoints.Status {
	t.node.RemoveWorkload(v.ID)
	if st := t.engine.RemoveWorkload(&t.state, t.w, v.WorkloadInfo, &t.node); !st.IsSuccess() {
		return st
	}
	return nil
}
