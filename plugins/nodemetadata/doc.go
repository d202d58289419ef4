// Package nodemetadata is the plugin NodeMetadata: a workload prefers nodes by a number or
// a time that stands in one of their labels, for example a price, a generation, or when the
// node was installed.
//
// A node whose label is missing, or no number or time, gets 0; the others get 1 to 100.
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
// scheduler-plugins, pkg/nodemetadata, commit 903da7df. Annotations are not read: nodes have
// none here. There the age of a time is read off the clock for each node, so that two
// equal nodes may differ by a second; here times are compared as they stand.
package nodemetadata
