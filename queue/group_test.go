package queue

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

func member(id, group string) *extpoints.WorkloadInfo {
	return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Group: group}}
}

// groupQueue has one group, G.
func groupQueue(t testing.TB, with ...func(*Hooks)) *Queue {
	trees := groupMap{"G": {ID: "G"}}
	hooks := Hooks{Less: byPriority, AsGroups: map[string]bool{"": true}, Groups: func() GroupTrees { return trees }}
	for _, f := range with {
		f(&hooks)
	}
	q, err := New(Timing{}, extpoints.Improved, hooks)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestAsGroupsNeedsGroups(t *testing.T) {
	_, err := New(Timing{}, extpoints.Improved, Hooks{Less: byPriority, AsGroups: map[string]bool{"": true}})
	if err == nil || !strings.Contains(err.Error(), "AsGroups needs Groups") {
		t.Error(err)
	}
}

// TestNoGroups: without profiles that place groups as groups nothing is asked
// about them.
func TestNoGroups(t *testing.T) {
	q, err := New(Timing{}, extpoints.Improved, Hooks{Less: byPriority})
	if err != nil {
		t.Fatal(err)
	}
	q.Add(start, member("a", "G"))
	q.GroupChanged(start, "G")
	if it, ok := q.Pop(start); !ok || it.Group != nil || it.ID() != "a" {
		t.Errorf("%+v", it)
	}
}

// TestRejectedGroupBacksOff: a group that is rejected time after time is tried
// after 1s, 2s, 4s and so on, up to the longest backoff times the root of its
// size; in between, others get their turn, however low their priority.
func TestRejectedGroupBacksOff(t *testing.T) {
	for size, longest := range map[int]time.Duration{1: 10 * time.Second, 4: 20 * time.Second, 9: 30 * time.Second} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			q := groupQueue(t)
			for i := range size {
				w := member(fmt.Sprint("m", i), "G")
				w.Priority = 10
				q.Add(start, w)
			}
			now, want := start, time.Second
			for attempt := 1; attempt <= 12; attempt++ {
				it, ok := q.Pop(now)
				if !ok || it.Group == nil || len(it.Members) != size || it.Attempts != attempt {
					t.Fatalf("attempt %d: %+v", attempt, it)
				}
				for _, m := range it.Members {
					q.AddUnschedulable(now, m, []string{"Fit"}, nil)
				}
				q.AddAttempted(now, it, GroupRejected)
				other := fmt.Sprint("other", attempt)
				q.Add(now, member(other, ""))
				if it, ok := q.Pop(now); !ok || it.ID() != other {
					t.Fatalf("attempt %d: the other one does not get its turn", attempt)
				}
				q.Done(other)
				// The window in which the backoff ends belongs to it.
				due, ok := q.NextDue(now)
				if !ok || due != now.Add(want+time.Second) {
					t.Fatalf("attempt %d: due after %v, want %v", attempt, due.Sub(now), want+time.Second)
				}
				q.Tick(due.Add(-1))
				if it, ok := q.Pop(due.Add(-1)); ok {
					t.Fatalf("attempt %d: popped %s before its backoff is over", attempt, it.ID())
				}
				now, want = due, min(2*want, longest)
				q.Tick(now)
			}
		})
	}
}

// TestGroupWaitsForAnEvent: where order is strict a group that was rejected waits for any event, except where it would
// fit as its members are nominated now: nothing need happen before the next attempt then.
func TestGroupWaitsForAnEvent(t *testing.T) {
	for how, want := range map[Outcome]Place{GroupRejected: Unschedulable, GroupFailed: ErrorBackoff, GroupNominated: ErrorBackoff} {
		q := groupQueue(t, func(h *Hooks) { h.ByQueues = true })
		q.Add(start, member("a", "G"))
		tried := start.Add(time.Hour) // it keeps its place, and backs off from now on
		it, _ := q.Pop(tried)
		q.AddUnschedulable(tried, it.Members[0], []string{"Fit"}, nil)
		q.AddAttempted(tried, it, how)
		if got := it.Place(); got != want {
			t.Errorf("outcome %d: it waits in %v, want %v", how, got, want)
		}
		q.Tick(tried.Add(time.Minute))
		if _, ok := q.Pop(tried.Add(time.Minute)); ok != (want != Unschedulable) {
			t.Errorf("outcome %d: popped after a minute: %v", how, ok)
		}
	}
}

