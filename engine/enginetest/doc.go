// Package enginetest is three kits that test the engine:
//
//   - transcript plays text files that hold a dialogue with an engine;
//   - simulate runs random histories and checks what must always hold;
//   - faults has the plugins that misbehave in those histories by plan.
package enginetest
