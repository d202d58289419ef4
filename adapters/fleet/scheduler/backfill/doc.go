// Package backfill plans when, and on which nodes, a job that does not fit by now
// will fit, so that room can be kept for it and others go ahead only where they do
// not delay it.
//
// It knows when tasks that run must have ended, and nothing of what will start: a
// task without a limit never ends. It is pure: no clock, no locks, and the same
// answer to the same question.
//
//	var nodes []backfill.Candidate       // those that will do
//	nodes = append(nodes, backfill.Candidate{Timeline: backfill.NewTimeline(node, running)})
//	plan, ok := backfill.Earliest(&want, now, nodes)
package backfill
