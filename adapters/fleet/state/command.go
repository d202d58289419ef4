package state

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Command is one change of the state. Exactly one of the pointers is set.
type Command struct {
	// At is the time by the leader's clock. Time does not go back a little: where it would,
	// that of the command before counts.
	At time.Time `json:"at"`
	// By is who asked for it, for events.
	By string `json:"by,omitempty"`
	// Term, where it is not 0, is the term of the leader that decided this. In
	// another term the command is refused.
	Term uint64 `json:"term,omitempty"`

	Submit   *Submit   `json:"submit,omitempty"`
	Cancel   *Cancel   `json:"cancel,omitempty"`
	Hold     *Hold     `json:"hold,omitempty"`
	Requeue  *Select   `json:"requeue,omitempty"`
	Place    *Place    `json:"place,omitempty"`
	StopTask *StopTask `json:"stopTask,omitempty"`
	Unplace  *Unplace  `json:"unplace,omitempty"`
	Report   *Report   `json:"report,omitempty"`

	Register   *api.Registration `json:"register,omitempty"`
	NodeStatus *NodeStatus       `json:"nodeStatus,omitempty"`
	Node       *NodeChange       `json:"node,omitempty"`
	RemoveNode string            `json:"removeNode,omitempty"`

	PutQueue      *api.Queue `json:"putQueue,omitempty"`
	RemoveQueue   string     `json:"removeQueue,omitempty"`
	PutAccount    *Account   `json:"putAccount,omitempty"`
	RemoveAccount string     `json:"removeAccount,omitempty"`
	PutUser       *User      `json:"putUser,omitempty"`
	RemoveUser    string     `json:"removeUser,omitempty"`
	PutLimit      *Limit     `json:"putLimit,omitempty"`
	RemoveLimit   string     `json:"removeLimit,omitempty"`

	AddReservation    *Reservation `json:"addReservation,omitempty"`
	RemoveReservation string       `json:"removeReservation,omitempty"`

	PutToken    *Token `json:"putToken,omitempty"`
	RemoveToken string `json:"removeToken,omitempty"` // ID
	// Revoke ends certificates; where it is for a role and name, it removes their tokens
	// too. Its time is that of who asks: certificates are compared with it.
	Revoke *api.Revocation `json:"revoke,omitempty"`
	Purge  *Purge          `json:"purge,omitempty"`
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
	Owner string     `json:"owner"`
	Key   string     `json:"key,omitempty"`
}

// Select says which elements of a job a command is for.
type Select struct {
	Job job.ID `json:"job"`
	// Elements, where not nil, are the only ones.
	Elements *job.Indexes `json:"elements,omitempty"`
	Reason   string       `json:"reason,omitempty"`
}

// Cancel ends elements: those that wait at once, those under way when their tasks
// have ended.
type Cancel struct {
	Select
	// State is what they end as: Cancelled or Deadline.
	State  job.State `json:"state"`
	Signal string    `json:"signal,omitempty"`
}

// Hold keeps elements that wait from starting, until they are released.
type Hold struct {
	Select
	Release bool `json:"release,omitempty"`
	// Admin: an operator's hold, which only operators release.
	Admin bool `json:"admin,omitempty"`
}

// Place gives a task its node.
type Place struct {
	Task job.TaskID `json:"task"`
	Node string     `json:"node"`
	GPUs []GPUShare `json:"gpus,omitempty"`
}

// GPUShare is a part of a device, or all of it.
type GPUShare = api.GPUShare

// StopTask ends the attempt that a task is of, all its tasks, because it has to
// make room (PREEMPTED) or to leave its node (NODE_FAIL).
type StopTask struct {
	Task   job.TaskID `json:"task"`
	State  job.State  `json:"state"`
	Reason string     `json:"reason,omitempty"`
}

// Unplace gives up an attempt of which not all tasks have got a node. Nothing of it
// was started.
type Unplace struct {
	Task   job.TaskID `json:"task"` // any of the attempt
	Reason string     `json:"reason,omitempty"`
}

// Report is what an agent says of its tasks.
type Report struct {
	Node  string       `json:"node"`
	Tasks []api.Report `json:"tasks"`
	// SecondOpinion: a mistake that the node speaks of has to be confirmed, see Claim. When
	// older programs wrote the command it was taken at its word.
	SecondOpinion bool `json:"secondOpinion,omitempty" since:"2"`
}

// NodeStatus is what the leader finds about a node.
type NodeStatus struct {
	Node string `json:"node"`
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
	Node             string            `json:"node"`
	Drain            *api.Drain        `json:"drain,omitempty"`
	Resume           bool              `json:"resume,omitempty"`
	Maintenance      *api.Maintenance  `json:"maintenance,omitempty"`
	ClearMaintenance bool              `json:"clearMaintenance,omitempty"`
	Labels           map[string]string `json:"labels,omitempty"`
}

// Token is a bearer token, or one to join with. Only its hash is kept.
type Token struct {
	api.TokenInfo
	Hash []byte `json:"hash"`
	Join bool   `json:"join,omitempty"`
}

// Bearer is whose token it is, as role/name.
func (k *Token) Bearer() string { return string(k.Role) + "/" + k.Name }

// Purge forgets jobs that ended before a time, with their records, also later ones of
// users of whom more than half of their limit is stored; then the oldest records above a
// number, of the users who have the most; and tokens and revocations that have expired.
type Purge struct {
	Before  time.Time `json:"before"`
	Records int       `json:"records"`
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
	// Jobs are those of Submit, Repeated that they had been there.
	Jobs     []job.ID `json:"jobs,omitempty"`
	Repeated bool     `json:"repeated,omitempty"`
	// Tokens are the IDs of those that Revoke has removed.
	Tokens []string `json:"tokens,omitempty"`
	// Elements is how many elements the command changed.
	Elements int32 `json:"elements,omitempty"`
}

// refuse is the result of a command that changes nothing.
func refuse(code api.ErrorCode, format string, args ...any) Result {
	return Result{Err: &api.Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}
