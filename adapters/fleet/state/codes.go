package state

import "github.com/berth-project/berth/adapters/fleet/job"

// code is a state as a small number, for counts and chunks. The numbers are stored:
// new ones go to the end.
type code uint8

const (
	pending code = iota
	starting
	running
	completing
	completed
	failed
	timeout
	cancelled
	nodeFail
	outOfMemory
	preempted
	deadline
	bootFail
	codes // how many there are
)

// Of a chunk's byte, besides the codes of ends: the element waits as it was
// submitted, is held, by an operator or not, or has a row in elements.
const (
	waiting     byte = byte(pending)
	heldByAdmin byte = 253
	held        byte = 254
	detailed    byte = 255
)

var stateOf = [codes]job.State{
	pending: job.Pending, starting: job.Starting, running: job.Running, completing: job.Completing,
	completed: job.Completed, failed: job.Failed, timeout: job.Timeout, cancelled: job.Cancelled,
	nodeFail: job.NodeFail, outOfMemory: job.OutOfMemory, preempted: job.Preempted,
	deadline: job.Deadline, bootFail: job.BootFail,
}

var codeOf = func() map[job.State]code {
	m := map[job.State]code{}
	for c, s := range stateOf {
		m[s] = code(c)
	}
	return m
}()

// worstFirst is the order in which states say how a job of many elements is.
var worstFirst = []code{
	pending, failed, outOfMemory, timeout, nodeFail, bootFail, preempted, deadline, cancelled, completed,
}

// Counts counts elements by state.
type Counts [codes]int32

// ByState lists those that are not 0.
func (c *Counts) ByState() map[job.State]int32 {
	m := map[job.State]int32{}
	for i, n := range c {
		if n != 0 {
			m[stateOf[i]] = n
		}
	}
	return m
}

// Of counts those in a state.
func (c *Counts) Of(s job.State) int32 { return c[codeOf[s]] }

// move takes an element from one state to another.
func (c *Counts) move(from, to job.State) {
	c[codeOf[from]]--
	c[codeOf[to]]++
}
