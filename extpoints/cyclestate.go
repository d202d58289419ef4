package extpoints

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berth-project/berth/model"
)

// CycleOptions are what a cycle is made of.
type CycleOptions struct {
	// Context is for calls that want one. Default: one that never ends.
	Context context.Context
	// View is the cluster as the cycle sees it. Required.
	View ClusterView
	// Now is the time of the decision, which [CycleState.Now] returns. Required.
	Now time.Time
	// Present is when the cycle is run. Default: Now.
	Present time.Time
	// Seed is where the cycle's random choices come from, which [CycleState.Seed] returns.
	// Any value is as good as another; the engine derives it from Config.Seed and the cycle's number.
	Seed uint64
	// Trial: the cycle only tries something out; see [CycleState.Trial].
	Trial bool
	// MakingRoom: the cycle is one of a [GroupTrial].
	MakingRoom bool
	// Group is the group in whose cycle this one is. Default: none.
	Group *GroupInfo
	// Shared is the state of the group's try. Default: none.
	Shared *CycleState
	// Values is a state; the cycle begins with clones of what plugins keep in it.
	// Default: with nothing.
	Values *CycleState
}

// Requests are what plugins have asked for in a cycle, each in the order in which
// they did; see the methods of [CycleState].
type Requests struct {
	Evictions      []Eviction    // see [CycleState.Evict]
	AwaitEvictions bool          // see [CycleState.AwaitEvictions]
	Unnominations  []string      // IDs of workloads
	Deallocations  []string      // IDs of claims
	Withdrawals    []Reservation // see [CycleState.Withdraw]
	Activations    []string      // IDs of workloads
}

// Eviction is a request that a workload leave its node.
type Eviction struct {
	ID     string // the workload that must leave
	Reason string // for the orchestrator and for people
}

// CycleState carries what belongs to one scheduling cycle (and the binding
// cycle that follows) of one workload: the view of the cluster, the time, a
// seed, and whatever plugins keep between their stages under a [StateKey].
//
// It is written by one goroutine at a time. While Filter and Score run on
// several goroutines, and while PreBind plugins run side by side, it must only
// be read (Activate apart). It is made with, and belongs to, a [Cycle].
type CycleState struct {
	timed   atomic.Bool  // somebody has asked what time it is
	ages    ages         // somebody has asked how old something is
	o       CycleOptions // without Values
	entries []stateEntry

	mu       sync.Mutex // guards Activations: PreBind plugins may run side by side
	requests Requests
}

type stateEntry struct {
	key   any // *StateKey[T], compared by identity
	value any
	clone func(any) any // nil: shared by clones
}

// View is the cluster as this cycle sees it. It does not change while the
// cycle runs.
func (s *CycleState) View() ClusterView { return s.o.View }

// Now is the time of the cycle: the only clock a plugin reads.
func (s *CycleState) Now() time.Time {
	if !s.timed.Load() {
		s.timed.Store(true)
	}
	return s.o.Now
}

// Present is when the cycle is run. It is the time of the cycle, but where a plan asks
// what will do at a later one: then it stays the time at which the plan is made. The age of
// what was reported is judged by it, since what is new today is not old because one thinks
// of tomorrow.
func (s *CycleState) Present() time.Time {
	if s.o.Present.IsZero() {
		return s.o.Now
	}
	return s.o.Present
}

// TooOld reports whether what was reported at the time is too old: by more than the age, at
// Present. What is ahead of Present by as much is no better: a clock is wrong. An age of 0 is
// any.
//
// It is how a [NodeLocalPlugin] asks: what it says is remembered for as long as the answers stay
// the same.
func (s *CycleState) TooOld(at time.Time, age time.Duration) bool {
	if age <= 0 {
		return false
	}
	return s.ages.tooOld(s.Present().Sub(at), age)
}

// Seed is a number to derive random choices of this cycle from: the only
// randomness a plugin uses, so that a decision can be replayed.
func (s *CycleState) Seed() uint64 { return s.o.Seed }

// Trial reports whether the cycle only tries something out, on a branch or for
// an explanation: nobody will bind what it reserves, and Unreserve will not be
// called. A plugin that keeps books of its own leaves them alone.
func (s *CycleState) Trial() bool { return s.o.Trial }

