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
// A group is placed as a whole: PlacementGenerate lists sets of nodes, and for
// each the members go through PreFilter to Reserve one by one, with
// PlacementFeasible asked before the first and after each; PlacementScore
// chooses among the sets on which it went well, and GroupPostFilter is asked
// where there was none. All of these run on the scheduling goroutine and must
// not block.
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
//	UnschedulableAndUnresolvable   PreEnqueue                  gated until an event of the plugin
//	                               PreFilter                   rejected at once
//	                               Filter                      node ruled out, also as one to displace from
//	                               PostFilter                  no room made; no other plugin is asked
//	                               Reserve, Permit             rejected, everything is given back
//	Pending                        PreEnqueue                  gated until an event of the plugin
//	                               Filter, Reserve, Permit     rejected; an event of the plugin wakes it
//	                                                           without backoff
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
