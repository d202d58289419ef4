package simulate

import (
	"slices"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

// observe takes the tasks that are ready, looks at everything, and checks it.
func (s *sim) observe() {
	s.takeTasks()
	next := s.look()
	s.prev, s.cur = s.cur, next
	for _, p := range checkAll(s.prev, s.cur) {
		s.fail("%s", p)
	}
	if s.o.Compat == extpoints.Improved {
		for _, p := range checkRoomLost(s.prev, s.cur) {
			s.fail("%s", p)
		}
	}
	s.checkRounds()
	s.checkEvictions()
	s.checkMissed()
	s.checkGone()
	s.checkCharges()
	s.noteHeld()
	if !s.plugins.faulty() && s.chance(20) {
		s.checkWoken()
		s.checkBudgets()
	}
	if s.world.facts.changed {
		for _, p := range checkFacts(&s.world.facts) {
			s.fail("%s", p)
		}
		s.world.facts.changed = false
	}
	clear(s.forced)
	s.checkWholes()
	s.told, s.toldMeasures, s.seen = false, false, nil
}

// look sees what can be seen.
func (s *sim) look() *observed {
	v := s.raw.View()
	o := &observed{
		at: s.now, groups: map[string]*model.Group{}, nodes: map[string]*model.Node{}, rows: map[string]model.WorkloadRecord{}, positions: map[string]queue.Position{},
		waiting: map[string]bool{}, tasks: map[string]int{}, abandoned: map[string]int{}, asked: map[model.ObjectRef]bool{},
		counts: s.raw.QueueCounts(), book: s.world.book, forced: s.forced, disputed: s.disputed,
		index: v.Index(), objects: s.lookAtObjects(v), told: s.told,
	}
	for row := range v.Objects(model.HoldKind) {
		o.holds = append(o.holds, row.Object.(*model.Hold))
	}
	if s.o.Queues {
		o.define(v)
	}
	if s.o.Measured && !s.toldMeasures {
		o.measure(v)
	}
	if s.networked {
		o.network(&s.world.facts)
	}
	for g := range v.Groups() {
		o.groups[g.ID] = g.Group
	}
	for n := range v.Nodes() {
		o.nodes[n.Name] = n.Node
	}
	for row := range v.Workloads() {
		o.ids = append(o.ids, row.ID)
		o.rows[row.ID] = row
		if pos, ok := s.raw.Queue(row.ID); ok {
			o.positions[row.ID] = pos
		}
	}
	s.handle.Waiting().Each(func(w extpoints.WaitingWorkload) bool {
		o.waiting[w.Workload().ID] = true
		return true
	})
	for _, t := range s.tasks {
		switch {
		case !t.binds():
		case t.abandoned:
			o.abandoned[t.id]++
			for _, decided := range t.decided {
				o.asked[refTo(decided)] = true
			}
		default:
			o.tasks[t.id]++
		}
	}
	o.spent = o.spend(s.cur)
	s.dispute(o)
	o.dense = s.denseView()
	if s.step%8 == 0 {
		o.lists = s.listsOf(o, v)
	}
	return o
}

// lookAtObjects lists the objects of storage and devices: the same list as long as
// nothing has changed.
func (s *sim) lookAtObjects(v *engine.View) objects {
	if s.cur.objects != nil && s.cur.index == v.Index() {
		return s.cur.objects
	}
	list := objects{}
	for _, kind := range model.ObjectKinds {
		if (s.volumes || s.devices) && kind != model.HoldKind {
			for row := range v.Objects(kind) {
				list[refTo(row.Object)] = row
			}
		}
	}
	return list
}

// dispute keeps the list of ports that more than one workload was put on from
// outside. In kube-scheduler a port is disputed then until nobody has it any more.
func (s *sim) dispute(o *observed) {
	if s.o.Compat != extpoints.KubeScheduler137 {
		return
	}
	taken := o.usage()
	for name, u := range taken {
		for port, have := range u.ports {
			if len(have) > 1 && s.forced[name] {
				s.disputed[nodePort{name, port}] = true
			}
		}
	}
	for np := range s.disputed {
		if u := taken[np.node]; u == nil || len(u.ports[np.port]) == 0 {
			delete(s.disputed, np)
		}
	}
}

// denseView is the view that the next cycle gets, nil where there are no nodes.
func (s *sim) denseView() extpoints.ClusterView {
	s.plugins.probe.View = nil
	s.quietly(func() {
		b := s.raw.Branch()
		if err := b.Apply(s.now, engine.Submit(s.plugins.probe.Workload)); err != nil {
			s.fail("the probe is refused: %v", err)
		}
		_, _ = b.Schedule(s.now, probeID) // an error where there are no nodes
	})
	return s.plugins.probe.View
}

// listsOf asks for parts of the rows, and says what they should be.
func (s *sim) listsOf(o *observed, v *engine.View) []listed {
	var lists []listed
	ask := func(what string, got func(func(model.WorkloadRecord) bool), belongs func(*model.WorkloadRecord) bool) {
		l := listed{what: what}
		for w := range got {
			l.got = append(l.got, w.ID)
		}
		for _, id := range o.ids {
			if row := o.rows[id]; belongs(&row) {
				l.want = append(l.want, id)
			}
		}
		lists = append(lists, l)
	}
	for p := model.Pending; p <= model.Finished; p++ {
		ask(p.String(), v.WorkloadsIn(p), func(w *model.WorkloadRecord) bool { return w.Phase == p })
	}
	for name := range o.nodes {
		ask("on "+name, v.WorkloadsOn(name), func(w *model.WorkloadRecord) bool { return w.Node == name && w.Phase.TakesRoom() })
	}
	for i := range simGroups {
		g := simGroups[i].ID
		ask("of group "+g, v.WorkloadsOf(g), func(w *model.WorkloadRecord) bool { return w.Group == g })
	}
	return lists
}

// checkRounds: what is reserved is reserved for a workload that is on its way:
// one that waits on permit or is in a task, or whose task is not given back yet.
func (s *sim) checkRounds() {
	r := s.plugins.rounds
	if r.Problem != nil {
		s.fail("%v", r.Problem)
		return
	}
	want := map[string]int{}
	for id := range s.cur.waiting {
		want[id]++
	}
	for _, t := range s.tasks {
		if t.binds() {
			want[t.id]++
		}
	}
	for id := range s.prev.waiting {
		// One that was confirmed while it waited keeps what is reserved.
		row := s.cur.rows[id]
		there := row.Phase == model.Confirmed || row.Phase == model.Terminating
		if there && !s.cur.waiting[id] && r.Open()[id] > want[id] {
			r.Commit(id, row.Node)
		}
	}
	for id, n := range r.Open() {
		if want[id] != n {
			s.fail("%s: %d reservations, and %d bindings under way", id, n, want[id])
		}
	}
	for id, n := range want {
		if r.Open()[id] != n {
			s.fail("%s: %d bindings under way, and %d reservations", id, n, r.Open()[id])
		}
	}
}

// checkEvictions: what was asked of the engine is asked of the orchestrator, at
// the latest when the binding that was under way is over; unless it was to make
// room for a workload that needs none any more.
func (s *sim) checkEvictions() {
	for id, node := range s.evictions {
		row, known := s.cur.rows[id]
		asked := slices.ContainsFunc(s.tasks, func(t *simTask) bool { return t.evicts && t.id == id })
		switch {
		case asked || !known || row.Node != node || row.Phase != model.Assumed && row.Phase != model.Bound && row.Phase != model.Confirmed:
			delete(s.evictions, id)
		case s.roomFor[id] != "" && !s.waits(s.roomFor[id]) && !s.membersWait(s.roomFor[id]):
			delete(s.evictions, id)
		case s.cur.tasks[id] == 0:
			s.fail("%s was to be evicted and is %v on %s, and the orchestrator was not asked", id, row.Phase, row.Node)
		}
	}
}

// membersWait reports whether members of the tree of groups wait to be placed.
func (s *sim) membersWait(root string) bool {
	g := sightOf(s.raw.View())
	for _, row := range g.rows {
		if row.Phase == model.Pending && g.below(row.Workload, root) {
			return true
		}
	}
	return false
}

// waits reports whether the workload is there and waits to be placed.
func (s *sim) waits(id string) bool {
	row, known := s.cur.rows[id]
	return known && row.Phase == model.Pending
}

// checkMissed: what happens while a workload waits on permit is not forgotten
// when it is rejected.
func (s *sim) checkMissed() {
	for id := range s.missed {
		if s.cur.waiting[id] {
			continue
		}
		delete(s.missed, id)
		pos := s.cur.positions[id]
		if pos.Place == queue.Unschedulable && slices.Equal(pos.UnschedulablePlugins, []string{faults.HoldName}) {
			s.fail("%s was turned down by %s, and what happened before is forgotten", id, faults.HoldName)
		}
	}
}

// checkGone: the queue knows nothing of workloads that were removed.
func (s *sim) checkGone() {
	for _, id := range s.gone[max(0, len(s.gone)-8):] {
		if pos, ok := s.raw.Queue(id); ok && s.world.book[id] == nil {
			s.fail("%s is gone, and %v in the queue", id, pos.Place)
		}
	}
}

// checkWoken: a workload that waits for an event fits on no node, or is behind
// one like it that is tried before, and one that is held back has a reason to be, else an event was missed. One that Permit sent
// there waits for something else.
func (s *sim) checkWoken() {
	if s.result.options.Compat == extpoints.KubeScheduler137 {
		return // it misses some
	}
	if due, ok := s.raw.NextDue(s.now); ok && !due.After(s.now) {
		return // those that a hold kept are still to be told that it has ended
	}
	s.checkRoomKept()
	var g *sight
	for _, id := range s.cur.ids {
		switch pos := s.cur.positions[id]; {
		case pos.Place == queue.Gated || pos.Place == queue.Incomplete:
			if g == nil {
				g = sightOf(s.raw.View())
			}
			s.checkGate(g, id)
		case pos.Place == queue.Unschedulable && s.isAway(s.cur.rows[id].NodeName):
			s.reach("workload whose node is away")
		case pos.Behind != "":
			s.reach("workload behind one like it")
		case pos.Place == queue.Unschedulable && !s.turnedDown(&pos) && !s.awaitsArrival(&pos):
			if node := s.fits(id); node != "" && !s.awaitsMember(id) && !s.fitsWithoutAnother(id) {
				s.fail("%s waits for an event, because of %v, and would fit on %s", id, pos.UnschedulablePlugins, node)
			}
		}
	}
}

// checkIdle: where nothing was tried, whatever is active is held back, or room is being made that others
// must not take.
func (s *sim) checkIdle() {
	if slices.ContainsFunc(s.tasks, func(t *simTask) bool { return !t.binds() || t.stopped }) {
		return
	}
	for _, id := range s.rowsWhere(func(w *model.WorkloadRecord) bool { return w.Phase == model.Pending }) {
		if pos, queued := s.raw.Queue(id); queued && pos.Place == queue.Active && (pos.Standing == nil || pos.Standing.Held == nil) {
			s.fail("%s is active, nothing holds it back, and it is not tried", id)
		}
	}
}

// isAway reports whether it is the name of a node that is not there.
func (s *sim) isAway(node string) bool { return node != "" && s.cur.nodes[node] == nil }

// awaitsMember reports whether a member of the workload's tree of groups is in no queue yet, since a binding from
// before is under way: its group is tried together with it when that has ended.
func (s *sim) awaitsMember(id string) bool {
	return s.anyInTree(id, func(other string) bool {
		return s.cur.rows[other].Phase == model.Pending && s.cur.positions[other].Place == queue.OldBinding
	})
}

// anyInTree reports whether it is so of any member of the workload's tree of groups.
func (s *sim) anyInTree(id string, is func(id string) bool) bool {
	g := sightOf(s.raw.View())
	root := g.root(s.cur.rows[id].Workload)
	return root != "" && slices.ContainsFunc(s.cur.ids, func(other string) bool {
		return is(other) && g.root(s.cur.rows[other].Workload) == root
	})
}

// fitsWithGroup is fits for a member of a group.
func (s *sim) fitsWithGroup(row *model.WorkloadRecord) (node string) {
	s.quietly(func() {
		b := s.raw.Branch()
		if _, err := b.ScheduleGroup(s.now, row.Group); err != nil {
			return // a group is not there, or its members do not agree
		}
		if placed, ok := b.View().Workload(row.ID); ok {
			node = placed.Node
		}
	})
	return node
}

// fitsWithoutAnother reports whether the workload's tree of groups would be placed without a member that
// had room when it was tried last, and left others too little. Something has come since and taken it: of that
// nobody is told, as it makes no room.
func (s *sim) fitsWithoutAnother(id string) (without bool) {
	group := s.cur.rows[id].Group
	if group == "" {
		return false
	}
	s.quietly(func() {
		b := s.raw.Branch()
		_, _ = b.ScheduleGroup(s.now, group)
		without = s.anyInTree(id, func(other string) bool {
			pos := s.cur.positions[other]
			there, _ := b.View().Workload(other)
			return pos.Place == queue.Unschedulable && len(pos.UnschedulablePlugins) == 0 && there.Node == ""
		})
	})
	return without
}

// awaitsArrival reports whether the workload looks at what others are on which
// node, and some are on their way: they count already, and that they are there
// is said when they are bound.
func (s *sim) awaitsArrival(pos *queue.Position) bool {
	looks := slices.ContainsFunc(pos.UnschedulablePlugins, func(plugin string) bool {
		return plugin == plugins.InterPodAffinity || plugin == plugins.PodTopologySpread || plugin == plugins.NetworkOverhead
	})
	return looks && slices.ContainsFunc(s.cur.ids, func(id string) bool { return s.cur.rows[id].Phase == model.Assumed })
}

// turnedDown reports whether it was on permit that the workload was rejected, or for the sake
// of a reservation, which nobody outside can tell from one that has gone, or for the sake of others
// that may fit later, some of which by now cannot. A member of a tree of groups waits with its tree, and
// so for what rejected any member: one that fits by itself has no plugins of its own.
func (s *sim) turnedDown(pos *queue.Position) bool {
	if rejectedApart(pos) {
		return true
	}
	for _, other := range s.cur.positions {
		if pos.Group != "" && other.Group == pos.Group && rejectedApart(&other) {
			return true
		}
	}
	return false
}

// rejectedApart reports whether the workload was rejected by any of those whose answer fits does not repeat.
func rejectedApart(pos *queue.Position) bool {
	return slices.Contains(pos.UnschedulablePlugins, backfillPlugin) || slices.Contains(pos.UnschedulablePlugins, notTherePlugin) ||
		slices.Contains(pos.UnschedulablePlugins, faults.HoldName) || slices.Contains(pos.UnschedulablePlugins, unknownPlugin)
}

// fits says where a pending workload would go now, empty for nowhere. A member of
// a group goes there with its group, or not at all.
func (s *sim) fits(id string) (node string) {
	if row, _ := s.row(id); row.Group != "" {
		return s.fitsWithGroup(&row)
	}
	s.quietly(func() {
		d, err := s.raw.Branch().Schedule(s.now, id)
		if err != nil {
			s.fail("schedule %s on a branch: %v", id, err)
		}
		node = d.Binding.Node
	})
	return node
}
