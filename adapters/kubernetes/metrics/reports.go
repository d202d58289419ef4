package metrics

import "time"

// What other parts of the adapter do is reported with the methods of this file.

// WriteSucceeded is the result of a write to the API server that went well; any
// other is the caller's word for why it did not.
const WriteSucceeded = "success"

// APIWriteQueued reports that a write to the API server is waiting to be sent.
// The call is its kind; kube-scheduler's names are "pod_binding" and
// "pod_status_patch" (framework/api_calls/api_calls.go, 1.37.1). The writer
// calls it, once for each write, and then either APIWrite or APIWriteMerged.
func (m *Metrics) APIWriteQueued(call string) {
	m.reference.apiCallsPending.WithLabelValues(call).Inc()
}

// APIWriteMerged reports that a write which was waiting will not be sent, because
// a later one for the same object has taken it in.
func (m *Metrics) APIWriteMerged(call string) {
	m.reference.apiCallsPending.WithLabelValues(call).Dec()
	m.own.merged.WithLabelValues(call).Inc()
}

// APIWriteRetried reports that a write failed and will be tried again; cause is
// the caller's word, one of a few ("conflict", "throttled").
func (m *Metrics) APIWriteRetried(call, cause string) {
	m.own.retries.WithLabelValues(call, cause).Inc()
}

// APIWrite reports that a write is over for good: with [WriteSucceeded] or
// another result out of a few, and how long it took, retries included.
// kube-scheduler's metrics know only success and error
// (backend/api_dispatcher/api_dispatcher.go, 1.37.1).
func (m *Metrics) APIWrite(call, result string, took time.Duration) {
	theirs := WriteSucceeded
	if result != WriteSucceeded {
		theirs = failed
	}
	m.reference.apiCallsPending.WithLabelValues(call).Dec()
	m.reference.apiCalls.WithLabelValues(call, theirs).Inc()
	m.reference.apiCallTook.WithLabelValues(call, theirs).Observe(took.Seconds())
	m.own.writes.WithLabelValues(call, result).Inc()
}

// ClaimCreated reports a request to create the claim for the extended resources of
// a pod, and whether it went well. The code that binds devices calls it.
// (framework/plugins/dynamicresources/extendeddynamicresources.go, 1.37.1.)
func (m *Metrics) ClaimCreated(ok bool) {
	status := WriteSucceeded
	if !ok {
		status = "failure"
	}
	m.reference.claimsCreated.WithLabelValues(status, "false", "", "Pod").Inc()
}

// How waiting for the binding conditions of devices ends. (pkg/scheduler/metrics/
// metrics.go, 1.37.1.)
const (
	ConditionsMet     = "success"
	ConditionsFailed  = "failure"
	ConditionsTimeout = "timeout"
	ConditionsError   = "error"
)

// ConditionsAwaited reports that a pod has waited in PreBind for the binding
// conditions of its devices, and how that ended. Drivers has the driver of each
// device that its claims were given, conditional those of the devices that have
// binding conditions; a driver occurs once for each device. The code that binds
// devices calls it. (framework/plugins/dynamicresources/dynamicresources.go, 1.37.1.)
func (m *Metrics) ConditionsAwaited(profile, ended string, took time.Duration, drivers, conditional []string) {
	for _, driver := range drivers {
		m.reference.conditionsTook.WithLabelValues(profile, driver, ended).Observe(took.Seconds())
	}
	for _, driver := range conditional {
		m.reference.conditionsMet.WithLabelValues(profile, driver, ended).Inc()
	}
}

// EventsQueued sets how many Kubernetes events wait to be written. The writer of
// events calls it.
func (m *Metrics) EventsQueued(n int) { m.own.eventsQueued.Set(float64(n)) }

// EventsLost reports Kubernetes events that will not be written; cause is the
// caller's word, one of a few ("ended", "refused"). The writer of events calls it.
func (m *Metrics) EventsLost(n int, cause string) {
	m.own.eventsLost.WithLabelValues(cause).Add(float64(n))
}
