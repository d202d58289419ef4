package state

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Rows are never changed once they are in a table: who changes one puts a copy.

// Job is a job.
type Job struct {
	ID        job.ID    `json:"id"`               // never used again, also after a backup was restored
	Spec      *job.Spec `json:"spec"`             // shared by all versions of the row
	Owner     string    `json:"owner"`            // the user who submitted it
	Key       string    `json:"key,omitempty"`    // of the submission; empty: none
	Submitted time.Time `json:"submitted"`        // when it was
	Started   time.Time `json:"started,omitzero"` // when its first attempt began; zero: none has
	Ended     time.Time `json:"ended,omitzero"`   // when the last element did; zero: not all have
	// LastEnd is when the last of its elements that have ended did.
	LastEnd time.Time `json:"lastEnd,omitzero"`
	// Held is why the whole job is held: JobHeldUser or JobHeldAdmin, or empty.
	Held   job.Reason `json:"held,omitempty"`
	Counts Counts     `json:"counts"` // of all its elements, by state
	// CancelReason is the reason that was given when elements of it were last ended by
	// request, or because it waited in vain.
	CancelReason string `json:"cancelReason,omitempty"`
	// HeldElements counts elements that are held by themselves.
	HeldElements int32 `json:"heldElements,omitempty"`
	// LastNodes are the nodes, by rank, of the last attempt that an element ended with; at
	// most api.MaxNodesShown. The name is empty where a task got none.
	LastNodes []string `json:"lastNodes,omitempty"`
	// Stored is how much the job takes, in bytes, for MaxStored.
	Stored int64 `json:"stored,omitempty"`
	// Cut: records of its attempts have been purged.
	Cut  bool  `json:"cut,omitempty"`
	Used Total `json:"used,omitzero"` // by attempts that have ended
	// Ran: all tasks of an element have run at once.
	Ran bool `json:"ran,omitempty"`
	// Mistaken: an element has ended by a claim that was confirmed, and none that has ended
	// was requeued since.
	Mistaken bool `json:"mistaken,omitempty"`
	// Claims are the last of each node, of an array's elements, without Says; no more than
	// maxJobClaims.
	Claims []Claim `json:"claims,omitempty"`
}

// Elements is how many elements the job has.
func (j *Job) Elements() int32 {
	if j.Spec.Array.IsZero() {
		return 1
	}
	return int32(j.Spec.Array.Len())
}

// HasElement reports whether the job has the element.
func (j *Job) HasElement(index int32) bool {
	if j.Spec.Array.IsZero() {
		return index == 0
	}
	return j.Spec.Array.Contains(index)
}

// Active counts the elements that are under way.
func (j *Job) Active() int32 {
	return j.Counts[starting] + j.Counts[running] + j.Counts[completing]
}

// Done reports whether all elements have ended.
func (j *Job) Done() bool { return j.Active() == 0 && j.Counts[pending] == 0 }

// State is that of the job as a whole: of its only element, or running while any is
// under way, pending while any waits, and then the worst end of any.
func (j *Job) State() job.State {
	if j.Elements() == 1 {
		for c, n := range j.Counts {
			if n > 0 {
				return stateOf[c]
			}
		}
	}
	if j.Active() > 0 {
		return job.Running
	}
	for _, c := range worstFirst {
		if j.Counts[c] > 0 {
			return stateOf[c]
		}
	}
	return job.Completed
}

// Total is what something has used.
type Total struct {
	Attempts    int64     `json:"attempts,omitempty"`    // that have ended
	WallMicros  int64     `json:"wallMicros,omitempty"`  // that tasks ran, added up
	AllocMicros int64     `json:"allocMicros,omitempty"` // core microseconds set aside
	CPUMicros   int64     `json:"cpuMicros,omitempty"`   // core microseconds used
	GPUMicros   int64     `json:"gpuMicros,omitempty"`   // device microseconds set aside
	PeakMemory  job.Bytes `json:"peakMemory,omitempty"`  // the largest of one task
	ReadBytes   job.Bytes `json:"readBytes,omitempty"`   // from disks
	WriteBytes  job.Bytes `json:"writeBytes,omitempty"`  // to disks
}

