package api

import "strings"

// Error is the body of every answer that is not a success.
type Error struct {
	// Status is that of the answer.
	Status int `json:"status"`
	// Code is for programs, Message for people: what happened and what to do.
	Code    ErrorCode `json:"code"`
	Message string    `json:"message"` // what happened and what to do, in words
	// Problems are all that is wrong with what was sent, each with its field.
	Problems []Problem `json:"problems,omitempty"`
	// Leader, of not_leader, is the address of the server to ask.
	Leader string `json:"leader,omitempty"`
}

// Problem is what is wrong with one field.
type Problem struct {
	Field   string `json:"field"`   // its path, for example "jobs[0].name"
	Message string `json:"message"` // what is wrong with it
}

// ErrorCode says what kind of failure it is.
type ErrorCode string

// The codes, with the status that they come with.
const (
	CodeInvalid      ErrorCode = "invalid"      // 400: the request, or a field of it
	CodeUnauthorized ErrorCode = "unauthorized" // 401: nobody we know
	CodeForbidden    ErrorCode = "forbidden"    // 403
	CodeNotFound     ErrorCode = "not_found"    // 404
	CodeConflict     ErrorCode = "conflict"     // 409: it is not in a state for this
	CodeTooLarge     ErrorCode = "too_large"    // 413
	CodeRate         ErrorCode = "rate"         // 429: try again after Retry-After
	CodeInternal     ErrorCode = "internal"     // 500
	CodeNoLeader     ErrorCode = "no_leader"    // 503: no server leads now; try again
	// CodeUnknown, 504: leadership was lost while the request was carried out; it
	// may or may not have been. Repeat it with the same key.
	CodeUnknown ErrorCode = "unknown_outcome"
)

// Error says it in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	for i, p := range e.Problems {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString("; ")
		}
		b.WriteString(p.Field + ": " + p.Message)
	}
	return b.String()
}