// TestAttemptEndsOnce: only an item in flight can end an attempt.
func TestAttemptEndsOnce(t *testing.T) {
	q := groupQueue(t)
	q.Add(start, member("a", "G"))
	q.Add(start, member("b", ""))
	group, _ := q.Pop(start)
	own, _ := q.Pop(start)
	q.AddAttempted(start, own, GroupFailed)
	q.AddUnschedulable(start, group.Members[0], nil, nil)
	q.AddAttempted(start, group, GroupFailed)
	q.AddAttempted(start, group, GroupFailed)
	if got := q.Counts(); got.ErrorBackoff != 1 || got.InFlight != 1 || group.ConsecutiveErrors != 1 {
		t.Errorf("%+v, %d errors", got, group.ConsecutiveErrors)
	}
}

// TestItemOfTree: what one who pops a tree of groups finds.
func TestItemOfTree(t *testing.T) {
	trees := groupMap{
		"root": {ID: "root", Composite: true, Priority: 3},
		"b":    {ID: "b", Parent: "root", CreatedAt: start},
		"a":    {ID: "a", Parent: "root", CreatedAt: start.Add(1)},
		"none": {ID: "none", Parent: "root", CreatedAt: start.Add(2)},
		"lost": {ID: "lost", Parent: "b"}, // which is not composite
	}
	q, err := New(Timing{}, extpoints.Improved, Hooks{Less: byPriority, AsGroups: map[string]bool{"": true}, Groups: func() GroupTrees { return trees }})
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"a1", "b1", "a0", "b0"} {
		q.Add(start.Add(time.Duration(i)), member(id, id[:1]))
	}
	now := start.Add(time.Second)
	it, _ := q.Pop(now)
	if it.Group != trees["root"] || it.ID() != "root" || it.Priority != 3 || it.Info != nil || it.Timestamp != start || it.ActiveAt != start {
		t.Errorf("%+v", it)
	}
	if it.Workload.ID != "a1" {
		t.Errorf("it is ordered as %s, want the first that came", it.Workload.ID)
	}
	if got := treeText(it.Tree); got != "root(b(b1 b0), a(a1 a0), none())" {
		t.Error(got)
	}
	i := 0
	it.Tree.All(func(w *extpoints.WorkloadInfo) bool {
		m := it.Members[i]
		if m.Info != w || m.Group != nil || m.Attempts != 1 || m.ActiveAt.IsZero() {
			t.Errorf("member %d: %+v", i, m)
		}
		i++
		return true
	})
	// What goes on in the queue meanwhile does not change it.
	members := it.Members
	q.Add(now, member("a2", "a"))
	delete(trees, "a")
	q.GroupChanged(now, "a")
	before := *it.Group
	trees["root"] = &model.Group{ID: "root", Composite: true, Priority: 5}
	q.GroupChanged(now, "root")
	q.Add(now, member("b2", "b"))
	q.Update(now, members[0].Info, member("b1", "b"))
	q.Delete("b0")
	if got := treeText(it.Tree); got != "root(b(b1 b0), a(a1 a0), none())" || len(it.Members) != 4 {
		t.Error(got, len(it.Members))
	}
	if it.Workload.ID != "a1" || it.Group.Priority != before.Priority || it.Priority != before.Priority {
		t.Errorf("%+v", it)
	}
	for _, m := range members {
		q.AddUnschedulable(now, m, nil, nil)
	}
	q.AddAttempted(now, it, GroupPlaced)
	if len(members) != 4 || members[3].ID() != "a0" {
		t.Errorf("the caller's members have changed: %d", len(members))
	}
	it, _ = q.Pop(now)
	if got := treeText(it.Tree); got != "root(b(b1 b2), none())" || it.Priority != 5 {
		t.Error(got, it.Priority)
	}
	if n := len(q.listed(Incomplete)); n != 3 {
		t.Errorf("%d members are incomplete, want 3", n)
	}
	// A member that fails alone makes a tree that has been active before.
	m := it.Members[0]
	q.AddAttempted(now, it, GroupPlaced)
	q.AddUnschedulable(now.Add(time.Second), m, nil, nil)
	// It backs off: one that always fails must not be tried all the time.
	now = now.Add(time.Second)
	if pos, _ := q.Position(m.ID()); pos.Place != ErrorBackoff {
		t.Errorf("it is %v", pos.Place)
	}
	now = now.Add(time.Minute)
	q.Tick(now)
	if it, _ = q.Pop(now); it == nil || it.ActiveAt != m.ActiveAt || m.ActiveAt.After(now) {
		t.Error(it, m.ActiveAt)
	}
}

