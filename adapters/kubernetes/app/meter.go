package app

import (
	"context"
	"errors"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/metrics"
)

// meter counts in the metrics what the adapter does.
type meter struct{ to *metrics.Metrics }

var _ kubernetes.Meter = meter{}

// callName is kube-scheduler's name of a call that it has too, else ours
// (pkg/scheduler/framework/api_calls/api_calls.go, 1.37.1).
func callName(call string) string {
	switch call {
	case "bind":
		return "pod_binding"
	case "status":
		return "pod_status_patch"
	}
	return call
}

func (m meter) Queued(call string) { m.to.APIWriteQueued(callName(call)) }
func (m meter) Merged(call string) { m.to.APIWriteMerged(callName(call)) }

func (m meter) Retried(call string, err error) { m.to.APIWriteRetried(callName(call), cause(err)) }

func (m meter) Written(call string, err error, took time.Duration) {
	result := metrics.WriteSucceeded
	if err != nil {
		result = cause(err)
	}
	m.to.APIWrite(callName(call), result, took)
}

func (m meter) EventsWaiting(n int)         { m.to.EventsQueued(n) }
func (m meter) EventsLost(n int, err error) { m.to.EventsLost(n, cause(err)) }
func (m meter) ClaimMade(err error)         { m.to.ClaimCreated(err == nil) }

func (m meter) ConditionsAwaited(profile string, claims []*resourcev1.ResourceClaim, err error, took time.Duration) {
	ended := metrics.ConditionsError
	switch {
	case err == nil:
		ended = metrics.ConditionsMet
	case errors.Is(err, context.DeadlineExceeded):
		ended = metrics.ConditionsTimeout
	case errors.Is(err, kubernetes.ErrDeviceBindingFailed):
		ended = metrics.ConditionsFailed
	}
	var drivers, conditional []string
	for _, c := range claims {
		if c.Status.Allocation == nil {
			continue
		}
		for _, r := range c.Status.Allocation.Devices.Results {
			drivers = append(drivers, r.Driver)
			if len(r.BindingConditions) > 0 {
				conditional = append(conditional, r.Driver)
			}
		}
	}
	m.to.ConditionsAwaited(profile, ended, took, drivers, conditional)
}

// cause is one of a few words for what went wrong with a write.
func cause(err error) string {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "ended"
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return "conflict"
	case apierrors.IsNotFound(err):
		return "gone"
	case apierrors.IsTooManyRequests(err):
		return "throttled"
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return "refused"
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return "server"
	}
	return "connection"
}
