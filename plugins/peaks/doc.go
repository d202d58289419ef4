// Package peaks is the plugin Peaks: workloads go where they add least to the electric power
// that is drawn.
//
// The power of a node is modelled as a function of how busy its CPU is, K1*e^(K2*percent),
// beside what it draws idle. What a workload adds is the difference between the power at what
// was measured last, over the longest window, see [model.NodeLoad], and at that with the CPU
// that the workload requests. The node with the least scores best; where all are alike they
// score alike.
//
// A node without a measurement of its CPU, with one that is older than MaxAge, without a
// model, or on which there is not so much CPU left, scores 0, which is the worst.
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
//	Requests
//	UsageLimits
//
// # Parity
//
// kube-scheduler has no such plugin. The rules are those of kubernetes-sigs/
// scheduler-plugins, pkg/trimaran/peaks/peaks.go, commit 903da7df. What is different here,
// unless the engine is to be like kube-scheduler 1.37:
//
//   - There nodes without a measurement or a model, and those that are too busy, are taken to
//     add nothing, and score best wherever others add something.
//   - There a measurement is gone by for ever where no new one comes.
//
// And in any case: what no 64 bits can hold is the largest amount; which of several
// measurements of a node counts there depends on their order; models are only in the
// arguments, not in a file that the environment names.
package peaks
