package queue

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// groupTwin is what the twin has for trees of groups.
type groupTwin struct {
	trees map[string]*twinItem // that wait or are being tried, by highest group
	aside []*twinItem          // members that are incomplete or joining, in order
}

// groupTwinItem is what a twinItem has for them.
type groupTwinItem struct {
	group   *model.Group // of a tree: the highest
	members []*twinItem  // of a tree
	popped  []string     // of a tree: the members that were popped last
	text    string       // of a tree: how it was popped last
	tree    *twinItem    // of a member: that it waits with or was popped with
	waits   bool         // it waits as a member
}

func (it *twinItem) sorted() []*twinItem {
	list := slices.Clone(it.members)
	slices.SortFunc(list, func(a, b *twinItem) int {
		return cmp.Or(-cmp.Compare(a.info.Priority, b.info.Priority), -cmp.Compare(a.pos.Attempts, b.pos.Attempts),
			a.pos.Timestamp.Compare(b.pos.Timestamp), cmp.Compare(a.arrival, b.arrival))
	})
	return list
}

func (it *twinItem) queued() extpoints.Queued {
	if it.group == nil {
		return extpoints.Queued{Workload: it.info.Workload, Priority: it.info.Priority, Timestamp: it.pos.Timestamp}
	}
	return extpoints.Queued{Workload: it.sorted()[0].info.Workload, Priority: it.group.Priority, Timestamp: it.pos.Timestamp}
}

func (it *twinItem) treeID() string {
	if it.tree == nil {
		return ""
	}
	return it.tree.pos.ID
}

func (it *twinItem) any(f func(*model.Workload) bool) bool {
	if it.group == nil {
		return f(it.info.Workload)
	}
	return slices.ContainsFunc(it.members, func(m *twinItem) bool { return f(m.info.Workload) })
}

func (it *twinItem) setFlushed(flushed bool) {
	it.pos.Flushed = flushed
	for _, m := range it.members {
		m.pos.Flushed = flushed
	}
}

// position is what the queue should say of a workload.
func (it *twinItem) position() Position {
	p := it.pos
	p.Group = it.treeID()
	if it.waits && it.tree != nil {
		tree := it.tree.pos
		p.UnschedulableCount, p.ConsecutiveErrors, p.BackoffExpiration = tree.UnschedulableCount, tree.ConsecutiveErrors, tree.BackoffExpiration
		if p.Gate == nil {
			p.GatingPlugin, p.Gate = tree.GatingPlugin, tree.Gate
		}
	}
	return p
}

func parkedPlace(it *twinItem) Place {
	if it.pos.GatingPlugin != "" {
		return Gated
	}
	return Unschedulable
}

func (t *twin) isMember(w *extpoints.WorkloadInfo) bool {
	return w.Group != "" && t.cfg.AsGroups[w.Profile]
}

func (t *twin) root(w *extpoints.WorkloadInfo) *model.Group {
	groups := t.cfg.Groups().(groupMap)
	if g := groups[w.Group]; g == nil || g.Composite {
		return nil
	}
	return groups.Root(w.Group)
}

func (t *twin) treeOf(w *extpoints.WorkloadInfo) *twinItem {
	if !t.isMember(w) {
		return nil
	}
	if root := t.root(w); root != nil && t.trees[root.ID] != nil && t.trees[root.ID].pos.Place != InFlight {
		return t.trees[root.ID]
	}
	return nil
}

// seek finds the workload that waits, wherever.
func (t *twin) seek(id string) *twinItem {
	for _, it := range t.waiting {
		if it.group == nil && it.pos.ID == id {
			return it
		}
		if m := find(it.members, id); m != nil {
			return m
		}
	}
	return find(t.aside, id)
}

func (t *twin) reach(id string) *twinItem {
	it := t.seek(id)
	if it == nil {
		if f := find(t.flights, id); f != nil {
			return t.treeOf(f.latest)
		}
		return nil
	}
	if it.waits {
		return t.treeOf(it.info)
	}
	return it
}

func (t *twin) anyGated(it *twinItem) bool {
	it.pos.GatingPlugin, it.pos.Gate = "", nil
	for _, m := range t.askingOrder(it) {
		if t.holds(m) {
			it.pos.GatingPlugin, it.pos.Gate = m.pos.GatingPlugin, m.pos.Gate
		}
		if it.pos.Gate != nil && t.cfg.Compat == extpoints.Improved {
			break
		}
	}
	if it.pos.Gate != nil {
		it.setFlushed(false)
	}
	return it.pos.Gate != nil
}