// add adds o.
func (t *Total) add(o *Total) {
	t.Attempts = plus(t.Attempts, o.Attempts)
	t.WallMicros = plus(t.WallMicros, o.WallMicros)
	t.AllocMicros = plus(t.AllocMicros, o.AllocMicros)
	t.CPUMicros = plus(t.CPUMicros, o.CPUMicros)
	t.GPUMicros = plus(t.GPUMicros, o.GPUMicros)
	t.PeakMemory = max(t.PeakMemory, o.PeakMemory)
	t.ReadBytes = plus(t.ReadBytes, o.ReadBytes)
	t.WriteBytes = plus(t.WriteBytes, o.WriteBytes)
}

// Element is an element that is under way, or waits and is not as it was submitted.
type Element struct {
	Job     job.ID    `json:"job"`     // which job
	Index   int32     `json:"index"`   // in the array, 0 where the job is none
	State   job.State `json:"state"`   // Pending to Completing, never an end
	Attempt int32     `json:"attempt"` // the present one, or the last
	// LeftOut is how many numbers up to Attempt were left out because backups were
	// restored; see Try.
	LeftOut int32 `json:"leftOut,omitempty"`
	// Failures counts the attempts that count against Retry.Limit.
	Failures int32 `json:"failures,omitempty"`
	// Losses counts those that ended for reasons that are not the job's, as NODE_FAIL or
	// BOOT_FAIL, and were followed by another; at most MaxLosses.
	Losses int32 `json:"losses,omitempty"`
	// Eligible is when it may be tried again.
	Eligible time.Time  `json:"eligible,omitzero"`
	Avoid    string     `json:"avoid,omitempty"` // the node that the next attempt avoids
	Held     job.Reason `json:"held,omitempty"`  // why it is held by itself; empty: it is not
	// Claims are what its attempts have ended by since it was submitted or requeued.
	Claims []Claim `json:"claims,omitempty"`

	// What follows is of the attempt under way. Placed is how many tasks have got a node.
	Placed  int32     `json:"placed,omitempty"`
	Began   int32     `json:"began,omitempty"`  // how many tasks run, or have run
	Ended   int32     `json:"ended,omitempty"`  // how many tasks have ended
	Ready   time.Time `json:"ready,omitzero"`   // when the last task was placed; zero: not all are
	Started time.Time `json:"started,omitzero"` // of the first task that was reported, by its node's clock
	// LastEnd is when the last of the tasks that have ended did.
	LastEnd time.Time `json:"lastEnd,omitzero"`
	// Note is what was said of the first task that has completed with a note.
	Note string `json:"note,omitempty"`
	// Outcome is that of the task that decides how the attempt ends, once one does.
	Outcome *Outcome `json:"outcome,omitempty"`
	// Stopping is how and why it is being ended from outside, where it is; it counts
	// unless all tasks complete nevertheless.
	Stopping *Outcome `json:"stopping,omitempty"`
	// Requeue: the attempt is being ended to be tried again, by request.
	Requeue bool  `json:"requeue,omitempty"`
	Used    Total `json:"used,omitzero"` // by tasks of the attempt that have ended
	// Nodes are the nodes by rank.
	Nodes []string `json:"nodes,omitempty"`
}

// Try says which try of the element the attempt is, from 1, as far as this state
// knows: the number of an attempt is larger where a backup was restored. Attempts that
// ended by a claim do not count: for the program the next one is the first.
func (e *Element) Try() int32 { return e.Attempt - e.LeftOut - int32(len(e.Claims)) }

// Outcome is how an attempt ends.
type Outcome struct {
	State   job.State `json:"state"`             // an end, or Requeued
	Rank    int32     `json:"rank,omitempty"`    // of the task that decided it; 0 where none did
	Exit    *api.Exit `json:"exit,omitempty"`    // of that task; nil where it has none
	Message string    `json:"message,omitempty"` // why, in words; empty: State and Exit say it
	// Mistake is api.Report.Mistake: the job cannot be started as it is.
	Mistake bool `json:"mistake,omitempty"`
	// Unconfirmed: Mistake is one node's word, see Claim.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
}

