package api

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// SubmitRequest submits jobs, all or none: POST /v1/jobs.
type SubmitRequest struct {
	Jobs []job.Spec `json:"jobs"` // at least one
	// Key makes it safe to repeat the request: while the jobs of an earlier one of
	// the same user and key are known, they are the answer. At most 128 characters.
	Key string `json:"key,omitempty"`
	// Check: nothing is submitted, the answer says what would be wrong.
	Check bool `json:"check,omitempty"`
}

// SubmitResponse names the jobs, in the order of the request.
type SubmitResponse struct {
	Jobs []job.ID `json:"jobs,omitempty"` // empty where the jobs were only checked
	// Repeated: they are those of an earlier request with the same key.
	Repeated bool `json:"repeated,omitempty"`
	// Warnings say what is allowed and yet may not be meant, for example a request
	// that no node of today could serve.
	Warnings []string `json:"warnings,omitempty"`
}

// Job is a job as lists show it: GET /v1/jobs.
type Job struct {
	ID       job.ID    `json:"id"`       // which the server gave it
	Name     string    `json:"name"`     // that its owner gave it
	Owner    string    `json:"owner"`    // the user who submitted it
	Queue    string    `json:"queue"`    // its name
	State    job.State `json:"state"`    // of all elements together
	Priority int32     `json:"priority"` // within its queue; the higher goes first
	// Reason and Message say why it waits, where it does. Of a job that has ended and
	// not completed Message says why, where the state does not say it all; of an array
	// with "element N: ", for one of its elements. Where it was cancelled it says why.
	Reason  job.Reason `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"` // see Reason
	// Eligible is when it is tried again, where Reason is Backoff, or may start, where it
	// is BeginTime or, if that is to come, Reservation.
	Eligible time.Time `json:"eligible,omitzero"`
	// ExpectedStart is when it will start at the latest, and ExpectedNodes where, if
	// all goes well: of a job that waits and that room is kept for.
	ExpectedStart time.Time `json:"expectedStart,omitzero"`
	ExpectedNodes []string  `json:"expectedNodes,omitempty"` // see ExpectedStart
	// Forecast is when it will probably start, where it waits and the servers make forecasts.
	Forecast *Forecast `json:"forecast,omitempty"`
	// Elements counts its elements, 1 where it is no array; Counts those in each
	// state.
	Elements  int32               `json:"elements"`
	Counts    map[job.State]int32 `json:"counts"`          // see Elements
	Array     bool                `json:"array,omitempty"` // it has elements with indices
	Tasks     int32               `json:"tasks"`           // of each element
	Submitted time.Time           `json:"submitted"`       // when it was
	// Started is when the first attempt began, Ended when the last element ended.
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"` // see Started
	// Nodes are those that it runs on, or that its last attempt to end ran on; at
	// most MaxNodesShown.
	Nodes []string `json:"nodes,omitempty"`
	// Usage is that of all attempts together, except that PeakMemory is the largest.
	Usage Usage `json:"usage,omitzero"`
	// GPUSeconds is the time for which devices were given to it.
	GPUSeconds float64 `json:"gpuSeconds,omitempty"`
}

// MaxNodesShown is how many nodes a Job lists.
const MaxNodesShown = 16

// JobDetail is one job with what was submitted, and its elements that are not as
// they were submitted, or as asked for: GET /v1/jobs/{id}.
type JobDetail struct {
	Job
	Spec     job.Spec  `json:"spec"`                  // as it was submitted, with defaults
	Attempts []Attempt `json:"attempts,omitempty"`    // the most recent, at most MaxAttemptsShown
	Elements []Element `json:"elementList,omitempty"` // those under way, and those that wait to be tried again
	// Failures are what several attempts have in common that never ran, of all attempts
	// that are known, the most frequent first; at most MaxFailuresShown.
	Failures []Failure `json:"failures,omitempty"`
}

// MaxFailuresShown is how many Failures there are at most.
const MaxFailuresShown = 20

// Failure is how several attempts of a job ended that never ran.
type Failure struct {
	State    job.State `json:"state"`          // in which they ended
	Exit     *Exit     `json:"exit,omitempty"` // of the process; nil where there was none
	Message  string    `json:"message"`        // in words
	Attempts int       `json:"attempts"`       // how many
	// Elements are theirs, for example "0-19,25", and where they are very many the first
	// of them.
	Elements string   `json:"elements"`
	Nodes    []string `json:"nodes,omitempty"` // at most MaxNodesShown
}

// MaxAttemptsShown is how many attempts a JobDetail lists, and how many elements.
const MaxAttemptsShown = 200

// Element is one element that is under way or waits to be tried again.
type Element struct {
	Index int32     `json:"index"` // in the array; 0 for a job that is none
	State job.State `json:"state"` // the element's
	// Reason and Message say why it waits.
	Reason   job.Reason `json:"reason,omitempty"`
	Message  string     `json:"message,omitempty"` // see Reason
	Attempt  int32      `json:"attempt"`           // the number of the last one, from 1; 0: none
	Eligible time.Time  `json:"eligible,omitzero"` // when it is tried again
	Tasks    []Task     `json:"tasks,omitempty"`   // of the attempt that is under way
}

