// Package extpoints defines the contracts between the engine and its plugins: the
// extension points, in the order in which a workload passes them, and the types
// that they use.
//
// A plugin is a value with a name ([Plugin]) that implements the interfaces of its
// extension points, and a constructor that takes arguments of the plugin's own
// type. [Use] adds it to a [Profile], the list of plugins that an engine runs for a
// workload. The comment of each interface says who calls it, on which goroutine,
// whether it may block, and what each answer means. Package extpointstest has a
// test kit that checks a plugin against these contracts.
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
// PreEnqueue and QueueSort run while a workload waits, PostFilter only if no node
// is feasible, PreScore and Score only if at least two nodes are, and Unreserve if
// anything fails from Reserve to Bind. The engine's goroutine and the scheduling
// goroutine are the same. Filter and Score run on it or on workers that end before
// the point does. Each workload that is being bound has a binding goroutine. A
// branch runs the points up to Reserve on the goroutine of its caller, with its own
// state.
//
// # The cycle of a group in order
//
// A profile with a PlacementFeasible plugin places groups as a whole: all waiting
// members of one tree of groups are popped together. In other profiles members
// are placed one by one, and none of these points runs.
//
//	point                     runs for                      interface
//	PreEnqueue                each member; all must pass    PreEnqueuePlugin
//	QueueSort                 the tree                      QueueSortPlugin
//	PlacementGenerate         each group, within its        PlacementGeneratePlugin
//	                          parent's placement
//	PlacementFeasible         each placement, before the    PlacementFeasiblePlugin
//	                          first member and after each
//	PreFilter to Reserve      each member, on the nodes     as above
//	                          of the placement
//	PlacementScore            each feasible placement,      PlacementScorePlugin
//	                          if there are several
//	NormalizePlacementScore   all of them together          PlacementScoreNormalizer
//	GroupPostFilter           the root group, if the tree   GroupPostFilterPlugin
//	                          is Unschedulable
//	Reserve                   each member that has a node,  ReservePlugin
//	                          this time for real
//	Permit and all after      each of these members         as above
//
// The points of groups run on the scheduling goroutine and must not block.
// Everything before the second Reserve happens on a fork of the cluster, with
// [CycleState.Trial] set and without Unreserve. Later members see earlier members
// on their nodes, with the decisions made for them. The second Reserve and the
// transaction that records the placement are one step: the whole tree is recorded,
// or nothing. From Permit on each member is on its own. A composite group has groups
// in place of members: PlacementFeasible runs before the first child and after
// each, and counts children.
//
// # What the codes mean for the queue
//
// A [Status] is an answer; nil means Success. A rejection says that the workload
// cannot have what it asks for now. An error says that something is broken. A
// rejected workload waits in the queue for an event that one of the plugins that
// rejected it has registered for ([EnqueueExtensions]), and then for the end of its
// backoff; it is tried before that where nothing else waits to be tried. A workload whose cycle ended in an error is tried again after the error
// backoff, without waiting for an event.
//
//	code                           from                        means
//	Success                        every point                 go on
//	Error                          every point                 cycle or binding aborted, error backoff;
//	                                                           PreEnqueue: gated all the same
//	Unschedulable                  PreEnqueue                  gated until an event of the plugin
//	                               PreFilter                   rejected, the other PreFilters still run
//	                               Filter                      node ruled out; displacing others may help
//	                               PostFilter                  no room made; the next plugin runs
//	                               Reserve, Permit             rejected, everything is released
//	                               PlacementGenerate           the group is unschedulable
//	                               PlacementFeasible           not feasible; the next placement is tried
//	                               GroupPostFilter             no room made; the next plugin runs
//	UnschedulableAndUnresolvable   PreEnqueue                  gated until an event of the plugin
//	                               PreFilter                   rejected at once
//	                               Filter                      node ruled out, also as one to displace from
//	                               PostFilter                  no room made; no other plugin runs
//	                               Reserve, Permit             rejected, everything is released
//	                               PlacementGenerate           the group is unschedulable; if it is the
//	                                                           root, GroupPostFilter does not run
//	                               GroupPostFilter             no room made; no other plugin runs
//	Pending                        PreEnqueue                  gated until an event of the plugin
//	                               Filter, Reserve, Permit     rejected; an event of the plugin wakes it
//	                                                           without backoff
//	                               PlacementGenerate           as UnschedulableAndUnresolvable
//	Wait                           Permit                      node kept, held until allowed, rejected, or
//	                                                           out of time
//	                               PlacementFeasible           not yet; continue with the members
//	Skip                           PreFilter                   Filter and the extensions are skipped
//	                               PreScore                    Score is skipped
//	                               PreBindPreFlight            PreBind is skipped
//	                               Bind                        the next Bind plugin runs
//
// A code that is not listed for a point is an error there. In PreBind and
// Bind everything but Success (and Skip, in Bind) fails the binding: everything is
// released and the workload goes back to the queue.
//
// A member of a group is rejected by its own filters, or by the group if it was the
// group that did not fit. It goes back to its tree, which is tried again after its
// backoff without waiting for an event, and at once if other members were placed.
// An error in the cycle of one member is an error of the whole tree. If the second
// Reserve of any member does not return Success, nothing of the tree is placed.
//
// # What is decided about objects
//
// Volumes, volume claims and device claims are objects that the orchestrator
// reports and that decisions change. A Reserve plugin writes the new form of each
// object that it changes into Binding.Decided. From the decision on, [Storage] and
// [Devices] of every [ClusterView] return this form in place of the reported one,
// until the decision is undone. The plugin needs no state of its own for it.
// PreBind passes it to the orchestrator if that is a [VolumeBinder] or a
// [DeviceBinder]; the plugin whose Reserve decides is the one whose PreBind does it. From
// then on it may be so outside, and counts until the object is reported, also where the
// binding fails or the workload goes, unless the binder says [ErrNotWritten]. In the other direction, [CycleState.Deallocate] in PostFilter
// requests that unused claims release their devices, and [CycleState.Withdraw] that
// a reservation of a claim ends. The engine tells the orchestrator, if it is a
// [DeviceReleaser], and records the release when that is done.
//
// # Optional interfaces
//
// Contracts grow by optional interfaces, never by a new method on an existing
// one. A plugin of the point named may implement these as well:
//
//	PreFilterExtensions        PreFilter        account for workloads that are added or removed
//	ScoreNormalizer            Score            bring raw scores into range
//	PlacementScoreNormalizer   PlacementScore   the same for placements
//	EnqueueExtensions          all that reject  which events may change the answer
//	SignPlugin                 all              which parts of a workload it depends on
//	NodeLocalPlugin            Filter, Score    whether it depends on the node alone
//	SlotPlugin                 Filter, Score    asks about many nodes at once
//	CompanionsPlugin           Permit           whom a workload must be placed with
//
// # Extenders
//
// An [Extender] takes part in decisions in addition to the plugins; usually it is a
// remote server. It rules out nodes after Filter, adds to the totals after Score, may
// change the victims of a preemption, and may bind in place of the Bind plugins. Its
// answers are inputs, like events of the cluster: they are recorded, and a replay uses
// the recorded answers.
//
// # What a plugin must not do
//
// In a scheduling cycle a plugin reads no clock, draws no random number, starts
// no goroutine and changes none of its own fields. [CycleState] has the time and a
// seed, and stores data of the cycle under a [StateKey]. Everything that a
// [ClusterView] returns is shared and must not be changed. These rules make it
// possible that one plugin serves several branches at once, and that decisions are
// replayed.
//
// A plugin ends no goroutine: no runtime.Goexit, and so no t.FailNow and nothing of a test's
// require package, in a plugin, a listener or an orchestrator's Bind. The engine survives a panic, and
// not that its own goroutine ends. Tests note what is wrong with t.Errorf.
package extpoints