// holds asks a member alone, which is gated first when its tree is asked after that.
func (t *twin) holds(m *twinItem) bool {
	flushed := m.pos.Flushed
	defer func() { m.pos.Flushed = flushed }()
	return t.gated(m)
}

// askingOrder is the order in which members are asked: the reference asks all, we
// begin with the one that is gated.
func (t *twin) askingOrder(it *twinItem) []*twinItem {
	members := it.sorted()
	if i := slices.IndexFunc(members, func(m *twinItem) bool { return m.pos.Gate != nil }); i > 0 && t.cfg.Compat == extpoints.Improved {
		members = slices.Concat(members[i:i+1], members[:i], members[i+1:])
	}
	return members
}

func (t *twin) worthToAny(it *twinItem, c *extpoints.Event) (verdict, string) {
	best, by := skip, ""
	for _, m := range it.sorted() {
		if c.ClusterEvent.IsWildcard() && (c.NewNode != nil || c.NewWorkload != nil && c.NewWorkload.ID != m.pos.ID) {
			continue
		}
		if v, plugin := t.worth(m, c); v > best {
			best, by = v, plugin
		}
	}
	return best, by
}

func (t *twin) join(m *twinItem, e extpoints.ClusterEvent, now time.Time) {
	m.waits, m.tree = true, nil
	root := t.root(m.info)
	if root == nil {
		t.aside = append(t.aside, m)
		t.tell(m, Incomplete, e, "", now)
		return
	}
	tree := t.trees[root.ID]
	if tree == nil {
		tree = &twinItem{}
		tree.group, tree.members = root, []*twinItem{m}
		tree.pos = Position{ID: root.ID, AddedAt: m.pos.AddedAt, Timestamp: m.pos.Timestamp}
		tree.arrival = m.arrival
		t.trees[root.ID] = tree
		m.tree = tree
		p := &tree.pos
		if count := m.failures(); count > 0 && t.cfg.Compat == extpoints.Improved {
			p.UnschedulableCount, p.ConsecutiveErrors = m.pos.UnschedulableCount, m.pos.ConsecutiveErrors
			p.BackoffExpiration = t.backoff(p.Timestamp, count, 1)
		}
		t.requeue(tree, afterBackoff, e, "", now)
		return
	}
	m.tree = tree
	if tree.pos.Place == InFlight {
		t.aside = append(t.aside, m)
		t.tell(m, Joining, e, "", now)
		return
	}
	tree.members = append(tree.members, m)
	if tree.pos.Place == Active && t.cfg.Compat == extpoints.Improved {
		t.active(tree, t.holds(m), e, "", now)
		return
	}
	t.again(tree, e, now)
}

// failures is how many attempts have failed, as far as the length of the backoff
// goes.
func (it *twinItem) failures() int {
	if it.pos.ConsecutiveErrors > 0 {
		return it.pos.ConsecutiveErrors
	}
	return it.pos.UnschedulableCount
}

// again puts a tree back where it is.
func (t *twin) again(it *twinItem, e extpoints.ClusterEvent, now time.Time) {
	switch {
	case len(it.members) == 0:
		t.waiting = without(t.waiting, it)
		delete(t.trees, it.pos.ID)
	case it.pos.Place == Active:
		t.active(it, true, e, "", now)
	case it.pos.Place == Backoff || it.pos.Place == ErrorBackoff || it.pos.Gate == nil:
		t.requeue(it, afterBackoff, e, "", now)
	default:
		it.setFlushed(false) // also for those that bring it along
		t.requeue(it, skip, e, it.pos.GatingPlugin, now)
	}
}

// pull takes a waiting member away from the others.
func (t *twin) pull(m *twinItem) {
	m.waits = false
	t.aside = without(t.aside, m)
	if m.tree == nil {
		return
	}
	m.tree.members = without(m.tree.members, m)
	if m.pos.Gate != nil && t.cfg.Compat == extpoints.Improved {
		m.tree.pos.GatingPlugin, m.tree.pos.Gate = "", nil
		m.pos.GatingPlugin, m.pos.Gate = "", nil
	}
}

func (t *twin) drop(it *twinItem, now time.Time) {
	if !it.waits {
		t.to(it, None, t.label(Deleted), "", now)
		return
	}
	t.pull(it)
	t.tell(it, None, t.label(Deleted), "", now)
	if it.tree != nil && it.tree.pos.Place != InFlight {
		t.again(it.tree, t.label(Deleted), now)
	}
}

