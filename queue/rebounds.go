package queue

import "time"

// rebounds keep workloads from displacing each other in turn without end. That the exchange
// itself could not be reversed at once does not ensure it: what starts in room that was left
// over, or displaces others in its own queue, changes the shares again. So those who were
// displaced for another queue, and all that are like them, may start where there is room, and
// displace others of other queues only after a while. Each time that they have done so and
// lost it again, that while is twice as long.
type rebounds map[string]rebound

// rebound is what is known of one kind of workloads.
type rebound struct {
	Until time.Time     // before then they displace nobody in other queues
	While time.Duration // how long they had to wait the last time
	Won   bool          `json:",omitempty"` // they have displaced others since
}

// The while is this long at first, and at most. After the most without a
// loss it begins anew.
const (
	firstRebound = time.Second
	mostRebound  = time.Hour
)

// lost notes that one of the kind is displaced for another queue.
func (b rebounds) lost(kind string, now time.Time) {
	r, known := b[kind]
	switch {
	case !known, now.Sub(r.Until) > mostRebound:
		r.While = firstRebound
	case r.Won:
		r.While = min(2*r.While, mostRebound)
	}
	b[kind] = rebound{Until: now.Add(r.While), While: r.While}
}

// won notes that one of the kind displaces others of other queues.
func (b rebounds) won(kind string) {
	if r, known := b[kind]; known {
		r.Won = true
		b[kind] = r
	}
}

// until is when the kind may displace others again; the zero time for now.
func (b rebounds) until(kind string, now time.Time) time.Time {
	if r := b[kind]; r.Until.After(now) {
		return r.Until
	}
	return time.Time{}
}

// forget leaves out what begins anew in any case, once there are many.
func (b rebounds) forget(now time.Time, enough int) {
	if len(b) <= enough {
		return
	}
	for kind, r := range b { // each by itself, in whatever order
		if now.Sub(r.Until) > mostRebound {
			delete(b, kind)
		}
	}
}
