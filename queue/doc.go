// Package queue holds the workloads that wait to be scheduled. It decides which
// one is next, which ones must wait, and what each one waits for. The rules and
// the default values are those of kube-scheduler (pkg/scheduler/backend/queue,
// 1.37.1).
//
// A waiting workload is in exactly one place:
//
//	Active         ready; ordered by the profile's QueueSort plugin
//	Backoff        failed recently; ready when its backoff is over, or earlier
//	               if nothing else is active
//	ErrorBackoff   the same after an error, but never popped early
//	Unschedulable  rejected; waits for an event that a rejecting plugin asked
//	               for, or for the timeout
//	Gated          held back by a PreEnqueue plugin; waits like Unschedulable. Or its
//	               profile is not there, see [ProfileGate]
//	InFlight       popped; an attempt is in progress
//	Incomplete     member of a group that does not exist, or whose parent does not
//	Joining        member of a tree of groups that is being tried without it; it
//	               joins the tree if that returns to the queue
//
// An engine reports three more places, which the queue itself does not have:
//
//	Permit         it has a node, and a Permit plugin makes it wait; for the queue
//	               it is in flight
//	Binding        it has a node and is being bound, or waits until fewer than
//	               engine.Config.MaxBindings are; it has left the queue
//	OldBinding     it was requeued, or removed and submitted again, while it was
//	               being bound. That binding was cancelled but has not returned. The
//	               workload enters the queue when it has, because a workload never
//	               has two bindings at once
//
// A loop uses the queue like this:
//
//	q.Add(now, w)                     // for each new workload
//	for {
//		it, ok := q.Pop(now)          // take the next one
//		...                           // decide
//		q.Done(it.ID())        // it has a node and will not come back, or
//		q.AddUnschedulable(now, it, rejectedBy, pendingOn)
//	}
//	q.Move(now, &change, nil)         // for each change in the cluster
//	q.Tick(now)                       // when NextDue says so
//
// Between Pop and Done the queue remembers all events and replays them after a
// failed attempt, so that no event is lost that arrives during the attempt.
//
// # Groups
//
// In profiles that place groups as a whole, all waiting members of one tree of
// groups are one item. It has its own priority, age, counts and backoff. Gates let
// all members pass or none, and an event that wakes one member wakes the item.
// The caller that pops it places the members together:
//
//	it, ok := q.Pop(now)              // it.Group is set: members in it.Members
//	...                               // decide
//	q.AddUnschedulable(now, m, rejectedBy, pendingOn) // each member without a node
//	q.AddAttempted(now, it, queue.GroupPlaced)        // or how else it ended
//	q.Done(m.ID())                    // later, each member that has a node
//	q.GroupChanged(now, id)           // for each change of a group
//
// After an attempt a tree never waits for events. Its remaining members are tried
// again after the backoff, or at once if other members were placed; the tree is
// parked only while it is gated. As in kube-scheduler it has the backoff that
// follows errors, which is never cut short, even if plugins rejected all of its
// members. A member whose binding fails backs off like a lone workload if no other
// member waits (in kube-scheduler it does not; see [extpoints.Compat]). Report
// GroupPlaced only if at least one member kept its node: it makes the tree active
// at once.
//
// # Workloads that are alike
//
// Where order is strict, with Hooks.KeepPlace or ByQueues, workloads wait behind the first of their
// class, see [Item].Class. What wakes several of a class makes the first in their order active; the others
// stay where they are. If it is rejected and keeps its class, that stands for them: they would have been
// rejected, too. Where it leaves otherwise, because it has a node ([Queue.Placed], Done), failed,
// changed ([Queue.Apart]), was gated or deleted, or came back with another class or none, the next is woken. So the same
// workloads are placed in the same order as if all were tried, and an event costs one attempt for each
// class, however many wait. [Position].Behind names the one that is active meanwhile.
//
// # Order by queues
//
// With Hooks.ByQueues the active workloads are ordered by a tree of queues. The caller reports
// the definitions ([Queue.DefinitionChanged]), what nodes offer ([Queue.NodeChanged]) and what
// is placed ([Queue.Charge], [Queue.Discharge]):
//
//   - The workloads of one principal in one queue are a leaf of the tree. A leaf is ordered by
//     Less, with the time of submission in place of Timestamp, so a failed attempt does not
//     cost a workload its place. The policy of a queue decides which of its parts is next, see
//     [model.OrderPolicy]; at the top it is OrderShare. Every tie ends in the order of
//     submission.
//   - A workload is popped only if no queue above it would exceed its quotas and no limit
//     would be exceeded. Otherwise the part of the tree to which that quota or limit
//     belongs is blocked until its use falls: nothing in that part overtakes the workload
//     that waits. The quota or limit that it waits for wakes it.
//   - What no node could take ([Hooks].Hopeless) blocks nothing: it is popped all the same, for
//     its attempt to fail.
//   - A workload that could never be popped, or whose queue or principal does not exist, is
//     gated under the name [QueuesGate] until definitions or nodes change. It blocks
//     nothing.
//   - A rejected workload does not back off, and a rejected tree of groups waits for any event,
//     except after [GroupNominated]; otherwise those behind them would overtake. After an error
//     the backoff applies as always, and is never cut short.
//   - The members of a tree of groups must name the same queue and principal. The tree is
//     popped only if all waiting members fit together.
//   - Queues with the policy [model.OrderUsage] and limits on resource-seconds remember past use,
//     so Charge and Discharge take the time, and Tick wakes workloads when such a limit has
//     decayed enough. [Queue.State] includes the memory, because it cannot be derived.
//   - [Queue.Turns] is the order of the workloads that wait for room, as if each were
//     charged at its turn. Planning uses it; it changes nothing.
//
// [Queue.Reclaim] returns which workloads may be displaced so that a queue gets what it is
// entitled to.
//
// The package is a pure state machine: it starts no goroutine, takes no lock,
// reads no clock and draws no random number. The same calls with the same times
// give the same answers.
//
// # Order where kube-scheduler leaves it open
//
// kube-scheduler iterates over Go maps in several places, where any order is
// possible. Here the order is fixed, and is always one of the possible ones:
//
//   - workloads that enter or re-enter the queue at the same time keep the order of
//     arrival, among active workloads and among the members of a group; in
//     kube-scheduler two rarely have the same time;
//   - waiting workloads are offered an event in the order in which they became
//     unschedulable or gated (a workload that is gated again goes to the end);
//   - workloads that time out together move in the order in which they began to
//     wait, and then as above;
//   - PreEnqueue plugins run in the order of the configuration, after the one
//     that gated the workload the last time;
//   - the hints of pending plugins run first, because a yes of theirs is decisive,
//     then those of rejecting plugins, each in the order in which the failed
//     attempt named them;
//   - Activate goes by the order of its arguments;
//   - the members of a tree are offered events and moved in the order of
//     [Item].Members;
//   - members that become incomplete, or find their groups, move by group in the
//     order of the tree, and within a group in the order in which they waited.
//
// # Where it differs from kube-scheduler
//
//   - A workload is identified by its ID alone; kube-scheduler uses the name in
//     its queues and the UID for workloads in flight.
//   - The two periodic flushes run at whole multiples of their interval, as if
//     the queue had been started at such a moment. A flush judges the workloads as
//     of that moment, so ticks in between make no difference.
//   - Delete also covers a workload in flight: it does not come back after its
//     attempt. kube-scheduler leaves that check to its failure handler.
//   - Update stops at the first kind of update that is worth another attempt.
//     kube-scheduler continues if a gate closes, with the same result, and without
//     popping from backoff also if the workload backs off, which could leave it in
//     two places.
//   - Add of a workload that already waits replaces it, wherever it is.
//   - The first gated member holds back its whole tree: PreEnqueue does not run for
//     the others until that gate opens or the member leaves. For a member that joins
//     an active tree PreEnqueue runs alone. See [extpoints.Compat].
//   - A group may be given another parent, and a workload another group.
//   - Delete takes no time argument, so a tree that loses a member keeps backing
//     off until the next flush.
//   - Nominations are not kept here; the engine records them with the workloads.
package queue
