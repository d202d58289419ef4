package defaultpreemption

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// victim is a workload that may have to leave its node.
type victim struct {
	*extpoints.WorkloadInfo
	since time.Time // since when it runs
}

// compare orders victims, the more important first: higher priority, then
// earlier start.
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

// unit is what has to leave as one: a workload, or a whole group.
type unit struct {
	victim                     // of a whole group the member that was met first, with the start of the earliest
	node   *extpoints.NodeInfo // on which it was met
	bond   *bond               // nil for a workload in no group
	place  int                 // in the list as it was offered to the queues
	breaks int                 // how many of its workloads no budget allows, once [budgets.split] has looked
}

// bond is what being in a group makes of a victim. Victims that it makes the
// same of share it.
type bond struct {
	priority int32
	rank     int
	// members are those of a group that leaves as a whole, with their nodes;
	// nil where the workload leaves alone.
	members []extpoints.PlacedMember
	nodes   []*extpoints.NodeInfo
	// earliest is when the first of the members started that have a start
	// time; fresh: some have none.
	earliest time.Time
	fresh    bool
	err      error  // a node is not there, in the words of the reference
	lost     string // and in ours
	met      int    // the last round in which it was met
}

// The ranks of victims. A workload alone has 0.
const (
	groupRank     = 1
	compositeRank = 2
)

func (u *unit) priority() int32 {
	if u.bond == nil {
		return u.Priority
	}
	return u.bond.priority
}

func (u *unit) rank() int {
	if u.bond == nil {
		return 0
	}
	return u.bond.rank
}

// size is the number of workloads.
func (u *unit) size() int {
	if !u.whole() {
		return 1
	}
	return len(u.bond.members)
}

// whole reports whether it is a group that leaves as one.
func (u *unit) whole() bool { return u.bond != nil && u.bond.members != nil }

// appendTo appends its workloads.
func (u *unit) appendTo(list []*extpoints.WorkloadInfo) []*extpoints.WorkloadInfo {
	if !u.whole() {
		return append(list, u.WorkloadInfo)
	}
	for i := range u.bond.members {
		list = append(list, u.bond.members[i].WorkloadInfo)
	}
	return list
}

// workloads lists all workloads of the units, in order.
func workloads(list []*unit) []*extpoints.WorkloadInfo {
	n := 0
	for _, u := range list {
		n += u.size()
	}
	all := make([]*extpoints.WorkloadInfo, 0, n)
	for _, u := range list {
		all = u.appendTo(all)
	}
	return all
}

// important orders what leaves as one, the more important first: higher
// priority, groups of groups before groups and those before workloads, more
// workloads, earlier start. (kube-scheduler framework/preemption/util.go
// MoreImportantVictim, 1.37.1.)
func (u *unit) important(other *unit) int {
	if u.bond == nil && other.bond == nil {
		return compare(u.victim, other.victim)
	}
	return cmp.Or(
		cmp.Compare(other.priority(), u.priority()),
		cmp.Compare(other.rank(), u.rank()),
		cmp.Compare(other.size(), u.size()),
		u.since.Compare(other.since),
	)
}

// importance sorts victims. Victims that are equal must come out in the order
// that the reference gets from sort.Slice, which is not stable. [slices.SortFunc]
// takes the same steps; a test watches that.
func importance[V any](list []V, order func(a, b V) int) { slices.SortFunc(list, order) }

// roster lists the possible victims on nodes: what has a priority below that of
// the workload or group that wants room.
//
// Rules: kube-scheduler framework/preemption/types.go getCrossNodesVictims and
// util.go GetPodPriority, 1.37.1.
type roster struct {
	view  extpoints.ClusterView
	now   time.Time
	below int32
	// anyone: whatever its priority, for it is the queues that say who may be displaced.
	anyone bool
	// tolerations: those are not listed that must not be displaced yet.
	tolerations bool
	// strict: a group of which a node is not there fails the attempt, as in the reference.
	strict bool

	list []*unit
	// offered is what the queues were asked about, by place.
	offered []extpoints.Leaver
	left    []string // which groups were left out, and why

	units []unit // the memory of the list's last units
	round int    // of begin
	tick  int    // workloads looked at

	standings map[string]*standing // by the group of a workload
	bonds     map[string]*bond     // by the group that leaves as one
}

