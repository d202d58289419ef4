// Package faults has plugins for tests of the engine: one that serves every
// extension point and rejects, fails and panics by plan, and some that make a
// history come by what is rare (waits on Permit, nominations) or that count
// whether Reserve and Unreserve are called in pairs. [Surroundings] are what else
// an engine calls: listeners, the log, the recorder and the order of the queue.
package faults
