// Package release says for which version of Kubernetes the adapter is made.
package release

// Kubernetes is the version of kube-scheduler whose decisions, flags and words are
// those of the adapter. The libraries in go.mod belong to it: v0.37.1 to 1.37.1.
const Kubernetes = "1.37.1"
