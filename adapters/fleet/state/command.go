package state

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Command is one change of the state: exactly one of the fields after Term is set.
type Command struct {
	// At is the time by the leader's clock. Time does not go back a little: where it would,
	// that of the command before counts.
	At time.Time `json:"at"`
	// By is who asked for it, for events.
	By string `json:"by,omitempty"`
	// Term, where it is not 0, is the term of the leader that decided this. In
	// another term the command is refused.
	Term uint64 `json:"term,omitempty"`

	Submit   *Submit   `json:"submit,omitempty"`   // adds jobs
	Cancel   *Cancel   `json:"cancel,omitempty"`   // ends elements
	Hold     *Hold     `json:"hold,omitempty"`     // holds elements that wait, or releases them
	Requeue  *Select   `json:"requeue,omitempty"`  // has elements tried again, also those that have ended
	Place    *Place    `json:"place,omitempty"`    // gives one task its node
	StopTask *StopTask `json:"stopTask,omitempty"` // ends an attempt, because of one of its tasks
	Unplace  *Unplace  `json:"unplace,omitempty"`  // gives up an attempt that is not complete
	Report   *Report   `json:"report,omitempty"`   // says what happened to tasks on a node

	Register   *api.Registration `json:"register,omitempty"`   // adds a node, or says anew what it has
	NodeStatus *NodeStatus       `json:"nodeStatus,omitempty"` // says whether a node is heard of, and well
	Node       *NodeChange       `json:"node,omitempty"`       // changes a node's drain, maintenance window or labels
	RemoveNode string            `json:"removeNode,omitempty"` // name; refused while it has tasks

	PutQueue      *api.Queue `json:"putQueue,omitempty"`      // adds a queue, or replaces it
	RemoveQueue   string     `json:"removeQueue,omitempty"`   // name; refused while it is needed; the default one is reset
	PutAccount    *Account   `json:"putAccount,omitempty"`    // adds an account, or replaces it
	RemoveAccount string     `json:"removeAccount,omitempty"` // name; refused while something names it
	PutUser       *User      `json:"putUser,omitempty"`       // adds what is said of a user, or replaces it
	RemoveUser    string     `json:"removeUser,omitempty"`    // name; the user has the defaults then
	PutLimit      *Limit     `json:"putLimit,omitempty"`      // adds a limit, or replaces it
	RemoveLimit   string     `json:"removeLimit,omitempty"`   // name

	AddReservation    *Reservation `json:"addReservation,omitempty"`    // refused where there is one of that name
	RemoveReservation string       `json:"removeReservation,omitempty"` // name; tasks that run in it run on

	PutToken    *Token `json:"putToken,omitempty"`    // adds a token; Created and By are set when it is applied
	RemoveToken string `json:"removeToken,omitempty"` // ID
	// Revoke ends certificates; where it is for a role and name, it removes their tokens
	// too. Its time is that of who asks: certificates are compared with it.
	Revoke *api.Revocation `json:"revoke,omitempty"`
	Purge  *Purge          `json:"purge,omitempty"` // forgets what is old, or beyond a limit
	// Raise, where not 0, is the version of the state from here on, see Version.
	Raise int `json:"raise,omitempty"`
	// Restored follows the restoration of a backup, see Continue.
	Restored bool `json:"restored,omitempty"`
}

// Submit submits jobs, all or none.
type Submit struct {
	// Specs are valid and have their defaults; "@name" has been replaced by
	// "+N", the job of that place in Specs, from 0.
	Specs []job.Spec `json:"specs"`
	Owner string     `json:"owner"` // the user whose jobs they are
	// Key, where not empty, names the submission among those of the owner. While it is
	// remembered, another with the key adds nothing and gets the same jobs.
	Key string `json:"key,omitempty"`
}

// Select says which elements of a job a command is for.
type Select struct {
	Job job.ID `json:"job"` // which job; refused where it is not known
	// Elements, where not nil, are the only ones.
	Elements *job.Indexes `json:"elements,omitempty"`
	Reason   string       `json:"reason,omitempty"` // in words, for events and records; may be empty
}

// Cancel ends elements: those that wait at once, those under way when their tasks
// have ended.
type Cancel struct {
	Select
	// State is what they end as: Cancelled or Deadline.
	State  job.State `json:"state"`
	Signal string    `json:"signal,omitempty"` // the first that tasks get; empty: TERM
}

// Hold keeps elements that wait from starting, until they are released.
type Hold struct {
	Select
	Release bool `json:"release,omitempty"` // release them instead
	// Admin: an operator's hold, which only operators release.
	Admin bool `json:"admin,omitempty"`
}

