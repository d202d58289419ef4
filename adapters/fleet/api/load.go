package api

import "github.com/berth-project/berth/adapters/fleet/job"

// Load is what an agent has measured of its node: all that is in use there, whoever uses it.
type Load struct {
	// Age is for how long by now the measurements have ended. It is an age and no time, so
	// that nobody has to trust the clock of the node.
	Age job.Duration `json:"age"`
	// Windows are the times that were summed up, the shortest first. One for which too few
	// measurements were made is not there.
	Windows []LoadWindow `json:"windows"`
	// Tasks are those of which it is known what they use themselves: those with a control
	// group. GET /v1/nodes leaves them out.
	Tasks []TaskLoad `json:"tasks,omitempty"`
}

// LoadWindow is what was measured in the last time. What could not be measured is nil.
type LoadWindow struct {
	Window job.Duration `json:"window"`           // for how long it was measured, back from Load.Age
	CPU    *LoadStats   `json:"cpu,omitempty"`    // in percent of what tasks may use
	Memory *LoadStats   `json:"memory,omitempty"` // likewise
}

// LoadStats sum up measurements of how much was in use, in percent of what tasks may use of the
// node: see Machine. More than 100 is possible, for the system uses something too. Of the
// percentiles each is what so many percent of the measurements did not exceed.
type LoadStats struct {
	Average float64 `json:"average"` // of all measurements in the window
	StdDev  float64 `json:"stdDev"`  // in percentage points
	P50     float64 `json:"p50"`     // the median
	P90     float64 `json:"p90"`     // see P50
	P95     float64 `json:"p95"`     // see P50
	P99     float64 `json:"p99"`     // see P50
}

// TaskLoad is what a task uses: processors on an average since the last report, and memory
// now. 0 is not known.
type TaskLoad struct {
	Task   job.TaskID   `json:"task"`             // which task
	CPU    job.MilliCPU `json:"cpu,omitempty"`    // in use
	Memory job.Bytes    `json:"memory,omitempty"` // in use
}
