package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/hashicorp/go-memdb"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// table is a memdb table of rows of one type. Its rows are *T.
type table[T any] struct {
	name string
	id   func(*T) []byte
	// more are further indexes; one whose key is nil does not have the row. Keys of
	// different rows may be equal.
	more map[string]func(*T) []byte
	// many are indexes in which a row has any number of keys, or none.
	many map[string]func(*T) [][]byte
}

// The tables.
var (
	jobs = table[Job]{name: "jobs", id: func(j *Job) []byte { return jobKey(j.ID) },
		more: map[string]func(*Job) []byte{byName: activeName}}
	chunks   = table[chunk]{name: "chunks", id: func(c *chunk) []byte { return elementKey(c.Job, c.Number) }}
	elements = table[Element]{name: "elements", id: func(e *Element) []byte { return elementKey(e.Job, e.Index) }}
	tasks    = table[Task]{name: "tasks", id: func(t *Task) []byte { return taskKey(t.ID) },
		more: map[string]func(*Task) []byte{byNode: func(t *Task) []byte { return nameKey(t.Node) }}}
	nodes = table[Node]{name: "nodes", id: func(n *Node) []byte { return []byte(n.Node) },
		many: map[string]func(*Node) [][]byte{byFailed: failedKeys}}
	used    = table[Used]{name: "used", id: func(u *Used) []byte { return []byte(u.Node) }}
	records = table[Record]{name: "records", id: func(r *Record) []byte { return be64(nil, r.Seq) },
		more: map[string]func(*Record) []byte{byJob: func(r *Record) []byte { return elementKey(r.Job, r.Element) }}}
	totals       = table[total]{name: "totals", id: func(t *total) []byte { return []byte(t.Owner) }}
	queues       = table[Queue]{name: "queues", id: func(q *Queue) []byte { return []byte(q.Name) }}
	accounts     = table[Account]{name: "accounts", id: func(a *Account) []byte { return []byte(a.Name) }}
	users        = table[User]{name: "users", id: func(u *User) []byte { return []byte(u.Name) }}
	limits       = table[Limit]{name: "limits", id: func(l *Limit) []byte { return []byte(l.Name) }}
	reservations = table[Reservation]{name: "reservations", id: func(r *Reservation) []byte { return []byte(r.Name) }}
	tokens       = table[Token]{name: "tokens", id: func(t *Token) []byte { return []byte(t.ID) }}
	holdings     = table[holding]{name: "holdings", id: func(h *holding) []byte { return []byte(h.Owner) }}
	revoked      = table[api.Revocation]{name: "revoked", id: func(r *api.Revocation) []byte { return []byte(r.ID) }}
	keys         = table[key]{name: "keys", id: func(k *key) []byte { return append(nameKey(k.Owner), k.Key...) }}
	metas        = table[meta]{name: "meta", id: func(*meta) []byte { return []byte("meta") }}
)

// Names of further indexes.
const (
	byName   = "name" // jobs that have not ended, by owner and name
	byNode   = "node"
	byJob    = "job"
	byFailed = "failed" // nodes, by the elements of their failed starts
)

func schema() *memdb.DBSchema {
	s := &memdb.DBSchema{Tables: map[string]*memdb.TableSchema{}}
	for _, t := range []*memdb.TableSchema{
		jobs.schema(), chunks.schema(), elements.schema(), tasks.schema(), nodes.schema(), used.schema(),
		records.schema(), totals.schema(), queues.schema(), tokens.schema(), keys.schema(), metas.schema(), holdings.schema(), revoked.schema(), reservations.schema(), accounts.schema(), users.schema(), limits.schema(),
	} {
		s.Tables[t.Name] = t
	}
	return s
}

func (t *table[T]) schema() *memdb.TableSchema {
	s := &memdb.TableSchema{Name: t.name, Indexes: map[string]*memdb.IndexSchema{
		"id": {Name: "id", Unique: true, Indexer: indexer[T](t.id)},
	}}
	for name, f := range t.more {
		s.Indexes[name] = &memdb.IndexSchema{Name: name, AllowMissing: true, Indexer: indexer[T](f)}
	}
	for name, f := range t.many {
		s.Indexes[name] = &memdb.IndexSchema{Name: name, AllowMissing: true, Indexer: manyIndexer[T](f)}
	}
	return s
}

// indexer makes the key of a row. A query gives the key itself. Where keys need not
// differ memdb appends the ID and looks for beginnings, hence the 0 at the end of
// those that are names, and a fresh slice each time.
type indexer[T any] func(*T) []byte

// FromObject implements memdb.SingleIndexer.
func (f indexer[T]) FromObject(row any) (bool, []byte, error) {
	k := f(row.(*T))
	return k != nil, k, nil
}

