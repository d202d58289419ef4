package queue

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// turnsByPopping is the specification of Turns.All: what waits is popped and charged, one by one, by
// the twin that counts and sorts everything each time. What the queue itself holds back now is not
// popped.
func (o *orderRun) turnsByPopping(waiting []*Item) (ids []string) {
	t := o.twin
	t.held, t.running = map[string]twinHold{}, slices.Clone(t.running)
	waiting = slices.Clone(waiting)
	for {
		free := t.whole(waiting)
		it := t.walk(twinPart{}, free)
		if it == nil {
			return ids
		}
		part, waits := t.against(it.Workload, false)
		if in := o.heldInQueue(it); in != nil {
			part, waits = in, "queue"
		} else if never, _ := t.against(it.Workload, true); part != nil && never != nil {
			part = nil
			waiting = slices.DeleteFunc(waiting, func(o *Item) bool { return o == it })
			t.settle(waiting)
			continue
		}
		if part != nil {
			t.held[part.id()] = twinHold{*part, it, waits}
			t.settle(waiting)
			continue
		}
		ids = append(ids, it.ID())
		waiting = slices.DeleteFunc(waiting, func(o *Item) bool { return o == it })
		t.started(it.Workload)
		t.settle(waiting)
	}
}

// heldInQueue is the lowest part that the item is in and that the queue holds, nil where it is not
// active, and where there is none.
func (o *orderRun) heldInQueue(it *Item) *twinPart {
	if it.place != Active {
		return nil
	}
	key := keyOf(it.Workload)
	queues, _ := o.twin.above(it.Workload)
	queue, principal := o.twin.queueOf(it.Workload), it.Workload.Principal
	parts := []twinPart{{queue, principal, &key}}
	if principal != "" {
		parts = append(parts, twinPart{queue: queue, principal: principal})
	}
	for _, q := range queues {
		parts = append(parts, twinPart{queue: q.Name})
	}
	for _, p := range parts {
		if h, held := o.twin.held[p.id()]; held {
			return &h.part
		}
	}
	return nil
}

func idsOf(items func(func(*Item) bool)) (ids []string) {
	for it := range items {
		ids = append(ids, it.ID())
	}
	return ids
}

