package store

import (
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-memdb"

	"github.com/berth-project/berth/engine/internal/invariants"
)

// Store is the record of truth, or a branch of it. Its reads, which it has from
// [Reader], each see the latest commit; several reads that must agree with each
// other are done on a [Store.Snapshot].
//
// All methods may be called from any goroutine. Reads take no lock and never
// wait. Of writers there is one at a time: Begin waits for the transaction
// before it to end.
//
// A Store is a pointer to an immutable state: a commit builds the next state
// and swaps the pointer while it holds the writer lock, so the rows, the index
// and the sequences are always of one moment.
type Store struct {
	Reader
	frozen  invariants.Frozen
	current atomic.Pointer[state]
	watches watches
	writer  sync.Mutex // held from Begin to Commit or Abort
	recent  int        // how many rows may be kept beside the tables
}

// state is what a commit publishes. Nothing in it changes any more, but for whole, which
// readers fill with the same rows whoever does it.
type state struct {
	tables *tables
	recent recent                 // rows that are not in the tables yet
	whole  atomic.Pointer[tables] // the tables with the recent rows, once somebody has asked for them

	numbers
}

// numbers are what a store numbers rows by.
type numbers struct {
	index uint64
	seq   uint64 // of the last node that arrived
	// arrivals is the same of workloads.
	arrivals uint64
}

// New returns an empty store. Its index is 0.
func New() *Store {
	db, err := memdb.NewMemDB(schema)
	if err != nil {
		panic("store: " + err.Error()) // the schema is a constant
	}
	return open(&state{tables: tablesOf(db)}, invariants.NewFrozen(), RecentRows)
}

func open(st *state, frozen invariants.Frozen, recent int) *Store {
	s := &Store{frozen: frozen, recent: recent}
	s.Reader = Reader{s}
	s.current.Store(st)
	return s
}

// Snapshot returns a branch: a store of its own that starts with what s holds
// now. Writes to either are not seen by the other; what they have in common is
// shared. It costs one small allocation whatever the store holds, a branch can
// branch again, and one that is not used any more is simply dropped. Watches
// do not carry over.
func (s *Store) Snapshot() *Store { return open(s.current.Load(), s.frozen, s.recent) }

// Index returns the index of the last transaction that changed something. Each
// such transaction adds one; after a branch both sides go on counting from the
// same index, so indexes compare within one branch only.
func (s *Store) Index() uint64 { return s.current.Load().index }

func (s *Store) now() moment { return s.current.Load() }

// all returns the tables with the recent rows in them.
func (st *state) all() *tables {
	if st.recent.size == 0 {
		return st.tables
	}
	if whole := st.whole.Load(); whole != nil {
		return whole
	}
	db, tx := st.tables.with(st.recent)
	tx.Commit()
	whole := tablesOf(db)
	st.whole.Store(whole)
	return whole
}

func (st *state) view() *memdb.Txn { return st.all().read }

func (st *state) row(k Kind, id string) any {
	if e := st.recent.find(rowKey{k, id}); e != nil {
		return e.new
	}
	return st.tables.row(k, id)
}
