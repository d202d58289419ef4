package api

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// NodeState says whether a node can be used.
type NodeState string

// The states.
const (
	NodeReady       NodeState = "READY"
	NodeUnreachable NodeState = "UNREACHABLE" // no heartbeat: no new tasks, those that run are left
	NodeLost        NodeState = "LOST"        // for so long that its tasks are given up
)

// Node is a node: GET /v1/nodes, GET /v1/nodes/{name}.
type Node struct {
	Name    string    `json:"name"`
	Address string    `json:"address"`
	State   NodeState `json:"state"`
	// Drain, where it is set, keeps new tasks away.
	Drain *Drain `json:"drain,omitempty"`
	// Maintenance is a window in which the node is not used.
	Maintenance *Maintenance `json:"maintenance,omitempty"`
	// Unhealthy is what the node complains of, its health script for example, or that starts
	// fail on it alone; it takes no new tasks.
	Unhealthy string `json:"unhealthy,omitempty"`
	// Labels are all, those of the machine and the operator's.
	Labels     map[string]string `json:"labels,omitempty"`
	Machine    Machine           `json:"machine"`
	Version    string            `json:"version"`
	Registered time.Time         `json:"registered"`
	Seen       time.Time         `json:"seen,omitzero"` // the last heartbeat, as the leader knows it
	Used       Used              `json:"used"`
	// Load is what was measured of the node last, as the leader knows it. Nil: nothing was, or
	// the servers' settings do not ask for it.
	Load *Load `json:"load,omitempty"`
}

// Used is what tasks have of a node.
type Used struct {
	CPU    job.MilliCPU     `json:"cpu"`
	Memory job.Bytes        `json:"memory"`
	Disk   job.Bytes        `json:"disk"`
	Tasks  int64            `json:"tasks"`
	GPUs   []int64          `json:"gpus,omitempty"` // thousandths of each device
	Other  map[string]int64 `json:"other,omitempty"`
}

// Drain says that a node is to be emptied: POST /v1/nodes/{name}/drain.
type Drain struct {
	Reason string `json:"reason,omitempty"`
	// Deadline is when tasks that still run are ended (and tried again elsewhere).
	// Zero: they may run on.
	Deadline time.Time `json:"deadline,omitzero"`
	By       string    `json:"by,omitempty"`
	Since    time.Time `json:"since,omitzero"`
}

// Because is the reason as the end of a sentence, where there is one.
func (d *Drain) Because() string { return because(d.Reason) }

// Maintenance is a window of time: POST /v1/nodes/{name}/maintenance. Tasks that
// could not end before From are not placed on the node; at From it is drained, at
// To it is used again.
type Maintenance struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Reason string    `json:"reason,omitempty"`
}

// Because is the reason as the end of a sentence, where there is one.
func (m *Maintenance) Because() string { return because(m.Reason) }

// MaxReason is how many bytes the reason of an operator may have: jobs that wait are told it.
const MaxReason = 256

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// Labels changes the operator's labels of a node: POST /v1/nodes/{name}/labels. An
// empty value removes the label.
type Labels struct {
	Labels map[string]string `json:"labels"`
}

// NodeList is the answer to GET /v1/nodes?limit=&after=, by name.
type NodeList struct {
	Nodes []Node `json:"nodes"`
	Page
}
