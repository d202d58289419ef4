// Package extpoints holds the contracts between the engine and its plugins: the
// extension points, in the order of one workload's way through the engine, and
// what is passed through them.
//
// A plugin is a value with a name ([Plugin]) that implements the interfaces of
// the points it wants to be asked at. The interface's comment says who calls
// it, on which goroutine, whether it may block, and what each answer means.
// The package extpointstest has the kit that proves that a plugin keeps to it.
//
// # The cycle in order
//
//	point              goroutine    may it block     interface
//	PreEnqueue         engine       no               PreEnqueuePlugin
//	QueueSort          engine       no               QueueSortPlugin
//	PreFilter          scheduling   no               PreFilterPlugin, PreFilterExtensions
//	Filter             several      no               FilterPlugin
//	PostFilter         scheduling   not for long     PostFilterPlugin
//	PreScore           scheduling   no               PreScorePlugin
//	Score              several      no               ScorePlugin
//	NormalizeScore     scheduling   no               ScoreNormalizer
//	Reserve            scheduling   no               ReservePlugin
//	Permit             scheduling   no               PermitPlugin
//	PreBindPreFlight   scheduling   no               PreBindPlugin
//	PreBind            binding      until ctx ends   PreBindPlugin
//	Bind               binding      until ctx ends   BindPlugin
//	PostBind           binding      until ctx ends   PostBindPlugin
//	Unreserve          scheduling   no               ReservePlugin
//
// PreEnqueue and QueueSort are asked while a workload waits, PostFilter only
// where no node is feasible, PreScore and Score only where at least two are, and
// Unreserve when anything fails from Reserve to Bind. The engine's goroutine and
// the scheduling goroutine are the same. Filter and Score are called on it or
// on workers that end before the point does; there is a binding goroutine for
// each workload that is being bound. A branch runs the points up to Reserve on
// the goroutine of its caller, on a state of its own.
//
// # The cycle of a group in order
//
// A profile with a PlacementFeasible plugin places groups as groups: the members
// of one tree of groups that wait are popped together. In other profiles members
// are placed one by one, and none of these points is asked.
//
//	point                     asked for                     interface
//	PreEnqueue                each member; all must pass    PreEnqueuePlugin
//	QueueSort                 the tree                      QueueSortPlugin
//	PlacementGenerate         each group, within its        PlacementGeneratePlugin
//	                          parent's placement
//	PlacementFeasible         each placement, before the    PlacementFeasiblePlugin
//	                          first member and after each
//	PreFilter to Reserve      each member, on the nodes     as above
//	                          of the placement
//	PlacementScore            each placement that will do,  PlacementScorePlugin
//	                          where there are several
//	NormalizePlacementScore   all of them together          PlacementScoreNormalizer
//	GroupPostFilter           the highest group, where the  GroupPostFilterPlugin
//	                          tree came out Unschedulable
//	Reserve                   each member that has a node,  ReservePlugin
//	                          this time for real
//	Permit and all after      each of these members         as above
//
// The points of groups are asked on the scheduling goroutine and must not block.
// All before the second Reserve happens on a copy of the cluster, with
// [CycleState.Trial] set and Unreserve not called; later members see earlier ones
// on their nodes, with what was decided for them. The second Reserves and the
// transaction that records all of it are one step: all of the tree, or nothing.
// From Permit on each member is by itself. A composite group has groups where
// others have members: PlacementFeasible is asked before the first child and
// after each, and counts children.
//
// # What the codes mean for the queue
//
// A [Status] is an answer, nil being Success. A rejection says that the workload
// cannot have what it wants now; an error says that something is broken. A
// rejected workload waits in the queue for an event that a plugin which rejected
// it registered for ([EnqueueExtensions]), and then waits out its backoff. A
// workload whose cycle ended in an error is tried again after the error backoff,
// whatever happens.
//
//	code                           from                        means
//	Success                        every point                 go on
//	Error                          every point                 cycle or binding aborted, error backoff;
//	                                                           PreEnqueue: gated all the same
//	Unschedulable                  PreEnqueue                  gated until an event of the plugin
//	                               PreFilter                   rejected, the other PreFilters still run
//	                               Filter                      node ruled out; displacing others may help
//	                               PostFilter                  no room made; the next plugin is asked
//	                               Reserve, Permit             rejected, everything is given back
//	                               PlacementGenerate           the group is unschedulable
//	                               PlacementFeasible           this placement will not do; on to the next
//	                               GroupPostFilter             no room made; the next plugin is asked
//	UnschedulableAndUnresolvable   PreEnqueue                  gated until an event of the plugin
//	                               PreFilter                   rejected at once
//	                               Filter                      node ruled out, also as one to displace from
//	                               PostFilter                  no room made; no other plugin is asked
//	                               Reserve, Permit             rejected, everything is given back
//	                               PlacementGenerate           the group is unschedulable; if it is the
//	                                                           highest, GroupPostFilter is not asked
//	                               GroupPostFilter             no room made; no other plugin is asked
//	Pending                        PreEnqueue                  gated until an event of the plugin
//	                               Filter, Reserve, Permit     rejected; an event of the plugin wakes it
//	                                                           without backoff
//	                               PlacementGenerate           as UnschedulableAndUnresolvable
//	Wait                           Permit                      node kept, held until allowed, rejected, or
//	                                                           out of time
//	                               PlacementFeasible           not yet; go on with the members
//	Skip                           PreFilter                   Filter and the extensions are left out
//	                               PreScore                    Score is left out
//	                               PreBindPreFlight            PreBind is left out
//	                               Bind                        the next Bind plugin is asked
//
// A code at a point where it does not stand here is an error. In PreBind and
// Bind everything but Success (and Skip, in Bind) fails the binding: all is
// given back and the workload is queued again.
//
// A rejected member of a group is rejected by what its own filters said, or, where
// it was the group that did not fit, by the group. It goes back to its tree, which
// is tried again after its backoff without waiting for an event, and at once where
// other members were placed. An error in the cycle of one member is an error of
// the whole tree. Where the second Reserve of one does not say Success nothing of
// the tree is placed.
//
// # What is decided about objects
//
// Volumes, volume claims and device claims are objects that the world outside
// reports, and that decisions change. A Reserve plugin writes each object that it
// changes, as it is to be, into Binding.Decided. From the decision on [Storage]
// and [Devices] of every [View] show that, laid over what was reported; it is gone
// when the decision is taken back. So a plugin needs no books of its own for it.
// PreBind hands it to the orchestrator where that is a [VolumeBinder] or a
// [DeviceBinder]. The other way round, [CycleState.Deallocate] in PostFilter asks
// that claims which nobody uses give back what they have, and
// [CycleState.Withdraw] that one is not reserved any more: the engine tells the
// orchestrator, if it is a [DeviceReleaser], and takes it back then.
//
// # What a plugin may add
//
// Contracts grow by optional interfaces, never by a new method on one that
// there is. These are looked for on the plugins of the points named:
//
//	PreFilterExtensions        PreFilter        try out other workloads coming and going
//	ScoreNormalizer            Score            bring raw scores into range
//	PlacementScoreNormalizer   PlacementScore   the same for placements
//	EnqueueExtensions          all that reject  which events may change its mind
//	SignPlugin                 all              which parts of a workload it depends on
//
// # Extenders
//
// An [Extender] is asked beside the plugins, and mostly is a server somewhere
// else: after Filter it rules out nodes, after Score it adds to the totals, it
// has a say in who is displaced, and it binds in place of the Bind plugins. What
// it answers is an input like what happens in the cluster: it is recorded, and a
// replay does not ask.
//
// # What a plugin must not do
//
// In a scheduling cycle a plugin reads no clock, draws no random number, starts
// no goroutine and changes nothing of its own: [CycleState] has the time and a
// seed, and keeps what belongs to the cycle under a [StateKey]. What it gets
// from a [View] is shared and must not be changed. That is what lets one plugin
// serve several branches at once, and a decision be replayed.
package extpoints
