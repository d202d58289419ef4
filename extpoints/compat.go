package extpoints

// Compat says whether the engine does what kube-scheduler 1.37.1 does where that is
// a mistake: whom it gives devices that are not there, by whose rules workloads that wait are
// woken and tried again, and whether room is kept, or taken, for nothing. [Improved] does
// without. It never changes what else a node must have for a workload, nor how nodes are
// scored, except by plugins that kube-scheduler does not have; see the last item of the
// list about waking.
//
// kube-scheduler gives away what it does not have:
//
//   - plugins/dynamicresources/allocator: administrative access takes nothing. In
//     kube-scheduler it needs and takes counters, capacity of shared devices, and the
//     device itself, for as long as it looks for devices for a workload
//     (structured/internal/incubating/allocator_incubating.go, allocateDevice, 0.37.1;
//     kubernetes/kubernetes#140729).
//   - plugins/dynamicresources/allocator/pool.go: what was drawn on counters with a device
//     that is given is kept with the claim ([model.AllocatedDevice].Drawn); where it is not
//     known, and the device is not published, nothing is given that draws on counters of
//     the pool; and a device of which parts are given is not given as a whole.
//     kube-scheduler reads all this from the slices as they are now
//     (checkAvailableCounters and deviceInUse, 0.37.1; kubernetes/kubernetes#140802).
//   - plugins/volumebinding/gather.go: room for new volumes is what is reported, less what volumes
//     take that were decided on since, and the claims of a workload find room together. kube-scheduler compares
//     each claim with what is reported (checkVolumeProvisions).
//   - extpoints/nodeinfo.go: a port that several workloads of a node were put on from outside is
//     held until the last of them goes. In kube-scheduler the first frees it (HostPortInfo).
//
// kube-scheduler misses some changes that let a waiting workload in,
// which then waits for the timeout of the unschedulable ones, five minutes; and it
// wakes all that lack room whenever anything leaves:
//
//   - plugins/interpodaffinity/events.go: under Improved the labels of namespaces,
//     the last workload of its kind that leaves, and other workloads'
//     anti-affinity on nodes that go or change wake the workloads that were rejected.
//   - plugins/podtopologyspread/hints.go: so do labels of nodes that node affinity
//     asks for, workloads that begin to leave, and labels that MatchLabelKeys
//     names.
//   - plugins/volumebinding/hints.go: so do a provisioner, a binding mode and a
//     capacity's class that change, which they cannot in Kubernetes, and volumes,
//     drivers and the storage of nodes that go.
//   - plugins/volumerestrictions/hints.go: so do disks that become free in another
//     namespace, nodes that go, and claims whose access modes change.
//   - plugins/volumezone/hints.go: so do storage classes that begin to wait for
//     workloads.
//   - plugins/nodevolumelimits/hints.go: so do nodes that come, limits that are
//     lifted, drivers that come without one or go, claims that get a volume,
//     workloads that come to a node and share a volume, and
//     volumes that are detached, for workloads all of whose claims are made for them.
//   - plugins/dynamicresources/hints.go: so do slices and classes of devices that go.
//   - plugins/noderesources/fithints.go: a workload that leaves its node, or asks for
//     less, wakes those whom that node may serve now; in kube-scheduler all that Fit
//     has rejected, or that ask for what there is more of.
//   - plugins/defaultpreemption/defaultpreemption.go: a workload that was held back
//     while room was made for it is tried again at the first departure after
//     that; in kube-scheduler if a plugin that rejected it asks for it, as Fit
//     always does.
//   - engine/internal/wake/workload.go: where a workload that was nominated to
//     one node is placed on another, or gets a lower priority, those are woken that
//     had left it the room.
//   - engine/lostroom.go: a workload is tried again whose nominated node goes or changes, or whose
//     nomination is taken back by another.
//   - plugins/nodename: a workload whose node is not there is told so, and woken by that node only. In
//     kube-scheduler any new one wakes it.
//   - engine/preempt.go: a tree of groups of which no plugin has rejected a
//     member is tried again when the room that was made for it is there.
//   - queue/gated.go: a tree of groups is held by the first member that is gated,
//     and the gates are not asked for the others; kube-scheduler asks for all.
//   - queue/member.go: the gates are asked again at once when the member leaves
//     that held its tree, and only the new member is asked for when one joins a tree
//     that is active. A member that comes back alone from a failed attempt keeps its
//     counts, and so backs off.
//   - plugins that are modelled on those of kubernetes-sigs/scheduler-plugins: under Improved
//     they do without the mistakes there that their package comments name, above all
//     with measured load that is old or missing.
//
// kube-scheduler keeps, or takes, room for nothing in these ways, which are mended under Improved:
//
//   - engine/failure.go: a nomination is given up at the end of every attempt for which no room
//     is being made, by a workload alone and by each member of a group. kube-scheduler keeps it
//     where PostFilter said nothing of it.
//   - plugins/defaultpreemption/roster.go: a group that leaves as one and has a member on a node
//     that is not there is no victim, and others are. In kube-scheduler no group can make
//     room then.
//   - plugins/defaultpreemption/group.go: a group for which workloads are leaving makes room
//     elsewhere if it would not fit without them. In kube-scheduler it waits for as long as they take.
//   - plugins/defaultpreemption/group.go: a group makes room where no budget is broken, if that can be done. In
//     kube-scheduler budgets count once the nodes are chosen.
//   - engine/budgets.go: what the engine evicts counts against the budgets that protect it until
//     they are reported again. In kube-scheduler several that come at once find the same budget.
//   - engine/futility.go: for a workload that was rejected after it had found a node in the
//     room that was made for it, room is not made again for an hour, then two and so on, and for one that a Permit
//     plugin holds for others not if those would not fit; see [Futility]. kube-scheduler displaces
//     again at each attempt.
//
// kube-scheduler waits where there is nothing to wait for:
//
//   - engine/follow.go: a binding to a node that is removed is cancelled. In kube-scheduler it goes on.
//   - engine/internal/framework/bind.go, engine/internal/tasks/task.go: PreBind and PostBind have no longer
//     than Config.BindTimeout. In kube-scheduler there is no limit but those that plugins set themselves.
//
// Parity with kube-scheduler is compared with [KubeScheduler137].
type Compat uint8

// The values of Compat.
const (
	// Improved, the default, gives nothing away that is not there, wakes a workload
	// whenever something changes that may help it, and keeps and makes room for nobody in vain.
	Improved Compat = iota
	// KubeScheduler137 does as kube-scheduler 1.37.1 does, known faults included.
	KubeScheduler137

	compats
)

// String returns the name that command lines have for it.
func (c Compat) String() string {
	return [...]string{"improved", "kube-scheduler", "invalid"}[min(c, compats)]
}

// Valid reports whether it is one of the constants.
func (c Compat) Valid() bool { return c < compats }
