package queue

// park makes an item that has been taken out of its place unschedulable, or
// gated if some plugin gates it.
func (q *Queue) park(it *Item, why cause) {
	q.lacksProfile(it)
	place := Unschedulable
	if it.GatingPlugin != "" {
		place = Gated
		it.setFlushed(false)
		why.plugin = it.GatingPlugin
	}
	if it.Group != nil {
		q.resolve(it)
	}
	q.linkToQueues(it)
	q.unschedulable.insert(it)
	q.settle(it, place, why)
}

// toActive puts an item that has been taken out of its place among the active
// ones, unless a gate turns it away.
func (q *Queue) toActive(it *Item, why cause, gates gating) {
	if q.lacksProfile(it) || gates == askGates && !q.pass(it) {
		q.park(it, why)
		return
	}
	if q.refusedByQueues(it) != nil {
		q.park(it, why)
		return
	}
	if it.ActiveAt.IsZero() {
		it.ActiveAt = why.at
	}
	q.advance(why.at)
	q.active.push(it)
	q.settle(it, Active, why)
}

// toBackoff puts an item that has been taken out of its place where it waits
// for the end of its backoff, unless a gate turns it away. With popping from
// backoff on, the gates are asked here, since nobody asks them again later.
func (q *Queue) toBackoff(it *Item, why cause) {
	if q.lacksProfile(it) || !q.cfg.NoPopFromBackoff && !q.pass(it) {
		q.park(it, why)
		return
	}
	place := Backoff
	if !it.rejected() { // trees of groups never are; kube-scheduler has them here too
		place = ErrorBackoff
	}
	q.heapOf(place).push(it)
	q.settle(it, place, why)
}

// requeue sends an item that has been taken out of its place where the verdict
// says.
func (q *Queue) requeue(it *Item, v verdict, why cause) {
	switch {
	case v == skip:
		q.park(it, why)
	case v == afterBackoff && q.backingOff(it, why.at):
		q.toBackoff(it, why)
	default:
		q.toActive(it, why, askGates)
	}
}

// settle records that an item is now in a place, and tells of the move.
func (q *Queue) settle(it *Item, to Place, why cause) {
	if to != Active {
		q.turns.release(it)
	}
	if why.at.After(q.latest) {
		q.latest = why.at
	}
	switch {
	case it.Group != nil:
		q.settleTree(it, to, why)
	case it.entity != nil:
		q.seat(it, to, it.entity.ID(), why)
	default:
		q.seat(it, to, "", why)
		q.followAlike(it)
	}
}

// followAlike follows a workload of its own to the place where it is now.
func (q *Queue) followAlike(it *Item) {
	left := q.leaveAlike(it)
	switch it.place {
	case InFlight:
		it.leads = left
		return
	case Active, Unschedulable:
		q.joinAlike(it)
	}
	if it.among == nil || it.among.name != left {
		q.wakeNext(left)
	}
}

// wakeNext wakes the first of the class that waits, unless an active one is before it.
func (q *Queue) wakeNext(class string) {
	c := q.classes[class]
	if c == nil || len(c.fronts) == 0 {
		return
	}
	if first := c.first(q.ahead); q.leader(first) == nil {
		q.goesNext(first) // where a gate stops it, the next follows
	}
}

// goesNext lets an item that waits be tried without an event.
func (q *Queue) goesNext(it *Item) {
	q.take(it)
	q.toActive(it, labelled(NextAlike, q.latest), askGates)
}
