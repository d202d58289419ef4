// Package state is what the servers of a fleet agree on: jobs, their elements and
// tasks, nodes, queues and tokens. It is changed by commands alone, and the same
// commands in the same order make the same state on every server: no clock, no
// random number and no order of a map has a say. Commands bring their time along.
//
// # Tables
//
// They are go-memdb tables, so readers have a picture that stays as it is (View)
// while commands are applied.
//
//	jobs      one row a job, with counts of its elements by state
//	chunks    for arrays: one byte for each of 1,024 indices, where any of them is
//	          not waiting as it was submitted
//	elements  the elements that are under way, or wait to be tried again
//	tasks     the tasks of attempts under way, also by node
//	nodes     what agents and operators say of nodes
//	used      what tasks have of nodes
//	records   attempts that have ended
//	totals    what users have used
//	queues, accounts, users, limits
//	reservations, tokens, keys
//	revoked   certificates that are not good any more
//	holdings  what there is of each user; follows from the others
//
// So an array of a million elements is one row until its elements start, an
// element is a row while it is under way, and a byte afterwards.
//
// # An element's way
//
// It waits (PENDING) until Place gives each task of its next attempt a node, one
// command a task; with the last one the attempt is complete and its orders go to
// the agents. Their reports move it on: RUNNING when all tasks run, COMPLETING
// when some are to be ended, and when all have ended the attempt has, and the
// element waits again or is done. What a placement takes of its node is counted
// when it is applied, and a placement that does not fit any more is refused,
// whatever the leader thought when it decided.
package state
