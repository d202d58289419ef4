// Package sysched is the plugin SySched: a workload prefers nodes whose other workloads make
// the same system calls, so that through a node's kernel each is exposed to as few calls as
// possible that it does not make itself.
//
// A node's score is the number of its calls that the workload does not make and, of each
// workload there, of the calls that it would not make with the new one beside it: the less
// the better. An empty node is as good as one where all make the same calls. What has no
// calls of its own ([model.Workload.Syscalls]) has those of [Args].Default; where there are
// none either nothing is known of it, and it counts for no node.
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
//	Syscalls
//
// # Parity
//
// kube-scheduler has no such plugin. The rules are those of kubernetes-sigs/
// scheduler-plugins, pkg/sysched, commit 903da7df, but all workloads on the node count, from
// the moment that it is chosen; there those that run, and one by one of each name, whatever
// its namespace. A workload of which nothing is known makes no difference; there its node is
// taken for one on which nobody may make a call. Which calls a workload may make is for
// adapters to say; that to Kubernetes reads SeccompProfiles.
package sysched
