package api

import (
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// Registration is what an agent says of its node when it starts, and whenever
// something of it changes.
type Registration struct {
	Node string `json:"node"` // its name
	// Address is where the agent serves logs and metrics, host:port.
	Address string `json:"address"`
	// Boot tells one life of the machine from the next.
	Boot    string  `json:"boot"`
	Version string  `json:"version"` // of the agent
	Machine Machine `json:"machine"` // what it found out about the node
}

// Machine is what an agent found out about its node.
type Machine struct {
	Hostname string `json:"hostname"` // as the kernel has it
	OS       string `json:"os"`       // as Go names it, for example "linux"
	Arch     string `json:"arch"`     // as Go names it, for example "amd64"
	Kernel   string `json:"kernel"`   // its release

	Sockets int `json:"sockets"` // how many there are
	Cores   int `json:"cores"`   // of all sockets
	Threads int `json:"threads"` // of all cores
	// CPU, Memory and Disk are what tasks may use.
	CPU    job.MilliCPU `json:"cpu"`
	Memory job.Bytes    `json:"memory"`         // see CPU
	Disk   job.Bytes    `json:"disk"`           // see CPU
	NUMA   []NUMANode   `json:"numa,omitempty"` // its parts with memory of their own
	GPUs   []GPU        `json:"gpus,omitempty"` // in the order of their indices
	// Other are amounts of resources that the operator gave names to.
	Other  map[string]int64  `json:"other,omitempty"`
	Labels map[string]string `json:"labels,omitempty"` // that the agent was started with
	// MaxTasks is how many tasks may run at once.
	MaxTasks int64 `json:"maxTasks"`
	// Isolation says what limits tasks here; Warnings, for people, what is missing.
	Isolation Isolation `json:"isolation"`
	Warnings  []string  `json:"warnings,omitempty"` // see Isolation
}

// NUMANode is a part of a machine with memory of its own.
type NUMANode struct {
	ID     int       `json:"id"`     // as the kernel numbers them
	CPUs   string    `json:"cpus"`   // as the kernel lists them, for example "0-15,32-47"
	Memory job.Bytes `json:"memory"` // of the part
}

// GPU is a device of the node. Its place in Machine.GPUs is its number, and the
// index that programs see it by.
type GPU struct {
	Model  string    `json:"model"`            // its name
	UUID   string    `json:"uuid,omitempty"`   // as the driver has it
	Memory job.Bytes `json:"memory,omitempty"` // of its own
}

// Isolation says how tasks are contained on a node.
type Isolation struct {
	// Cgroup: every task has a control group (version 2) of its own, and is killed
	// with it. Controllers are those that limit it, of cpu, cpuset, io, memory, pids.
	Cgroup      bool     `json:"cgroup"`
	Controllers []string `json:"controllers,omitempty"` // of cgroups, that there are
	// Users: tasks run as their users.
	Users bool `json:"users"`
}

// Registered is the answer to a Registration.
type Registered struct {
	Term uint64 `json:"term"` // the leader's
}

// PollRequest is the heartbeat of an agent, and asks for its orders. The answer
// comes when there is something new, or when the next heartbeat is due.
type PollRequest struct {
	Node string `json:"node"` // its name
	Boot string `json:"boot"` // as in Registration
	// Term is the highest that the agent has seen. A server of a lower one does not
	// answer.
	Term uint64 `json:"term"`
	// Since is the Index of the last answer that was worked off; 0 asks for all
	// orders.
	Since uint64 `json:"since"`
	// After is that of the last answer.
	After job.TaskID `json:"after,omitzero"`
	// Wait is how long the agent waits for the answer, at the most: where the next
	// heartbeat is due later by now, it is told so in time. 0: until then.
	Wait job.Duration `json:"wait,omitzero"`
	// Unhealthy says what the node's health script complains of.
	Unhealthy string `json:"unhealthy,omitempty"`
	// Load is what was measured of the node. It is sent where PollResponse.Measure asked for
	// it.
	Load *Load `json:"load,omitempty"`
}

// PollResponse are the orders for a node. An agent refuses one whose Term is lower
// than the highest that it has seen, and remembers that one for good.
type PollResponse struct {
	Term  uint64 `json:"term"`  // the leader's
	Index uint64 `json:"index"` // for Since of the next request
	// Tasks are all tasks that belong on the node now. What else runs there is
	// ended, and forgotten once its report was taken or it is not asked for.
	Tasks []job.TaskID `json:"tasks"`
	// Orders are those that are new since PollRequest.Since. Where they are too many or
	// too large for one answer it has the first of them.
	Orders []Order `json:"orders,omitempty"`
	// After, where it is not zero, says that of the orders of Index those of later tasks
	// are not here: the next answer has them.
	After job.TaskID `json:"after,omitzero"`
	// Heartbeat is how long the agent may wait until the next poll.
	Heartbeat job.Duration `json:"heartbeat"`
	// Unregistered: the servers do not know the node, or another life of it. The
	// agent registers again.
	Unregistered bool `json:"unregistered,omitempty"`
	// Measure is how far apart, at the least, the agent is to report the load of its node. 0:
	// nobody wants to know, and nothing is measured.
	Measure job.Duration `json:"measure,omitzero"`
	// LoadRefused says what was wrong with PollRequest.Load, which was not taken. The
	// heartbeat counts all the same.
	LoadRefused string `json:"loadRefused,omitempty"`
}

// Order says what shall become of a task. There is one for each task of a node;
// a new one replaces the one before.
type Order struct {
	Task job.TaskID `json:"task"` // which task
	// Stop: the task shall end, or must not be started.
	Stop *Stop `json:"stop,omitempty"`
	// Restored: the servers' state was restored from a backup that had the task. An
	// agent that does not know it must not start it: it may have, and forgotten it.
	Restored bool `json:"restored,omitempty"`
	// Run says what to run. Where the task has not been started, and Stop is nil,
	// it is started.
	Run Run `json:"run"`
}

// Stop says how and why a task ends.
type Stop struct {
	// State is what it will be said to have ended as: CANCELLED, PREEMPTED,
	// DEADLINE, NODE_FAIL (drained), FAILED (another of its gang has).
	State  job.State `json:"state"`
	Reason string    `json:"reason,omitempty"` // in words, for the job's owner
	// Signal is the first one. Empty: TERM.
	Signal string `json:"signal,omitempty"`
	// Grace is the time until KILL.
	Grace job.Duration `json:"grace"`
}

// Run is all that an agent needs to know to run a task.
type Run struct {
	Spec job.Spec `json:"spec"` // of the job
	// Owner is who submitted the job; User the account that it runs as, empty: the
	// agent's own.
	Owner string `json:"owner"`
	User  string `json:"user,omitempty"` // see Owner
	// Try says which try of its element this is, from 1: programs are told, for the
	// number of the attempt jumps where a backup was restored. 0: that number.
	Try int32 `json:"try,omitempty"`
	// Array is how many elements the job has, 0 where it is no array.
	Array int32 `json:"array,omitempty"`
	// GPUs are the devices that the task was given, by number, and the share of
	// each in thousandths.
	GPUs []GPUShare `json:"gpus,omitempty"`
	// Hosts are the addresses of the nodes of the ranks, in their order; Names the
	// nodes' names.
	Hosts []string `json:"hosts"`
	Names []string `json:"names"` // see Hosts
}

// GPUShare is a device given to a task, whole or in part.
type GPUShare struct {
	GPU   int   `json:"gpu"`   // its index
	Share int64 `json:"share"` // thousandths
}

// ReportRequest tells what happened to tasks. Until it is answered the agent repeats
// it; to hear something again changes nothing.
type ReportRequest struct {
	Node  string   `json:"node"`  // its name
	Tasks []Report `json:"tasks"` // what is new about them
}

// Report is what an agent says of one task.
type Report struct {
	Task job.TaskID `json:"task"` // which task
	// State is Running or an end.
	State job.State `json:"state"`
	// At is when it started, or ended, by the node's clock.
	At time.Time `json:"at"`
	// Started is when it had started; zero where it never was.
	Started time.Time `json:"started,omitzero"`
	// Exit is how it ended. Of a task that never started it is what a shell would have
	// said of it: see Mistake.
	Exit *Exit `json:"exit,omitempty"`
	// Message says why, where the state does not say it all.
	Message string `json:"message,omitempty"`
	Usage   Usage  `json:"usage,omitzero"` // what it has used until now
}

// Mistake reports whether the task could not be started for what its job asks for, such
// as a program that is not there, as far as the node can tell. Where others say the
// same, no other attempt would help. What is a node's fault for sure ends as BOOT_FAIL.
func (r *Report) Mistake() bool {
	return r.State == job.Failed && r.Exit != nil && r.Started.IsZero()
}

// MaxMessage is how much is kept of the message of a Report, and of what a node's
// health script complains of, in bytes.
const MaxMessage = 1024

// CutMessage is a message without what is too long of it. Agents and servers cut: some
// of it is what users wrote, such as a PATH in which a program was not found, and it is
// in reports, records and events many times.
func CutMessage(text string) string {
	if len(text) <= MaxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:MaxMessage], "") + "..."
}

// Exit is how a process ended.
type Exit struct {
	Code   int    `json:"code"`             // -1 where a signal ended it
	Signal string `json:"signal,omitempty"` // its name, for example "KILL"
}

// Usage is what a task has used.
type Usage struct {
	CPUSeconds float64   `json:"cpuSeconds,omitempty"` // of all threads
	PeakMemory job.Bytes `json:"peakMemory,omitempty"` // the most at one moment
	ReadBytes  job.Bytes `json:"readBytes,omitempty"`  // from disks
	WriteBytes job.Bytes `json:"writeBytes,omitempty"` // to disks
}

// ReportResponse is the answer to a ReportRequest: everything in it is recorded.
type ReportResponse struct {
	Term uint64 `json:"term"` // the leader's
}
