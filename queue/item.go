package queue

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Place is where the queue has a workload.
type Place uint8

// The places. They are explained in the package comment.
const (
	None Place = iota // waits for nothing
	Active
	Backoff
	ErrorBackoff
	Unschedulable
	Gated
	InFlight
	Incomplete
	Joining
	// The rest are the engine's: the queue itself puts nothing there.
	Permit
	Binding
	OldBinding

	places
)

var placeNames = [places]string{"None", "Active", "Backoff", "ErrorBackoff", "Unschedulable", "Gated", "InFlight",
	"Incomplete", "Joining", "Permit", "Binding", "OldBinding"}

// String returns the place's name.
func (p Place) String() string {
	if p < places {
		return placeNames[p]
	}
	return "Place(invalid)"
}

// Item is a workload, or a tree of groups, with its history in the queue.
// Callers may read its fields but must not change or copy it. While it
// is in flight the queue leaves the fields as they are.
//
// The item of a tree of groups has Group, Members and Tree, and its own counts
// and times; Info and the plugins are those of its members.
type Item struct {
	// Queued is what the order of the active workloads is made from.
	extpoints.Queued
	// Info is the workload as it was when it was popped, or when it last
	// changed while waiting; nil for a tree of groups.
	Info *extpoints.WorkloadInfo
	// Members are the items of the members, of a tree of groups: in the order of
	// Tree.All once it is popped, until then by priority (the highest first),
	// attempts (the most first), Timestamp and arrival. Group is nil in them, and so
	// is what only the item of the tree has: they do not back off.
	Members []*Item
	// Tree are the groups with their members, as of the Pop; nil before and
	// after the attempt, and for a workload of its own.
	Tree *extpoints.GroupInfo
	// ActiveAt is when it first became active; zero for one that never did.
	ActiveAt time.Time

	// UnschedulableCount is how many attempts ended in a rejection.
	UnschedulableCount int
	// ConsecutiveErrors is how many attempts ended in an error, since the last
	// that ended in a rejection. While it is not 0 it, and not the other count,
	// sets the length of the backoff.
	ConsecutiveErrors int
	// BackoffExpiration is when the backoff of the last failed attempt ends;
	// zero where there is none.
	BackoffExpiration time.Time

	// UnschedulablePlugins rejected it in the last attempt, or gated it since.
	// No name occurs twice.
	UnschedulablePlugins []string
	// PendingPlugins rejected it in the last attempt with Pending.
	PendingPlugins []string

	// GatingPlugin is the plugin that gates it, empty where none does.
	GatingPlugin string
	// Gate is what that plugin said.
	Gate *extpoints.Status

	// Flushed: its last way out of unschedulable was the timeout, not an event.
	// If it now fits, some plugin did not ask for the event that mattered.
	Flushed bool
	// FlushedAt is when that was; zero for never since the last attempt.
	FlushedAt time.Time

	// Class, where it is not empty, is what it has in common with others of which each would be
	// rejected where this one, before them, was, and of which hints say the same. The caller sets it before AddUnschedulable, to
	// what goes for the attempt that has ended; it has an effect where order is strict and
	// [extpoints.Improved]. See package queue, Workloads that are alike.
	Class string

	// Hopeless: no node could take it, so that it was popped though a quota or a limit
	// would hold it back, and must not be placed. See [Hooks].Hopeless.
	Hopeless bool

	place Place
	// arrival tells items of the same Timestamp apart: it counts how often any
	// item got a new one.
	arrival uint64
	// submitted tells items apart by when they first came to the queue, where the order is
	// by queues.
	submitted uint64
	at        *part  // the leaf of the order by queues that it is in, nil for none
	counted   int    // as how many workloads it was counted there
	changed   func() // is told when what the order is made from has changed; nil: nobody is
	index     int    // in the heap of its place
	seq       uint64 // when it was parked: order among the unschedulable and gated
	// rejectors link it to the registrations of the plugins that it waits for,
	// pending ones first.
	rejectors []rejector
	linked    bool // it is in their lists
	flight    flight
	among     *alike // those of its class, while it is active or unschedulable
	front     *front // those of its class that wait for the same, while it is unschedulable
	leads     string // while it is in flight: the class of those that may wait behind it

	// Of a member: the item of the tree that it waits with, or was popped with,
	// nil while it is incomplete; and its group, while it waits.
	entity *Item
	leaf   *leaf
	// joining, of a tree of groups in flight, are the members that wait for the
	// end of the attempt.
	joining []*Item
	// gated, of a tree of groups, is the member that holds it; nil where none does,
	// and where the reference is followed.
	gated *Item
}

