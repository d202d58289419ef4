// Package subject runs Berth's engine the way the reference is run: one step at
// a time, fed with Kubernetes objects, which package convert of the Kubernetes
// adapter makes workloads and nodes of.
package subject
