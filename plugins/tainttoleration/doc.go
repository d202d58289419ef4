// Package tainttoleration is the plugin TaintToleration: a workload stays away
// from nodes whose taints it does not tolerate, and prefers nodes with fewer
// taints that only ask it to. A toleration can name a value, take any, or compare
// numbers; see [model.Toleration].
package tainttoleration
