// Package cpuset decides which processors of a machine a task gets to itself. It does
// nothing else: what a machine has is found out by package fingerprint, and what was
// decided is written into control groups by package cgroup.
//
// A processor here is a hardware thread, the unit in which jobs ask for cores; a core
// is what does the arithmetic, for one or more of them.
//
// # Near to each other
//
// Choose takes processors from one NUMA node where that has enough of them: from the
// fullest such node, so that the emptiest stays whole for a large task. Else it takes
// from as few nodes as can be. Of nodes that have as much free it takes one in a socket
// that it takes from already, and else one in the fullest socket that has enough. Within a
// node it takes whole cores first, so that no two tasks slow each other down on one, and
// then fills up cores that are in part taken already. The same machine, taken in the same
// way, gives the same answer.
package cpuset
