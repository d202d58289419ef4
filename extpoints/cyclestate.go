package extpoints

import (
	"context"
	"sync"
	"time"

	"github.com/berth-project/berth/model"
)

// CycleState carries what belongs to one scheduling cycle (and the binding
// cycle that follows) of one workload: the view of the cluster, the time, a
// seed, and whatever plugins keep between their stages under a [StateKey].
//
// It is written by one goroutine at a time. While Filter and Score run on
// several goroutines, and while PreBind plugins run side by side, it must only
// be read (Activate apart).
type CycleState struct {
	view      View
	now       time.Time
	seed      uint64
	ctx       context.Context
	trial     bool
	room      bool
	group     *GroupInfo
	shared    *CycleState
	entries   []stateEntry
	evicted   []Eviction
	denied    []string
	freed     []string
	withdrawn []Reservation
	awaits    bool

	mu     sync.Mutex // guards active: PreBind plugins may run side by side
	active []string
}

// Eviction is a request that a workload leave its node.
type Eviction struct {
	ID     string // the workload that must leave
	Reason string // for the orchestrator and for people
}

type stateEntry struct {
	key   any // *StateKey[T], compared by identity
	value any
	clone func(any) any // nil: shared by clones
}

// NewCycleState makes the state of a cycle over the view at the time now.
func NewCycleState(ctx context.Context, view View, now time.Time, seed uint64) *CycleState {
	return &CycleState{view: view, now: now, seed: seed, ctx: ctx}
}

// View is the cluster as this cycle sees it. It does not change while the
// cycle runs.
func (s *CycleState) View() View { return s.view }

// Now is the time of the cycle: the only clock a plugin reads.
func (s *CycleState) Now() time.Time { return s.now }

// Seed is a number to derive random choices of this cycle from: the only
// randomness a plugin uses, so that a decision can be replayed.
func (s *CycleState) Seed() uint64 { return s.seed }

// Trial reports whether the cycle only tries something out, on a branch or for
// an explanation: nobody will bind what it reserves, and Unreserve will not be
// called. A plugin that keeps books of its own leaves them alone.
func (s *CycleState) Trial() bool { return s.trial }

// SetTrial makes the cycle one that only tries something out, or one that does
// not any more. For those who run cycles.
func (s *CycleState) SetTrial(trial bool) { s.trial = trial }

// MakingRoom reports whether the cycle is one of a [GroupTrial], in which a group
// is placed as if those that may be displaced for it were gone.
func (s *CycleState) MakingRoom() bool { return s.room }

// SetMakingRoom makes the cycle one of a [GroupTrial]. The engine does.
func (s *CycleState) SetMakingRoom() { s.room = true }

// Group is the group in whose cycle this one is, nil outside of one; for the
// points of groups it is the group that they are given.
func (s *CycleState) Group() *GroupInfo { return s.group }

// Shared is the state of the group's try, which the cycles of all its members
// share; nil outside of one. Its view is that before the first member.
func (s *CycleState) Shared() *CycleState { return s.shared }

// SetGroup makes the cycle part of that of a group. For those who run cycles.
func (s *CycleState) SetGroup(g *GroupInfo, shared *CycleState) { s.group, s.shared = g, shared }

// SetView gives the cycle another view. For those who run cycles.
func (s *CycleState) SetView(v View) { s.view = v }

// Context is for calls that want one, extenders' above all. It ends when the
// engine is told to stop; the points that may block are given a context of their
// own, which it ends for other reasons too.
func (s *CycleState) Context() context.Context { return s.ctx }

// Activate asks that the workloads of the given IDs, if they are waiting in
// the queue, be tried at once. What is asked for in the scheduling cycle takes
// effect when that ends well, what is asked for while binding when that does.
// (kube-scheduler: PodsToActivate.)
func (s *CycleState) Activate(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = append(s.active, ids...)
}

// Activated lists the IDs given to Activate.
func (s *CycleState) Activated() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active
}

// Evict asks that a workload leave its node. A PostFilter plugin that displaces
// others asks here and not the orchestrator, so that the same plugin can also
// run on a branch. The engine passes the requests on when the cycle has ended:
// all but the last side by side, and the last when those have been accepted.
// Until that one is accepted too [Preemption.UnderWay] is true for the workload
// of the cycle. If any fails, the rest are left out and the workload is tried
// again. (kube-scheduler pkg/scheduler/framework/preemption/executor.go, 1.37.1.)
func (s *CycleState) Evict(id, reason string) {
	s.evicted = append(s.evicted, Eviction{ID: id, Reason: reason})
}

