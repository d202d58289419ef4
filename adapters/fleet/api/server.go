package api

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// ServerStatus is how a server sees itself and the others: GET /v1/server/status.
type ServerStatus struct {
	ID      string `json:"id"`      // its own
	Version string `json:"version"` // of the program
	// StateVersion is the version of the fleet's state. It rises to KnownVersion, the newest
	// that this server's program knows, once all servers know that; until then what came
	// with it is refused. Servers without versions have neither.
	StateVersion int    `json:"stateVersion,omitempty"`
	KnownVersion int    `json:"knownVersion,omitempty"` // see StateVersion
	Leader       string `json:"leader,omitempty"`       // ID
	Term         uint64 `json:"term"`                   // of the leader that it knows
	// Applied is the index of the last change that is in the state.
	Applied uint64    `json:"applied"`
	Started time.Time `json:"started"` // when the process did
	Jobs    int       `json:"jobs"`    // how many are stored
	Nodes   int       `json:"nodes"`   // how many are registered
	Pending int       `json:"pending"` // elements that wait
	Running int       `json:"running"` // elements under way
	// Queue counts what the engine has in the parts of its queue; only on the leader.
	Queue map[string]int `json:"queue,omitempty"`
}

// Member is one server: GET /v1/server/members.
type Member struct {
	ID      string `json:"id"`               // its own
	Address string `json:"address"`          // where others reach it
	Voter   bool   `json:"voter"`            // it has a vote; else it is catching up
	Leader  bool   `json:"leader,omitempty"` // it leads
	// State is how the server that leads sees it, and Heard when that one last heard of
	// it; zero: not since it was started.
	State MemberState `json:"state"`
	Heard time.Time   `json:"heard,omitzero"` // see State
}

// MemberState says whether a server can be reached.
type MemberState string

// The states.
const (
	MemberHealthy     MemberState = "healthy"
	MemberUnreachable MemberState = "unreachable"
	// MemberUnknown: another server leads since a moment ago, and has not heard of it yet.
	MemberUnknown MemberState = "unknown"
)

// MemberList is the answer to GET /v1/server/members.
type MemberList struct {
	Members []Member `json:"members"` // all there are
}

// MemberRequest lets a server take part: POST /v1/server/members.
type MemberRequest struct {
	ID      string `json:"id"`      // the server's
	Address string `json:"address"` // where others reach it
}

// UsageRow is what a user, or a job, has used: GET /v1/usage?by=user|job&owner=.
type UsageRow struct {
	Owner string `json:"owner"`          // the user
	Job   job.ID `json:"job,omitempty"`  // empty where the row is of all jobs
	Name  string `json:"name,omitempty"` // the job's
	// Attempts that have ended, and what they used together; PeakMemory is the
	// largest of one task.
	Attempts     int64     `json:"attempts"`
	WallSeconds  float64   `json:"wallSeconds"`  // of all tasks
	AllocSeconds float64   `json:"allocSeconds"` // core seconds that were set aside
	CPUSeconds   float64   `json:"cpuSeconds"`   // that were used
	GPUSeconds   float64   `json:"gpuSeconds"`   // that were set aside
	PeakMemory   job.Bytes `json:"peakMemory"`   // see Attempts
}

// UsageList is the answer to GET /v1/usage.
type UsageList struct {
	Rows []UsageRow `json:"rows"` // by user, or by job
	Page
}

// Record is one ended attempt as accounting has it:
// GET /v1/records?owner=&since=&limit=&after=, oldest first.
type Record struct {
	Job       job.ID    `json:"job"`       // which job
	Name      string    `json:"name"`      // the job's
	Owner     string    `json:"owner"`     // the user who submitted it
	Queue     string    `json:"queue"`     // its name
	Submitted time.Time `json:"submitted"` // when it was
	Tasks     int32     `json:"tasks"`     // of the element
	// Requested is what each task got.
	Requested job.Resources `json:"requested"`
	TimeLimit job.Duration  `json:"timeLimit,omitzero"` // of the attempt; 0: none
	Attempt
}

// RecordList is the answer to GET /v1/records.
type RecordList struct {
	Records []Record `json:"records"` // those of the page
	Page
}
