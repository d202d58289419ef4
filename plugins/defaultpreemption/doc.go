// Package defaultpreemption holds two plugins that make room: where a workload
// fits nowhere, they look for a node on which it would fit if workloads of lower
// priority left, ask that these be evicted, and nominate the node.
//
// DefaultPreemption is kube-scheduler's. PreemptionToleration, to be used in its place,
// does the same but leaves those alone whose [model.PreemptionToleration] protects them
// from the priority that wants room, for a time after they were placed or for good. A
// group that leaves as one is left alone where any of its members is protected. A
// protection that runs out wakes nobody: what waits is tried again for other reasons.
//
// DefaultPreemption goes through these steps (kube-scheduler plugins/defaultpreemption/
// default_preemption.go and framework/preemption/*.go, 1.37.1):
//
//  1. May the workload displace others? Not if its policy is Never, and not
//     while workloads that were displaced are still leaving its nominated node.
//  2. Candidates are the nodes that were ruled out with code Unschedulable. They
//     are tried one by one, in visiting order from a place that the cycle's seed
//     decides, until enough are found ([Args]).
//  3. A node is tried on a copy: all workloads of lower priority are taken off
//     it; if the filters then accept it, they are put back one by one as far as
//     the filters still do, those first that no budget allows to be displaced,
//     and the more important ones first. The rest are the victims.
//  4. Extenders may drop nodes and choose other victims.
//     Nobody is displaced if that would be in vain as far as the engine knows:
//     for a workload that was rejected in the room that was made for it before, or that has to be
//     placed with others that would not fit ([extpoints.Futility]). The reference does not ask.
//  5. The best node has, in this order: the fewest victims that no budget allows
//     for, the least highest priority of a victim, the least sum of priorities,
//     the fewest victims, and the victims of the highest priority that started
//     last.
//  6. Victims that are leaving already are left alone; the others are evicted.
//     Workloads of lower priority that are nominated to the node lose their
//     nomination.
//
// # Groups among the victims
//
// A member of a group is as important as the highest group above it. Where a
// group leaves as one ([model.Group].Disruption), its members on all nodes are
// one victim, which is evicted or put back as a whole; the highest group that
// wants this counts. Of victims of the same priority groups of groups are more
// important than groups, members of groups than workloads in none, and larger
// groups than smaller ones; then the start of the earliest member decides. A
// budget that forbids one member protects the whole. Step 5 looks at workloads
// one by one and at their own priority, wherever they are.
//
// A group that leaves as one stays, and the message says so, while a member of it is on a node
// that is not there: what its departure would change cannot be tried. Others are displaced. In
// kube-scheduler, and with [extpoints.KubeScheduler137], no group can make room anywhere then, and
// a workload not on the nodes that have members of it.
//
// # Groups that want room
//
// For a group there is no choice of nodes: everything of lower priority is taken
// off the whole cluster and the group is placed once; then the victims are put
// back one by one, as in step 3, as far as all members still fit on the nodes
// that they were given. Before that it is tried without those that no budget allows to be displaced: if the
// group can be placed while they stay, they do; if not, more and more of them are taken off, the less important ones first. (In kube-scheduler, and with [extpoints.KubeScheduler137],
// budgets count only when the nodes are chosen.) While workloads that were displaced leave a nominated node the group waits, as long
// as it would fit without them (in kube-scheduler whether it would or not). All members are nominated. Extenders are not asked, and
// workloads of lower priority keep their nominations: the reference looks for
// those on a node called "cluster".
//
// # Queues
//
// In an engine that orders by queues these say who may leave ([extpoints.Reclaim]): in the
// workload's own queue those of lower priority, in others whoever they can be made to give up,
// by the rules of [model.ReclaimPolicy]. In step 3 all of them are taken off the node, and put back
// in the opposite order of that in which the queues would give them up, those first that no
// budget allows to be displaced; one stays a victim if without it a later one could not be
// displaced. Nothing is done on a node where a victim could win its room back at once. The
// same goes for groups that want room. Extenders may drop nodes, and not choose other victims.
// Workloads of other queues that are nominated to the node keep their nominations, and
// were left their room.
//
// # Points
//
//	DefaultPreemption:
//	  PreEnqueue, PostFilter, GroupPostFilter
//	PreemptionToleration:
//	  PreEnqueue, PostFilter, GroupPostFilter
//
// # Events
//
//	DefaultPreemption:
//	  AssignedWorkload/Delete
//	PreemptionToleration:
//	  AssignedWorkload/Delete
//
// # Signature
//
//	DefaultPreemption:
//	  nothing
//	PreemptionToleration:
//	  nothing
//
// For whom room can be made depends on the priority, the policy, the queue and the group. Whoever
// compares workloads looks at these beside what is signed.
//
// # Parity
//
// Where queues have no say: kube-scheduler plugins/defaultpreemption/default_preemption.go and
// framework/preemption/*.go, 1.37.1, with the feature gates GenericWorkload and
// CompositePodGroup on; without groups the gates make no difference. With
// PodGroupPreemptionPolicy on, groups have a policy of their own; with it off they have
// none.
//
// Nodes that are equal in everything are a random choice in kube-scheduler, as is the
// order in which candidates are tried. Here the first node in visiting order is taken, or
// one by the seed ([Args]), so that a decision can be replayed; kube-scheduler could have
// made the same one. The members of a group that leaves as one are listed by group and by
// ID, and those of a group that preempts as they were tried; kube-scheduler iterates
// over maps there. A victim without a start time counts as started now, and one that
// comes later on the node a moment later, as in kube-scheduler.
//
// PreemptionToleration: kube-scheduler has no such plugin. The rules are those of
// kubernetes-sigs/scheduler-plugins, pkg/preemptiontoleration, commit 903da7df, on top of
// DefaultPreemption's own, which include groups, queues and the seed for the offset; there
// only PostFilter is served. A victim without a start time counts as placed now; there it is
// protected even by a toleration of no time. In Kubernetes a pod is placed when its
// node started it; there when it was bound, moments before.
package defaultpreemption
