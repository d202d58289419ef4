// Package preempt makes room: it asks for the evictions that a PostFilter plugin
// wants, in the right order, and knows when the workload or the group for which room
// is made may be tried again.
//
// A preemption lasts from the end of the cycle that asked for it to when the last of
// its evictions was accepted. All but the last are asked for side by side, and the
// last when those have been accepted: so the beneficiary is held back (see
// [Book.UnderWay]) until only one departure is to come, and that one will wake it. If
// any fails the rest are left out and the beneficiary is tried again after its
// backoff, because the departure that it would wait for may never come; where the last
// left without one it is activated. The rules are those of kube-scheduler
// framework/preemption/executor.go, 1.37.1, which activates it in both cases, with
// four additions: a last victim that has gone before it was asked counts as one that
// left without a departure to come; nobody is evicted any more when the beneficiary
// has itself gone or got a node, nor asked to leave last of all when the priorities
// are not what they were; and a binding that is called off counts as under way until
// its task is given back.
//
// Where nothing may be scheduled meanwhile ([extpoints.CycleState.AwaitEvictions]) all
// are asked for side by side.
package preempt

import (
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/observe"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/extpoints"
)

// Beneficiary is for whom room is made: a workload, or all members of a tree of groups
// that wait. Exactly one field is set.
type Beneficiary struct {
	Workload string // ID
	Group    string // ID of the highest group
}

// Nobody is the beneficiary of an eviction that is not to make room.
var Nobody Beneficiary

// Outcome is how a preemption has ended: what is to be done to have its beneficiary
// tried again.
type Outcome uint8

// The outcomes.
const (
	// Departing: the last victim's departure is to come and will wake the
	// beneficiary.
	Departing Outcome = iota
	// Failed: some victim will not leave.
	Failed
	// Gone: the last victim has left, and no event of that is to come.
	Gone
	// Changed: as Departing, but the beneficiary, or the node that it is nominated to, is not
	// what it was when it was tried; what it waits for now need not be that departure.
	Changed
)

// Port is what preemptions need of the engine.
type Port interface {
	// Evict asks for an eviction.
	Evict(now time.Time, e extpoints.Eviction, by Beneficiary)
	// Leaving reports whether an eviction of the workload is under way: asked for,
	// and neither accepted nor failed.
	Leaving(id string) bool
	// CallOff ends an eviction for which nobody but the beneficiary has asked.
	CallOff(id string, by Beneficiary, cause error)
	// Dropped tells that a workload stays that was to leave: its eviction has failed, or was not
	// asked for after all.
	Dropped(now time.Time, id string)
	// Ended tells that all evictions are over. took is how long they lasted.
	Ended(now time.Time, by Beneficiary, o Outcome, took time.Duration)
}

// stage is how far a preemption has come.
type stage uint8

const (
	// planned: the cycle that asked for it has not ended.
	planned stage = iota
	// asking: all but the last victim were asked, or all of them.
	asking
	// lastAsked: the last victim was asked.
	lastAsked
	// failing: some victim will not leave; the evictions under way are waited for.
	failing
)

// preemption is room being made for one beneficiary.
type preemption struct {
	by      Beneficiary
	stage   stage
	rest    []extpoints.Eviction // not asked for yet
	waits   []string             // workloads whose evictions are under way
	last    string               // the last victim, once it is asked
	awaited bool                 // nothing is scheduled meanwhile
	began   time.Duration        // when the first was asked for, by the clock

	// Priorities when the evictions were decided: that of the beneficiary, and what
	// protects the last of rest.
	rank, standing int32

	gone    bool // the last left, and no event of that is to come
	changed bool // the beneficiary is not what it was, or its node
	news    news
}

// news is what has happened to a preemption since it was last looked at.
type news struct {
	queued  bool     // it is among the book's touched
	all     bool     // all victims must be looked at, not just those below
	victims []string // there may be thousands of others
}

// outcome is how the preemption has ended.
func (p *preemption) outcome() Outcome {
	switch {
	case p.stage == failing:
		return Failed
	case p.gone:
		return Gone
	case p.changed:
		return Changed
	}
	return Departing
}

// fail leaves out what was not asked for yet.
func (b *Book) fail(p *preemption) {
	b.drop(p)
	p.stage = failing
}

// drop leaves out the evictions that were not asked for yet.
func (b *Book) drop(p *preemption) {
	for _, e := range p.rest {
		b.dropped = append(b.dropped, e.ID)
	}
	p.rest = nil
}

// due takes out the evictions to ask for now: all but the last, or all where nothing is
// scheduled meanwhile.
func (p *preemption) due() []extpoints.Eviction {
	n := len(p.rest)
	if !p.awaited {
		n--
	}
	due := p.rest[:n]
	p.rest = p.rest[n:]
	return due
}

// settle strikes off the victims that are not leaving any more, of those that something
// has happened to, and calls f for each.
func (p *preemption) settle(leaving func(id string) bool, f func(victim string)) {
	p.waits = slices.DeleteFunc(p.waits, func(victim string) bool {
		if !p.news.all && !slices.Contains(p.news.victims, victim) || leaving(victim) {
			return false
		}
		f(victim)
		return true
	})
	p.news.victims, p.news.all = p.news.victims[:0], false
}

// Book has the preemptions of an engine.
type Book struct {
	rec   *record.Record
	port  Port
	clock func() time.Duration

	byBeneficiary map[Beneficiary]*preemption
	byVictim      map[string][]*preemption // that wait for its eviction
	touched       []*preemption            // that something has happened to
	dropped       []string                 // workloads that were to leave, and are not
	awaited       int                      // how many hold everything up
	forGroups     int                      // how many are for trees of groups
}

// NewBook returns an empty book. The meter's clock is read for the durations; nil: they
// are 0.
func NewBook(rec *record.Record, port Port, meter *observe.Meter) *Book {
	clock := func() time.Duration { return 0 }
	if meter != nil {
		clock = meter.Clock
	}
	return &Book{
		rec: rec, port: port, clock: clock,
		byBeneficiary: map[Beneficiary]*preemption{}, byVictim: map[string][]*preemption{},
	}
}