// Task is a task of an attempt under way. It goes with the attempt.
type Task struct {
	ID    job.TaskID `json:"id"`             // of the attempt that its element is in
	Node  string     `json:"node"`           // its name
	GPUs  []GPUShare `json:"gpus,omitempty"` // its part of the node's devices; empty: none
	State job.State  `json:"state"`          // Starting or Running: what has ended has no row
	// Ready: all tasks of the attempt have a node, so it may start.
	Ready   bool      `json:"ready,omitempty"`
	Placed  time.Time `json:"placed"`           // when it got its node
	Started time.Time `json:"started,omitzero"` // when it did, by the node's clock; zero: it has not
	Stop    *api.Stop `json:"stop,omitempty"`   // the order to end it; nil: none
	// Restored: it was placed before a backup was restored, see Continue.
	Restored bool `json:"restored,omitempty"`
	// Index is that of the change that made its present order.
	Index uint64 `json:"index"`
}

// Node is a node.
type Node struct {
	api.Registration
	State       api.NodeState    `json:"state"`                 // Ready when it registers, then what the leader finds
	Drain       *api.Drain       `json:"drain,omitempty"`       // nil: none
	Maintenance *api.Maintenance `json:"maintenance,omitempty"` // to come, now or over; nil: none
	Unhealthy   string           `json:"unhealthy,omitempty"`   // what the node says of itself
	// FailedStarts are those since it has started anything.
	FailedStarts []FailedStart     `json:"failedStarts,omitempty"`
	Distrust     *Distrust         `json:"distrust,omitempty"` // nil: none
	Labels       map[string]string `json:"labels,omitempty"`   // the operator's
	Registered   time.Time         `json:"registered"`         // when it first was since its machine was started
}

// Usable reports whether the node takes new tasks.
func (n *Node) Usable() bool {
	return n.State == api.NodeReady && n.Drain == nil && n.Ailment() == ""
}

// Used is what tasks have of a node.
type Used struct {
	Node string `json:"node"` // its name
	api.Used
	// Index is that of the last change of the node's orders.
	Index uint64 `json:"index"`
}

// Record is an attempt that has ended.
type Record struct {
	Seq uint64 `json:"seq"` // larger than that of any older record
	Job job.ID `json:"job"` // which job
	// Name and what follows, up to TimeLimit, is the job's.
	Name      string        `json:"name"`
	Owner     string        `json:"owner"`              // the user
	Queue     string        `json:"queue"`              // its name
	Submitted time.Time     `json:"submitted"`          // when it was
	Tasks     int32         `json:"tasks"`              // of each attempt
	Requested job.Resources `json:"requested"`          // for each task
	TimeLimit job.Duration  `json:"timeLimit,omitzero"` // of an attempt; zero: none

	Element int32     `json:"element"`           // its index, 0 where the job is no array
	Attempt int32     `json:"attempt"`           // its number
	LeftOut int32     `json:"leftOut,omitempty"` // as in Element
	Nodes   []string  `json:"nodes,omitempty"`   // by rank; empty for a task that got none
	Placed  time.Time `json:"placed"`            // when its last task was; zero: not all were
	Started time.Time `json:"started,omitzero"`  // as in Element
	Ended   time.Time `json:"ended"`             // when its last task did; of one given up, when that was
	Outcome Outcome   `json:"outcome"`           // how it ended
	Used    Total     `json:"used,omitzero"`     // by all its tasks
}

// chunk are the elements of one stretch of an array.
type chunk struct {
	Job    job.ID `json:"job"`
	Number int32  `json:"number"` // index / chunkSize
	// Codes has a byte an index: waiting, held, detailed (see elements), or an end.
	Codes []byte `json:"codes"`
}

const chunkSize = 1024

// key remembers a submission.
type key struct {
	Owner string   `json:"owner"`
	Key   string   `json:"key"`
	Jobs  []job.ID `json:"jobs"`
}

// total is what a user has used.
type total struct {
	Owner string `json:"owner"`
	Used  Total  `json:"used"`
}

// meta is what there is one of.
type meta struct {
	// Version is that of the state, 0 for 1, which is from before there were any.
	Version int    `json:"version,omitempty"`
	NextJob job.ID `json:"nextJob"`
	NextSeq uint64 `json:"nextSeq"`
	// Attempts: no new attempt of a job before Since has a number up to this; see
	// NextAttempt. Since 0 stands for all jobs: programs before this one wrote none.
	Attempts int32     `json:"attempts,omitempty"`
	Since    job.ID    `json:"since,omitempty"`
	Now      time.Time `json:"now"`
	Index    uint64    `json:"index"`
}