// leaves lists the groups at and below one in the order of the tree.
func (m groupMap) leaves(id string) []string {
	list := []string{id}
	for _, child := range m.Children(id) {
		list = append(list, m.leaves(child.ID)...)
	}
	return list
}

func (t *twin) launch(it *twinItem, label string, now time.Time) bool {
	var fly []*twinItem
	members := it.sorted()
	for _, m := range members {
		m.pos.Attempts++
	}
	for _, m := range members {
		m.waits = false
		if f := find(t.flights, m.pos.ID); f != nil {
			f.latest, f.deleted = m.info, false
			t.tell(m, None, t.label(discarded), "", now)
			continue
		}
		fly = append(fly, m)
	}
	t.waiting = without(t.waiting, it)
	it.members, it.popped = nil, nil
	if len(fly) == 0 {
		delete(t.trees, it.pos.ID)
		return false
	}
	groups := t.cfg.Groups().(groupMap)
	byLeaf := map[string][]string{}
	for _, leaf := range groups.leaves(it.pos.ID) {
		for _, m := range fly {
			if m.info.Group != leaf {
				continue
			}
			byLeaf[leaf] = append(byLeaf[leaf], m.pos.ID)
			it.popped = append(it.popped, m.pos.ID)
			m.start, m.latest, m.deleted = len(t.log), m.info, false
			t.flights = append(t.flights, m)
			t.tell(m, InFlight, t.label(label), "", now)
		}
	}
	it.text = groups.text(it.pos.ID, byLeaf)
	it.pos.Place = InFlight
	return true
}

// text is what [treeText] should say.
func (m groupMap) text(id string, members map[string][]string) string {
	var parts []string
	if len(members[id]) > 0 {
		parts = append(parts, strings.Join(members[id], " "))
	}
	for _, child := range m.Children(id) {
		if m[id].Composite {
			parts = append(parts, m.text(child.ID, members))
		}
	}
	return id + "(" + strings.Join(parts, ", ") + ")"
}

func (t *twin) attempted(now time.Time, id string, how Outcome) {
	it := t.trees[id]
	if it == nil || it.pos.Place != InFlight {
		return
	}
	cameBack := false
	for _, m := range slices.Clone(t.aside) {
		if m.tree == it {
			t.aside = without(t.aside, m)
			it.members = append(it.members, m)
			cameBack = cameBack || slices.Contains(it.popped, m.pos.ID)
		}
	}
	if len(it.members) == 0 {
		delete(t.trees, id)
		return
	}
	it.group = t.cfg.Groups().Root(id)
	p := &it.pos
	if how != GroupPlaced || !cameBack {
		t.arrive(it, now)
	}
	p.Flushed, it.flushed = false, time.Time{}
	switch how {
	case GroupPlaced:
		p.UnschedulableCount, p.ConsecutiveErrors, p.BackoffExpiration = 0, 0, time.Time{}
		t.active(it, true, t.label(ScheduleAttemptFailure), "", now)
		return
	case GroupRejected, GroupNominated:
		p.UnschedulableCount, p.ConsecutiveErrors = p.UnschedulableCount+1, 0
		p.BackoffExpiration = t.backoff(now, p.UnschedulableCount, len(it.members))
	default:
		p.ConsecutiveErrors++
		p.BackoffExpiration = t.backoff(now, p.ConsecutiveErrors, len(it.members))
	}
	t.requeue(it, afterBackoff, t.label(ScheduleAttemptFailure), "", now)
}

// groupChanged looks at all members, also at those that the change cannot
// concern.
func (t *twin) groupChanged(now time.Time, id string) {
	for _, it := range t.trees {
		if g := t.cfg.Groups().Get(it.pos.ID); g != nil {
			it.group = g
		}
	}
	groups := t.cfg.Groups().(groupMap)
	order := groups.leaves(id)
	for _, leaf := range []string{"K", "L", "M", "P", "Q"} {
		if !slices.Contains(order, leaf) {
			order = append(order, leaf)
		}
	}
	var lost, trees []*twinItem
	for _, leaf := range order {
		var list []*twinItem
		for _, it := range t.waiting {
			list = append(list, it.sorted()...)
		}
		for _, m := range append(list, t.aside...) {
			id := ""
			if root := t.root(m.info); root != nil {
				id = root.ID
			}
			if m.info.Group != leaf || id == m.treeID() {
				continue
			}
			if m.tree != nil && m.tree.pos.Place != InFlight && !slices.Contains(trees, m.tree) {
				trees = append(trees, m.tree)
			}
			t.pull(m)
			m.tree = nil
			lost = append(lost, m)
		}
	}
	for _, m := range lost {
		if t.root(m.info) == nil {
			t.join(m, t.label(GroupChanged), now)
		}
	}
	for _, it := range trees {
		t.again(it, t.label(GroupChanged), now)
	}
	for _, m := range lost {
		if !m.waits {
			t.join(m, t.label(GroupChanged), now)
		}
	}
}

