// Package swf reads logs of batch jobs in the Standard Workload Format, in which
// the Parallel Workloads Archive publishes them: a line of 18 whole numbers for
// each job, and comments that begin with a semicolon. Times are in seconds; -1
// stands for what is not known.
package swf

// Log is what a file says.
type Log struct {
	// Procs is the size of the machine: MaxProcs of the header, or MaxNodes where
	// there is none; 0 where the header has neither.
	Procs int64
	Jobs  []Job // in file order
}

// Job is one line of a log. What is not known is -1.
type Job struct {
	Line       int   // of the file, from 1
	Number     int64 // the job's identity in the log
	Submit     int64 // seconds since the log begins, not negative
	Wait       int64 // how long it waited on the machine that wrote the log, seconds
	Run        int64 // how long it ran, seconds
	Allocated  int64 // processors that it got
	Requested  int64 // processors that it asked for
	Estimate   int64 // how long its user said that it would run, seconds
	Backfilled bool  // as programs write it that simulate logs: partition 1
}