// Task is one task of an attempt that is under way.
type Task struct {
	ID       job.TaskID `json:"id"`                 // job, element, attempt and rank
	Node     string     `json:"node"`               // its name
	State    job.State  `json:"state"`              // as the agent reported it
	Started  time.Time  `json:"started,omitzero"`   // zero while it has not
	Stopping string     `json:"stopping,omitempty"` // why it is being ended
	GPUs     []GPUShare `json:"gpus,omitempty"`     // that it was given
}

// Attempt is one attempt that has ended.
type Attempt struct {
	Element int32     `json:"element"`          // its index
	Attempt int32     `json:"attempt"`          // its number, from 1
	State   job.State `json:"state"`            // in which it ended
	Nodes   []string  `json:"nodes,omitempty"`  // by rank
	Placed  time.Time `json:"placed,omitzero"`  // when it was given nodes
	Started time.Time `json:"started,omitzero"` // when its first task did; zero where none has
	Ended   time.Time `json:"ended"`            // when its last task did
	// Exit and Message are those of the task that decided the state; Rank says
	// which one it is.
	Exit       *Exit   `json:"exit,omitempty"`
	Rank       int32   `json:"rank,omitempty"`       // of the task that Exit is of
	Message    string  `json:"message,omitempty"`    // in words
	Usage      Usage   `json:"usage,omitzero"`       // of all its tasks
	GPUSeconds float64 `json:"gpuSeconds,omitempty"` // that were set aside for it
	// Failure is the place in JobDetail.Failures, from 1, of the one that it is one of;
	// 0: of none.
	Failure int `json:"failure,omitempty"`
}

// Page is the end of a list: where After is not empty, there is more, and the
// request repeated with ?after= that has it.
type Page struct {
	After string `json:"after,omitempty"` // empty where nothing follows
}

// JobList is the answer to GET /v1/jobs?owner=&queue=&state=&name=&limit=&after=.
// The newest come first.
type JobList struct {
	Jobs []Job `json:"jobs"` // those of the page
	Page
}

// Limits of a page.
const (
	DefaultPage = 100
	MaxPage     = 1000
)

// Selection says which elements of a job an action is for:
// POST /v1/jobs/{id}/cancel, hold, release, requeue.
type Selection struct {
	// Elements are indices, for example "3,10-19". Empty: all, and the job itself.
	Elements string `json:"elements,omitempty"`
	// Signal, of cancel: the first signal that tasks get. Default: TERM.
	Signal string `json:"signal,omitempty"`
	Reason string `json:"reason,omitempty"` // in words, for the job's events
}

// Affected is the answer to an action: how many elements it changed.
type Affected struct {
	Elements int32 `json:"elements"` // how many were changed
}

// Explanation says why an element waits, or where it is and why there:
// GET /v1/jobs/{id}/explain?element=.
type Explanation struct {
	Job     job.ID     `json:"job"`               // which job
	Element int32      `json:"element"`           // its index
	State   job.State  `json:"state"`             // the element's
	Reason  job.Reason `json:"reason,omitempty"`  // why it waits
	Message string     `json:"message,omitempty"` // Reason in words
	// Tasks is how many tasks of it start at once or not at all. Nodes is about one.
	Tasks int32 `json:"tasks,omitempty"`
	// Eligible is as in Job, of the element.
	Eligible time.Time `json:"eligible,omitzero"`
	// Position is the place among those that wait to be tried, from 1; 0: it is not
	// among them.
	Position int `json:"position,omitempty"`
	// Path is where it stands in the tree of queues, from the top, as in Turn.
	Path []Level `json:"path,omitempty"`
	// ExpectedStart and ExpectedNodes are as in Job, of the element.
	ExpectedStart time.Time `json:"expectedStart,omitzero"`
	ExpectedNodes []string  `json:"expectedNodes,omitempty"` // see ExpectedStart
	// Forecast is as in Job, of the element, and Calibration how often forecasts came true.
	Forecast    *Forecast    `json:"forecast,omitempty"`
	Calibration *Calibration `json:"calibration,omitempty"` // see Forecast
	// PromisedStart is the first start that it was promised, where the present one is
	// another, and Moved why it was moved to a later time when that was last so.
	PromisedStart time.Time `json:"promisedStart,omitzero"`
	Moved         []string  `json:"moved,omitempty"` // see PromisedStart
	// Scores names what gives points, and Nodes has what speaks against each node.
	Scores []string      `json:"scores,omitempty"`
	Nodes  []NodeVerdict `json:"nodes,omitempty"` // see Scores
	// Failures are as in JobDetail, of the element, or where none was asked for of the job.
	Failures []Failure `json:"failures,omitempty"`
}

// NodeVerdict says what speaks against a node, or how it scores.
type NodeVerdict struct {
	Node     string    `json:"node"`               // its name
	Feasible bool      `json:"feasible"`           // a task fits there now
	Unseen   bool      `json:"unseen,omitempty"`   // it was not looked at
	Verdicts []Verdict `json:"verdicts,omitempty"` // what speaks against it
	Scores   []int64   `json:"scores,omitempty"`   // weighted, as Explanation.Scores
	Total    int64     `json:"total,omitempty"`    // the sum of Scores
}

// Verdict is one plugin's rejection, and why, in words that stand behind the node's name.
type Verdict struct {
	Plugin  string   `json:"plugin"`  // its name
	Reasons []string `json:"reasons"` // at least one
}
