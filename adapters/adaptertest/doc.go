// Package adaptertest proves that an adapter keeps the contract of
// [extpoints.Orchestrator] and reports to the engine as it must, so that no
// workload is lost, none runs twice, and no node is given more than it has,
// whatever goes wrong in between.
//
// You write a [Harness]: six methods that make one small world of yours and
// let the kit do things to it. The whole test is then
//
//	func TestConformance(t *testing.T) {
//		adaptertest.Run(t, func(tb adaptertest.TB) adaptertest.Harness { return newHarness(tb) })
//	}
//
// or RunInBubble in place of Run, if nothing in your world waits for a network
// or another process. Package inproc has both, and a harness to look at.
//
// # What is proved
//
// Each [Check] says in Proves what it is about; [Checks] lists them. An adapter that
// binds devices has a [DeviceHarness], with three methods more. Besides,
// every check ends with the same three questions:
//
//   - Does the engine's record agree with the world: is everything that runs
//     confirmed on its node, and nothing else?
//   - Does the session end when it is told to?
//   - Is the history one that may be? No workload was started while it was
//     running, no node had more on it than it has room for (so no room was
//     given away before it was free), and nothing was started on a node that
//     had gone.
//
// # How
//
// The kit does not look into the adapter. Faults come from a Bind plugin of
// its own, which stands between the engine and your Bind and calls it late,
// twice, not at all, or without passing on the answer. What happened to it the
// kit reads in two places: your [Log], which is to be written where runs really
// start and end, and the engine's [engine.View].
//
// It waits for the two to become what they should be, with half a minute of
// patience, and never sleeps: a sound adapter makes it wait no longer than its
// world takes, and a slow computer makes nothing fail.
//
// [Main] is for the TestMain of the package: it finds goroutines that are left
// after the tests.
package adaptertest

import (
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
)

// The doc comment above refers to these.
var (
	_ extpoints.Orchestrator
	_ *engine.View
)
