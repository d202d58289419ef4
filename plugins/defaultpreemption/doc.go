// Package defaultpreemption is the plugin DefaultPreemption: where a workload
// fits nowhere, it looks for a node on which it would fit if workloads of lower
// priority left, asks that these be evicted, and nominates the node.
//
// It goes through these steps (kube-scheduler plugins/defaultpreemption/
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
//  5. The best node has, in this order: the fewest victims that no budget allows
//     for, the least highest priority of a victim, the least sum of priorities,
//     the fewest victims, and the victims of the highest priority that started
//     last.
//  6. Victims that are leaving already are left alone; the others are evicted.
//     Workloads of lower priority that are nominated to the node lose their
//     nomination.
//
// A victim that has no start time counts as started now, one that comes later
// on the node a moment later: that is what the reference's clock says.
//
// Nodes that are equal in everything are a matter of chance in kube-scheduler,
// as is the order in which candidates are tried. Here the first in visiting
// order is taken, or one by the seed ([Args]), so that a decision can be
// replayed; it is one that kube-scheduler could have made.
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
// # Groups that want room
//
// For a group there is no choice of nodes: everything of lower priority is taken
// off the whole cluster and the group is placed once; then the victims are put
// back one by one, as in step 3, as far as all members still fit on the nodes
// that they were given. All members are nominated. Extenders are not asked, and
// workloads of lower priority keep their nominations: the reference looks for
// those on a node called "cluster".
//
// The members of a group that leaves as one are listed by group and by ID, and
// those of a group that wants room as they were tried; kube-scheduler goes
// through maps there.
//
// All of it is kube-scheduler with its feature gates GenericWorkload and
// CompositePodGroup on; without groups it is the same as with them off. With
// PodGroupPreemptionPolicy on groups have a policy of their own, and with it off
// they have none.
package defaultpreemption
