// Package defaultbinder is the plugin DefaultBinder: it asks the orchestrator to
// start the workload on its node.
package defaultbinder
