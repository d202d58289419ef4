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
	Name    string    `json:"name"`    // unique in the fleet
	Address string    `json:"address"` // where others reach it
	State   NodeState `json:"state"`   // whether it takes tasks
	// Drain, where it is set, keeps new tasks away.
	Drain *Drain `json:"drain,omitempty"`
	// Maintenance is a window in which the node is not used.
	Maintenance *Maintenance `json:"maintenance,omitempty"`
	// Unhealthy is what the node complains of, its health script for example, or that starts
	// fail on it alone; it takes no new tasks.
	Unhealthy string `json:"unhealthy,omitempty"`
	// Labels are all, those of the machine and the operator's.
	Labels     map[string]string `json:"labels,omitempty"`
	Machine    Machine           `json:"machine"`       // as its agent reported it
	Version    string            `json:"version"`       // of the agent
	Registered time.Time         `json:"registered"`    // when it did
	Seen       time.Time         `json:"seen,omitzero"` // the last heartbeat, as the leader knows it
	Used       Used              `json:"used"`          // what tasks have of it
	// Load is what was measured of the node last, as the leader knows it. Nil: nothing was, or
	// the servers' settings do not ask for it.
	Load *Load `json:"load,omitempty"`
}

// Used is what tasks have of a node.
type Used struct {
	CPU    job.MilliCPU     `json:"cpu"`             // set aside, not measured
	Memory job.Bytes        `json:"memory"`          // likewise
	Disk   job.Bytes        `json:"disk"`            // likewise
	Tasks  int64            `json:"tasks"`           // how many there are
	GPUs   []int64          `json:"gpus,omitempty"`  // thousandths of each device
	Other  map[string]int64 `json:"other,omitempty"` // by name of the resource
}

// Drain says that a node is to be emptied: POST /v1/nodes/{name}/drain.
type Drain struct {
	Reason string `json:"reason,omitempty"` // in words
	// Deadline is when tasks that still run are ended (and tried again elsewhere).
	// Zero: they may run on.
	Deadline time.Time `json:"deadline,omitzero"`
	By       string    `json:"by,omitempty"`   // who asked for it
	Since    time.Time `json:"since,omitzero"` // when that was
}

// Because is the reason as the end of a sentence, where there is one.
func (d *Drain) Because() string { return because(d.Reason) }

// Maintenance is a window of time: POST /v1/nodes/{name}/maintenance. Tasks that
// could not end before From are not placed on the node; at From it is drained, at
// To it is used again.
type Maintenance struct {
	From   time.Time `json:"from"`             // when it begins
	To     time.Time `json:"to"`               // when it ends
	Reason string    `json:"reason,omitempty"` // in words
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
	Labels map[string]string `json:"labels"` // by name
}

// NodeList is the answer to GET /v1/nodes?limit=&after=, by name.
type NodeList struct {
	Nodes []Node `json:"nodes"` // those of the page
	Page
}
