package queue

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// State is all that a queue consists of in which nothing is in flight, as values that
// can be written down.
type State struct {
	// Arrivals, Parked and Members number what comes to the queue, what waits for
	// events, and members of groups that cannot join their tree.
	Arrivals, Parked, Members uint64
	// Latest is the last time that a call was given.
	Latest time.Time `json:",omitzero"`
	// Items are those that wait, place by place, in an order in which they can be
	// put there again.
	Items []ItemState
	// Askers are those who look for room in other queues, and when they are to be tried
	// again; the zero time where that is not known.
	Askers map[string]time.Time `json:",omitempty"`
	// Rebounds say of kinds of workloads that were displaced for other queues when they
	// may displace others themselves.
	Rebounds map[string]rebound `json:",omitempty"`
	// History is what has been used, and of which limits; nil where nothing is remembered.
	History *pastState `json:",omitempty"`
	// Holds are those of parts of the order by queues, each after those of the parts below.
	Holds []HoldState `json:",omitempty"`
	// Stale: a definition, or what nodes offer, has changed, and that was not carried out yet.
	Stale bool `json:",omitempty"`
}

// ItemState is an [Item] that waits: a workload, or a tree of groups with its members.
type ItemState struct {
	Workload string      `json:",omitempty"` // ID; empty for a tree
	Group    string      `json:",omitempty"` // the highest, of a tree
	Members  []ItemState `json:",omitempty"` // of a tree
	Place    Place       // where it waits
	// Holds: this member holds its tree at a gate.
	Holds bool `json:",omitempty"`

	// The rest is as in [Item], and left out where it is zero. Times are those that the
	// calls were given.

	Attempts             int         `json:",omitempty"` // how often it was tried
	UnschedulableCount   int         `json:",omitempty"` // of these, rejections
	ConsecutiveErrors    int         `json:",omitempty"` // errors since the last rejection
	AddedAt              time.Time   `json:",omitzero"`  // when it first came to the queue
	Timestamp            time.Time   `json:",omitzero"`  // by which the queue sorts
	ActiveAt             time.Time   `json:",omitzero"`  // when it first became active
	BackoffExpiration    time.Time   `json:",omitzero"`  // when the backoff ends
	UnschedulablePlugins []string    `json:",omitempty"` // that rejected or gated it
	PendingPlugins       []string    `json:",omitempty"` // that rejected it with Pending
	GatingPlugin         string      `json:",omitempty"` // that gates it
	Gate                 *gateStatus `json:",omitempty"` // what that plugin said
	Flushed              bool        `json:",omitempty"` // the timeout moved it last, not an event
	FlushedAt            time.Time   `json:",omitzero"`  // when that was
	Arrival, Seq         uint64      // order among items of one Timestamp, and among parked ones
	Submitted            uint64      `json:",omitempty"` // order of submission
	Class                string      `json:",omitempty"` // of workloads that one rejection speaks for
}

// gateStatus is what the plugin of a gate said.
type gateStatus struct {
	Code    extpoints.Code
	Reasons []string
	Plugin  string
}

// State returns the state of the queue, and whether that is all: false while anything is in flight,
// which is not in it.
func (q *Queue) State() (s *State, all bool) {
	s = &State{Arrivals: q.arrivals, Parked: q.unschedulable.seq, Members: q.groups.seq, Latest: q.latest}
	var incomplete []*Item
	for _, it := range q.waiting {
		if it.place == Incomplete {
			incomplete = append(incomplete, it)
		}
	}
	slices.SortFunc(incomplete, func(a, b *Item) int { return cmp.Compare(a.seq, b.seq) })
	for _, items := range [][]*Item{
		q.active.all(), q.backoff.items, q.errorBackoff.items, q.unschedulable.timeouts.items, incomplete,
	} {
		for _, it := range items {
			s.Items = append(s.Items, it.state())
		}
	}
	if q.tree != nil {
		s.Askers, s.Rebounds = maps.Clone(q.tree.askers.until), maps.Clone(q.tree.rebounds)
		s.History = q.tree.history.state()
		if s.Stale = q.tree.stale; !s.Stale {
			s.Holds = q.tree.holdStates()
		}
	}
	return s, len(q.inFlight.byID) == 0
}

func (it *Item) state() ItemState {
	s := ItemState{
		Place: it.place, Attempts: it.Attempts,
		UnschedulableCount: it.UnschedulableCount, ConsecutiveErrors: it.ConsecutiveErrors,
		AddedAt: it.AddedAt, Timestamp: it.Timestamp, ActiveAt: it.ActiveAt, BackoffExpiration: it.BackoffExpiration,
		UnschedulablePlugins: slices.Clone(it.UnschedulablePlugins), PendingPlugins: it.PendingPlugins,
		GatingPlugin: it.GatingPlugin, Flushed: it.Flushed, FlushedAt: it.FlushedAt,
		Arrival: it.arrival, Seq: it.seq, Submitted: it.submitted, Class: it.Class,
	}
	if it.Gate != nil {
		s.Gate = &gateStatus{it.Gate.Code(), it.Gate.Reasons(), it.Gate.Plugin()}
	}
	if it.Group == nil {
		s.Workload = it.ID()
		return s
	}
	s.Group = it.ID()
	for _, m := range it.Members {
		member := m.state()
		member.Holds = m == it.gated
		s.Members = append(s.Members, member)
	}
	return s
}