// FromArgs implements memdb.Indexer.
func (f indexer[T]) FromArgs(args ...any) ([]byte, error) {
	k, ok := args[0].([]byte)
	if len(args) != 1 || !ok {
		return nil, fmt.Errorf("a query has one argument, the key")
	}
	return bytes.Clone(k), nil
}

// PrefixFromArgs implements memdb.PrefixIndexer.
func (f indexer[T]) PrefixFromArgs(args ...any) ([]byte, error) { return f.FromArgs(args...) }

// manyIndexer makes the keys of a row. Else it is as indexer.
type manyIndexer[T any] func(*T) [][]byte

// FromObject implements memdb.MultiIndexer.
func (f manyIndexer[T]) FromObject(row any) (bool, [][]byte, error) {
	keys := f(row.(*T))
	return len(keys) > 0, keys, nil
}

// FromArgs implements memdb.Indexer.
func (f manyIndexer[T]) FromArgs(args ...any) ([]byte, error) {
	return indexer[T](nil).FromArgs(args...)
}

// PrefixFromArgs implements memdb.PrefixIndexer.
func (f manyIndexer[T]) PrefixFromArgs(args ...any) ([]byte, error) { return f.FromArgs(args...) }

// get returns the row of the key, nil where there is none.
func (t *table[T]) get(txn *memdb.Txn, id []byte) *T {
	row, err := txn.First(t.name, "id", id)
	if err != nil {
		panic(err) // the schema is wrong
	}
	if row == nil {
		return nil
	}
	return row.(*T)
}

// put inserts or replaces the row, which must not be changed from then on.
func (t *table[T]) put(txn *memdb.Txn, row *T) {
	if err := txn.Insert(t.name, row); err != nil {
		panic(err) // the schema is wrong
	}
}

// remove removes the row, which is there.
func (t *table[T]) remove(txn *memdb.Txn, row *T) {
	if err := txn.Delete(t.name, row); err != nil {
		panic(err) // the schema is wrong
	}
}

// all yields the rows whose key in the index begins with the prefix, in the order
// of keys. What is written meanwhile is not seen.
func (t *table[T]) all(txn *memdb.Txn, index string, prefix []byte) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		it, err := txn.Get(t.name, index+"_prefix", prefix)
		if err != nil {
			panic(err) // the schema is wrong
		}
		for row := it.Next(); row != nil; row = it.Next() {
			if !yield(row.(*T)) {
				return
			}
		}
	}
}

// from yields the rows from the key on, in the order of IDs.
func (t *table[T]) from(txn *memdb.Txn, id []byte) iter.Seq[*T] {
	return walk[T](txn.LowerBound(t.name, "id", id))
}

// downFrom yields the rows from the key down, in the reverse order of IDs.
func (t *table[T]) downFrom(txn *memdb.Txn, id []byte) iter.Seq[*T] {
	return walk[T](txn.ReverseLowerBound(t.name, "id", id))
}

func walk[T any](it memdb.ResultIterator, err error) iter.Seq[*T] {
	if err != nil {
		panic(err) // the schema is wrong
	}
	return func(yield func(*T) bool) {
		for row := it.Next(); row != nil; row = it.Next() {
			if !yield(row.(*T)) {
				return
			}
		}
	}
}

func be64(b []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(b, n) }
func be32(b []byte, n int32) []byte  { return binary.BigEndian.AppendUint32(b, uint32(n)) }

func jobKey(id job.ID) []byte { return be64(make([]byte, 0, 8), uint64(id)) }

// elementKey is also that of a chunk, by its number, and of an element's records.
func elementKey(id job.ID, index int32) []byte {
	return be32(be64(make([]byte, 0, 12), uint64(id)), index)
}

func attemptKey(t job.TaskID) []byte {
	return be32(be32(be64(make([]byte, 0, 16), uint64(t.Job)), t.Element), t.Attempt)
}

func taskKey(t job.TaskID) []byte {
	return be32(be32(be32(be64(make([]byte, 0, 20), uint64(t.Job)), t.Element), t.Attempt), t.Rank)
}

// nameKey ends a name, so that it is the beginning of no other.
func nameKey(name string) []byte {
	b := make([]byte, 0, len(name)+1)
	return append(append(b, name...), 0)
}

// failedKeys are the keys of the elements that a node could not start.
func failedKeys(n *Node) [][]byte {
	var keys [][]byte
	for _, f := range n.FailedStarts {
		keys = append(keys, elementKey(f.Job, f.Element))
	}
	return keys
}

// activeName is the key of a job that has not ended, by owner and name.
func activeName(j *Job) []byte {
	if j.Done() {
		return nil
	}
	return append(nameKey(j.Owner), nameKey(j.Spec.Name)...)
}
