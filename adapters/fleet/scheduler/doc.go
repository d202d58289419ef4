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
// # Names
//
// A task's workload has the task's ID, a gang's group that of its attempt. The
// owner is the namespace.
//
// # Goroutines
//
// Run is the controller's own, which owns all its books. The engine has its own;
// commands that are no placements are proposed by goroutines that Run joins.
package scheduler
