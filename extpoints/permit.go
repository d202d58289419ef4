package extpoints

import (
	"time"

	"github.com/berth-project/berth/model"
)

// MaxPermitTimeout is the longest a workload may wait on Permit. (kube-scheduler
// pkg/scheduler/framework/runtime/framework.go maxTimeout, 1.37.1.)
const MaxPermitTimeout = 15 * time.Minute

// PermitPlugin approves, refuses or holds back a workload whose node is
// reserved.
//
// Called on the scheduling goroutine, in the order of the profile; must not
// block. Success approves. A rejection refuses at once: everything is given
// back and the workload becomes unschedulable. Wait holds the workload, with
// its node, until every plugin that said Wait has allowed it (see
// [WaitingWorkload]), one rejects it, or the shortest of the timeouts runs out.
// The engine cuts a timeout to MaxPermitTimeout: a plugin that wants to wait longer
// says Wait again in the next attempt. One of no time, or less, runs out at the
// engine's next Tick, before which the workload may be allowed. WaitingEvent.Until
// and Explanation.Permit of the engine say when it runs out. Anything else is an error.
// Conformance: extpointstest.TestPlugin.
type PermitPlugin interface {
	Plugin
	Permit(s *CycleState, w *WorkloadInfo, b *model.Binding) (*Status, time.Duration)
}

// WaitingWorkload is a workload that waits on Permit. Allow and Reject may be
// called from any goroutine and from any point; they take effect as soon as
// the engine is done with what it is doing, in the order of the calls.
type WaitingWorkload interface {
	// Workload is the one that waits.
	Workload() *WorkloadInfo
	// Node is where it will go.
	Node() string
	// PendingPlugins lists the plugins that have not allowed it yet.
	PendingPlugins() []string
	// Allow is the plugin's consent; with the last one the workload goes on.
	Allow(plugin string)
	// Reject turns the workload down; it becomes unschedulable because of the
	// plugin.
	Reject(plugin, reason string)
}

// WaitingWorkloads are all that wait on Permit.
type WaitingWorkloads interface {
	// Each calls f for each of them, in order of ID, until f returns false.
	Each(f func(WaitingWorkload) bool)
	// Get returns the one with the ID, nil where it does not wait.
	Get(id string) WaitingWorkload
}
