// Package record is the truth and its view: what is recorded of nodes, workloads
// and all else (package store), and the dense picture of it that decisions read
// (package snapshot). A transaction goes in and a list of facts comes out; nobody
// else looks at what changed.
//
//	tx := r.Begin()
//	if _, err := tx.Assume(binding, now); err != nil { tx.Abort(); ... }
//	facts := r.Commit(tx) // the view has followed
package record

import (
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
)

// Record is the store and the view of it. It belongs to one goroutine; what the
// store and frozen views allow beside it they say themselves.
type Record struct {
	Store *store.Store
	View  *snapshot.View

	compat extpoints.Compat // of the view
}

// New returns an empty record.
func New(compat extpoints.Compat) *Record {
	return &Record{Store: store.New(), View: snapshot.NewFor(compat), compat: compat}
}

// Fork returns a copy on which anything may be recorded, at the same cost however
// much there is. It leaves no trace in r: what r decides next does not depend on
// who has looked.
func (r *Record) Fork() *Record {
	return &Record{Store: r.Store.Snapshot(), View: r.View.Fork(), compat: r.compat}
}

// ForkView returns a record with the same store and a copy of the view, on which
// workloads are put on nodes and taken away to see what comes of it.
func (r *Record) ForkView() *Record {
	return &Record{Store: r.Store, View: r.View.Trial()}
}

// Begin starts a transaction.
func (r *Record) Begin() *store.Txn { return r.Store.Begin() }

// Workload returns the row of the workload, nil where there is none.
func (r *Record) Workload(id string) *store.Workload { return r.Store.Workload(id) }