// TestActiveSinceDelete: a tree that is let in when its gated member is deleted
// counts as active from the Pop, since Delete is given no time.
func TestActiveSinceDelete(t *testing.T) {
	trees, shut := groupMap{"G": {ID: "G"}}, &world{shut: map[string]bool{"Gz": true}}
	q, err := New(Timing{}, extpoints.Improved, Hooks{
		Less:       byPriority,
		PreEnqueue: map[string][]extpoints.PreEnqueuePlugin{"": {randomGate{shut, "G"}}},
		AsGroups:   map[string]bool{"": true},
		Groups:     func() GroupTrees { return trees },
	})
	if err != nil {
		t.Fatal(err)
	}
	q.Add(start, member("z", "G"))
	q.Add(start, member("a", "G"))
	q.Delete("z")
	now := start.Add(time.Second)
	it, ok := q.Pop(now)
	if !ok || !it.ActiveAt.Equal(now) || !it.Members[0].ActiveAt.Equal(now) {
		t.Errorf("%+v", it)
	}
}

// TestOrderByFirstMember: an order may look at the workload, which is the first
// member, also after that has changed.
func TestOrderByFirstMember(t *testing.T) {
	trees := groupMap{"G": {ID: "G"}}
	q, err := New(Timing{}, extpoints.Improved, Hooks{
		Less:     func(a, b *extpoints.Queued) bool { return a.Workload.Priority > b.Workload.Priority },
		AsGroups: map[string]bool{"": true},
		Groups:   func() GroupTrees { return trees },
	})
	if err != nil {
		t.Fatal(err)
	}
	update := func(id, group string, priority int32) {
		w := member(id, group)
		w.Priority = priority
		q.Update(start, w, w)
	}
	update("m", "G", 1)
	update("n", "G", 2)
	update("own", "", 3)
	update("m", "G", 4)
	if got := names(q.listed(Active), (*Item).ID); got[0] != "G" || q.active.first().ID() != "G" {
		t.Error(got)
	}
	update("m", "G", 0)
	if got := names(q.listed(Active), (*Item).ID); got[0] != "own" || q.active.first().ID() != "own" {
		t.Error(got)
	}
}

// BenchmarkGang: one operation is a gang of so many members that come one by
// one, are tried, rejected, tried again and placed.
func BenchmarkGang(b *testing.B) {
	for _, size := range []int{10, 1000} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			list := make([]*extpoints.WorkloadInfo, size)
			for i := range list {
				list[i] = member(fmt.Sprintf("member-%06d", i), "G")
			}
			b.ReportAllocs()
			for b.Loop() {
				q, now := groupQueue(b), start
				for _, w := range list {
					q.Add(now, w)
				}
				it, _ := q.Pop(now)
				for _, m := range it.Members {
					q.AddUnschedulable(now, m, []string{"Fit"}, nil)
				}
				q.AddAttempted(now, it, GroupRejected)
				now = now.Add(time.Minute)
				q.Tick(now)
				it, _ = q.Pop(now)
				q.AddAttempted(now, it, GroupPlaced)
				for _, m := range it.Members {
					q.Done(m.ID())
				}
			}
		})
	}
}