// checkTurns holds the order of what was rejected, and of one more, against the twin's.
func (o *orderRun) checkTurns(turns *Turns) {
	in := map[string]*Item{}
	for _, p := range []Place{Active, Unschedulable} {
		for _, it := range o.waiting(p) {
			switch {
			case turns.waiting[it.ID()] != nil && turns.waiting[it.ID()].withheld: // the queue itself has put it there
				in[it.ID()] = it
			case it.Attempts > 0:
				in[it.ID()] = it
				turns.Put(it)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(turns.waiting)) {
		if in[id] == nil {
			turns.Drop(id)
		}
	}
	list := slices.SortedFunc(maps.Values(in), compareSubmission)
	want := o.turnsByPopping(list)
	if n := len(want); n > 1 && o.r.IntN(2) == 0 { // some of it is looked up before the rest
		for range turns.All() {
			break
		}
	}
	if got := idsOf(turns.All()); !slices.Equal(got, want) {
		o.fail("the turns are %v, want %v", got, want)
	}
	if got := idsOf(turns.All()); !slices.Equal(got, want) {
		o.fail("looked up again the turns are %v, want %v", got, want)
	}
	for _, it := range o.waiting(Active) {
		with := append(slices.Clone(list), it)
		if in[it.ID()] != nil {
			with = list
		}
		want := o.turnsByPopping(with)
		if i := slices.Index(want, it.ID()); i >= 0 {
			want = want[:i]
		}
		if got := idsOf(turns.Before(it)); !slices.Equal(got, want) {
			o.fail("before %s there are %v, want %v", it.ID(), got, want)
		}
	}
	o.checkInOrder(turns)
	o.checkTurnsLeaveNothing(turns)
}

// checkInOrder: all that waits is listed in the order of its turns, whether the turns were told of it
// or not. They are told of no more afterwards, and who follows their version has nothing to do.
func (o *orderRun) checkInOrder(turns *Turns) {
	before, version := len(turns.waiting), turns.Version()
	listed := o.q.InOrder()
	want := o.turnsByPopping(slices.SortedFunc(slices.Values(listed), compareSubmission))
	if got := idsOf(slices.Values(listed)); !slices.Equal(got[:len(want)], want) {
		o.fail("in order there are %v, want %v", got, want)
	}
	if len(turns.waiting) != before {
		o.fail("the turns have been told of %d, want %d", len(turns.waiting), before)
	}
	if turns.Version() != version {
		o.fail("to list what waits has made the turns others")
	}
}

// checkTurnsLeaveNothing: looking ahead leaves no charge and no hold behind.
func (o *orderRun) checkTurnsLeaveNothing(turns *Turns) {
	for r, name := range turns.tree.names {
		if got, want := turns.tree.top.usedOf(r), o.twin.used(name, o.twin.in("")); got != want {
			o.fail("%d of %s are charged in the turns, %d run", got, name, want)
		}
	}
	for _, p := range turns.tree.parts {
		if p.held != nil && !p.held.pinned {
			o.fail("queue %s is held in the turns when nobody looks", p.name)
		}
	}
}

// TestTurnsTwin: whatever is defined, placed, rejected and changed, the order of those that wait is
// the one in which they would be popped and charged, and looking it up changes nothing.
func TestTurnsTwin(t *testing.T) {
	for _, s := range seeds(t, 25) {
		o := newOrderRun(t, s)
		var turns *Turns
		for step := range 200 {
			if step == 20 { // in the middle of a history: it begins with what there is
				turns = o.q.Turns()
			}
			o.oneStep()
			o.check()
			if turns != nil {
				if o.q.turns == nil { // it goes on with another queue
					turns = o.q.Turns()
				}
				o.checkTurns(turns)
			}
		}
	}
}

// What would hold one back that waits is said, with what those before it would be charged.
func TestTurnsSayWhatIsHeld(t *testing.T) {
	q := newOrdered(t)
	q.DefinitionChanged(nil, &model.Queue{Name: "a", Max: map[string]int64{model.CPU: 10}})
	q.DefinitionChanged(nil, &model.Queue{Name: "b"})
	q.NodeChanged(nil, &model.Node{Name: "n", Allocatable: model.Resources{CPU: 100}})
	turns := q.Turns()
	put := func(id, queue string, cpu int64) *Item {
		q.Add(start, &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Queue: queue, Requests: model.Resources{CPU: cpu}}})
		it, ok := q.Pop(start)
		require.True(t, ok)
		q.AddUnschedulable(start, it, []string{"Fit"}, nil)
		turns.Put(it)
		return it
	}
	first := put("first", "a", 6)
	put("second", "a", 5)
	put("third", "a", 1)
	other := put("other", "b", 50)
	require.Equal(t, []string{"first", "other"}, idsOf(turns.All()))
	require.Nil(t, turns.Held("second"), "nothing was noted")
	turns.NoteHeld()
	for _, id := range []string{"second", "third"} {
		require.Equal(t, `queue "a": max: "second" asks for 1m cpu too much now`, turns.Held(id).String())
	}
	require.Nil(t, turns.Held("other"))

	i, held := turns.Crowded([]*Item{other, first}, func(int) bool { return true })
	require.Equal(t, -1, i)
	require.Nil(t, held)
	late := put("late", "a", 5)
	i, held = turns.Crowded([]*Item{late, other, first}, func(int) bool { return true })
	require.Equal(t, 2, i)
	require.Equal(t, `queue "a": max: "first" asks for 1m cpu too much now`, held.String())
	i, _ = turns.Crowded([]*Item{late, other, first}, func(i int) bool { return i < 2 })
	require.Equal(t, -1, i, "it does not matter to the first")

	q.Charge(start, start, noEnd, first.Workload)
	turns.Drop("first")
	require.Equal(t, []string{"other"}, idsOf(turns.All()))
	q.Discharge(start, first.Workload)
	require.Equal(t, []string{"second", "other", "third"}, idsOf(turns.All()))
}
