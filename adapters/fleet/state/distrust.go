package state

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// FailedStart is a start that failed on a node, which has started nothing since.
type FailedStart struct {
	Job     job.ID `json:"job"`     // whose task could not start
	Element int32  `json:"element"` // its index, 0 where the job is no array
	Owner   string `json:"owner"`   // of the job; see distrustAfter
	// Elsewhere: the element has run on other nodes since.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Distrust says that a node gets no tasks because starts fail on it alone. It ends when the
// node starts something, when an operator resumes the node, when the machine was started
// anew, and with NodeStatus.Probe.
type Distrust struct {
	Reason string    `json:"reason"` // in words, see Ailment
	Since  time.Time `json:"since"`  // when it began; after a while the leader has the node probed
}

const (
	// distrustAfter is how many starts in a row fail before a node is distrusted: those
	// that then ran elsewhere, or those of so many users.
	distrustAfter = 3
	// maxFailedStarts is how many are kept of a node.
	maxFailedStarts = 16
)

// Ailment says why the node is not well, "" where it is.
func (n *Node) Ailment() string {
	switch {
	case n.Distrust == nil:
		return n.Unhealthy
	case n.Unhealthy == "":
		return n.Distrust.Reason
	}
	return n.Unhealthy + "; " + n.Distrust.Reason
}

// startFailed notes that a node could not start a task, unless that is known to be the
// job's own fault.
func (t *tx) startFailed(node string, j *Job, e *Element) {
	n := t.Node(node)
	if j = t.Job(j.ID); n == nil || !t.secondOpinion || e.Stopping != nil || j.Mistaken && !j.everRan() {
		return
	}
	next := *n
	next.FailedStarts = append(slices.DeleteFunc(slices.Clone(n.FailedStarts), isOf(e)), FailedStart{Job: j.ID, Element: e.Index, Owner: j.Owner})
	next.FailedStarts = next.FailedStarts[max(0, len(next.FailedStarts)-maxFailedStarts):]
	t.judge(&next)
}

func isOf(e *Element) func(FailedStart) bool {
	return func(f FailedStart) bool { return f.Job == e.Job && f.Element == e.Index }
}

// hasStarted notes that a node has started a task.
func (t *tx) hasStarted(node string) {
	if n := t.Node(node); n != nil && len(n.FailedStarts) > 0 {
		next := *n
		next.trust()
		t.putNode(&next)
	}
}

// trust forgets what speaks against the node.
func (n *Node) trust() { n.FailedStarts, n.Distrust = nil, nil }

// ranElsewhere notes that an element runs, against the nodes that could not start it.
func (t *tx) ranElsewhere(e *Element) {
	if len(e.Claims) == 0 && e.Losses == 0 {
		return
	}
	for _, n := range slices.Collect(t.FailedToStart(e)) {
		if slices.Contains(e.Nodes, n.Node) {
			continue
		}
		next := *n
		next.FailedStarts = slices.Clone(n.FailedStarts)
		next.FailedStarts[slices.IndexFunc(n.FailedStarts, isOf(e))].Elsewhere = true
		t.judge(&next)
	}
}

// clearNodes forgets what an element speaks against nodes: its job is mistaken.
func (t *tx) clearNodes(e *Element) {
	for _, n := range slices.Collect(t.FailedToStart(e)) {
		next := *n
		next.FailedStarts = slices.DeleteFunc(slices.Clone(n.FailedStarts), isOf(e))
		t.putNode(&next)
	}
}

// wasWrong reports whether what a node could not start has run elsewhere, and it has
// started nothing since.
func (t *tx) wasWrong(node string) bool {
	n := t.Node(node)
	return n != nil && slices.ContainsFunc(n.FailedStarts, func(f FailedStart) bool { return f.Elsewhere })
}

// judge puts a node's row, a copy, and distrusts the node where too many starts have
// failed, unless it knows itself that it is not well. No more than half of the nodes are distrusted: one user's job, which needs
// something that only some nodes have, does not close the fleet to the others.
func (t *tx) judge(n *Node) {
	if reason := n.suspicion(); n.Ailment() == "" && reason != "" && t.maySpare() {
		n.Distrust = &Distrust{Reason: reason, Since: t.now()}
		t.emit(api.Event{Kind: api.EventNode, Node: n.Node, Message: "is unhealthy: " + reason})
	}
	t.putNode(n)
}

// suspicion says why the node is to be distrusted, "" where it is not.
func (n *Node) suspicion() string {
	elsewhere, users := 0, map[string]bool{}
	var last job.ID
	for _, f := range n.FailedStarts {
		if users[f.Owner] = true; f.Elsewhere {
			elsewhere++
			last = f.Job
		}
	}
	switch {
	case elsewhere >= distrustAfter:
		return fmt.Sprintf("%d tasks in a row could not start here and then ran on other nodes, the last of job %d", elsewhere, last)
	case len(users) >= distrustAfter:
		return fmt.Sprintf("tasks of %d users in a row could not start here, the last of job %d", len(users), n.FailedStarts[len(n.FailedStarts)-1].Job)
	}
	return ""
}

// maySpare reports whether there would be enough nodes without one more.
func (t *tx) maySpare() bool {
	all, distrusted := 0, 1
	for n := range t.Nodes() {
		if n.State != api.NodeLost {
			all++
		}
		if n.Distrust != nil {
			distrusted++
		}
	}
	return 2*distrusted <= all
}

// probe lets a distrusted node have tasks again, until the next that runs elsewhere.
func (n *Node) probe() {
	n.Distrust = nil
	n.FailedStarts = slices.Clone(n.FailedStarts[max(0, len(n.FailedStarts)-(distrustAfter-1)):])
	for i := range n.FailedStarts {
		n.FailedStarts[i].Elsewhere = true
	}
}
