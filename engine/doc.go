// Package engine schedules workloads onto nodes: it keeps the record of both,
// runs every workload through the scheduling framework of package extpoints,
// and has the outcome carried out by an orchestrator.
//
// # Using it
//
// Make an [Engine] from a [Config], run it, and tell it what happens:
//
//	eng, err := engine.New(engine.Config{
//		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
//		Registry:     plugins.Default(),
//		Orchestrator: mine, // Bind and Evict
//	})
//	go eng.Run(ctx)
//	err = eng.Apply(engine.Change{PutNode: n}, engine.Change{Submit: w})
//
// The engine calls Orchestrator.Bind when it has decided. The orchestrator
// tells what became of it with more changes: Confirm when the workload has been
// seen on its node, Terminate when it is on its way out (Displace where that is
// to make room for another), Finish when it has ended, Requeue when it lost its
// node, Remove when it can be forgotten. Only Remove is needed by an orchestrator
// that has nothing more to say.
//
// [Engine.View] reads the record and waits for changes of it, [Engine.Explain]
// says why a workload is where it is, [Engine.Branch] gives a copy to plan on,
// a [Listener] is told every stage of every workload, and a [Meter] how long plugins
// take and how often they are asked.
//
// # Raw
//
// [Raw] is the same engine without goroutines and without a clock, for
// simulations, tests and programs with a loop of their own. Given the same
// calls it decides the same, whatever Config.Workers says; a [Recorder] writes
// the calls down and [Replay] makes them again.
//
// # Groups
//
// PutGroup hands in a group, and workloads that name it are its members. In a
// profile that places groups as groups (the default one does) all waiting members
// of a tree of groups are one attempt: they are tried on a copy of the cluster,
// one placement after the other, and either enough of them are recorded in one
// transaction, or none. Where they do not fit, plugins may make room, for all of
// them at once. group.go has the attempt from pop to queue, grouptry.go the search,
// grouptrial.go what plugins try out that want to make room. [Branch.ScheduleGroup]
// does the same on a branch, whatever holds the group back from the queue, and
// reports what would be displaced; [Branch.Schedule] places a member by itself.
// Decided is the event for a group, and each member has its own besides.
//
// # Volumes, devices and claims
//
// PutObject and RemoveObject report what there is of them; see [model.Object].
// What decisions make of claims and volumes lies over what was reported until the
// report says the same, or the decision is taken back. It is recorded in the
// transaction of the decision, so branches have it as well. Who carries it out
// implements [extpoints.VolumeBinder], [extpoints.DeviceBinder] and
// [extpoints.DeviceReleaser] beside Bind and Evict.
//
// # One workload's journey
//
// Each word is a stage and the name of its event: submitted, gated or
// enqueued, popped, filtered, scored, selected, reserved, waiting, permitted,
// bound, confirmed; or rejected, and then enqueued again. cycle.go has the
// stages in order, decide.go the search for a node, bind.go what is done
// outside, failure.go what happens when it does not work out, preempt.go and
// evict.go how room is made, release.go how claims give back devices, ingest.go
// how the world's changes are recorded, and react.go what then happens.
//
// # Goroutines
//
// [Engine.Run] is the scheduling loop. It starts one goroutine for each task
// (binding, eviction or release of devices) under way, at most Config.MaxBindings,
// and joins them before it returns. With Config.Workers above one a decision is
// shared by that many goroutines, which end before the decision is made;
// extenders that prioritize are asked side by side, and neighbouring PreBind
// plugins that allow it run so. There are no others.
package engine
