package store

import (
	"hash/maphash"

	"github.com/hashicorp/go-memdb"

	"github.com/berth-project/berth/model"
)

// RecentRows is how many rows a new store, and its branches, keep beside memdb's tables at
// most. More would share more tree nodes when they are written; and a reader who wants rows in
// order, or the commit that is one too many, would have to write more of them. With 0 each
// commit writes its own. That shows in nothing but the cost; tests change it to prove that.
var RecentRows = 256

// tables are a memdb database that no transaction writes to any more.
type tables struct {
	db   *memdb.MemDB
	read *memdb.Txn // read-only and shared: memdb reads it without writing
}

func tablesOf(db *memdb.MemDB) *tables { return &tables{db, db.Txn(false)} }

// row returns the row, or nil.
func (t *tables) row(k Kind, id string) any {
	row, err := t.read.First(k.String(), idIndex, id)
	if err != nil {
		panic("store: " + err.Error()) // a wrong table or argument: a bug here
	}
	return row
}

// with returns tables to which the rows were added. The transaction is still open.
func (t *tables) with(r recent) (*memdb.MemDB, *memdb.Txn) {
	db := t.db.Snapshot()
	tx := db.Txn(true)
	r.each(func(e *entry) { e.write(tx) })
	return db, tx
}

// recent are the rows that were written since the tables were: by one commit or by many,
// each row as the last of them left it. It is persistent.
//
// A commit that writes to memdb copies tree nodes on one path in each index, which is nearly
// all that it costs. Commits that are written together copy most of them once, and what
// several of them said of one row is written once.
type recent struct {
	size  int // rows
	lists *[recentLists]*listed
}

// listed is a row in a list, and the rest of the list.
type listed struct {
	entry
	next *listed
}

const recentLists = 32

var recentSeed = maphash.MakeSeed() // what is in which list shows nowhere

func listOf(id string) int { return int(maphash.String(recentSeed, id) % recentLists) }

// find returns what was written of the row, nil where nothing was.
func (r recent) find(key rowKey) *entry {
	if r.size == 0 {
		return nil
	}
	return r.lists[listOf(key.id)].find(key)
}

func (l *listed) find(key rowKey) *entry {
	for ; l != nil; l = l.next {
		if l.rowKey == key {
			return &l.entry
		}
	}
	return nil
}

// with returns what is recent once one more row is written, which was e.old before.
func (r recent) with(e entry) recent {
	next := recent{size: r.size, lists: new([recentLists]*listed)}
	if r.lists != nil {
		*next.lists = *r.lists
	}
	list := &next.lists[listOf(e.id)]
	if before := (*list).find(e.rowKey); before != nil {
		e.old = before.old
		*list = (*list).without(before)
	} else {
		next.size++
	}
	*list = &listed{e, *list}
	return next
}

// without is the list without an entry that is in it.
func (l *listed) without(e *entry) *listed {
	if &l.entry == e {
		return l.next
	}
	return &listed{l.entry, l.next.without(e)}
}

// each calls f for every row, in no order that anybody may depend on.
func (r recent) each(f func(*entry)) {
	if r.size == 0 {
		return
	}
	for _, l := range r.lists {
		for ; l != nil; l = l.next {
			f(&l.entry)
		}
	}
}

// write writes the row to memdb, where old is what there is of it.
func (e *entry) write(tx *memdb.Txn) {
	switch {
	case e.new != nil:
		insert(tx, e.kind.String(), e.new)
	case e.old != nil:
		remove(tx, e.kind.String(), e.old)
	}
	if e.kind == WorkloadKind {
		before, _ := e.old.(*Workload)
		after, _ := e.new.(*Workload)
		listMember(tx, before.spec(), after.spec())
	}
}

// listMember lists the workload among the members of its group.
func listMember(tx *memdb.Txn, before, after *model.Workload) {
	if before == after {
		return
	}
	if before != nil && before.Group != "" && (after == nil || after.Group != before.Group) {
		remove(tx, memberTable, before)
	}
	if after != nil && after.Group != "" {
		insert(tx, memberTable, after)
	}
}

func insert(tx *memdb.Txn, table string, row any) {
	if err := tx.Insert(table, row); err != nil {
		panic("store: " + err.Error()) // an indexer failed: a bug here
	}
}

func remove(tx *memdb.Txn, table string, row any) {
	if err := tx.Delete(table, row); err != nil {
		panic("store: " + err.Error()) // a row that was read is gone: a bug here
	}
}
