package job

import "time"

// Spec is what a user asks for. The zero value of a field means its default.
type Spec struct {
	// Name is for people; several jobs may share it. Default: the last part of
	// the command's path, or "script".
	Name string `json:"name,omitempty"`
	// Queue is the queue that the job waits in. Default: DefaultQueue.
	Queue  string            `json:"queue,omitempty"`
	Labels map[string]string `json:"labels,omitempty"` // for Near and Apart of other jobs, and for people

	// Command is the program and its arguments. Exactly one of Command and
	// Script is set.
	Command []string `json:"command,omitempty"`
	// Script is the text of a program that begins with "#!"; Args are its
	// arguments.
	Script string   `json:"script,omitempty"`
	Args   []string `json:"args,omitempty"` // see Script

	Env map[string]string `json:"env,omitempty"` // added to what a task finds in its environment
	// Umask is that of the task, in octal digits. "berth submit" fills in the one of
	// where it is called. Default: DefaultUmask.
	Umask string `json:"umask,omitempty"`
	// Dir is the working directory on the node: an absolute path, or OwnDir, a
	// folder that is made for the task and removed with it, which is the default.
	// "berth submit" fills in the directory where it is called.
	Dir string `json:"dir,omitempty"`
	// SubmitDir and SubmitHost say where "berth submit" was called. They are for
	// the task's environment (SLURM_SUBMIT_DIR, SLURM_SUBMIT_HOST); nothing else
	// looks at them.
	SubmitDir  string `json:"submitDir,omitempty"`
	SubmitHost string `json:"submitHost,omitempty"` // see SubmitDir
	// User is the account on the node that the job runs as. Default: that of the
	// name of who submits, where nodes run jobs as their users.
	User string `json:"user,omitempty"`
	// Output and Error are files on the node for the task's output; "%j", "%x", "%a",
	// "%t", "%n" and "%u" in them stand for the job, its name, the element, the rank,
	// the node and the user, "%%" for "%"; "%4a" has at least four digits. A path that
	// does not begin with "/" is relative to Dir, which must not be the task's own
	// folder then. Default of Output: a file that the agent keeps, limits in size, and
	// hands out (berth logs). Default of Error: Output where that is set, else another
	// file that the agent keeps.
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"` // see Output
	// OpenMode says what happens to what is in Output and Error already. Default:
	// truncate.
	OpenMode OpenMode `json:"openMode,omitempty"`

	// Resources are what each task gets.
	Resources Resources `json:"resources,omitzero"`
	// Tasks is how many tasks run together, all or none. Default: 1.
	Tasks int32 `json:"tasks,omitempty"`
	// SameLabel, where not empty, is a node label: all tasks go to nodes with the
	// same value of it.
	SameLabel string `json:"sameLabel,omitempty"`
	// KeepGoing: the failure of one task does not end the others.
	KeepGoing bool `json:"keepGoing,omitempty"`
	// Array, where not empty, makes an element of each of its indices.
	Array Array `json:"array,omitzero"`

	// Nodes, where not empty, are the only nodes that will do; ExcludeNodes will
	// not do.
	Nodes        []string     `json:"nodes,omitempty"`
	ExcludeNodes []string     `json:"excludeNodes,omitempty"` // see Nodes
	Constraints  []Constraint `json:"constraints,omitempty"`  // all must hold
	Preferences  []Preference `json:"preferences,omitempty"`  // what holds adds its weight
	// Near and Apart are about other jobs of the same user.
	Near   []Affinity `json:"near,omitempty"`
	Apart  []Affinity `json:"apart,omitempty"`  // see Near
	Spread []Spread   `json:"spread,omitempty"` // of its tasks and elements

	// Reservation, where not empty, is the one whose nodes the job uses while it is on;
	// it runs nowhere else.
	Reservation string `json:"reservation,omitempty"`

	// Priority: higher goes first; from MinPriority to MaxPriority.
	Priority int32 `json:"priority,omitempty"`
	// Hold: the job waits until it is released.
	Hold bool `json:"hold,omitempty"`
	// Begin is the earliest time to start.
	Begin time.Time `json:"begin,omitzero"`
	// Deadline is when the job is ended, or given up, whatever it is doing.
	Deadline time.Time `json:"deadline,omitzero"`
	// After are the jobs that this one depends on; all must hold.
	After []Dependency `json:"after,omitempty"`
	// Singleton: it waits for all jobs of the same name and user that were
	// submitted before it.
	Singleton bool `json:"singleton,omitempty"`
	// KillOnInvalidDep: where a dependency can never be met, what waits for it is
	// cancelled. Without it, that waits until somebody cancels it, or requeues the
	// job that it depends on.
	KillOnInvalidDep bool `json:"killOnInvalidDep,omitempty"`

	// TimeLimit is how long an attempt may run; NoTimeLimit is as long as it likes.
	// Default: the queue's.
	TimeLimit Duration `json:"timeLimit,omitzero"`
	// Warn, where it is set, is a signal before the time limit.
	Warn *Warning `json:"warn,omitempty"`
	// KillGrace is the time between the signal that asks a task to end (TERM) and
	// the one that ends it (KILL). Default: DefaultKillGrace.
	KillGrace *Duration `json:"killGrace,omitempty"`

	Retry Retry `json:"retry,omitzero"` // of attempts that did not succeed
	// NoRequeue: what lost its node, could not be started by it, or had to make room, is
	// not tried again.
	NoRequeue bool `json:"noRequeue,omitempty"`
}