// MakingRoom reports whether the cycle is one of a [GroupTrial], in which a group
// is placed as if those that may be displaced for it were gone.
func (s *CycleState) MakingRoom() bool { return s.o.MakingRoom }

// Group is the group in whose cycle this one is, nil outside of one; for the
// points of groups it is the group that they are given.
func (s *CycleState) Group() *GroupInfo { return s.o.Group }

// Shared is the state of the group's try, which the cycles of all its members
// share; nil outside of one. Its view is that before the first member.
func (s *CycleState) Shared() *CycleState { return s.o.Shared }

// Context is for calls that want one, extenders' above all. It ends when the
// engine is told to stop; the points that may block are given a context of their
// own, which it ends for other reasons too.
func (s *CycleState) Context() context.Context { return s.o.Context }

// Activate asks that the workloads of the given IDs, if they are waiting in
// the queue, be tried at once. What is asked for in the scheduling cycle takes
// effect when that ends well, what is asked for while binding when that does.
// (kube-scheduler: PodsToActivate.)
func (s *CycleState) Activate(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests.Activations = append(s.requests.Activations, ids...)
}

// Evict asks that a workload leave its node. A PostFilter plugin that displaces
// others asks here and not the orchestrator, so that the same plugin can also
// run on a branch. The engine passes the requests on when the cycle has ended:
// all but the last side by side, and the last when those have been accepted.
// Until that one is accepted too [Preemption.UnderWay] is true for the workload
// of the cycle. If any fails, the rest are left out and the workload is tried
// again. (kube-scheduler pkg/scheduler/framework/preemption/executor.go, 1.37.1.)
func (s *CycleState) Evict(id, reason string) {
	s.requests.Evictions = append(s.requests.Evictions, Eviction{ID: id, Reason: reason})
}

// AwaitEvictions asks that nothing more be scheduled, whatever waits, until the
// evictions asked for in this cycle have been accepted, or one has failed. Then
// they are all made side by side.
func (s *CycleState) AwaitEvictions() { s.requests.AwaitEvictions = true }

// Unnominate asks that a waiting workload give up the node that it is nominated
// to, because room there is wanted for another. Like Evict it is for PostFilter.
func (s *CycleState) Unnominate(id string) {
	s.requests.Unnominations = append(s.requests.Unnominations, id)
}

// Deallocate asks that what the device claims of the IDs have been given be taken
// back, and nobody have them reserved any more; a claim that was made for scalar
// resources ([model.DeviceClaim].ForResources) is to be deleted. Like Evict it
// is for PostFilter: the engine passes the requests on when the cycle has ended.
// (kube-scheduler plugins/dynamicresources/dynamicresources.go
// deallocateOrDeletePodClaims, 1.37.1.)
func (s *CycleState) Deallocate(claimIDs ...string) {
	s.requests.Deallocations = append(s.requests.Deallocations, claimIDs...)
}

// Reservation is that a consumer has a device claim reserved.
type Reservation struct {
	Claim string         // ID
	By    model.Consumer // who has it reserved
}

// Withdraw asks that a reservation end, while the claim keeps its devices and
// its other reservations. It is for GroupPostFilter, as Deallocate is for
// PostFilter. (kube-scheduler plugins/dynamicresources/dynamicresources.go
// deallocatePodGroupClaims, 1.37.1.)
func (s *CycleState) Withdraw(r Reservation) {
	s.requests.Withdrawals = append(s.requests.Withdrawals, r)
}

// Clone returns a copy for trying something out, in which nothing has been
// asked for: values whose type has a Clone method are cloned, the others are shared.
func (s *CycleState) Clone() *CycleState {
	c := &CycleState{entries: make([]stateEntry, 0, len(s.entries))}
	s.CopyTo(c)
	return c
}

// CopyTo makes c a clone of s, in the memory that c has: for those who need many
// clones, one after the other. c must be the caller's own, and an earlier clone
// in it is gone.
func (s *CycleState) CopyTo(c *CycleState) {
	c.o, c.requests = s.o, Requests{}
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
