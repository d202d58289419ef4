package state

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Rows are never changed once they are in a table: who changes one puts a copy.

// Job is a job.
type Job struct {
	ID        job.ID    `json:"id"`
	Spec      *job.Spec `json:"spec"` // shared by all versions of the row
	Owner     string    `json:"owner"`
	Key       string    `json:"key,omitempty"`
	Submitted time.Time `json:"submitted"`
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	// LastEnd is when the last of its elements that have ended did.
	LastEnd time.Time `json:"lastEnd,omitzero"`
	// Held is why the whole job is held: JobHeldUser or JobHeldAdmin, or empty.
	Held   job.Reason `json:"held,omitempty"`
	Counts Counts     `json:"counts"`
	// CancelReason is the reason that was given when elements of it were last ended by
	// request, or because it waited in vain.
	CancelReason string `json:"cancelReason,omitempty"`
	// HeldElements counts elements that are held by themselves.
	HeldElements int32    `json:"heldElements,omitempty"`
	LastNodes    []string `json:"lastNodes,omitempty"`
	// Stored is how much the job takes, in bytes, for MaxStored.
	Stored int64 `json:"stored,omitempty"`
	// Cut: records of its attempts have been purged.
	Cut  bool  `json:"cut,omitempty"`
	Used Total `json:"used,omitzero"`
	// Ran: all tasks of an element have run at once. Mistaken: an element has ended by a
	// claim that was confirmed. Claims are the last of each node, of an array's elements.
	Ran      bool    `json:"ran,omitempty"`
	Mistaken bool    `json:"mistaken,omitempty"`
	Claims   []Claim `json:"claims,omitempty"`
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
	Attempts    int64     `json:"attempts,omitempty"`
	WallMicros  int64     `json:"wallMicros,omitempty"`
	AllocMicros int64     `json:"allocMicros,omitempty"` // core microseconds set aside
	CPUMicros   int64     `json:"cpuMicros,omitempty"`
	GPUMicros   int64     `json:"gpuMicros,omitempty"`
	PeakMemory  job.Bytes `json:"peakMemory,omitempty"`
	ReadBytes   job.Bytes `json:"readBytes,omitempty"`
	WriteBytes  job.Bytes `json:"writeBytes,omitempty"`
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
	Job     job.ID    `json:"job"`
	Index   int32     `json:"index"`
	State   job.State `json:"state"`
	Attempt int32     `json:"attempt"` // the present one, or the last
	// LeftOut is how many numbers up to Attempt were left out because backups were
	// restored; see Try.
	LeftOut int32 `json:"leftOut,omitempty"`
	// Failures counts the attempts that count against Retry.Limit, Losses those that
	// ended for reasons that are not the job's.
	Failures int32 `json:"failures,omitempty"`
	Losses   int32 `json:"losses,omitempty"`
	// Eligible is when it may be tried again.
	Eligible time.Time  `json:"eligible,omitzero"`
	Avoid    string     `json:"avoid,omitempty"` // the node that the next attempt avoids
	Held     job.Reason `json:"held,omitempty"`
	// Claims are what its attempts have ended by since it was submitted or requeued.
	Claims []Claim `json:"claims,omitempty"`

	// Of the attempt under way: when its last task was placed, how many tasks have
	// got a node, run or have run, and have ended.
	Placed  int32     `json:"placed,omitempty"`
	Began   int32     `json:"began,omitempty"`
	Ended   int32     `json:"ended,omitempty"`
	Ready   time.Time `json:"ready,omitzero"`
	Started time.Time `json:"started,omitzero"`
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
	Used    Total `json:"used,omitzero"`
	// Nodes are the nodes by rank.
	Nodes []string `json:"nodes,omitempty"`
}

// Try says which try of the element the attempt is, from 1, as far as this state
// knows: the number of an attempt is larger where a backup was restored. Attempts that
// ended by a claim do not count: for the program the next one is the first.
func (e *Element) Try() int32 { return e.Attempt - e.LeftOut - int32(len(e.Claims)) }

// Outcome is how an attempt ends.
type Outcome struct {
	State   job.State `json:"state"`
	Rank    int32     `json:"rank,omitempty"`
	Exit    *api.Exit `json:"exit,omitempty"`
	Message string    `json:"message,omitempty"`
	// Mistake is api.Report.Mistake: the job cannot be started as it is. Unconfirmed: that
	// is one node's word, see Claim.
	Mistake     bool `json:"mistake,omitempty"`
	Unconfirmed bool `json:"unconfirmed,omitempty"`
}

// Task is a task of an attempt under way. It goes with the attempt.
type Task struct {
	ID    job.TaskID `json:"id"`
	Node  string     `json:"node"`
	GPUs  []GPUShare `json:"gpus,omitempty"`
	State job.State  `json:"state"` // Starting, Running, or how it ended
	// Ready: all tasks of the attempt have a node, so it may start.
	Ready   bool      `json:"ready,omitempty"`
	Placed  time.Time `json:"placed"`
	Started time.Time `json:"started,omitzero"`
	Stop    *api.Stop `json:"stop,omitempty"`
	// Restored: it was placed before a backup was restored, see Continue.
	Restored bool `json:"restored,omitempty"`
	// Index is that of the change that made its present order.
	Index uint64 `json:"index"`
}

// Node is a node.
type Node struct {
	api.Registration
	State       api.NodeState    `json:"state"`
	Drain       *api.Drain       `json:"drain,omitempty"`
	Maintenance *api.Maintenance `json:"maintenance,omitempty"`
	Unhealthy   string           `json:"unhealthy,omitempty"` // what the node says of itself
	// FailedStarts are those since it has started anything.
	FailedStarts []FailedStart     `json:"failedStarts,omitempty"`
	Distrust     *Distrust         `json:"distrust,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"` // the operator's
	Registered   time.Time         `json:"registered"`
}

// Usable reports whether the node takes new tasks.
func (n *Node) Usable() bool {
	return n.State == api.NodeReady && n.Drain == nil && n.Ailment() == ""
}

// Used is what tasks have of a node.
type Used struct {
	Node string `json:"node"`
	api.Used
	// Index is that of the last change of the node's orders.
	Index uint64 `json:"index"`
}

// Record is an attempt that has ended.
type Record struct {
	Seq uint64 `json:"seq"`
	Job job.ID `json:"job"`
	// Tasks and what follows is the job's.
	Name      string        `json:"name"`
	Owner     string        `json:"owner"`
	Queue     string        `json:"queue"`
	Submitted time.Time     `json:"submitted"`
	Tasks     int32         `json:"tasks"`
	Requested job.Resources `json:"requested"`
	TimeLimit job.Duration  `json:"timeLimit,omitzero"`

	Element int32     `json:"element"`
	Attempt int32     `json:"attempt"`
	LeftOut int32     `json:"leftOut,omitempty"` // as in Element
	Nodes   []string  `json:"nodes,omitempty"`
	Placed  time.Time `json:"placed"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended"`
	Outcome Outcome   `json:"outcome"`
	Used    Total     `json:"used,omitzero"`
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
