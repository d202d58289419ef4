// Package api is the shape of what package explain serves: what a scheduler says
// about pods, what waits, its queues and what would happen. It is JSON in the words of
// Kubernetes; the kinds are [PodExplanation], [Queue], [QueueTree] and [Simulation]. Errors
// are metav1.Status, as the API server's.
//
// Within a [Version] fields are added and never taken away, so who reads it must
// pass over those that he does not know. Empty fields are left out.
//
// It is a package of its own so that programs that only ask need not link the
// scheduler.
package api
