// Package engine schedules workloads onto nodes. It keeps the record of both,
// runs every workload through the scheduling framework of package extpoints,
// and has an orchestrator carry out the decisions.
//
// # Using it
//
// Create an [Engine] from a [Config], run it, and report what happens:
//
//	eng, err := engine.New(engine.Config{
//		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
//		Orchestrator: printer{}, // yours: Bind and Evict
//	})
//
//	go func() { done <- eng.Run(ctx) }()
//
//	err = eng.Apply(
//		engine.PutNode(&model.Node{Name: "node-1", Allocatable: model.Resources{CPU: model.Cores(4), Memory: model.GiB(8)}}),
//		engine.Submit(&model.Workload{ID: "web-1", Requests: model.Resources{CPU: model.Cores(0.5), Memory: model.GiB(1)}}),
//	)
//
// The example of [Engine] is a whole program, and package adapters says how to write an orchestrator's part.
//
// The engine calls Orchestrator.Bind once it has decided. The orchestrator reports
// everything else as changes: Confirm when the workload has been seen on its node,
// Terminate when it is terminating (Displace if it was preempted), Finish when it
// has ended, Requeue when it lost its node (LoseNode if the node is gone), and Remove
// when it can be forgotten. Only Remove is mandatory.
//
// [Engine.View] reads the record and waits for changes to it. [Engine.Explain]
// says why a workload is where it is. [Engine.Branch] returns a copy to plan on.
// A [Listener] receives an event for every stage of every workload and, on request,
// how often each plugin runs and how long it takes.
//
// # Raw
//
// [Raw] is the same engine without goroutines and without a clock, for
// simulations, tests and programs that have their own loop. The same calls lead
// to the same decisions, whatever Config.Workers is.
//
// # Recording and replaying
//
// A [Recorder] writes a log of everything that an engine is told and decides. [Replay]
// makes the same calls to a new engine and compares the decisions. The first one that
// differs is returned as a [Divergence]: its line, what was recorded, what the replay
// decided, and which settings differ. A log therefore shows why a workload went where it
// did, and whether another version or configuration would have decided otherwise. A log
// that was cut off by a crash is replayed up to its last complete line.
// [Engine.StartRecording] starts a log from the state of a running engine, which also
// makes it possible to rotate logs.
//
// # Restart
//
// An engine keeps its record in memory. After a restart the orchestrator reports what there is:
// nodes, groups and objects (queues, limits and holds, too) with the changes that it used before,
// what waits with [Submit], and what runs with [Adopt]. One that keeps no record of its own replays
// its recording, and gives a new engine the [View.Changes] of the result.
//
// # Groups
//
// PutGroup submits a group; workloads that name it are its members. In a
// profile that places groups as a whole (the default one does), all waiting members
// of a tree of groups are placed in one attempt. The attempt runs on a fork of the
// cluster and tries one placement after another. Either enough members are recorded in
// one transaction, or none are. If they do not fit, plugins may preempt for all of them
// at once. [Branch.ScheduleGroup] does the same on a branch, even for a group that the
// queue holds back, and reports which workloads would be preempted.
// [Branch.Schedule] places a single member. A group has the event Decided, and each
// member has its own events as well.
//
// # Volumes, devices and claims
//
// PutObject and RemoveObject report volumes, devices and claims; see [model.Object].
// A decision about claims and volumes overrides what was reported until a report
// confirms it or the decision is undone. It is recorded in the same
// transaction as the placement, so branches see it too. An orchestrator that
// carries out such decisions implements [extpoints.VolumeBinder],
// [extpoints.DeviceBinder] and [extpoints.DeviceReleaser] in addition to Bind and Evict.
//
// # One workload's journey
//
// Each stage has a word, which is also the name of its event: submitted, gated or
// enqueued, popped, filtered, scored, selected, reserved, waiting, permitted, bound,
// confirmed; or rejected, and then enqueued again.
//
// The calls arrive in raw.go; core.go declares the state that the other files share.
// ingest.go records changes, and follow.go derives the consequences of each recorded
// fact. attempt.go takes a workload or a group from the queue to its node; the search
// for the node is in internal/decide. waiting.go implements Permit, bind.go the binding,
// failure.go the way back to the queue, preempt.go and evict.go preemption, and
// release.go the return of claimed devices. ARCHITECTURE.md in the root of the
// repository has diagrams.
//
// # Goroutines
//
// [Engine.Run] is the scheduling loop. It starts one goroutine for each task
// (binding, eviction or release of devices) in progress, at most Config.MaxBindings,
// and joins them before it returns. If Config.Workers is above one, that many
// goroutines share a decision and end before it is made. Extenders that prioritize
// are called concurrently, and so are neighbouring PreBind plugins that allow it.
// There are no other goroutines.
package engine