// Place gives a task its node.
type Place struct {
	Task job.TaskID `json:"task"`           // of the attempt that View.NextAttempt names
	Node string     `json:"node"`           // its name; it must be usable
	GPUs []GPUShare `json:"gpus,omitempty"` // what the task has of its devices; empty: nothing
}

// GPUShare is a part of a device, or all of it.
type GPUShare = api.GPUShare

// StopTask ends the attempt that a task is of, all its tasks, because it has to
// make room (PREEMPTED) or to leave its node (NODE_FAIL).
type StopTask struct {
	Task   job.TaskID `json:"task"`             // the one that has to go; its attempt ends
	State  job.State  `json:"state"`            // Preempted or NodeFail
	Reason string     `json:"reason,omitempty"` // in words, for the job's owner
}

// Unplace gives up an attempt of which not all tasks have got a node. Nothing of it
// was started.
type Unplace struct {
	Task   job.TaskID `json:"task"`             // any of the attempt
	Reason string     `json:"reason,omitempty"` // in words, for events and the record
}

// Report is what an agent says of its tasks.
type Report struct {
	Node  string       `json:"node"`  // the agent's; tasks that are not on it are left out
	Tasks []api.Report `json:"tasks"` // what is new about them, applied in this order
	// SecondOpinion: a mistake that the node speaks of has to be confirmed, see Claim. When
	// older programs wrote the command it was taken at its word.
	SecondOpinion bool `json:"secondOpinion,omitempty" since:"2"`
}

// NodeStatus is what the leader finds about a node.
type NodeStatus struct {
	Node string `json:"node"` // its name; refused where it is not known
	// State, where not empty, is the new one. Lost ends its tasks as NODE_FAIL.
	State api.NodeState `json:"state,omitempty"`
	// Unhealthy, where not nil, is what the health script says now.
	Unhealthy *string `json:"unhealthy,omitempty"`
	// Probe lets a node have tasks again that was distrusted.
	Probe bool `json:"probe,omitempty"`
}

// NodeChange is what an operator wants of a node. What is nil stays. Resume ends a drain,
// and distrust; ClearMaintenance a maintenance window. A drain without a reason keeps that
// of the one before.
type NodeChange struct {
	Node string `json:"node"` // its name; refused where it is not known
	// Of Drain, Resume, Maintenance and ClearMaintenance one is carried out, the first that
	// is set. By and Since of a drain are set when it is applied.
	Drain            *api.Drain        `json:"drain,omitempty"`
	Resume           bool              `json:"resume,omitempty"`           // also forgets failed starts
	Maintenance      *api.Maintenance  `json:"maintenance,omitempty"`      // replaces the window
	ClearMaintenance bool              `json:"clearMaintenance,omitempty"` // removes the window
	Labels           map[string]string `json:"labels,omitempty"`           // an empty value removes one
}

// Token is a bearer token, or one to join with. Only its hash is kept.
type Token struct {
	api.TokenInfo
	Hash []byte `json:"hash"`           // SHA-256, as package pki makes it; ID is its beginning
	Join bool   `json:"join,omitempty"` // servers or agents join with it; else it is a bearer token
}

// Bearer is whose token it is, as role/name.
func (k *Token) Bearer() string { return string(k.Role) + "/" + k.Name }

// Purge forgets jobs that ended before a time, with their records, also later ones of
// users of whom more than half of their limit is stored; then the oldest records above a
// number, of the users who have the most; and tokens and revocations that have expired.
type Purge struct {
	Before  time.Time `json:"before"`  // jobs that ended earlier go, unless others wait for them
	Records int       `json:"records"` // how many are kept, of all users together
	// ByQueues: a user's limit is that of StoredLimit. Else it is MaxStored, as it was
	// when older programs wrote the command.
	ByQueues bool `json:"byQueues,omitempty" since:"2"`
}

// Encode is the command as it is written to the log.
func (c *Command) Encode() ([]byte, error) { return json.Marshal(c) }

// Decode reads what Encode wrote.
func Decode(text []byte) (*Command, error) {
	c := &Command{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("decode a command: %w", err)
	}
	return c, nil
}

// Result is what came of a command.
type Result struct {
	// Err says why nothing was changed; nil: it was.
	Err *api.Error `json:"err,omitempty"`
	// Jobs are those of Submit, in the order of its specs.
	Jobs     []job.ID `json:"jobs,omitempty"`
	Repeated bool     `json:"repeated,omitempty"` // they were there: the key was known
	// Tokens are the IDs of those that Revoke has removed.
	Tokens []string `json:"tokens,omitempty"`
	// Elements is how many elements the command changed.
	Elements int32 `json:"elements,omitempty"`
}

// refuse is the result of a command that changes nothing.
func refuse(code api.ErrorCode, format string, args ...any) Result {
	return Result{Err: &api.Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}
