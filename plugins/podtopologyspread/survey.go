package podtopologyspread

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// survey is what one cycle reads of the cluster for a list of constraints: what
// they count on each node, and which nodes take part. It is made of slices by
// slot, so that summing up is a few plain loops over numbers. To look at what is
// written on a node costs far more than that, and is done only where an
// inclusion policy asks for it and the answer makes a difference.
type survey struct {
	constraints []constraint
	topologies  []*extpoints.Topology // by constraint
	counts      [][]int32             // by constraint and slot
	policies    policies
	// allKeys: nodes that lack a key take no part, and there are some.
	allKeys bool
	// scoring: all that is wanted is the counts of the domains that are no
	// hosts; else it is also which domains there are.
	scoring bool
	// marks says of each node, by slot, what speaks for its taking part; nil
	// where every node with the key takes part. Nodes that make no difference
	// have all marks.
	marks []uint8
}

// takeSurvey reads what the constraints of the mode are about. With allKeys only
// nodes that have the keys of all of them take part. memory holds the counts.
func takeSurvey(view extpoints.ClusterView, w *extpoints.WorkloadInfo, list []constraint, mode model.SpreadMode, allKeys bool, memory *scratch) *survey {
	index := view.Index()
	v := &survey{
		constraints: list,
		topologies:  make([]*extpoints.Topology, len(list)),
		counts:      make([][]int32, len(list)),
		policies:    policiesOf(list, w),
		scoring:     mode == model.SpreadPreferred,
	}
	for i := range list {
		v.topologies[i] = index.Topology(list[i].key)
		for j := range list[:i] {
			if sameCounts(&list[i], &list[j]) {
				v.counts[i] = v.counts[j]
			}
		}
		if v.counts[i] == nil {
			v.counts[i] = countBySlot(index, w.Namespace, &list[i], memory)
		}
	}
	v.allKeys = allKeys && v.someLackKeys(view.Nodes().Len())
	v.mark(view.Nodes())
	return v
}

// countBySlot counts the workloads on each node.
func countBySlot(index extpoints.Index, namespace string, c *constraint, memory *scratch) []int32 {
	counts := memory.counts(index.Slots())
	if !c.counts() {
		return counts
	}
	index.Classes(namespace, c.selector, func(class *extpoints.WorkloadClass) {
		// What is terminating would only keep others out of its place.
		if !class.Terminating {
			class.Counts.AddTo(counts)
		}
	})
	return counts
}

// someLackKeys reports whether one of the nodes lacks one of the keys.
func (v *survey) someLackKeys(nodes int) bool {
	for _, t := range v.topologies {
		have := 0
		for _, n := range t.Nodes {
			have += int(n)
		}
		if have < nodes {
			return true
		}
	}
	return false
}

// mark fills in the marks, where they are needed. A single constraint needs none
// for nodes without its key.
func (v *survey) mark(nodes extpoints.Nodes) {
	if v.policies.asked == 0 && (!v.allKeys || len(v.constraints) == 1) {
		return
	}
	v.marks = make([]uint8, len(v.counts[0]))
	for slot := range v.marks {
		v.marks[slot] = allMarks
	}
	if v.allKeys {
		for _, t := range v.topologies {
			for slot, domain := range t.Of[:len(v.marks)] {
				if domain == 0 {
					v.marks[slot] = 0
				}
			}
		}
	}
	if v.policies.asked == 0 {
		return
	}
	known := v.knownDomains()
	for i := range nodes.Len() {
		n := nodes.At(i)
		if v.marks[n.Slot] != 0 && v.matters(n.Slot, known) {
			v.marks[n.Slot] = v.policies.marks(n.Node)
			v.learn(n.Slot, known)
		}
	}
}

// knownDomains is the sets of domains of which a node is known that takes part,
// by constraint; nil for constraints where that is not wanted.
func (v *survey) knownDomains() [][]bool {
	known := make([][]bool, len(v.constraints))
	if !v.scoring {
		for i := range known {
			if v.constraints[i].needs()&v.policies.asked != 0 {
				known[i] = make([]bool, len(v.topologies[i].Values))
			}
		}
	}
	return known
}

