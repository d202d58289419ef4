package extpoints

import "fmt"

// Plugin is what every plugin is. It implements one or more of the point
// interfaces of this package; which ones is found out once, when the engine is
// made.
//
// One plugin value serves one profile of one engine. The points of the
// scheduling cycle are called on the engine's scheduling goroutine, but Filter
// and Score are called from several goroutines at once for different nodes,
// and a branch may run the same plugin at the same time on another state. So a
// plugin keeps what belongs to a cycle in its [CycleState] and changes nothing
// of its own there. It must not start goroutines, read a clock, or draw random
// numbers in a scheduling cycle: [CycleState] has the time and a seed.
type Plugin interface {
	// Name is the plugin's name in profiles and reasons. It is the same for
	// every plugin of the type, also for one that New has not made, or else it
	// is known only when the engine is made; see [Entry].Name.
	Name() string
}

// PluginError is that a plugin failed: it gave an error, or a code that its point
// does not allow, or it panicked. The engine makes it; errors.As finds it in the
// errors of events and of calls, through whatever wraps it.
type PluginError struct {
	// Point is the extension point at which it failed, as in the table of the
	// package comment. Also: QueueingHint, Unreserve, and "PreFilter extension
	// AddWorkload" and "PreFilter extension RemoveWorkload".
	Point  string
	Plugin string // its name
	// Workload is the ID of the workload that the plugin was asked about; empty
	// where it was asked about a group, or about two workloads (QueueSort).
	Workload string
	// Node is the name of the node that it was asked about; empty where it was
	// about no single one.
	Node string
	Err  error // what it said, or what it panicked with
}

// Error says it in one line, in kube-scheduler's words (framework/runtime/
// framework.go, 1.37.1), which are others for Filter.
func (e *PluginError) Error() string {
	if e.Point == "Filter" {
		return fmt.Sprintf("running %q filter plugin: %v", e.Plugin, e.Err)
	}
	return fmt.Sprintf("running %s plugin %q: %v", e.Point, e.Plugin, e.Err)
}

// Unwrap returns the cause.
func (e *PluginError) Unwrap() error { return e.Err }
