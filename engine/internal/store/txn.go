package store

import (
	"strings"

	"github.com/hashicorp/go-memdb"
)

// BatchSize is how many rows a caller with very many to write should put into
// one transaction: enough to share what a transaction costs by itself, and few
// enough that other writers wait for some tens of milliseconds only. More is
// correct and no dearer by the row.
const BatchSize = 2000

// Txn is a write transaction. Its reads, from [Reader], see its own writes. It
// belongs to one goroutine and ends with Commit or Abort; any other use of it
// after that panics. A verb that returns an error has changed nothing, and the
// transaction goes on.
//
// Everything that is given to a verb belongs to the store from then on and
// must not be changed any more.
type Txn struct {
	Reader
	store *Store
	base  *state
	ended bool

	// tables and recent have the rows of the base. memdb has them too, and those that this
	// transaction has written, from when somebody wants rows in order on; until then it is nil.
	// Nobody else has db before the transaction has committed.
	tables *tables
	recent recent
	db     *memdb.MemDB
	memdb  *memdb.Txn

	numbers // that the next state has

	// written has one entry for each row written, in the order of the first
	// write. It is the change feed, and it answers reads of single rows: to
	// ask memdb would make it forget which tree nodes are its own, and copy
	// them again at the next write.
	written []entry
	place   map[rowKey]int // in written; made when written gets long
	few     [2]entry       // room for the written of a small transaction
}

// Begin starts a transaction, once the one before it has ended.
func (s *Store) Begin() *Txn {
	s.writer.Lock()
	base := s.current.Load()
	t := &Txn{store: s, base: base, tables: base.tables, recent: base.recent, numbers: base.numbers}
	if whole := base.whole.Load(); whole != nil {
		t.tables, t.recent = whole, recent{} // a reader has done the work
	}
	t.index++
	t.Reader = Reader{t}
	t.written = t.few[:0]
	return t
}

// Index returns the index that the transaction's writes get, and the store if
// it commits any.
func (t *Txn) Index() uint64 { return t.index }

// Commit publishes the writes, wakes those who watch, and returns the changes
// from the state before to the state after: at most one for each row, in the
// order in which the rows were first written. A row that was made and deleted
// in the transaction is no change. Without changes Commit returns nil and is
// Abort.
func (t *Txn) Commit() []Change {
	if t.ended {
		return nil
	}
	changes := t.changes()
	if changes == nil {
		t.Abort()
		return nil
	}
	s := t.store
	s.frozen.CheckSome()
	s.current.Store(t.next())
	t.ended = true
	s.writer.Unlock()
	s.watches.fire(changes)
	return changes
}

// next is the state after the transaction. Its rows go beside the tables while there is room.
func (t *Txn) next() *state {
	st := &state{tables: t.tables, recent: t.recent, numbers: t.numbers}
	if t.memdb == nil && t.recent.size+len(t.written) <= t.store.recent {
		for i := range t.written {
			st.recent = st.recent.with(t.written[i])
		}
		return st
	}
	t.view().Commit()
	st.tables, st.recent = tablesOf(t.db), recent{}
	return st
}

// Abort drops the writes. It does nothing after the transaction has ended, so
// it can be deferred.
func (t *Txn) Abort() {
	if t.ended {
		return
	}
	if t.memdb != nil {
		t.memdb.Abort()
	}
	t.ended = true
	t.store.writer.Unlock()
}

func (t *Txn) now() moment { return t }

// view is memdb's transaction with all that was written.
func (t *Txn) view() *memdb.Txn {
	t.mustBeOpen()
	if t.memdb == nil {
		t.db, t.memdb = t.tables.with(t.recent)
		for i := range t.written {
			t.written[i].write(t.memdb)
		}
	}
	return t.memdb
}

func (t *Txn) mustBeOpen() {
	if t.ended {
		panic("store: transaction has ended")
	}
}

// row reads the row as written by the transaction, or else as it was before.
func (t *Txn) row(k Kind, id string) any {
	t.mustBeOpen()
	if i := t.find(rowKey{k, id}); i >= 0 {
		return t.written[i].new
	}
	return t.base.row(k, id)
}

// fewRows is the length up to which written is searched without a map.
const fewRows = 8

func (t *Txn) find(key rowKey) int {
	if t.place != nil {
		if i, ok := t.place[key]; ok {
			return i
		}
		return -1
	}
	for i := range t.written {
		if t.written[i].rowKey == key {
			return i
		}
	}
	return -1
}

// put writes a row over old, which is nil for a new one. The verb has checked
// that it may.
func (t *Txn) put(k Kind, id string, old, row any) {
	t.store.frozen.Check(old)
	t.store.frozen.Remember(k.String(), id, row)
	t.record(entry{rowKey{k, id}, old, row})
}

// remove deletes the row old.
func (t *Txn) remove(k Kind, id string, old any) {
	t.store.frozen.Check(old)
	t.record(entry{rowKey{k, id}, old, nil})
}

// record notes what was written.
func (t *Txn) record(e entry) {
	t.mustBeOpen()
	if t.memdb != nil {
		e.write(t.memdb)
	}
	if i := t.find(e.rowKey); i >= 0 {
		t.written[i].new = e.new
		return
	}
	t.written = append(t.written, e)
	switch {
	case t.place != nil:
		t.place[e.rowKey] = len(t.written) - 1
	case len(t.written) > fewRows:
		t.place = make(map[rowKey]int, 2*len(t.written))
		for i := range t.written {
			t.place[t.written[i].rowKey] = i
		}
	}
}

// checkName says whether a string can be an ID or name.
func checkName(k Kind, name string) error {
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return &RowError{Kind: k, ID: name, Err: ErrName}
	}
	return nil
}

// changes turns what was written into the feed; nil where nothing changed.
func (t *Txn) changes() []Change {
	var feed []Change
	for i := range t.written {
		e := &t.written[i]
		if e.old == nil && e.new == nil {
			continue
		}
		if feed == nil {
			feed = make([]Change, 0, len(t.written)-i)
		}
		feed = append(feed, e.change())
	}
	return feed
}