// matters reports whether it makes a difference if the node takes part: it has
// something that counts, or its domain may be there only because of it.
func (v *survey) matters(slot int32, known [][]bool) bool {
	for i := range v.constraints {
		c := &v.constraints[i]
		if c.needs()&v.policies.asked == 0 || v.scoring && c.key == hostKey {
			continue
		}
		if v.counts[i][slot] > 0 || known[i] != nil && !known[i][v.topologies[i].Of[slot]] {
			return true
		}
	}
	return false
}

// learn adds the domains in which the node takes part.
func (v *survey) learn(slot int32, known [][]bool) {
	for i := range known {
		if needs := v.constraints[i].needs(); known[i] != nil && v.marks[slot]&needs == needs {
			known[i][v.topologies[i].Of[slot]] = true
		}
	}
}

// byDomain adds up what constraint i counts on the nodes that take part, by
// number of the value; entry 0 is for nodes without the key.
func (v *survey) byDomain(i int) []int32 {
	t, bySlot := v.topologies[i], v.counts[i]
	counts := make([]int32, len(t.Values))
	if v.marks == nil {
		t.SumByDomain(bySlot, counts)
		return counts
	}
	needs := v.constraints[i].needs()
	for slot, mark := range v.marks {
		if mark&needs == needs {
			counts[t.Of[slot]] += bySlot[slot]
		}
	}
	return counts
}

// eachDomain calls f for every domain of constraint i in which a node takes part,
// in the order in which such nodes are visited. Where all nodes with the key do,
// that is the order of the numbers.
func (v *survey) eachDomain(i int, nodes extpoints.Nodes, f func(domain int32)) {
	t := v.topologies[i]
	if v.marks == nil {
		for domain := 1; domain < len(t.Values); domain++ {
			f(int32(domain))
		}
		return
	}
	seen, needs := make([]bool, len(t.Values)), v.constraints[i].needs()
	for j := range nodes.Len() {
		slot := nodes.At(j).Slot
		if domain := t.Of[slot]; v.marks[slot]&needs == needs && !seen[domain] {
			seen[domain] = true
			f(domain)
		}
	}
}

// What may speak for a node's taking part.
const (
	hasKeys   uint8 = 1 << iota // it has the keys that it must have
	matches                     // the workload's node selector and required node affinity match it
	tolerated                   // the workload tolerates its taints

	allMarks = hasKeys | matches | tolerated
)

// needs is what must speak for a node's taking part in the constraint.
func (c *constraint) needs() uint8 {
	needs := hasKeys
	if c.honorAffinity {
		needs |= matches
	}
	if c.honorTaints {
		needs |= tolerated
	}
	return needs
}

// policies are the inclusion policies of a list of constraints, with what they
// ask about nodes.
type policies struct {
	// asked are the marks that some constraint needs and not every node has.
	asked       uint8
	required    helper.RequiredNodes
	tolerations []model.Toleration
}

func policiesOf(list []constraint, w *extpoints.WorkloadInfo) policies {
	var p policies
	for i := range list {
		p.asked |= list[i].needs()
	}
	p.asked &^= hasKeys
	if p.asked&matches != 0 {
		p.required = helper.RequiredNodesOf(w.Workload)
		if p.required.IsEmpty() {
			p.asked &^= matches
		}
	}
	p.tolerations = w.Tolerations
	return p
}

// marks are the marks of a node that has the keys.
func (p *policies) marks(n *model.Node) uint8 {
	marks := allMarks
	if p.asked&matches != 0 && !p.required.Matches(n) {
		marks &^= matches
	}
	if p.asked&tolerated != 0 && helper.FirstUntolerated(n.Taints, p.tolerations) != nil {
		marks &^= tolerated
	}
	return marks
}
