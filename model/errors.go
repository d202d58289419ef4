package model

import (
	"errors"
	"fmt"
	"strings"
)

// ErrInvalid is what every error of a Validate method is, in the sense of
// [errors.Is]. The details are in the [ValidationError].
var ErrInvalid = errors.New("invalid object")

// Problem is one thing that is wrong with an object.
type Problem struct {
	// Field is the path from the object to the field, with names in lower
	// camel case and list indexes: "nodeAffinity.required.terms[0].labels[1].key".
	Field string
	// Message says what is wrong and what would be right.
	Message string
}

// String returns "field: message".
func (p Problem) String() string { return p.Field + ": " + p.Message }

// ValidationError is all that is wrong with one object.
type ValidationError struct {
	// Object says which one: its kind and its quoted identity, such as
	// `workload "web-1"`.
	Object string
	// Problems are in the order in which the fields stand in the struct;
	// there is at least one.
	Problems []Problem
}

// Error returns one line: the object and all problems, separated by semicolons.
func (e *ValidationError) Error() string {
	var b strings.Builder
	b.WriteString(e.Object)
	separator := ": "
	for _, p := range e.Problems {
		b.WriteString(separator)
		b.WriteString(p.String())
		separator = "; "
	}
	return b.String()
}

// Is makes errors.Is(err, ErrInvalid) hold.
func (e *ValidationError) Is(target error) bool { return target == ErrInvalid }

// invalid returns the error for the problems found, nil where there are none.
func invalid(kind, identity string, problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &ValidationError{Object: fmt.Sprintf("%s %q", kind, identity), Problems: problems}
}
