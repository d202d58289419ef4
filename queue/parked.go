package queue

// unschedulable holds the items that wait for an event, unschedulable and gated
// ones alike. There may be very many of them, and events come all the time, so
// nothing here looks at all of them: each item is in a heap by the time since
// when it waits, and in the list of every plugin that it waits for (see
// registration), or in a front if it has a class.
type unschedulable struct {
	timeouts heap
	seq      uint64 // of the last item that was inserted
	gated    int    // how many of the items are gated
}

// insert puts an item at the end of the order; its rejectors must be resolved.
func (u *unschedulable) insert(it *Item) {
	u.seq++
	it.seq = u.seq
	u.timeouts.push(it)
	it.link()
	if it.GatingPlugin != "" {
		u.gated++
	}
}

// remove takes out an item, which must be as it was when it was inserted.
func (u *unschedulable) remove(it *Item) {
	u.timeouts.remove(it)
	it.unlink()
	if it.GatingPlugin != "" {
		u.gated--
	}
}
