// Package podstate is the plugin PodState: a workload prefers nodes on which others are
// terminating, since there will soon be room, and avoids those that others are nominated
// to.
//
// # Points
//
//	Score, ScoreNormalizer
//
// # Events
//
//	none
//
// # Signature
//
//	nothing
//
// # Parity
//
// kube-scheduler has no such plugin. The rules are those of kubernetes-sigs/
// scheduler-plugins, pkg/podstate/pod_state.go, commit 903da7df.
package podstate
