// Package simulate runs random histories of an engine and checks them.
//
// [Run] runs one: an [engine.Raw] with a clock of its own, an orchestrator that
// loses answers, refuses, is slow and changes its mind, and in half of the
// histories a plugin at every extension point that rejects, fails and panics
// (package faults). The surroundings may be hostile at all points where an engine calls them, see
// [Options].Hostile. The engines may be replayed at the end, see [Replay]. After every step everything that can be seen of the engine is
// compared with the world's own book: nothing is lost, doubled, leaked, or left
// asleep. The seed that a failure prints brings the history back.
package simulate
