// Package metriclevel compares the metrics of adapters/kubernetes/metrics with
// those of kube-scheduler: which there are, with their names, labels, buckets,
// help and levels; what events are called in labels; and what both count in whole
// histories (see package decisionlevel).
//
// What kube-scheduler has and Berth has not is in a list, with the reasons.
package metriclevel
