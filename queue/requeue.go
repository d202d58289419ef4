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
