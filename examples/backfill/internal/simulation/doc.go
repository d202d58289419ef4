// Package simulation runs the jobs of a log through the engine: on a machine of one
// node with as many cores as the log's has processors. The clock is the log's, and a job
// takes no time to start, so that a run is over in seconds and can be repeated.
//
// There are two kinds of run. In [Plan] the engine has the queue and plans ahead:
// it decides who starts when. In [Prioritize] the caller has an order of its own, by
// one of the published priority functions, and asks the engine only whether a job fits
// now, or would fit later.
package simulation
