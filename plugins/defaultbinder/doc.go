// Package defaultbinder is the plugin DefaultBinder: it asks the orchestrator to start
// the workload on its node.
//
// # Points
//
//	Bind
//
// # Events
//
//	none
//
// # Signature
//
//	none needed
//
// # Parity
//
// Rules: kube-scheduler plugins/defaultbinder/default_binder.go, 1.37.1. It calls the
// orchestrator instead of the API server. It is compared as part of whole decisions,
// not by itself.
package defaultbinder
