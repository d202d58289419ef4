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
	// work is a snapshot of the base's database that this transaction alone
	// writes to. When it commits, work becomes the database of the next state
	// and is not written to any more.
	work *memdb.MemDB
	mem  *memdb.Txn // nil once ended

	index         uint64
	seq, arrivals uint64 // see state

	// written has one entry for each row written, in the order of the first
	// write. It is the change feed, and it answers reads of single rows: to
	// ask memdb would make it forget which tree nodes are its own, and copy
	// them again at the next write.
	written []entry
	place   map[rowKey]int // in written; made when written gets long
	few     [2]entry       // room for the written of a small transaction
}

type entry struct {
	rowKey
	old, new any // rows; nil for none
}

type rowKey struct {
	kind Kind
	id   string
}

// Begin starts a transaction, once the one before it has ended.
func (s *Store) Begin() *Txn {
	s.writer.Lock()
	base := s.current.Load()
	work := base.db.Snapshot()
	t := &Txn{store: s, base: base, work: work, mem: work.Txn(true), index: base.index + 1, seq: base.seq, arrivals: base.arrivals}
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
	if t.mem == nil {
		return nil
	}
	changes := t.changes()
	if changes == nil {
		t.Abort()
		return nil
	}
	s := t.store
	s.frozen.CheckSome()
	t.mem.Commit()
	t.mem = nil
	s.current.Store(&state{db: t.work, read: t.work.Txn(false), index: t.index, seq: t.seq, arrivals: t.arrivals})
	s.writer.Unlock()
	s.watches.fire(changes)
	return changes
}

// Abort drops the writes. It does nothing after the transaction has ended, so
// it can be deferred.
func (t *Txn) Abort() {
	if t.mem == nil {
		return
	}
	t.mem.Abort()
	t.mem = nil
	t.store.writer.Unlock()
}

func (t *Txn) now() moment { return t }

func (t *Txn) view() *memdb.Txn {
	t.mustBeOpen()
	return t.mem
}

func (t *Txn) mustBeOpen() {
	if t.mem == nil {
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
	t.insert(k.String(), row)
	t.record(rowKey{k, id}, old, row)
}

// remove deletes the row old.
func (t *Txn) remove(k Kind, id string, old any) {
	t.store.frozen.Check(old)
	t.delete(k.String(), old)
	t.record(rowKey{k, id}, old, nil)
}

func (t *Txn) insert(table string, row any) {
	if err := t.mem.Insert(table, row); err != nil {
		panic("store: " + err.Error()) // an indexer failed: a bug here
	}
}

func (t *Txn) delete(table string, row any) {
	if err := t.mem.Delete(table, row); err != nil {
		panic("store: " + err.Error()) // a row that was read is gone: a bug here
	}
}

func (t *Txn) record(key rowKey, old, row any) {
	if i := t.find(key); i >= 0 {
		t.written[i].new = row
		return
	}
	t.written = append(t.written, entry{key, old, row})
	switch {
	case t.place != nil:
		t.place[key] = len(t.written) - 1
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
