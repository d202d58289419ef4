package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Few words, so that there are few series.
func TestCause(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for want, errs := range map[string][]error{
		"conflict":   {apierrors.NewConflict(pods, "a", errors.New("changed")), apierrors.NewAlreadyExists(pods, "a")},
		"throttled":  {apierrors.NewTooManyRequests("busy", 1)},
		"gone":       {apierrors.NewNotFound(pods, "a")},
		"refused":    {apierrors.NewForbidden(pods, "a", nil), apierrors.NewBadRequest("what?")},
		"server":     {apierrors.NewInternalError(errors.New("etcd is down")), fmt.Errorf("bind: %w", apierrors.NewServiceUnavailable("later"))},
		"connection": {io.ErrUnexpectedEOF},
		"ended":      {context.Canceled, fmt.Errorf("wait: %w", context.DeadlineExceeded)},
	} {
		for _, err := range errs {
			if got := cause(err); got != want {
				t.Errorf("%v: %q, want %q", err, got, want)
			}
		}
	}
}
