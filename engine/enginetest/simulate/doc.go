// Package simulate runs random histories of an engine and checks them.
//
// [Run] runs one: an [engine.Raw] with a clock of its own, an orchestrator that
// loses answers, refuses, is slow and changes its mind, and in half of the
// histories a plugin at every extension point that rejects, fails and panics
// (package faults). After every step everything that can be seen of the engine is
// compared with the world's own book: nothing is lost, doubled, leaked, or left
// asleep. The seed that a failure prints brings the history back.
//
// With [Options].Hostile whatever an engine calls may panic, end the goroutine or call
// back. An engine that breaks says so, and the next one is told what the orchestrator
// knows. With [Options].Replay the engines are replayed at the end.
package simulate
