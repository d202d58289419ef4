// Package scheduler is what the leader of a fleet's servers does besides answering:
// it offers the elements that may start to an engine, has the engine's decisions
// recorded, and sees to what is a matter of time.
//
// # How it goes
//
// A Controller belongs to one term of leadership. It builds an engine from the
// replicated state (package state): nodes, tasks that are placed, and elements that
// may start, each task of the next attempt a workload, gangs as groups. From then on
// it is told what has changed, and keeps the engine in step. Decisions become
// commands (Place) that are checked again when they are applied; the engine hears
// that a workload is on its node when the state says so. All that the controller
// knows it has from the state, so the next leader's is as good.
//
// An array offers its elements a window at a time, so that a million of them costs
// the engine no more than a few hundred.
//
// # Keeping room
//
// So that small jobs do not keep a large one waiting for ever, room is kept for the
// first that was tried and not placed: the reserver plans when and where it will fit
// (package backfill), and the plugin Backfill keeps those off that come after it and
// would be in its way then. Nothing of that is recorded.
//
// # Names
//
// A task's workload has the task's ID, a gang's group that of its attempt. The
// owner is the namespace.
//
// # Goroutines
//
// Run is the controller's own, which owns all its books. The engine has its own, and
// so has the reserver; commands that are no placements are proposed by goroutines that Run joins.
package scheduler
