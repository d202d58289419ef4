// Package tainttoleration is the plugin TaintToleration: a workload stays away
// from nodes whose taints it does not tolerate, and prefers nodes with fewer
// taints that only ask it to.
package tainttoleration
