// Package nodeaffinity is the plugin NodeAffinity: a workload goes to nodes
// that its selector and the required part of its node affinity match, and
// prefers those that its preferences match. Its arguments can add a node
// affinity to all workloads of a profile.
package nodeaffinity
