package state

import (
	"sync"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// State is the state of a fleet on one server. Apply and Restore are called by one
// goroutine; everything else may be called by any.
type State struct {
	events *Events
	watch  func(Changed)

	mu sync.RWMutex // guards db, which Restore replaces
	db *memdb.MemDB
}

// Changed says what an application of commands has changed, each once and in no
// order. After a Restore it is All.
type Changed struct {
	All  bool     // anything may have changed, and nothing is listed
	Jobs []job.ID // whose rows, queues or reservations have changed
	// Elements are those whose rows have changed.
	Elements []ElementID
	Tasks    []job.TaskID // those that have come, changed or gone
	// Revoked: certificates have been, or tokens were removed.
	Revoked bool
	// Reservations: one has come or gone. Tree: queues, accounts, users or limits have
	// changed.
	Reservations, Tree bool
	Nodes              []string // the nodes themselves, and their tasks and orders
}

// ElementID names an element.
type ElementID struct {
	Job   job.ID // its job
	Index int32  // in the array, 0 where the job is none
}

// New makes an empty state. Watch, if it is not nil, is told of every change, on
// the goroutine that applies it, when it can be seen; it must be quick.
func New(watch func(Changed)) *State {
	if watch == nil {
		watch = func(Changed) {}
	}
	return &State{db: newDB(), events: newEvents(DefaultEvents), watch: watch}
}

func newDB() *memdb.MemDB {
	db, err := memdb.NewMemDB(schema())
	if err != nil {
		panic(err) // the schema is wrong
	}
	return db
}

func (s *State) database() *memdb.MemDB {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.db
}

// View returns the state as it is now.
func (s *State) View() View { return View{txn: s.database().Txn(false)} }

// Events are what happened most recently.
func (s *State) Events() *Events { return s.events }

// Apply applies commands in order, in one transaction, and returns the Result of
// each. Each is carried out as a whole, or refused and changes nothing. Index and
// term are those of the log entry that they came in.
func (s *State) Apply(index, term uint64, commands [][]byte) []any {
	txn := s.database().Txn(true)
	t := newTx(txn, index, term)
	m := *t.meta()
	t.m = &m
	m.Index = index
	results := make([]any, len(commands))
	for i, text := range commands {
		c, err := Decode(text)
		if err != nil {
			results[i] = refuse(api.CodeInvalid, "%v", err)
			continue
		}
		results[i] = t.apply(c)
	}
	metas.put(txn, &m)
	txn.Commit()
	s.events.add(t.events)
	s.watch(t.changed())
	return results
}

// lastYear leaves room for pauses: times after the year 9999 cannot be written. No clock is
// before firstYear; commands without a time are.
const (
	firstYear = 1970
	lastYear  = 9900
)

// clocks is how far the clocks of servers may be apart.
const clocks = time.Minute

// timeOf is the time of a command that follows one of the time before. It does not go back
// where another leader's clock is a bit slow. But where one was wrong and is right again,
// or another leader's is right, it does: else all that comes would be of the wrong time.
func timeOf(at, before time.Time) time.Time {
	switch {
	case at.Year() >= lastYear, at.Year() < firstYear:
		return before
	case at.Before(before) && before.Sub(at) <= clocks:
		return before
	}
	return at
}

// apply applies one command.
func (t *tx) apply(c *Command) Result {
	if c.Term != 0 && c.Term != t.term {
		return refuse(api.CodeConflict, "it was decided by the leader of term %d, and now it is term %d", c.Term, t.term)
	}
	t.m.Now = timeOf(c.At, t.m.Now)
	t.by = c.By
	switch {
	case c.Submit != nil:
		return t.submit(c.Submit)
	case c.Cancel != nil:
		return t.cancel(c.Cancel)
	case c.Hold != nil:
		return t.hold(c.Hold)
	case c.Requeue != nil:
		return t.requeue(c.Requeue)
	case c.Place != nil:
		return t.place(c.Place)
	case c.StopTask != nil:
		return t.stopTask(c.StopTask)
	case c.Unplace != nil:
		return t.unplace(c.Unplace)
	case c.Report != nil:
		return t.report(c.Report)
	}
	return t.applyAdmin(c)
}

// applyAdmin applies a command about something else than jobs.
func (t *tx) applyAdmin(c *Command) Result {
	switch {
	case c.Register != nil:
		return t.register(c.Register)
	case c.NodeStatus != nil:
		return t.nodeStatus(c.NodeStatus)
	case c.Node != nil:
		return t.changeNode(c.Node)
	case c.RemoveNode != "":
		return t.removeNode(c.RemoveNode)
	case c.PutQueue != nil:
		return t.putQueue(c.PutQueue)
	case c.RemoveQueue != "":
		return t.removeQueue(c.RemoveQueue)
	case c.PutAccount != nil:
		return t.putAccount(c.PutAccount)
	case c.RemoveAccount != "":
		return t.removeAccount(c.RemoveAccount)
	case c.PutUser != nil:
		return t.putUser(c.PutUser)
	case c.RemoveUser != "":
		return t.removeUser(c.RemoveUser)
	case c.PutLimit != nil:
		return t.putLimit(c.PutLimit)
	case c.RemoveLimit != "":
		return t.removeLimit(c.RemoveLimit)
	}
	return t.applyRest(c)
}

// applyRest applies a command about reservations, tokens and what is kept.
func (t *tx) applyRest(c *Command) Result {
	switch {
	case c.AddReservation != nil:
		return t.addReservation(c.AddReservation)
	case c.RemoveReservation != "":
		return t.removeReservation(c.RemoveReservation)
	case c.PutToken != nil:
		return t.putToken(c.PutToken)
	case c.RemoveToken != "":
		return t.removeToken(c.RemoveToken)
	case c.Revoke != nil:
		return t.revoke(c.Revoke)
	case c.Purge != nil:
		return t.purge(c.Purge)
	case c.Raise != 0:
		return t.raise(c.Raise)
	case c.Restored:
		return t.restored()
	}
	return refuse(api.CodeInvalid, "the command says nothing")
}
