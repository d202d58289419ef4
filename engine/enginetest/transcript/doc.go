// Package transcript runs transcripts of an engine: text files that hold a
// dialogue of commands, ---- and what the engine did. A paragraph without ----
// is prose:
//
//	A filter that rejects every node makes the workload unschedulable.
//
//	profile main A:filter
//	plugin A filter n1 => Unschedulable "no gold"
//	node n1
//	submit w1
//	schedule
//	----
//	submitted w1
//	...
//
// The engine is an [engine.Raw] with a clock that moves when the transcript says
// so, plugins that answer what the transcript tells them, and an orchestrator
// that does too. An answer is the listener's events in order, each beginning
// with the word of its stage; between them, indented, the calls of the scripted
// plugins at those points that are called one after the other (Filter and Score
// are not: the answer must not depend on the number of workers); and what a
// command prints itself. The verbs are explained at their cases.
//
// [Run] plays each transcript with 1, 2 and 16 workers and wants the same text
// each time, and then gives the recorded inputs to [engine.Replay] and wants the
// same events. A paragraph that begins with "No replay:" switches the last part
// off and says why.
package transcript
