// Package queue holds the workloads that wait to be scheduled and says which
// one is next, which ones must wait, and what each one waits for. The rules and
// the numbers are those of kube-scheduler (pkg/scheduler/backend/queue, 1.37.1)
// in its default configuration.
//
// A waiting workload is in exactly one place:
//
//	Active         ready; ordered by the profile's QueueSort plugin
//	Backoff        failed a short while ago; ready when its backoff is over,
//	               or earlier, when nothing else is active
//	ErrorBackoff   the same after an error, but never taken early
//	Unschedulable  rejected; waits for an event that a rejecting plugin asked
//	               for, or for the timeout
//	Gated          turned away by a PreEnqueue plugin, waits like the above
//	InFlight       popped; an attempt is under way
//	Incomplete     member of a group that is not there, or whose parent is not
//	Joining        member of groups that are being tried without it; joins
//	               those that come back
//
// The loop that uses it:
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
// Between Pop and Done the queue remembers all events, so that one that arrives
// during an attempt is not lost on the workload it would have helped: after a
// failed attempt they are played back.
//
// # Groups
//
// In profiles that place groups as groups, all members of one tree of groups
// that wait are one item: it has a priority, an age, counts and a backoff of its
// own, the gates let all pass or none, and it is woken if one of them is.
// Whoever pops it places the members together:
//
//	it, ok := q.Pop(now)              // it.Group is set: members in it.Members
//	...                               // decide
//	q.AddUnschedulable(now, m, rejectedBy, pendingOn) // each member without a node
//	q.AddAttempted(now, it, queue.GroupPlaced)        // or how else it ended
//	q.Done(m.ID())                    // later, each member that has a node
//	q.GroupChanged(now, id)           // for each change of a group
//
// After an attempt a tree never waits for events. What is left of it is tried
// again after the backoff, or at once if others of it were placed; so it is only
// ever parked because it is gated. As in kube-scheduler its backoff is that after
// errors, never cut short, even where plugins rejected all of its members. A
// member whose binding fails backs off as it would by itself if no other of its
// tree waits (in kube-scheduler it does not; see Config.ReferenceWakeUps). A tree
// of which GroupPlaced is said although no member kept its node is active at
// once: do not say so.
//
// The package is a pure state machine: it starts no goroutine, takes no lock,
// reads no clock and draws no random number. The same calls with the same times
// give the same answers.
//
// # Order where kube-scheduler leaves it open
//
// kube-scheduler walks Go maps in several places, so that any order is right.
// Here the order is fixed, and always one that it could have had:
//
//   - what comes to the queue at the same time, or comes back to it, is ordered as
//     it came, among the active workloads and among the members of a group; in
//     kube-scheduler hardly any two have the same time;
//   - waiting workloads are offered an event in the order in which they became
//     unschedulable or gated (a workload that is gated again goes to the end);
//   - workloads that time out together move in the order of the time since when
//     they wait, and then as above;
//   - PreEnqueue plugins run in the order of the configuration, after the one
//     that gated the workload the last time;
//   - hints are asked of the pending plugins first, since their yes settles the
//     matter, then of the rejecting ones, each in the order in which the failed
//     attempt named them;
//   - Activate goes by the order of its arguments;
//   - the members of a tree are asked and moved in the order of [Item].Members;
//   - members that become incomplete, or find their groups, move by group in the
//     order of the tree, and within a group in the order in which they waited.
//
// # Where it differs from kube-scheduler
//
//   - A workload is known by its ID alone, where kube-scheduler has a name for
//     the queues and a UID for what is in flight.
//   - The two periodic flushes run at whole multiples of their interval, as if
//     it had been started at such a moment. What a flush moves is judged as of
//     that moment, so that ticks in between change nothing.
//   - Delete also covers a workload in flight: it does not come back after its
//     attempt. kube-scheduler leaves that check to its failure handler.
//   - Update stops at the first kind of update that is worth another attempt.
//     kube-scheduler goes on if a gate shuts, to the same end, and with popping
//     from backoff off also if the workload backs off, which could leave it in
//     two places.
//   - Add of a workload that waits already replaces it, wherever it is.
//   - The first member that is gated holds its tree: the others are not asked at
//     the gates until its own opens, or it leaves. A member that joins an active
//     tree is asked alone. See Config.ReferenceWakeUps.
//   - A group may be given another parent, and a workload another group.
//   - Delete is given no time, so that a tree that it takes a member from goes on
//     backing off until the next flush.
//   - Nominations are not kept here: they are facts about workloads.
package queue