// Limits and defaults of a Spec.
const (
	DefaultQueue     = "default"
	DefaultKillGrace = Duration(30 * time.Second)
	MinPriority      = -1000
	MaxPriority      = 1000

	// OwnDir as Spec.Dir is a folder that is made for the task and removed with it.
	OwnDir = "own"
	// NoTimeLimit as Spec.TimeLimit is no limit, whatever the queue's default is.
	NoTimeLimit = maxTime
)

// OpenMode says how the files of a task's output are opened.
type OpenMode string

// The modes. A file that several tasks of the job write to, or that an earlier try of
// the element has written to, is appended to in both.
const (
	OpenTruncate OpenMode = "truncate" // what was there before the job is removed
	OpenAppend   OpenMode = "append"   // it stays
)

// Resources are what each task of a job gets.
type Resources struct {
	CPU    MilliCPU `json:"cpu,omitzero"`    // default: 1 core
	Memory Bytes    `json:"memory,omitzero"` // 0: none is asked for
	Disk   Bytes    `json:"disk,omitzero"`   // 0: none is asked for
	GPUs   *GPUs    `json:"gpus,omitempty"`  // nil: none
	// Other are amounts of resources that operators give names to.
	Other map[string]int64 `json:"other,omitempty"`
}

// GPUs ask for devices of a node.
type GPUs struct {
	// Count is how many. Default: 1; with a Share, 1 is the only one.
	Count int64 `json:"count,omitempty"`
	// Share is the part of the device, in thousandths. Default: all of it.
	Share int64 `json:"share,omitempty"`
	// Models, where not empty, are the models that will do.
	Models []string `json:"models,omitempty"`
}

// Operator compares a node's label with values.
type Operator string

// The operators.
const (
	In        Operator = "In"
	NotIn     Operator = "NotIn"
	Exists    Operator = "Exists"
	NotExists Operator = "NotExists"
	Gt        Operator = "Gt" // whole numbers
	Lt        Operator = "Lt"
)

// Constraint is a condition on a label of the node.
type Constraint struct {
	Label    string   `json:"label"`              // the name of a label of nodes
	Operator Operator `json:"operator,omitempty"` // default: In, or Exists without values
	Values   []string `json:"values,omitempty"`   // of the label; none with Exists
}

// Preference is a constraint that should hold, with a weight from 1 to 100.
type Preference struct {
	Constraint
	Weight int32 `json:"weight"` // from 1 to 100
}

// Affinity is about the place of other jobs' tasks: where nodes have the same
// value of the label SameLabel they are near.
type Affinity struct {
	// Labels that the other jobs have.
	Labels    map[string]string `json:"labels"`
	SameLabel string            `json:"sameLabel,omitempty"` // default: the node itself
	// Weight, where not 0, makes it a wish, from 1 to 100.
	Weight int32 `json:"weight,omitempty"`
}

// Spread wants the tasks and elements of the job evenly over the values of a
// node label.
type Spread struct {
	Label string `json:"label,omitempty"` // default: the node itself
	// MaxSkew is the largest difference between the most and the least. Default: 1.
	MaxSkew int32 `json:"maxSkew,omitempty"`
	// Soft makes it a wish.
	Soft bool `json:"soft,omitempty"`
}

// DependencyKind says what a job waits for.
type DependencyKind string

// The kinds, in the words of batch systems.
const (
	AfterOK    DependencyKind = "afterok"    // all elements completed
	AfterNotOK DependencyKind = "afternotok" // it has ended and not all completed
	AfterAny   DependencyKind = "afterany"   // it has ended
	AfterCorr  DependencyKind = "aftercorr"  // the element of the same index completed
	AfterStart DependencyKind = "after"      // all elements have started, or ended
)

// Dependency is a job that another depends on.
type Dependency struct {
	Kind DependencyKind `json:"kind"` // which end of the other job it waits for
	// Job is the number of a job of the same user (operators: of anybody), or "@"
	// and the name of another job of the same submission.
	Job string `json:"job"`
}

// Warning is a signal that a task gets some time before its limit.
type Warning struct {
	Signal string   `json:"signal,omitempty"` // default: "USR1"
	Before Duration `json:"before"`           // how long before the limit
	// Shell: only the first process of the task gets it, the shell of a script. Without
	// it all other processes do; where the job is a command, that does, too.
	Shell bool `json:"shell,omitempty"`
}

// Retry says when an attempt that did not succeed is tried again.
type Retry struct {
	// Limit is how many more attempts there may be. Default: none.
	Limit int32 `json:"limit,omitempty"`
	// On says which ends count: "failed" (any exit code but 0, any signal),
	// "exit:N", "exit:N-M", "signal", "signal:NAME", "oom", "timeout".
	// Default: failed. What cannot be started for a mistake in the job, such as a
	// program that is not there, counts only where "exit:" names its code, and once another
	// node has confirmed it.
	On []string `json:"on,omitempty"`
	// Backoff is the pause before the first retry; it doubles with each, up to
	// MaxBackoff. Defaults: 10 s, 10 min.
	Backoff    *Duration `json:"backoff,omitempty"`
	MaxBackoff *Duration `json:"maxBackoff,omitempty"` // see Backoff
	// SameNode allows the node of the last attempt for the next one, and nodes that
	// could not start an earlier one. By default they are left out for ten minutes,
	// where there are others.
	SameNode bool `json:"sameNode,omitempty"`
}

// File is what a job file has: one job, or several that are submitted together.
type File struct {
	Jobs []Spec `json:"jobs"` // submitted together, all or none
}
