// Package trace is the protocol of the GPU packing experiment of "Beware of
// Fragmentation" (USENIX ATC'23): what is measured, so that any scheduler can
// be measured the same way. It knows no scheduler.
//
// The steps of one run, in the order of use:
//
//  1. [Load] reads the nodes and the pods; [Generate] makes a small trace up.
//  2. [Trace.Arrange] draws the order of arrival and the node ranks of a seed.
//  3. The scheduler places the pods one by one. Nothing ever leaves, a pod that
//     does not fit is dropped, and among the nodes of the best score the one of
//     the smallest rank wins.
//  4. A [Recorder] is told each outcome and yields the [Run]: how much of the
//     GPU capacity is allocated, and how much of the idle rest is fragmented,
//     at each percent of arrived demand.
//  5. [WriteTable] and the JSON form of [Run] print the answer.
//
// Units are those of the trace: thousandths of a core, MiB, and thousandths of
// a GPU ("milli").
//
// Everything is a function of the trace and the seed. Two rules are easy to
// get wrong and move the published figures: ties go to the smallest node rank
// (with random ties the results are others), and the sums behind the
// fragmentation are added up in one fixed order (see [Typical.Fragment]).
package trace
