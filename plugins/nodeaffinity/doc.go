// Package nodeaffinity is the plugin NodeAffinity: a workload goes to nodes that match
// its node selector and the required part of its node affinity, and prefers nodes that
// match the preferred part. The plugin's arguments can add a node affinity to all
// workloads of a profile.
//
// # Points
//
//	PreFilter, Filter, PreScore, Score, ScoreNormalizer
//
// # Events
//
//	Node/Add|UpdateNodeLabel
//
// # Signature
//
//	NodeAffinity
//	NodeSelector
//
// # Parity
//
// Rules: kube-scheduler plugins/nodeaffinity/node_affinity.go, 1.37.1, and
// k8s.io/component-helpers scheduling/corev1/nodeaffinity. A preferred term that
// cannot be parsed fails the cycle there; here, the translation reports it. As in
// kube-scheduler, a node that only begins to match the added affinity of the profile
// wakes no workload.
package nodeaffinity
