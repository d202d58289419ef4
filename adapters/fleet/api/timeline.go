package api

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// Timeline is what is known of the future: GET /v1/timeline. It goes by time limits, so
// nodes may be free earlier.
type Timeline struct {
	At    time.Time      `json:"at"`    // as of when
	Nodes []NodeTimeline `json:"nodes"` // by name
	// Reservations are the intervals that are on or begin within four weeks.
	Reservations []ReservedInterval `json:"reservations,omitempty"`
	// Promises are expected starts. Users see those of their own jobs.
	Promises []PromisedStart `json:"promises,omitempty"`
}

// NodeTimeline is what runs on a node.
type NodeTimeline struct {
	Node string       `json:"node"` // its name
	CPU  job.MilliCPU `json:"cpu"`  // of the machine
	// Closed says that it takes no tasks now.
	Closed      bool         `json:"closed,omitempty"`
	Maintenance *Maintenance `json:"maintenance,omitempty"` // the planned one; nil for none
	// Busy is what tasks have of it, by the time when they must have ended, rounded up to
	// minutes, the earliest first. What has no limit comes last, and has no Until.
	Busy []BusyUntil `json:"busy,omitempty"`
}

// BusyUntil is what tasks have of a node that must have ended at the same time.
type BusyUntil struct {
	Until time.Time    `json:"until,omitzero"` // zero where there is no limit
	CPU   job.MilliCPU `json:"cpu"`            // that they have
	Tasks int32        `json:"tasks"`          // how many there are
	// Jobs are those that the caller may see, at most MaxJobsShown.
	Jobs []job.ID `json:"jobs,omitempty"`
}

// MaxJobsShown is how many jobs a BusyUntil lists.
const MaxJobsShown = 8

// ReservedInterval is an interval of a reservation.
type ReservedInterval struct {
	Name  string    `json:"name"`  // the reservation's
	Nodes []string  `json:"nodes"` // those of the fleet as it is
	From  time.Time `json:"from"`  // when it begins
	To    time.Time `json:"to"`    // when it ends
}

// PromisedStart is when and where an element is expected to start, at the latest.
type PromisedStart struct {
	Job     job.ID       `json:"job"`     // which job
	Element int32        `json:"element"` // its index
	Nodes   []string     `json:"nodes"`   // by rank
	CPU     job.MilliCPU `json:"cpu"`     // of each task
	From    time.Time    `json:"from"`    // when it is to start
	// To is when it must have ended, zero where it has no limit.
	To time.Time `json:"to,omitzero"`
	// Forecast is as in Job, of the element.
	Forecast *Forecast `json:"forecast,omitempty"`
}
