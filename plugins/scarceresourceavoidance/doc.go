// Package scarceresourceavoidance is the plugin ScarceResourceAvoidance: a workload avoids nodes that
// have scarce resources which it does not ask for, so that they stay free for those who do.
//
// A node scores less the more of what it has besides is scarce: it is compared how many resources
// the node has that the workload does not ask for, and how many of those are scarce. How
// much it has of them does not count.
//
// # Points
//
//	Score
//
// # Events
//
//	none
//
// # Signature
//
//	Requests
//
// # Parity
//
// kube-scheduler has no such plugin. The rules are those of Koordinator, pkg/scheduler/plugins/
// scarceresourceavoidance, commit a7a1b76b.
package scarceresourceavoidance
