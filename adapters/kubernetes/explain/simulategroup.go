package explain

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/engine"
)

// tryGroup places the members of a tree of groups that wait, those of the cluster as
// well.
func (s *simulation) tryGroup(a *attempt) error {
	g := groupOf(a.root)
	d, err := s.branch.ScheduleGroup(s.now, a.root)
	if err == nil && !d.Placed && (len(d.Evictions) > 0 || len(d.Nominations) > 0) {
		for id, node := range d.Nominations {
			if p := s.pods[id]; p != nil {
				p.NominatedNode = node
			}
		}
		if g.Preempts, err = s.displace(d.Evictions, d.Nominations, "pod group "+g.Namespace+"/"+g.Name); err != nil {
			return err
		}
		d, err = s.branch.ScheduleGroup(s.now, a.root)
	}
	g.Placed, g.Message = d.Placed, words.Text(d.Message)
	if err != nil {
		g.Placed, g.Message = false, words.Text(err.Error())
	}
	s.result.Groups = append(s.result.Groups, g)
	s.takeMembers(&d)
	why := whyUnplaced(&d)
	for _, w := range a.pods {
		p := s.pods[w.ID]
		switch {
		case err != nil:
			p.Outcome, p.Message = api.Failed, words.Text(err.Error())
		case p.Outcome != api.Placed:
			p.Message = why
		}
	}
	return nil
}

// takeMembers notes where the members have gone, those of the cluster too.
func (s *simulation) takeMembers(d *engine.GroupDecision) {
	view := s.branch.View()
	for i := range d.Members {
		m := &d.Members[i]
		w, ok := view.Workload(m.Binding.Workload)
		if !m.Placed() || !ok {
			continue
		}
		p := s.pods[w.ID]
		if p == nil {
			p = &api.SimulatedPod{Pod: podOf(w.Workload), InCluster: true, SchedulingGates: w.Gates}
			s.pods[w.ID] = p
			s.order = append(s.order, p)
		}
		p.Outcome, p.Node, p.NominatedNode = api.Placed, m.Binding.Node, ""
		p.EvaluatedNodes, p.FeasibleNodes = m.Evaluated, m.Feasible
	}
}

// whyUnplaced is what there is to say about a member without a node.
func whyUnplaced(d *engine.GroupDecision) string {
	if !d.Placed {
		return words.Text(d.Message)
	}
	var reasons []string
	for i := range d.Members {
		if m := &d.Members[i]; !m.Placed() && m.Message != "" && !slices.Contains(reasons, m.Message) {
			reasons = append(reasons, m.Message)
		}
	}
	return strings.Join(append([]string{"its group is placed without it"}, words.Texts(reasons)...), ": ")
}

// groupOf is the group with the ID, by its name; see convert.GroupID and
// convert.CompositeGroupID.
func groupOf(id string) api.SimulatedGroup {
	namespace, name, _ := strings.Cut(id, "/")
	if inner, of, composite := strings.Cut(name, "/"); composite {
		namespace, name = inner, of
		return api.SimulatedGroup{Namespace: namespace, Name: name, Composite: true}
	}
	return api.SimulatedGroup{Namespace: namespace, Name: name}
}