// Resume puts into a new queue what another consisted of. Info is how a workload is
// now. Nobody is told of a move.
func (q *Queue) Resume(s *State, info func(id string) *extpoints.WorkloadInfo) error {
	q.arrivals, q.unschedulable.seq, q.groups.seq, q.latest = s.Arrivals, s.Parked, s.Members, s.Latest
	for id, until := range s.Askers {
		q.tree.askers.note(id, until)
	}
	if s.Rebounds != nil {
		q.tree.rebounds = maps.Clone(s.Rebounds)
	}
	if err := q.resumeHistory(s.History); err != nil {
		return err
	}
	var problems []error
	for i := range s.Items {
		if err := q.resume(&s.Items[i], info); err != nil {
			problems = append(problems, err)
		}
	}
	problems = append(problems, q.resumeHolds(s))
	parked := slices.Clone(q.unschedulable.timeouts.items)
	slices.SortFunc(parked, func(a, b *Item) int { return cmp.Compare(a.seq, b.seq) })
	for _, it := range parked {
		if it.Group != nil {
			q.resolve(it)
		}
		q.linkToQueues(it)
		if it.place == Unschedulable {
			q.joinAlike(it)
		}
		if it.front == nil {
			it.link()
		}
		if it.GatingPlugin != "" {
			q.unschedulable.gated++
		}
	}
	return errors.Join(problems...)
}

// resumeHolds begins the holds again.
func (q *Queue) resumeHolds(s *State) error {
	t := q.tree
	if t == nil {
		return nil
	}
	if s.Stale {
		t.stale = true // what follows is looked for anew
		return nil
	}
	if t.stale {
		t.rebuild()
		t.regate = false // the gates have been asked
	}
	var problems []error
	for i := range s.Holds {
		of := &s.Holds[i]
		it := cmp.Or(q.byRoot[of.Item], q.waiting[of.Item])
		if it == nil || it.place != Active {
			problems = append(problems, fmt.Errorf("queue: nothing active has the ID %q, which a hold is for", of.Item))
			continue
		}
		h, err := t.holdOf(of, it)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		h.begin()
	}
	return errors.Join(problems...)
}

func (q *Queue) resume(s *ItemState, info func(id string) *extpoints.WorkloadInfo) error {
	it, err := q.itemOf(s, info)
	if err != nil {
		return err
	}
	switch h := q.heapOf(it.place); {
	case h != nil:
		h.push(it)
	case it.place == Incomplete:
		l := q.join(it, nil)
		l.incomplete = append(l.incomplete, it)
	default:
		q.unschedulable.timeouts.push(it)
	}
	if it.place == Active {
		q.joinAlike(it)
	}
	return nil
}

// itemOf makes the item, and makes it known.
func (q *Queue) itemOf(s *ItemState, info func(id string) *extpoints.WorkloadInfo) (*Item, error) {
	it := &Item{
		ActiveAt: s.ActiveAt, UnschedulableCount: s.UnschedulableCount, ConsecutiveErrors: s.ConsecutiveErrors,
		BackoffExpiration: s.BackoffExpiration, UnschedulablePlugins: slices.Clone(s.UnschedulablePlugins), PendingPlugins: s.PendingPlugins,
		GatingPlugin: s.GatingPlugin, Flushed: s.Flushed, FlushedAt: s.FlushedAt,
		place: s.Place, arrival: s.Arrival, seq: s.Seq, submitted: s.Submitted, Class: s.Class,
	}
	it.Attempts, it.AddedAt, it.Timestamp = s.Attempts, s.AddedAt, s.Timestamp
	if g := s.Gate; g != nil {
		it.Gate = extpoints.NewStatus(g.Code, g.Reasons...).WithPlugin(g.Plugin)
	}
	if s.Group == "" {
		w := info(s.Workload)
		if w == nil {
			return nil, fmt.Errorf("queue: there is no workload %q", s.Workload)
		}
		it.setWorkload(w)
		q.resolve(it)
		q.waiting[w.ID] = it
		return it, nil
	}
	if it.Group = q.cfg.Groups().Get(s.Group); it.Group == nil {
		return nil, fmt.Errorf("queue: there is no group %q", s.Group)
	}
	for i := range s.Members {
		m, err := q.itemOf(&s.Members[i], info)
		if err != nil {
			return nil, err
		}
		q.join(m, it)
		it.Members = append(it.Members, m)
		if s.Members[i].Holds {
			it.gated = m
		}
	}
	it.refresh()
	q.byRoot[it.ID()] = it
	q.items[it.place]++
	return it, nil
}

// join makes the item a member that waits, of a tree or of none.
func (q *Queue) join(m, tree *Item) *leaf {
	l := q.leaves[m.Workload.Group]
	if l == nil {
		l = &leaf{id: m.Workload.Group, entity: tree}
		q.leaves[l.id] = l
	}
	l.count++
	m.leaf, m.entity = l, tree
	q.members[m.place]++
	return l
}
