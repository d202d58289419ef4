// Package schedulinggates is the plugin SchedulingGates: it keeps a workload
// out of the queue for as long as somebody holds a gate of it closed.
package schedulinggates