// playGroup changes a group or ends an attempt.
func playGroup(r *rand.Rand, q *Queue, dumb *twin, now time.Time, items map[string]*Item) string {
	groups := dumb.cfg.Groups().(groupMap)
	if r.IntN(3) > 0 {
		for _, id := range slices.Sorted(maps.Keys(dumb.trees)) {
			if dumb.trees[id].pos.Place == InFlight && r.IntN(2) == 0 {
				how := Outcome(r.IntN(4))
				q.AddAttempted(now, items[id], how)
				dumb.attempted(now, id, how)
				return fmt.Sprint("attempted ", id, how)
			}
		}
	}
	id := []string{"K", "L", "M", "P", "Q"}[r.IntN(5)]
	if r.IntN(4) == 0 {
		delete(groups, id)
	} else {
		g := &model.Group{ID: id, Priority: int32(r.IntN(4)), CreatedAt: start.Add(time.Duration(r.IntN(2)))}
		switch {
		case id == "P" || id == "Q":
			g.Composite = r.IntN(10) > 0
		default:
			g.Parent = []string{"", "P", "P", "Q"}[r.IntN(4)]
			g.Composite = r.IntN(10) == 0
		}
		if id == "Q" {
			g.Parent = []string{"", "P"}[r.IntN(2)]
		}
		groups[id] = g
	}
	q.GroupChanged(now, id)
	dumb.groupChanged(now, id)
	return fmt.Sprintf("group %s is %+v", id, groups[id])
}

// groupDifference is the part of difference about groups; it adds to the counts.
func groupDifference(q *Queue, dumb *twin, counts *Counts) string {
	aside := map[Place][]string{}
	for _, m := range dumb.aside {
		aside[m.pos.Place] = append(aside[m.pos.Place], m.pos.ID)
	}
	counts.Incomplete, counts.Joining = len(aside[Incomplete]), len(aside[Joining])
	for _, p := range []Place{Incomplete, Joining} {
		if got := names(q.listed(p), (*Item).ID); !slices.Equal(got, aside[p]) {
			return fmt.Sprintf("%s: %v, want %v", p, got, aside[p])
		}
	}
	if len(q.byRoot) != len(dumb.trees) {
		return fmt.Sprintf("%d trees, want %d", len(q.byRoot), len(dumb.trees))
	}
	for _, p := range []Place{Active, ErrorBackoff, Gated} {
		for _, got := range q.listed(p) {
			if got.Group == nil {
				continue
			}
			want := dumb.trees[got.ID()]
			g, w := treeFacts(got), fmt.Sprintln(want.group, names(want.sorted(), func(m *twinItem) string { return m.pos.ID }),
				want.pos.Attempts, want.pos.UnschedulableCount, want.pos.ConsecutiveErrors, want.pos.AddedAt, want.pos.Timestamp,
				want.pos.BackoffExpiration, want.pos.GatingPlugin, want.pos.Flushed)
			if g != w {
				return fmt.Sprintf("tree %s: %s, want %s", got.ID(), g, w)
			}
		}
	}
	leaves := map[string]bool{}
	for _, it := range q.waiting {
		if it.leaf != nil {
			leaves[it.Workload.Group] = true
		}
	}
	if len(leaves) != len(q.leaves) {
		return fmt.Sprintf("%d leaves, want %d", len(q.leaves), len(leaves))
	}
	return ""
}

func treeFacts(it *Item) string {
	return fmt.Sprintln(it.Group, names(it.Members, (*Item).ID), it.Attempts, it.UnschedulableCount, it.ConsecutiveErrors,
		it.AddedAt, it.Timestamp, it.BackoffExpiration, it.GatingPlugin, it.Flushed)
}
