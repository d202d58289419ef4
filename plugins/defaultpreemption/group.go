package defaultpreemption

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

var noGroupVictims = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "No preemption victims found for incoming preemptor")

// GroupPostFilter makes room for a group in the whole cluster, if that can be
// done. The group is placed once, with everything of lower priority gone; then
// what has gone is put back one by one, as far as the group stays where it is.
// Nodes are not compared and extenders are not asked.
//
// Rules: kube-scheduler framework/preemption/podgrouppreemption.go, 1.37.1, with
// its feature gate CompositePodGroup. A group with a policy is one for which the
// gate PodGroupPreemptionPolicy is on (types.go resolvePreemptionPolicy).
func (p *DefaultPreemption) GroupPostFilter(s *extpoints.CycleState, g *extpoints.GroupInfo, t extpoints.GroupTrial) (*extpoints.GroupPostFilterResult, *extpoints.Status) {
	possible := newRoster(s.View(), s.Now(), g.Priority)
	result, st := p.preemptFor(s, g, t, &possible)
	st = possible.say(st)
	switch text := st.Message(); {
	case st.Code() == extpoints.Error:
		return result, extpoints.AsStatus(fmt.Errorf("group preemption: %w", st.AsError()))
	case text == "":
		return result, st
	default:
		return result, extpoints.NewStatus(st.Code(), "group preemption: "+text)
	}
}

// mayPreempt reports whether the group may displace others: by its own policy, or
// where it has none by that of the members to be placed.
func mayPreempt(g *extpoints.GroupInfo) bool {
	if g.Preemption != "" {
		return g.Preemption != model.PreemptNever
	}
	return g.All(func(w *extpoints.WorkloadInfo) bool { return w.MayPreempt() })
}

func (p *DefaultPreemption) preemptFor(
	s *extpoints.CycleState, g *extpoints.GroupInfo, t extpoints.GroupTrial, possible *roster,
) (*extpoints.GroupPostFilterResult, *extpoints.Status) {
	q := p.askQueues(s, g.Priority, waiting(g)...)
	possible.anyone, possible.tolerations, possible.strict = q != nil, p.tolerations, p.compat == extpoints.KubeScheduler137
	err := possible.addAll()
	if err == nil {
		q.choose(possible)
	}
	// Where nothing else will do, nominations to nodes that others are leaving yet are taken back.
	var none *extpoints.GroupPostFilterResult
	switch {
	case err != nil:
		return nil, extpoints.AsStatus(err)
	case !mayPreempt(g):
		return nil, never
	case possible.underWay(g):
		if kept := p.awaits(g, t, possible); kept != nil {
			return kept, extpoints.NewStatus(extpoints.Success, "ongoing preemption on nominated nodes")
		}
		none = &extpoints.GroupPostFilterResult{}
	}
	if len(possible.list) == 0 {
		return none, noGroupVictims
	}
	if st := p.futile(s, waiting(g)...); st != nil {
		return none, st
	}
	a, victims, st := p.victimsFor(s, t, possible, q)
	if st != nil {
		return none, st
	}
	leave := workloads(victims)
	p.evict(s, leave, "preempted by group "+g.ID)
	return proposed(a), extpoints.NewStatus(extpoints.Success, fmt.Sprintf("found a placement for group, preempting %d victims", len(leave)))
}

// victimsFor places the group and says who must leave for it. It is tried first with those gone
// whom budgets allow to be displaced, then with one more, and with four times as many more each time, the less
// important ones first: so no budget is broken where there is a way around it, and few where there is none. To the
// reference, and [extpoints.KubeScheduler137], the budgets count only once the nodes are chosen.
func (p *DefaultPreemption) victimsFor(
	s *extpoints.CycleState, t extpoints.GroupTrial, possible *roster, q *queues,
) (*extpoints.Assignments, []*unit, *extpoints.Status) {
	all := places(possible.list)
	q.sort(possible.list)
	b := newBudgets(s.View().Budgets())
	violating, allowed := b.split(possible.list, nil, nil)
	stay := len(violating)
	switch {
	case p.compat == extpoints.KubeScheduler137:
		stay = 0
	case stay > 0 && len(allowed) == 0:
		stay--
	}
	for stay > 0 {
		if list := append(slices.Clone(violating[stay:]), allowed...); q.keep(violating[:stay]) {
			if a, victims, st := p.victimsAmong(t, places(list), list, q); st == nil {
				return a, victims, nil
			}
		}
		q.again(possible)
		stay = max(len(violating)-max(4*(len(violating)-stay), 1), 0)
	}
	return p.victimsAmong(t, all, append(violating, allowed...), q)
}

