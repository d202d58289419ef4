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
	// do not change; see [model.Decidable].
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
	return fmt.Sprintf("store: %s: %v", rowName(e.Kind, e.ID), e.Err)
}

// Unwrap returns Err.
func (e *RowError) Unwrap() error { return e.Err }

// PhaseError reports a verb that the workload's phase does not allow.
type PhaseError struct {
	ID string
	// From is the phase that the workload is in, To the one that the verb
	// leads to (for Nominate: the one that it needs).
	From, To model.Phase
}

// Error implements error.
func (e *PhaseError) Error() string {
	return fmt.Sprintf("store: workload %q: cannot go from %s to %s", e.ID, e.From, e.To)
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
	return fmt.Sprintf("store: %s: expected %s, found index %d", rowName(e.Kind, e.ID), want, e.Found)
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
