package explain

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/berth-project/berth/model"
)

// statusError is an error with a code and a reason in the terms of the API server.
func statusError(code int, reason metav1.StatusReason, format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: fmt.Sprintf(format, args...),
	}}
}

func notFound(format string, args ...any) error {
	return statusError(http.StatusNotFound, metav1.StatusReasonNotFound, format, args...)
}

func wrongMethod(is, want string) error {
	return statusError(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "the method is %s: it must be %s", is, want)
}

// writeError answers with the error. One that is no status is this program's fault,
// unless who asked has gone.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		klog.FromContext(r.Context()).Error(err, "A question cannot be answered", "path", r.URL.Path)
		status = apierrors.NewInternalError(err)
	}
	s := status.Status()
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	writeJSON(w, r, int(s.Code), &s)
}

// problems are all that is wrong with the objects of a request.
type problems struct {
	list  []metav1.StatusCause // at most maxProblems
	count int                  // of all
}

// maxProblems is how many problems are said: a short text may have very many.
const maxProblems = 1000

func (p *problems) add(field, format string, args ...any) {
	if p.count++; p.count > maxProblems {
		return
	}
	p.list = append(p.list, metav1.StatusCause{
		Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: fmt.Sprintf(format, args...),
	})
}

// addEach notes several things that are wrong with one field.
func (p *problems) addEach(field string, messages []string) {
	for _, message := range messages {
		p.add(field, "%s", message)
	}
}

// addAll notes what is wrong with what stands at the place.
func (p *problems) addAll(at place, err error) {
	var invalid *model.ValidationError
	switch {
	case err == nil:
	case errors.As(err, &invalid):
		for _, problem := range invalid.Problems {
			p.add(at.field(problem.Field), "%s", problem.Message)
		}
	default:
		p.add(at.String(), "%s", err)
	}
}

// err is all problems as one error, nil where there are none.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	lines := make([]string, len(p.list))
	for i, c := range p.list {
		lines[i] = c.Field + ": " + c.Message
	}
	if more := p.count - len(p.list); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
		Message: strings.Join(lines, "; "),
		Details: &metav1.StatusDetails{Causes: p.list},
	}}
}
