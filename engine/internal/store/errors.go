package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/berth-project/berth/model"
)

// Errors of a write, wrapped in a [RowError] that names the row.
var (
	// ErrNotFound: the row that the verb is about is not there.
	ErrNotFound = errors.New("not found")
	// ErrExists: a row of the same ID is there already.
	ErrExists = errors.New("already exists")
	// ErrName: the ID or name is empty or has a NUL byte in it, which the
	// indexes use between the parts of a key.
	ErrName = errors.New("empty, or contains a NUL byte")
	// ErrUndecidable: a decision says something about an object that decisions
	// do not change; see package decided.
	ErrUndecidable = errors.New("cannot be decided about")
)

// rowName is how messages call a row. The ID of an object has its kind in front.
func rowName(k Kind, id string) string {
	if kind, name, ok := strings.Cut(id, "\x00"); ok && k == ObjectKind {
		return fmt.Sprintf("%s %q", kind, name)
	}
	return fmt.Sprintf("%s %q", k, id)
}

// RowError says which row a write failed on. Err is one of the errors above.
type RowError struct {
	Kind Kind
	ID   string
	Err  error
}

// Error implements error.
func (e *RowError) Error() string {
	return fmt.Sprintf("%s: %v", rowName(e.Kind, e.ID), e.Err)
}

// Unwrap returns Err.
func (e *RowError) Unwrap() error { return e.Err }

// PhaseError is why a workload cannot be told something: it is in a phase that does not
// allow it. The engine's PhaseError has the same fields.
type PhaseError struct {
	Workload string // ID
	// Node is where the workload is, empty where it is nowhere.
	Node string
	// From is the phase that the workload is in, To the one that it was to move to.
	From, To model.Phase
}

// what says of each phase what a workload that cannot move to it cannot be, and what
// one that is in it is.
var what = map[model.Phase]struct{ cannot, is string }{
	model.Pending:     {"wait for a node", "it waits for a node already"},
	model.Assumed:     {"be given a node", "it is being bound"},
	model.Bound:       {"be bound", "it is bound"},
	model.Confirmed:   {"be confirmed there", "it is confirmed"},
	model.Terminating: {"be terminating", "it is terminating"},
	model.Finished:    {"finish", "it has finished"},
}

// Error says what cannot be, why, and where there is a way what to do first.
func (e *PhaseError) Error() string {
	text := fmt.Sprintf("workload %q cannot %s: %s", e.Workload, what[e.To].cannot, what[e.From].is)
	if e.Node != "" {
		text += fmt.Sprintf(" on node %q", e.Node)
	}
	switch {
	case e.From == model.Finished:
		text += "; remove it, and submit it anew if it is to run again"
	case e.To == model.Confirmed:
		text += "; requeue it first if it has left that node"
	}
	return text
}

// ConflictError reports a compare-and-set write whose row has moved on.
type ConflictError struct {
	Kind Kind
	ID   string
	// Expected is what the caller passed, Found the row's ModifyIndex, 0 where
	// there is no row.
	Expected Expect
	Found    uint64
}

// Error implements error.
func (e *ConflictError) Error() string {
	want := fmt.Sprintf("index %d", uint64(e.Expected))
	if e.Expected == Absent {
		want = "no row"
	}
	return fmt.Sprintf("%s: expected %s, found index %d", rowName(e.Kind, e.ID), want, e.Found)
}

// Expect makes a write conditional: the row must have this ModifyIndex, or the
// write fails with a [ConflictError] and changes nothing. Leaving it out, or
// 0, means any. Every verb takes at most one.
type Expect uint64

// Absent expects that there is no row yet.
const Absent = ^Expect(0)

// met checks a verb's optional expectation against the row's index, 0 where
// there is no row.
func met(expect []Expect, kind Kind, id string, found uint64) error {
	if len(expect) == 0 || expect[0] == 0 || uint64(expect[0]) == found {
		return nil
	}
	if expect[0] == Absent && found == 0 {
		return nil
	}
	return &ConflictError{Kind: kind, ID: id, Expected: expect[0], Found: found}
}