// standing is what the groups above a workload say of it.
type standing struct {
	alone *bond        // as a workload that leaves alone; nil where the group is not there
	all   *model.Group // the highest that leaves as one; nil where none does
}

func newRoster(view extpoints.ClusterView, now time.Time, below int32) roster {
	return roster{view: view, now: now, below: below}
}

// say adds to the status which groups were left out.
func (r *roster) say(st *extpoints.Status) *extpoints.Status {
	if len(r.left) == 0 || st.Code() == extpoints.Error {
		return st
	}
	return extpoints.NewStatus(st.Code(), st.Message()+"; "+strings.Join(r.left, "; "))
}

// lower reports whether what has the priority is to be listed.
func (r *roster) lower(priority int32) bool { return priority < r.below || r.anyone }

// spared reports whether the workload, or one that leaves with it, must not be displaced
// yet by what wants room.
func (r *roster) spared(w *extpoints.WorkloadInfo, b *bond) bool {
	if !r.tolerations {
		return false
	}
	if b == nil || b.members == nil {
		return protects(&w.PreemptionToleration, r.below, w.PlacedAt, r.now)
	}
	return slices.ContainsFunc(b.members, func(m extpoints.PlacedMember) bool {
		return protects(&m.PreemptionToleration, r.below, m.PlacedAt, r.now)
	})
}

// begin empties the list.
func (r *roster) begin() {
	r.list, r.units = r.list[:0], r.units[:0]
	r.round++
}

// add lists what may have to leave the node, and whatever leaves with it
// elsewhere; a group that is in the list already is not added again. Those that
// have no start time start one after the other from now on. A group that leaves
// as one of which part is on a node that is not there is left out, for nobody can say what
// its departure would change; where it is strict it fails, whatever the group's priority.
func (r *roster) add(node *extpoints.NodeInfo) error {
	for _, w := range node.Workloads {
		soon := time.Duration(r.tick)
		r.tick++
		if w.Group != "" {
			if err := r.addMember(w, node, soon); err != nil {
				return err
			}
			continue
		}
		if !r.lower(w.Priority) || r.spared(w, nil) {
			continue
		}
		since := w.PlacedAt
		if since.IsZero() {
			since = r.now.Add(soon)
		}
		r.append(w, since, node, nil)
	}
	return nil
}

func (r *roster) append(w *extpoints.WorkloadInfo, since time.Time, node *extpoints.NodeInfo, b *bond) {
	if len(r.units) == cap(r.units) {
		r.units = make([]unit, 0, max(16, 2*cap(r.units)))
	}
	r.units = r.units[:len(r.units)+1]
	u := &r.units[len(r.units)-1]
	u.WorkloadInfo, u.since, u.node, u.bond = w, since, node, b
	r.list = append(r.list, u)
}

func (r *roster) addMember(w *extpoints.WorkloadInfo, node *extpoints.NodeInfo, soon time.Duration) error {
	b := r.bondOf(w)
	since, fresh := w.PlacedAt, w.PlacedAt.IsZero()
	if b.members != nil {
		if b.met == r.round {
			return nil
		}
		if b.err != nil && r.strict {
			return b.err
		}
		b.met, since, fresh = r.round, b.earliest, b.fresh
	}
	if !r.lower(b.priority) || r.spared(w, b) {
		return nil
	}
	if b.err != nil {
		if !slices.Contains(r.left, b.lost) {
			r.left = append(r.left, b.lost)
		}
		return nil
	}
	if start := r.now.Add(soon); fresh && (since.IsZero() || start.Before(since)) {
		since = start
	}
	r.append(w, since, node, b)
	return nil
}

