package defaultpreemption

import "github.com/berth-project/berth/extpoints"

// reprieval puts victims back onto a cluster on which a group was placed with all
// of them gone.
//
// The reference asks the filters about every member again for each victim: in
// order, with those before it on their nodes. What they say about a member
// depends on its node, on those before it there and, by its state, on what the
// PreFilter extensions were told. So asked again is only about the members on
// the nodes that a victim comes back to, and about those whose extensions
// listen; of the others the last answer still holds.
type reprieval struct {
	engine    extpoints.Preemption
	trial     extpoints.GroupTrial
	nodes     extpoints.Nodes // without the victims
	proposals []extpoints.Proposal
	watching  []int   // the proposals whose extensions listen
	listening []*site // the node of each

	// sites are the nodes with proposals and, where any extension listens, those
	// to which victims came back.
	sites    map[string]*site
	proposed []*site // those with proposals
	unfit    int     // how many do not fit

	// Of the victim that is being put back.
	round   int
	touched []*site

	scratch extpoints.NodeInfo
}

// site is a node and the members proposed for it.
type site struct {
	node      *extpoints.NodeInfo // a copy, with the victims that are back
	proposals []int               // in order
	fits      bool                // what the filters said last
	round     int                 // when it was touched last
}

func newReprieval(engine extpoints.Preemption, trial extpoints.GroupTrial, a *extpoints.Assignments) *reprieval {
	r := &reprieval{
		engine: engine, trial: trial, nodes: trial.View().Nodes(),
		proposals: a.Proposals, sites: make(map[string]*site, len(a.Proposals)),
	}
	for i := range r.proposals {
		p := &r.proposals[i]
		at := r.sites[p.Binding.Node]
		if at == nil {
			at = r.open(p.Binding.Node)
			r.proposed = append(r.proposed, at)
		}
		at.proposals = append(at.proposals, i)
		if trial.Watches(p) {
			r.watching, r.listening = append(r.watching, i), append(r.listening, at)
		}
	}
	for _, at := range r.proposed {
		if at.fits = r.fit(at); !at.fits {
			r.unfit++
		}
	}
	return r
}

// open makes the site of a node.
func (r *reprieval) open(node string) *site {
	at := &site{node: r.nodes.Get(node).Clone(), fits: true}
	r.sites[node] = at
	return at
}

// fit asks the filters about the members proposed for the node, each with those
// before it on the node.
func (r *reprieval) fit(at *site) bool {
	node := at.node
	if len(at.proposals) > 1 {
		at.node.CopyTo(&r.scratch)
		node = &r.scratch
	}
	for i, proposal := range at.proposals {
		p := &r.proposals[proposal]
		if !r.engine.RunFilters(p.State, p.Workload, node).IsSuccess() {
			return false
		}
		if i < len(at.proposals)-1 {
			node.AddWorkload(r.trial.Reserve(p, node))
		}
	}
	return true
}

// reprieve puts the victims back in order, as far as the members still fit. It
// returns the rest, the more important first.
func (r *reprieval) reprieve(list []*unit, q *queues) ([]*unit, *extpoints.Status) {
	var victims []*unit
	for _, u := range list {
		back, st := r.putBack(u, q)
		if st != nil {
			return nil, st
		}
		if !back {
			victims = append(victims, u)
		}
	}
	importance(victims, (*unit).important)
	return victims, nil
}

// putBack puts what leaves as one back, if all members still fit then, and the queues have
// nothing against it.
func (r *reprieval) putBack(u *unit, q *queues) (bool, *extpoints.Status) {
	r.round++
	r.touched = r.touched[:0]
	for _, at := range r.listening {
		r.touch(at)
	}
	if st := r.each(u, r.add); st != nil {
		return false, st
	}
	asked := 0 // of those that did not fit
	for _, at := range r.touched {
		if !at.fits {
			asked++
		}
	}
	if asked == r.unfit && r.allFit() && q.spare(u) {
		for _, at := range r.touched {
			at.fits = true
		}
		r.unfit = 0
		return true, nil
	}
	return false, r.each(u, r.remove)
}

// allFit asks about the touched nodes.
func (r *reprieval) allFit() bool {
	for _, at := range r.touched {
		if !r.fit(at) {
			return false
		}
	}
	return true
}

func (r *reprieval) touch(at *site) {
	if at.round != r.round {
		at.round = r.round
		r.touched = append(r.touched, at)
	}
}

// each calls f for every workload that leaves as one, with the node that it is
// on.
func (r *reprieval) each(u *unit, f func(*extpoints.WorkloadInfo, string) *extpoints.Status) *extpoints.Status {
	if !u.whole() {
		return f(u.WorkloadInfo, u.node.Node.Name)
	}
	for i := range u.bond.members {
		m := &u.bond.members[i]
		if st := f(m.WorkloadInfo, m.Node); st != nil {
			return st
		}
	}
	return nil
}

// at returns the site of the node, nil where nobody minds what is on it.
func (r *reprieval) at(node string) *site {
	at := r.sites[node]
	if at == nil && len(r.watching) > 0 {
		at = r.open(node)
	}
	return at
}

func (r *reprieval) add(w *extpoints.WorkloadInfo, node string) *extpoints.Status {
	at := r.at(node)
	if at == nil {
		return nil
	}
	at.node.AddWorkload(w)
	r.touch(at)
	for _, i := range r.watching {
		p := &r.proposals[i]
		if st := r.engine.AddWorkload(p.State, p.Workload, w, at.node); !st.IsSuccess() {
			return st
		}
	}
	return nil
}

func (r *reprieval) remove(w *extpoints.WorkloadInfo, node string) *extpoints.Status {
	at := r.at(node)
	if at == nil {
		return nil
	}
	at.node.RemoveWorkload(w.ID)
	for _, i := range r.watching {
		p := &r.proposals[i]
		if st := r.engine.RemoveWorkload(p.State, p.Workload, w, at.node); !st.IsSuccess() {
			return st
		}
	}
	return nil
}
