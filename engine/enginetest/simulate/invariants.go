package simulate

import (
	"slices"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// checkAll runs all checkers on the step from one state to the next.
func checkAll(before, after *observed) problems {
	return slices.Concat(
		checkQueue(after), checkPhases(before, after), checkBook(after),
		checkRoom(before, after), checkDense(after), checkLists(after),
		checkDecided(after), checkGiven(before, after), checkDevices(before, after),
		checkQuotas(before, after), checkLimits(before, after), checkReasons(after),
	)
}

// checkQueue: no workload is lost, and none is in two places. A pending one is
// in exactly one place of the queue, or is seen to wait for the end of a binding that was
// called off, since no two may be under way at once; one that is assumed waits on permit or is
// in exactly one task that the engine counts on. One that was confirmed meanwhile
// may still be on its way too; any other is not.
func checkQueue(o *observed) (p problems) {
	var want queue.Counts
	for _, id := range o.ids {
		row := o.rows[id]
		pos, queued := o.positions[id]
		p = append(p, checkPlace(o, &row, pos.Place)...)
		if n := o.tasks[id] + o.abandoned[id]; n > 1 {
			p.add("%d bindings of %s are under way at once", n, id)
		}
		held := o.tasks[id]
		if o.waiting[id] {
			held++
		}
		switch {
		case row.Phase == model.Assumed && held != 1:
			p.add("%s is Assumed, and in %d places that could go on with it", id, held)
		case row.Phase != model.Confirmed && row.Phase != model.Terminating && row.Phase != model.Assumed && held != 0:
			p.add("%s is %v, and %d places could go on with it", id, row.Phase, held)
		}
		if queued {
			count(&want, pos.Place)
		}
	}
	for id, pos := range o.positions {
		if _, known := o.rows[id]; !known {
			p.add("%s is gone, and still %v in the queue", id, pos.Place)
		}
	}
	for id := range o.waiting {
		if _, known := o.rows[id]; !known {
			p.add("%s is gone, and still waits on permit", id)
		}
	}
	got := o.counts
	got.Events = 0
	if got != want {
		p.add("the queue counts %+v, its places add up to %+v", got, want)
	}
	if o.counts.Permit == 0 && o.counts.Events > 0 {
		p.add("%d events are remembered for nobody", o.counts.Events)
	}
	return p
}

// checkPlace: the place that a workload is said to wait in is right. Between two inputs
// none is being tried.
func checkPlace(o *observed, row *model.WorkloadRecord, place queue.Place) (p problems) {
	pending := row.Phase == model.Pending
	var right bool
	switch place {
	case queue.None:
		right = !pending && !o.waiting[row.ID] && o.tasks[row.ID] == 0
	case queue.Permit:
		right = !pending && o.waiting[row.ID]
	case queue.Binding:
		right = !pending && o.tasks[row.ID] > 0
	case queue.OldBinding:
		right = pending && o.abandoned[row.ID] > 0
	default:
		right = pending && o.abandoned[row.ID] == 0 && place != queue.InFlight && (place == queue.Gated || row.Profile != goneProfile)
	}
	if !right {
		p.add("%s is %v, with %d bindings, and %d that were called off, waits on permit: %v, and its place is %v, of profile %q",
			row.ID, row.Phase, o.tasks[row.ID], o.abandoned[row.ID], o.waiting[row.ID], place, row.Profile)
	}
	return p
}

func count(c *queue.Counts, place queue.Place) {
	switch place {
	case queue.Active:
		c.Active++
	case queue.Backoff:
		c.Backoff++
	case queue.ErrorBackoff:
		c.ErrorBackoff++
	case queue.Unschedulable:
		c.Unschedulable++
	case queue.Gated:
		c.Gated++
	case queue.InFlight:
		c.InFlight++
	case queue.Incomplete:
		c.Incomplete++
	case queue.Joining:
		c.Joining++
	case queue.Permit:
		c.Permit++
	case queue.Binding:
		c.Binding++
	case queue.OldBinding:
		c.OldBinding++
	}
}

// checkPhases: a workload moves from one phase to another by the table of legal
// moves, is on a node exactly while it takes room, and holds devices only there.
func checkPhases(before, after *observed) (p problems) {
	for _, id := range after.ids {
		row := after.rows[id]
		old, known := before.rows[id]
		same := known && old.CreateIndex == row.CreateIndex
		switch {
		case same && old.Phase != row.Phase && !old.Phase.CanMoveTo(row.Phase):
			p.add("%s moved from %v to %v", id, old.Phase, row.Phase)
		case !same && (row.Phase == model.Bound || row.Phase == model.Finished):
			p.add("%s came as %v", id, row.Phase)
		}
		if same && row.ModifyIndex < old.ModifyIndex {
			p.add("%s: its record went back from %d to %d", id, old.ModifyIndex, row.ModifyIndex)
		}
		// One that was asked to go before it had a node is on none.
		if room := row.Phase.TakesRoom(); room != (row.Node != "") && row.Phase != model.Terminating {
			p.add("%s is %v on node %q", id, row.Phase, row.Node)
		}
		if row.Node == "" && (len(row.Shares) > 0 || !row.PlacedAt.IsZero()) {
			p.add("%s is on no node and holds %v since %v", id, row.Shares, row.PlacedAt)
		}
		if row.Phase != model.Pending && row.Nominated != "" {
			p.add("%s is %v and still nominated to %s", id, row.Phase, row.Nominated)
		}
	}
	return p
}

// checkBook: what the engine has on record agrees with the orchestrator's book,
// as far as the engine was told.
func checkBook(o *observed) (p problems) {
	for _, id := range o.ids {
		row, b := o.rows[id], o.book[id]
		if b == nil {
			p.add("%s is on record as %v, and the orchestrator knows nothing of it", id, row.Phase)
			continue
		}
		if row.Workload != b.spec {
			p.add("%s is on record with another version than the last one", id)
		}
		there := b.node != "" && b.node == row.Node
		var agrees bool
		switch row.Phase {
		case model.Pending:
			agrees = !b.ended && (b.node == "" || !b.known)
		case model.Assumed:
			agrees = !b.ended
		case model.Bound, model.Confirmed:
			agrees = there && b.known && !b.ended
		case model.Terminating:
			agrees = b.leaving && !b.ended && (there || row.Node == "" || !b.known)
		case model.Finished:
			agrees = b.ended
		}
		if !agrees {
			p.add("%s is on record as %v on %q, and in the book as %+v", id, row.Phase, row.Node, *b)
		}
	}
	for id := range o.book {
		if _, known := o.rows[id]; !known {
			p.add("%s is in the book and not on record: it is lost", id)
		}
	}
	return p
}

// checkLists: questions about a part of the rows get the answer that looking at
// all of them gives.
func checkLists(o *observed) (p problems) {
	for _, l := range o.lists {
		slices.Sort(l.got)
		slices.Sort(l.want)
		if !slices.Equal(l.got, l.want) {
			p.add("%s are listed as %v, and are %v", l.what, l.got, l.want)
		}
	}
	return p
}