// rejector links an item to a plugin that it waits for.
type rejector struct {
	item       *Item
	reg        *registration
	pending    bool
	prev, next *rejector // in the registration's list, while the item is in it
}

// registration is what one plugin of one profile registered for, and the list
// of the unschedulable and gated items that wait for it, in order. Those that
// have a class are in fronts instead.
type registration struct {
	plugin      string
	hints       []extpoints.EventHint
	first, last *rejector
	fronts      []*front
}

// flight is what an item in flight carries along.
type flight struct {
	prev, next *Item
	start      uint64                  // number of the first event after its Pop
	latest     *extpoints.WorkloadInfo // the version to go on with
	deleted    bool                    // it must not come back
}

// leaf is a group with members that wait. They are all with the same item.
type leaf struct {
	id         string
	entity     *Item // the tree's; nil while not all groups above are there
	count      int   // how many members wait
	incomplete []*Item
}

// alike are the workloads of one class (see [Item].Class) that are active or wait for an event. What
// wakes several of them wakes the first in their order only: if it is rejected, the others would be as
// well, and so they stay where they are. They are behind it: where the first leaves otherwise, be it
// that it is placed, fails, changes or goes, the next is woken, without an event. So whoever could be
// placed is tried, in the order in which they would all have been, and a rejection stands for all
// behind it.
//
// None of it is recorded: it follows from the places of the items, their order and their classes.
type alike struct {
	name   string
	fronts []*front // of those that are unschedulable
	active []*Item
	// woken is the first of those that are about to be woken; nil in between.
	woken *Item
}

// front are those of a class that wait for an event because of the same plugins. The hints would say the
// same of all of them, and the first of those that an event wakes would be the first of them all: so events
// are offered to it alone.
type front struct {
	items []*Item // in order
	regs  []frontAt
	asked uint64 // the last event that it was picked for, see Queue.asks
}

// frontAt is where a front is among those of a registration.
type frontAt struct {
	reg     *registration
	pending bool
	index   int
}

// ID is the workload's ID, or the highest group's.
func (it *Item) ID() string {
	if it.Group != nil {
		return it.Group.ID
	}
	return it.Workload.ID
}

// Place is where the queue has it.
func (it *Item) Place() Place { return it.place }

// compareArrival is the order of the items that have come, or come back, to the
// queue at the same time. Trees that were made for the same member share its
// number, and then the ID decides.
func compareArrival(a, b *Item) int {
	if c := cmp.Compare(a.arrival, b.arrival); c != 0 {
		return c
	}
	return strings.Compare(a.ID(), b.ID())
}

// compareSubmission is the order in which items first came to the queue.
func compareSubmission(a, b *Item) int {
	if c := cmp.Compare(a.submitted, b.submitted); c != 0 {
		return c
	}
	return strings.Compare(a.ID(), b.ID())
}

// setWorkload puts a new version of the workload in place.
func (it *Item) setWorkload(w *extpoints.WorkloadInfo) {
	it.Info = w
	it.Workload = w.Workload
	it.Priority = w.Priority
	it.tell()
}

// tell tells that what the order is made from has changed.
func (it *Item) tell() {
	if it.changed != nil {
		it.changed()
	}
}

// waitsSince is the time from which the timeout for unschedulable workloads
// runs.
func (it *Item) waitsSince() time.Time {
	if it.FlushedAt.After(it.Timestamp) {
		return it.FlushedAt
	}
	return it.Timestamp
}

// rejected reports whether it is some plugin that keeps the item waiting, and
// not an error.
func (it *Item) rejected() bool {
	return len(it.UnschedulablePlugins) > 0 || len(it.PendingPlugins) > 0
}

// set returns a copy of names without repetitions.
func set(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	s := make([]string, 0, len(names))
	for _, n := range names {
		if !slices.Contains(s, n) {
			s = append(s, n)
		}
	}
	return s
}

// each calls f for the workload, or for each member.
func (it *Item) each(f func(*model.Workload)) {
	if it.Group == nil {
		f(it.Workload)
	}
	for _, m := range it.Members {
		f(m.Workload)
	}
}

// infos are those of the workload, or of the members.
func (it *Item) infos() []*extpoints.WorkloadInfo {
	if it.Group == nil {
		return []*extpoints.WorkloadInfo{it.Info}
	}
	list := make([]*extpoints.WorkloadInfo, len(it.Members))
	for i, m := range it.Members {
		list[i] = m.Info
	}
	return list
}