// Evictions lists the requests made with Evict.
func (s *CycleState) Evictions() []Eviction { return s.evicted }

// AwaitEvictions asks that nothing more be scheduled, whatever waits, until the
// evictions asked for in this cycle have been accepted, or one has failed. Then
// they are all made side by side.
func (s *CycleState) AwaitEvictions() { s.awaits = true }

// AwaitsEvictions reports whether AwaitEvictions was called.
func (s *CycleState) AwaitsEvictions() bool { return s.awaits }

// Unnominate asks that a waiting workload give up the node that it is nominated
// to, because room there is wanted for another. Like Evict it is for PostFilter.
func (s *CycleState) Unnominate(id string) { s.denied = append(s.denied, id) }

// Unnominations lists the IDs given to Unnominate.
func (s *CycleState) Unnominations() []string { return s.denied }

// Deallocate asks that what the device claims of the IDs have been given be taken
// back, and nobody have them reserved any more; a claim that was made for scalar
// resources ([model.DeviceClaim].ForResources) is to be deleted. Like Evict it
// is for PostFilter: the engine passes the requests on when the cycle has ended.
// (kube-scheduler plugins/dynamicresources/dynamicresources.go
// deallocateOrDeletePodClaims, 1.37.1.)
func (s *CycleState) Deallocate(claimIDs ...string) { s.freed = append(s.freed, claimIDs...) }

// Deallocations lists the IDs given to Deallocate.
func (s *CycleState) Deallocations() []string { return s.freed }

// Reservation is that a consumer has a device claim reserved.
type Reservation struct {
	Claim string // ID
	By    model.Consumer
}

// Withdraw asks that a reservation end, while the claim keeps its devices and
// whoever else has it reserved. It is for GroupPostFilter, as Deallocate is for
// PostFilter. (kube-scheduler plugins/dynamicresources/dynamicresources.go
// deallocatePodGroupClaims, 1.37.1.)
func (s *CycleState) Withdraw(r Reservation) { s.withdrawn = append(s.withdrawn, r) }

// Withdrawals lists the reservations given to Withdraw.
func (s *CycleState) Withdrawals() []Reservation { return s.withdrawn }

// Clone returns a copy for trying something out: values whose type has a Clone
// method are cloned, the others are shared.
func (s *CycleState) Clone() *CycleState {
	c := &CycleState{entries: make([]stateEntry, 0, len(s.entries))}
	s.CopyTo(c)
	return c
}

// CopyTo makes c a clone of s, in the memory that c has: for those who need many
// clones, one after the other. c must be the caller's own, and an earlier clone
// in it is gone.
func (s *CycleState) CopyTo(c *CycleState) {
	c.view, c.now, c.seed, c.ctx, c.trial, c.room = s.view, s.now, s.seed, s.ctx, s.trial, s.room
	c.group, c.shared = s.group, s.shared
	c.evicted, c.denied, c.freed, c.withdrawn, c.awaits, c.active = nil, nil, nil, nil, false, nil
	c.entries = c.entries[:0]
	for _, e := range s.entries {
		if e.clone != nil {
			e.value = e.clone(e.value)
		}
		c.entries = append(c.entries, e)
	}
}

// StateKey is the typed name of a value in a [CycleState]. Make each with
// [NewStateKey], in a package variable of the plugin that owns it.
type StateKey[T any] struct {
	name string
}

// NewStateKey makes a key. The name is for messages; two keys of the same name
// are different keys. Where T has a method Clone() T, clones of the state get
// a clone of the value; else they share it, and it must not be changed after
// PreFilter.
func NewStateKey[T any](name string) *StateKey[T] { return &StateKey[T]{name: name} }

// String returns the key's name.
func (k *StateKey[T]) String() string { return k.name }

// Get returns the value under the key, and whether there is one.
func (k *StateKey[T]) Get(s *CycleState) (T, bool) {
	for i := range s.entries {
		if s.entries[i].key == any(k) {
			return s.entries[i].value.(T), true
		}
	}
	var zero T
	return zero, false
}

// Set puts the value under the key, in place of one that is there.
func (k *StateKey[T]) Set(s *CycleState, value T) {
	for i := range s.entries {
		if s.entries[i].key == any(k) {
			s.entries[i].value = value
			return
		}
	}
	e := stateEntry{key: k, value: value}
	if _, ok := any(value).(interface{ Clone() T }); ok {
		e.clone = func(v any) any { return v.(interface{ Clone() T }).Clone() }
	}
	s.entries = append(s.entries, e)
}
