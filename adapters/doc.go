// Package adapters explains how to connect the engine to an orchestrator. It has no
// code, only this page: an adapter in three steps. Below it are the adapters that
// exist, each a package or, if it needs heavy dependencies, a module of its own. Copy
// inproc, which runs workloads as Go functions, or the program examples/orchestrator, which
// has a file as its memory and goes on after it was killed. Package adaptertest proves that an
// adapter works. Package extender is something else: it lets servers that were written
// for kube-scheduler take part in decisions.
//
// # 1. Translate
//
// Translate your nodes and workloads into those of package model, in one file or
// package that does nothing else: functions without state, from your types to ours. No
// other code should have to know both. Give every workload an ID that you never use
// again for another one; a new incarnation is a new workload, unless you ask the engine
// to place the old one again (Requeue).
//
// Objects that you pass to the engine are frozen: make a new one for every change.
//
// # 2. Report
//
// Tell the engine, with engine.Engine.Apply, what there is and what happens,
// as soon as you know it and in the order in which it happened:
//
//	a node is there, or has changed             PutNode
//	a node is gone with all that was on it      LoseNode
//	a node is to be emptied, and stays closed   Drain
//	a node does not answer, and work may run    PutNode, with Unschedulable
//	a workload waits for a node                 Submit
//	it runs already (above all after a start)   Adopt
//	it has been seen on its node                Confirm
//	it is terminating                           Terminate
//	the same, to make room for another          Displace
//	it has ended, or is not wanted any more     Finish, Remove
//	it lost its node and is to be placed again  Requeue
//
// The engine keeps room for a workload until you say that it is gone. LoseNode says so of
// all that is on a node, and what ran there is placed again. RemoveNode says it of the node
// alone: what was there keeps its place, for you to report one by one
// (engine.View.Stranded lists it). Say neither before it really is gone: the room is
// given away at once.
//
// Remove, Finish, Requeue and Terminate of a workload that is being bound cancel the context
// of Bind. The first three free its room at once. Terminate keeps it: say Finish or Remove
// when the workload is gone, also where Bind failed and nothing ran.
//
// A start is nothing special: Apply everything there is, in one call if you
// can. What runs is adopted and what does not is placed. It does not matter what is away by
// then: nodes, profiles and groups that are named and not there are waited for. In several
// calls, adopt before you submit, or else call Run last: what waits is placed on room that is
// not known to be taken. Report limits last, since one of breach Refuse is about what comes after it.
//
// # What a change asks of the state
//
// All changes go by one rule, and one that is refused refuses its whole batch:
//
//   - What a change is about must be there, else it is refused with engine.ErrNotFound.
//     What Submit and Adopt bring must be new, else it is engine.ErrExists. Put adds or
//     replaces.
//   - What it names besides need not be there: the node of a binding, and the node, profile,
//     group and queue of a workload that waits. The workload waits on, and
//     engine.Raw.Explain says for what.
//   - What is so already may be said again. It changes nothing.
//   - Nothing follows an end, and what was seen on a node is not seen on another before it
//     was requeued: an engine.PhaseError says so.
//
// The outcome, in each phase or state; = is accepted and leaves it in that phase:
//
//	workload           not there  Pending      Assumed      Bound        Confirmed    Terminating  Finished
//	Submit             Pending    exists       exists       exists       exists       exists       exists
//	Adopt              Confirmed  exists       exists       exists       exists       exists       exists
//	Update             not found  =            =            =            =            =            =
//	Confirm            not found  Confirmed    Confirmed    Confirmed    =            =            refused
//	Confirm elsewhere  not found  Confirmed    Confirmed    Confirmed    refused      refused      refused
//	Nominate           not found  =            =            =            =            =            =
//	Terminate          not found  Terminating  Terminating  Terminating  Terminating  =            refused
//	Displace           not found  Terminating  Terminating  Terminating  Terminating  =            refused
//	Finish             not found  Finished     Finished     Finished     Finished     Finished     =
//	Requeue            not found  =            Pending      Pending      Pending      Pending      refused
//	Remove             not found  gone         gone         gone         gone         gone         gone
//
//	node               not there  open         closed
//	PutNode            open       =            open
//	RemoveNode         not found  gone         gone
//	LoseNode           not found  gone         gone
//	Drain              not found  closed       =
//
//	on the node        Assumed    Bound        Confirmed    Terminating
//	RemoveNode         =          =            =            =
//	LoseNode           Pending    Pending      Pending      Finished
//	Drain              =          =            =            =
//
//	anything else      not there  there
//	PutGroup           there      =
//	RemoveGroup        not found  gone
//	PutBudget          there      =
//	RemoveBudget       not found  gone
//	PutNamespace       there      =
//	RemoveNamespace    not found  gone
//	PutObject          there      =
//	RemoveObject       not found  gone
//	ChargeUsage        refused    =
//
// RemoveNode and Drain also end bindings to the node that are under way, and Drain has
// the orchestrator evict what runs; the phase changes when that is over. Usage is charged to a
// queue and a principal that are there. Besides, an object is refused that is wrong by
// itself or would be above itself, and a workload that a limit of breach Refuse keeps out.
//
// # 3. Carry out decisions
//
// Implement extpoints.Orchestrator: Bind starts a workload on its node, Evict
// asks it to leave.
//
//	Bind(ctx context.Context, w *model.Workload, b model.Binding) error
//	Evict(ctx context.Context, w *model.Workload, reason string) error
//
// Both are called on several goroutines at once, both may be
// called again for the same workload, and both may block until their context
// ends. Four rules make the difference between an adapter that works and one
// that does so on good days:
//
//   - Your own record decides whether something is started, and nothing else.
//     Bind of what runs on that node already is a success that starts nothing;
//     Bind of what runs elsewhere is an error.
//   - An error of Bind means that the workload does not run: its room goes to others at once. If you
//     cannot know (a request timed out), ask until you do, since Bind may block and the room is kept
//     meanwhile; or return nil, find out, and Requeue it if it does not run. Where the node itself refuses
//     what does not fit you may return the error, find out, and Confirm it if it does run.
//   - Where it was the node that could not start it (it does not answer, its disk is full) the
//     error has extpoints.ErrNotThere in it, and the workload goes elsewhere for a while. Without
//     that a broken node stays empty, is liked best for it, and is tried again and again. Where it
//     would fail on every node (there is no such program) the error has it not. When the node is
//     mended, put it with what has changed, or remove it and put it again: then it is used at once.
//   - Everything that ends is reported, whatever ended it; an eviction is over
//     when you report that, not when Evict returns.
//
// An adapter that binds volumes or devices (extpoints.VolumeBinder and DeviceBinder) has
// two more. What it was asked to write is given away until it reports the object: after
// an error it looks what is there, reports that, and says extpoints.ErrNotWritten where it is
// certain. And when a binder has returned it reports nothing any more that is older than what
// the binder wrote, whatever a slow watch delivers.
//
// The engine calls you without holding a lock of its own, so you may call Apply
// from Bind and Evict, and with a lock of yours held. An engine.Listener is
// called with the engine's lock held and must not call anybody.
//
// # And prove it
//
// Write an adaptertest.Harness (six methods) and call adaptertest.Run: it tries
// faults that would take you years to meet.
package adapters
