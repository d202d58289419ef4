// Package adapters explains how to connect the engine to an orchestrator. It has no
// code, only this page: an adapter in three steps. Below it are the adapters that
// exist, each a package or, if it needs heavy dependencies, a module of its own. Copy
// inproc, which runs workloads as Go functions. Package adaptertest proves that an
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
//	a node is gone                              RemoveNode
//	a workload waits for a node                 Submit
//	it runs already (above all after a start)   Adopt
//	it has been seen on its node                Confirm
//	it is terminating                           Terminate
//	the same, to make room for another          Displace
//	it has ended, or is not wanted any more     Finish, Remove
//	it lost its node and is to be placed again  Requeue
//
// The engine keeps room for a workload until you say that it is gone; it does
// not conclude from a node's end that what was there has ended. So after
// RemoveNode say Requeue or Remove of everything that was on it, and say
// neither before it really is gone: the room is given away at once.
//
// A start is nothing special: Apply everything there is, in one call if you
// can. What runs is adopted and what does not is placed.
//
// # 3. Carry out decisions
//
// Implement extpoints.Orchestrator: Bind starts a workload on its node, Evict
// asks it to leave. Both are called on several goroutines at once, both may be
// called again for the same workload, and both may block until their context
// ends. Three rules make the difference between an adapter that works and one
// that does so on good days:
//
//   - Your own record decides whether something is started, and nothing else.
//     Bind of what runs on that node already is a success that starts nothing;
//     Bind of what runs elsewhere is an error.
//   - An error of Bind means that the workload does not run. If you cannot know
//     (a request timed out), return the error, find out, and Confirm it if it
//     does: the engine takes that for what it is, whatever it has planned since.
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
