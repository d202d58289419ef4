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
// So that small jobs do not keep a large one waiting for ever, the engine plans: the
// first that was tried and not placed has a reservation from the moment when tasks must
// have ended, and others go ahead where they do not delay it (engine.Backfill). Nothing of
// that is recorded.
//
// # Reservations
//
// Each interval of a reservation is a hold of the engine (plugin NodeHolds), told four weeks
// ahead where it repeats. Jobs that name one are not offered until it begins
// (state.View.Waits), and the plugin Reservation keeps them on its nodes and within its time.
// Maintenance windows are something else: the node takes no tasks while they are on, what
// still runs there is ended, and what would run into one is kept away by the plugin
// Maintenance, which goes by the time limit alone, as what is late is ended anyway (decision
// 0097).
//
// # Order
//
// As long as nobody says anything of shares, the engine orders by priority and number. A
// tree of queues is another order for it, not only another weight of the same: users
// are parts of it, so that their jobs are not compared by priority. So that those who
// configure nothing see no change, the engine orders by queues only where there is something
// to order by (state.View.ByQueues); when that changes, Run begins anew with another engine.
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