// victimsAmong does it with those of the list gone, who are put back in its order.
func (p *DefaultPreemption) victimsAmong(
	t extpoints.GroupTrial, gone []extpoints.PlacedMember, list []*unit, q *queues,
) (*extpoints.Assignments, []*unit, *extpoints.Status) {
	t.Remove(gone)
	a, st := t.Schedule()
	if !st.IsSuccess() {
		return nil, nil, st
	}
	victims, st := newReprieval(p.handle.Preemption(), t, a).reprieve(list, q)
	if st == nil && !q.last() {
		st = notLasting
	}
	return a, victims, st
}

// waiting lists the members that are to be placed.
func waiting(g *extpoints.GroupInfo) (list []*extpoints.WorkloadInfo) {
	g.All(func(w *extpoints.WorkloadInfo) bool {
		list = append(list, w)
		return true
	})
	return list
}

// addAll lists what may have to leave the cluster.
func (r *roster) addAll() error {
	r.begin()
	nodes := r.view.Nodes()
	for i := range nodes.Len() {
		if err := r.add(nodes.At(i)); err != nil {
			return fmt.Errorf("failed to create domain: %w", err)
		}
	}
	return nil
}

// underWay reports whether workloads are still leaving a node to which a member
// is nominated, if it is to any.
func (r *roster) underWay(g *extpoints.GroupInfo) bool {
	return !g.All(func(w *extpoints.WorkloadInfo) bool { return !r.someLeave(w.Nominated) })
}

// awaits is what the group waits for while workloads leave that were displaced: nil if it would
// not fit even if they had left, since a node that it is nominated to cannot be used any more, say. Then
// others are displaced, as for a workload alone. A member keeps its nomination unless it would fit
// on another node only. To the reference, and [extpoints.KubeScheduler137], that somebody
// leaves is enough.
func (p *DefaultPreemption) awaits(g *extpoints.GroupInfo, t extpoints.GroupTrial, r *roster) *extpoints.GroupPostFilterResult {
	kept := currently(g)
	if p.compat == extpoints.KubeScheduler137 {
		return kept
	}
	t.Remove(r.leaving())
	a, st := t.Schedule()
	if !st.IsSuccess() {
		return nil
	}
	for i := range a.Proposals {
		if w := a.Proposals[i].Workload; w.Nominated != "" {
			kept.Nominations[w.ID] = extpoints.PostFilterResult{Nominate: a.Proposals[i].Binding.Node}
		}
	}
	return kept
}

// leaving lists the workloads of lower priority that are on their way off their nodes to make room.
func (r *roster) leaving() (list []extpoints.PlacedMember) {
	nodes := r.view.Nodes()
	for i := range nodes.Len() {
		node := nodes.At(i)
		for _, w := range node.Workloads {
			if r.leaves(w) {
				list = append(list, extpoints.PlacedMember{WorkloadInfo: w, Node: node.Node.Name})
			}
		}
	}
	return list
}

// currently leaves every member the nomination that it has.
func currently(g *extpoints.GroupInfo) *extpoints.GroupPostFilterResult {
	n := map[string]extpoints.PostFilterResult{}
	g.All(func(w *extpoints.WorkloadInfo) bool {
		n[w.ID] = extpoints.PostFilterResult{Nominate: w.Nominated, Clear: w.Nominated == ""}
		return true
	})
	return &extpoints.GroupPostFilterResult{Nominations: n}
}

// proposed nominates every member to the node proposed for it.
func proposed(a *extpoints.Assignments) *extpoints.GroupPostFilterResult {
	n := make(map[string]extpoints.PostFilterResult, len(a.Proposals))
	for i := range a.Proposals {
		p := &a.Proposals[i]
		n[p.Workload.ID] = extpoints.PostFilterResult{Nominate: p.Binding.Node}
	}
	return &extpoints.GroupPostFilterResult{Nominations: n}
}

// places lists all workloads of the units with their nodes.
func places(list []*unit) []extpoints.PlacedMember {
	all := make([]extpoints.PlacedMember, 0, len(list))
	for _, u := range list {
		if u.whole() {
			all = append(all, u.bond.members...)
		} else {
			all = append(all, extpoints.PlacedMember{WorkloadInfo: u.WorkloadInfo, Node: u.node.Node.Name})
		}
	}
	return all
}
