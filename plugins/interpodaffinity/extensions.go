package interpodaffinity

import "github.com/berth-project/berth/extpoints"

// AddWorkload counts a workload in as if it were on the node.
func (*InterPodAffinity) AddWorkload(s *extpoints.CycleState, w, added *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	return moveBy(+1, s, w, added, node)
}

// RemoveWorkload counts a workload out as if it were gone from the node.
func (*InterPodAffinity) RemoveWorkload(s *extpoints.CycleState, w, removed *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	return moveBy(-1, s, w, removed, node)
}

// moveBy counts another workload in or out, by each of the three rules.
func moveBy(by int32, s *extpoints.CycleState, w, other *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	st, ok := prepared.Get(s)
	if !ok {
		return extpoints.AsStatus(errNotPrepared)
	}
	view := s.View()
	affinity := ownTerms{required(w.Affinity), w.Namespace, view}
	if affinity.allSelect(other.Namespace, other.Labels) {
		for i := range st.tables[near] {
			if st.move(near, i, node, by) {
				st.company += int(by)
			}
		}
	}
	anti := ownTerms{required(w.AntiAffinity), w.Namespace, view}
	for i := range anti.terms {
		if anti.at(i).selects(other.Namespace, other.Labels) {
			st.move(apart, tableOf(st.tables[apart], anti.terms[i].TopologyKey), node, by)
		}
	}
	theirs := required(other.AntiAffinity)
	for i := range theirs {
		if selectsIncoming(&theirs[i], other.Namespace, view, w) {
			st.move(barred, st.barredTable(view, theirs[i].TopologyKey), node, by)
		}
	}
	return nil
}

// barredTable is the place of the key's table among those of barred. The first
// workload with a term of that key brings it along.
func (st *filterState) barredTable(view extpoints.ClusterView, key string) int {
	i := tableOf(st.tables[barred], key)
	if i < 0 {
		i = len(st.tables[barred])
		st.tables[barred] = append(st.tables[barred], table{topology: view.Index().Topology(key)})
	}
	return i
}

// move writes down that the node's domain has so many more, and reports whether
// the node is in a domain at all.
func (st *filterState) move(r rule, i int, node *extpoints.NodeInfo, by int32) bool {
	domain := st.tables[r][i].topology.Of[node.Slot]
	if domain == 0 {
		return false
	}
	for j := range st.moved {
		if m := &st.moved[j]; m.rule == r && m.table == i && m.domain == domain {
			m.by += by
			return true
		}
	}
	st.moved = append(st.moved, move{r, i, domain, by})
	return true
}