// someLeave reports whether workloads of lower priority are on their way off the
// node to make room.
func (r *roster) someLeave(name string) bool {
	node := r.view.Nodes().Get(name)
	if node == nil {
		return false
	}
	return slices.ContainsFunc(node.Workloads, r.leaves)
}

// leaves reports whether the workload is of lower priority and on its way off its node to make room.
func (r *roster) leaves(w *extpoints.WorkloadInfo) bool {
	return w.Terminating && w.Displaced && r.lower(r.priority(w))
}

// priority is that of the workload as a victim: where it is in a group, that of
// the highest above it. Where one of those is not there the one below counts,
// and where there is none the workload itself.
func (r *roster) priority(w *extpoints.WorkloadInfo) int32 {
	if w.Group != "" {
		if alone := r.standing(w.Group).alone; alone != nil {
			return alone.priority
		}
	}
	return w.Priority
}

// bondOf is what being in its group makes of a workload.
func (r *roster) bondOf(w *extpoints.WorkloadInfo) *bond {
	switch st := r.standing(w.Group); {
	case st.all != nil:
		return r.gather(st.all, st.alone.priority)
	case st.alone != nil:
		return st.alone
	}
	return &bond{priority: w.Priority, rank: groupRank}
}

// standing goes up from a workload's group.
func (r *roster) standing(id string) *standing {
	if st := r.standings[id]; st != nil {
		return st
	}
	st := &standing{}
	for _, g := range r.above(id) {
		st.alone = &bond{priority: g.Priority, rank: groupRank}
		if g.Disruption == model.DisruptAll {
			st.all = g
		}
	}
	if r.standings == nil {
		r.standings = map[string]*standing{}
	}
	r.standings[id] = st
	return st
}

// above lists the group and those above it as far as they are there, the lowest
// first. A workload is in a group of workloads, and that in groups of groups. Of
// groups that are above each other in a circle, none is above the lowest.
func (r *roster) above(id string) []*model.Group {
	groups := r.view.Groups()
	var list []*model.Group
	for len(list) < model.MaxGroupDepth {
		g := groups.Get(id)
		if g == nil || g.Composite != (len(list) > 0) {
			break
		}
		if slices.Contains(list, g) {
			return list[:1]
		}
		list = append(list, g)
		id = g.Parent
	}
	return list
}

// gather makes the bond of a group that leaves as one, once.
func (r *roster) gather(g *model.Group, priority int32) *bond {
	if b := r.bonds[g.ID]; b != nil {
		return b
	}
	b := &bond{priority: priority, rank: groupRank, members: r.members(nil, g, 1)}
	if g.Composite {
		b.rank = compositeRank
	}
	b.nodes = make([]*extpoints.NodeInfo, len(b.members))
	nodes := r.view.Nodes()
	for i, m := range b.members {
		if b.nodes[i] = nodes.Get(m.Node); b.nodes[i] == nil {
			b.err = fmt.Errorf("failed to get node info for node %q from snapshot: nodeinfo not found for node name %q", m.Node, m.Node)
			b.lost = fmt.Sprintf("group %q stays: workload %q of it is on node %q, which is not there", g.ID, m.ID, m.Node)
			break
		}
		switch {
		case m.PlacedAt.IsZero():
			b.fresh = true
		case b.earliest.IsZero() || m.PlacedAt.Before(b.earliest):
			b.earliest = m.PlacedAt
		}
	}
	if r.bonds == nil {
		r.bonds = map[string]*bond{}
	}
	r.bonds[g.ID] = b
	return b
}

// members appends those of the group that are on nodes, and of the groups in it.
func (r *roster) members(list []extpoints.PlacedMember, g *model.Group, depth int) []extpoints.PlacedMember {
	groups := r.view.Groups()
	if !g.Composite {
		return append(list, groups.Placed(g.ID)...)
	}
	if depth < model.MaxGroupDepth {
		for _, child := range groups.Children(g.ID) {
			list = r.members(list, child, depth+1)
		}
	}
	return list
}
