package podtopologyspread

import (
	"errors"
	"math"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// spreads holds, from PreFilter to Filter, how things are spread.
var spreads = extpoints.NewStateKey[*spread](Name + "/required")

var errNoPreFilter = errors.New("there are required spread constraints, but PreFilter did not prepare for them")

// spread is how what the required constraints count is spread over their
// domains. The extensions change it: what PreFilter found is shared between
// clones and stays as it is, and what has been supposed since is kept beside it
// as a list of differences, which is short.
type spread struct {
	domains  []domains // by constraint
	policies policies
	// lowest and moved are a clone's own.
	lowest []lowest // by constraint
	moved  []move
}

// domains is what PreFilter found for one constraint.
type domains struct {
	constraint
	self   int32   // 1 where the constraint selects the workload itself, else 0
	number int32   // of domains that take part
	of     []int32 // each node's domain, by slot
	counts []int32 // by domain
}

// move is a difference from what PreFilter found.
type move struct {
	constraint, domain, difference int32
}

// lowest is the domain with the smallest count, and another one that was second
// when it was last looked at.
//
// As long as all that is supposed to come and go does so in one domain, that
// other one is as good as a list of all: of the domains that do not change, the
// one with the smallest count is always among the two. That is how preemption
// and nominations use it, on one node at a time. Where things come and go in
// several domains the smallest count may come out too large, and a node be
// accepted that should not be. It is kept like that because what the reference
// decides is to be decided here as well.
//
// Which of several domains with equal counts are remembered is then of
// consequence too. The reference takes those that it happens to meet first in
// the order of a map; here it is those whose nodes are visited first.
//
// (kube-scheduler plugins/podtopologyspread/filtering.go criticalPaths,
// 1.37.1.)
type lowest [2]struct{ domain, count int32 }

// nowhere is lowest before any domain is known. Domain 0 is none.
var nowhere = lowest{{0, math.MaxInt32}, {0, math.MaxInt32}}

// set notes the count of a domain.
func (l *lowest) set(domain, count int32) {
	switch {
	case domain == l[0].domain:
		l[0].count = count
	case domain == l[1].domain:
		l[1].count = count
	case count >= l[1].count:
		return
	default:
		l[1].domain, l[1].count = domain, count
	}
	if l[0].count > l[1].count {
		l[0], l[1] = l[1], l[0]
	}
}

// Clone returns a copy that the extensions can change.
func (s *spread) Clone() *spread {
	c := *s
	c.lowest = slices.Clone(s.lowest)
	c.moved = slices.Clone(s.moved)
	return &c
}

// count is the number of workloads counted in a domain.
func (s *spread) count(constraint, domain int32) int32 {
	count := s.domains[constraint].counts[domain]
	for i := range s.moved {
		if m := &s.moved[i]; m.constraint == constraint && m.domain == domain {
			count += m.difference
		}
	}
	return count
}

// smallest is the count that the others are compared with.
func (s *spread) smallest(constraint int32) int32 {
	d := &s.domains[constraint]
	if d.number < d.minDomains {
		return 0
	}
	return s.lowest[constraint][0].count
}

// PreFilter finds out how things are spread. It skips workloads without required
// constraints.
func (p *PodTopologySpread) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	list := p.constraints(w.Workload, model.SpreadRequired)
	if len(list) == 0 {
		return nil, skip
	}
	v := takeSurvey(s.View(), w, list, model.SpreadRequired, true, nil)
	found := &spread{domains: make([]domains, len(list)), policies: v.policies, lowest: make([]lowest, len(list))}
	for i := range list {
		found.domains[i], found.lowest[i] = v.domains(i, w, s.View().Nodes())
	}
	spreads.Set(s, found)
	return nil, nil
}

// domains finds out how constraint i is kept.
func (v *survey) domains(i int, w *extpoints.WorkloadInfo, nodes extpoints.Nodes) (domains, lowest) {
	d := domains{constraint: v.constraints[i], of: v.topologies[i].Of, counts: v.byDomain(i)}
	if d.selector.Matches(w.Labels) {
		d.self = 1
	}
	low := nowhere
	v.eachDomain(i, nodes, func(domain int32) {
		d.number++
		low.set(domain, d.counts[domain])
	})
	return d, low
}

// AddWorkload counts one workload more.
func (*PodTopologySpread) AddWorkload(s *extpoints.CycleState, w, added *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	return suppose(s, w, added, node, 1)
}

// RemoveWorkload counts one workload less.
func (*PodTopologySpread) RemoveWorkload(s *extpoints.CycleState, w, removed *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	return suppose(s, w, removed, node, -1)
}

// suppose counts other on the node, or no longer. Like the reference it does not
// ask whether PreFilter counted it: one that is terminating, or that a
// selector without requirements selects, was not counted, and is taken off or
// put on top all the same.
func suppose(s *extpoints.CycleState, w, other *extpoints.WorkloadInfo, node *extpoints.NodeInfo, difference int32) *extpoints.Status {
	now, ok := spreads.Get(s)
	if !ok {
		return extpoints.AsStatus(errNoPreFilter)
	}
	if other.Namespace != w.Namespace {
		return nil
	}
	for i := range now.domains {
		if now.domains[i].of[node.Slot] == 0 {
			return nil
		}
	}
	marks := now.policies.marks(node.Node)
	for i := range now.domains {
		d := &now.domains[i]
		if needs := d.needs(); marks&needs == needs && d.selector.Matches(other.Labels) {
			now.move(int32(i), d.of[node.Slot], difference)
		}
	}
	return nil
}

// move changes the count of a domain.
func (s *spread) move(constraint, domain, difference int32) {
	i := slices.IndexFunc(s.moved, func(m move) bool { return m.constraint == constraint && m.domain == domain })
	if i < 0 {
		if s.moved == nil {
			// As a rule there will be one for each constraint.
			s.moved = make([]move, 0, len(s.domains))
		}
		i = len(s.moved)
		s.moved = append(s.moved, move{constraint, domain, 0})
	}
	s.moved[i].difference += difference
	s.lowest[constraint].set(domain, s.count(constraint, domain))
}

// Filter rejects nodes that lack a key, and nodes in whose domain the workload
// would be one too many. The constraints are looked at in their order, and the
// first that is not kept says why.
func (p *PodTopologySpread) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	now, ok := spreads.Get(s)
	if !ok {
		if len(p.constraints(w.Workload, model.SpreadRequired)) > 0 {
			return extpoints.AsStatus(errNoPreFilter)
		}
		return nil
	}
	for i := range now.domains {
		d, c := &now.domains[i], int32(i)
		domain := d.of[node.Slot]
		if domain == 0 {
			return missingLabel
		}
		// In 64 bits: a smallest count may have been supposed away to less
		// than nothing.
		if int64(now.count(c, domain))+int64(d.self)-int64(now.smallest(c)) > int64(d.maxSkew) {
			return tooSkewed
		}
	}
	return nil
}
