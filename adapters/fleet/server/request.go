package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// request is a request, and who makes it.
type request struct {
	*http.Request
	w     http.ResponseWriter
	shown *credential
	who   pki.Identity
	// lead is set where this server leads.
	lead *leadership
}

// operator reports whether it is an operator who asks.
func (r *request) operator() bool { return r.who.Role == pki.Operator }

// maxBody is the size of a request. Commands must fit into the log.
const maxBody = 448 << 10

// decode reads the body, which must be one JSON value without fields that nobody
// knows. An empty body is the zero value where that may be.
func (r *request) decode(into any, optional bool) error {
	return r.decodeFrom(r.limited(), into, optional)
}

// decodeJobs reads jobs that are submitted. What is wrong with fields is a *job.ValidationError
// with all of them, and into has the others.
func (r *request) decodeJobs(into *api.SubmitRequest) error {
	var text bytes.Buffer
	err := r.decodeFrom(io.TeeReader(r.limited(), &text), into, false)
	if err == nil || !json.Valid(text.Bytes()) {
		return err
	}
	*into = api.SubmitRequest{}
	return cmp.Or(job.Decode("", text.Bytes(), into), err)
}

// limited is the body up to maxBody.
func (r *request) limited() io.Reader { return http.MaxBytesReader(r.w, r.Body, maxBody) }

// decodeFrom is decode of what is read.
func (r *request) decodeFrom(from io.Reader, into any, optional bool) error {
	dec := json.NewDecoder(from)
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, io.EOF) && optional:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fail(http.StatusRequestTimeout, api.CodeInvalid, "the body did not come in time")
	case errors.As(err, &tooLarge):
		return fail(http.StatusRequestEntityTooLarge, api.CodeTooLarge, "the request is larger than %d bytes", maxBody)
	case err != nil:
		return fail(http.StatusBadRequest, api.CodeInvalid, "the body is not what was expected: %v", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fail(http.StatusBadRequest, api.CodeInvalid, "there is more than one value in the body")
	}
	return nil
}

// number reads a number of the query, at most max, with a default.
func (r *request) number(name string, def, max int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return def, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > max {
		return 0, invalid(name, "it must be a number from 0 to %d", max)
	}
	return n, nil
}

// page is how many entries an answer has.
func (r *request) page() (int, error) {
	n, err := r.number("limit", api.DefaultPage, api.MaxPage)
	if n == 0 {
		n = api.DefaultPage
	}
	return n, err
}

// flag reads a yes or no of the query.
func (r *request) flag(name string) bool {
	yes, err := strconv.ParseBool(r.URL.Query().Get(name))
	return err == nil && yes
}

// fail is an error with a status.
func fail(status int, code api.ErrorCode, format string, args ...any) *api.Error {
	return &api.Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// invalid is what is wrong with one field.
func invalid(field, format string, args ...any) *api.Error {
	return &api.Error{
		Status: http.StatusBadRequest, Code: api.CodeInvalid, Message: "the request is not valid",
		Problems: []api.Problem{{Field: field, Message: fmt.Sprintf(format, args...)}},
	}
}

// notValid is all that is wrong with a request.
func notValid(problems []api.Problem) *api.Error {
	e := invalid("", "")
	e.Problems = problems
	return e
}

// errRate: one user asks for too much.
var errRate = fail(http.StatusTooManyRequests, api.CodeRate, "too many requests at once; try again in a moment")

// errNoLeader: this server reaches none that can decide. Another one may.
var errNoLeader = fail(http.StatusServiceUnavailable, api.CodeNoLeader, "no server that leads can be reached now; try again in a moment")

// errUnknown: the request may or may not have been carried out.
var errUnknown = fail(http.StatusGatewayTimeout, api.CodeUnknown,
	"it is not known whether this was recorded; repeat it, with the same key if it has one")

// statusOf gives an error of the state its status.
func statusOf(e *api.Error) *api.Error {
	out := *e
	out.Status = map[api.ErrorCode]int{
		api.CodeInvalid: http.StatusBadRequest, api.CodeForbidden: http.StatusForbidden,
		api.CodeNotFound: http.StatusNotFound, api.CodeConflict: http.StatusConflict,
	}[e.Code]
	if out.Status == 0 {
		out.Status = http.StatusInternalServerError
	}
	return &out
}

// errorOf makes an api.Error of any error. What nobody expected is told to the log,
// not to the caller.
func (s *Server) errorOf(r *http.Request, err error) *api.Error {
	var e *api.Error
	var v *job.ValidationError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &v):
		out := fail(http.StatusBadRequest, api.CodeInvalid, "the jobs are not valid")
		for _, p := range v.Problems {
			out.Problems = append(out.Problems, api.Problem{Field: p.Field, Message: p.Message})
		}
		return out
	case r.Context().Err() != nil:
		return errNoLeader // the server ends, or the caller has gone
	}
	s.cfg.Logger.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	return fail(http.StatusInternalServerError, api.CodeInternal, "the server failed; its log says more")
}

// answer writes a value.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the caller may have gone
}

// answerError writes an error.
func answerError(w http.ResponseWriter, e *api.Error) {
	if e.Code == api.CodeNoLeader || e.Code == api.CodeRate {
		w.Header().Set("Retry-After", "1")
	}
	if e.Code == api.CodeUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="berth"`)
	}
	answer(w, e.Status, e)
}
