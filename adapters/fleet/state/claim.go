package state

import (
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// Claim is a node's word that a job cannot be started as it is. It may be the node that is
// wrong: a folder that is not mounted there, an account that its directory service does not
// know just now.
type Claim struct {
	Node string    `json:"node"` // whose word it is
	At   time.Time `json:"at"`   // when it was recorded
	// Says is what is wrong, without the name of the node.
	Says string `json:"says,omitempty"`
}

const (
	// agreed is how many nodes have to say the same: two may lack the same, because they
	// are of one rack, or were set up together.
	agreed = 3
	// maxClaims is how many tries of an element end by claims at most: where a path has the
	// name of the node in it, no two say the same.
	maxClaims = 4
)

// maxJobClaims is how many claims are kept of all elements of an array, the last of each
// node.
const maxJobClaims = 16

// claim is the one that the attempt has ended by.
func (t *tx) claim(e *Element) Claim {
	node := e.Nodes[e.Outcome.Rank]
	return Claim{Node: node, At: t.now(), Says: strings.ReplaceAll(e.Outcome.Message, "node "+node+" ", "node ")}
}

// asksElsewhere reports whether an attempt has ended by a claim that has to be confirmed,
// by other nodes where any could take the element. If so it notes in the element's row
// that it is tried again at once; that counts neither as a failure nor as a loss.
func (t *tx) asksElsewhere(j *Job, e *Element) bool {
	if o := e.Outcome; !o.Mistake || !o.Unconfirmed || e.Requeue {
		return false
	}
	c, next := t.claim(e), *t.Job(j.ID)
	confirmed := len(e.Claims) >= maxClaims-1 || next.confirms(t.trusted(e.Claims), c) && !t.wasWrong(c.Node)
	if len(e.Claims) < maxClaims {
		e.Claims = append(slices.Clip(e.Claims), c)
	}
	if confirmed {
		next.Mistaken = true
		t.putJob(&next)
		t.clearNodes(e)
		return false
	}
	if !j.Spec.Array.IsZero() {
		next.claimed(c)
		t.putJob(&next)
	}
	e.Eligible, e.Avoid = t.now(), c.Node
	return true
}

// trusted are the claims of nodes that have not been wrong.
func (t *tx) trusted(all []Claim) []Claim {
	return slices.DeleteFunc(slices.Clone(all), func(c Claim) bool { return t.wasWrong(c.Node) })
}

// confirms reports whether a claim about one of the job's elements counts, after others
// about it: where enough nodes say the same, or the same node does again, for then there is
// no other to ask. One element of an array is enough for all of them. But once an element
// has run, it is rather the nodes that are wrong, and all tries are made that there may be.
func (j *Job) confirms(before []Claim, c Claim) bool {
	if j.everRan() || j.Mistaken {
		return !j.everRan()
	}
	same := slices.DeleteFunc(slices.Clone(before), func(b Claim) bool { return b.Says != c.Says })
	again := slices.ContainsFunc(same, func(b Claim) bool { return b.Node == c.Node })
	return again || len(same)+1 >= agreed
}

// everRan reports whether all tasks of an element have run at once. Rows from before there
// were claims do not have Ran.
func (j *Job) everRan() bool { return j.Ran || j.Counts[running] > 0 || j.Counts[completed] > 0 }

// claimed adds a claim about one of the job's elements.
func (j *Job) claimed(c Claim) {
	c.Says = ""
	j.Claims = append(slices.DeleteFunc(slices.Clone(j.Claims), func(old Claim) bool { return old.Node == c.Node }), c)
	j.Claims = j.Claims[max(0, len(j.Claims)-maxJobClaims):]
}

// hasRun notes that all tasks of an element of the job have run.
func (t *tx) hasRun(id job.ID) {
	if j := t.Job(id); !j.Ran {
		next := *j
		next.Ran = true
		t.putJob(&next)
	}
}
