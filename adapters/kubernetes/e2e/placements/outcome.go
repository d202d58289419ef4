package placements

import (
	"fmt"
	"reflect"
	"strings"
)

// outcome is what happened to a pod that was submitted.
type outcome struct {
	Step int
	Pod  string
	// Refused says that the API server did not let it in.
	Refused bool
	// Node is where it has come to be, perhaps in the place of another.
	Node string
	// Reason and Message are of the condition that says why it has no node. Of a pod
	// that made room there is no message: by now it may be that of a later attempt.
	Reason, Message string
	// Note is what the event says, of the first attempt.
	Note string
	// Nominated is the node on which it is to get room.
	Nominated string
	// Victims are those that were told to go for it, sorted.
	Victims []string
}

// String is for people.
func (o outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %d, %s:", o.Step, o.Pod)
	add := func(what, value string) {
		if value != "" {
			fmt.Fprintf(&b, " %s %s", what, value)
		}
	}
	if o.Refused {
		b.WriteString(" refused by the API server")
	}
	add("node", o.Node)
	add("reason", o.Reason)
	add("message", o.Message)
	if o.Note != o.Message {
		add("event:", o.Note)
	}
	add("nominated to", o.Nominated)
	add("victims", strings.Join(o.Victims, ", "))
	return b.String()
}

// apart is the first index at which the two differ, -1 where they are the same.
func apart(reference, subject []outcome) int {
	for i := range max(len(reference), len(subject)) {
		if i >= len(reference) || i >= len(subject) || !same(reference[i], subject[i]) {
			return i
		}
	}
	return -1
}

// same compares all that is known but what differs for a known reason.
func same(reference, subject outcome) bool {
	if unasked(reference.Message, subject.Message) && unasked(reference.Note, subject.Note) {
		reference.Message, reference.Note = subject.Message, subject.Note
	}
	return reflect.DeepEqual(reference, subject)
}

// unasked reports whether the reference says that it found something not, where the
// subject says that preemption would not help. DynamicResources asks in PostFilter for
// what it wrote in PreFilter, which it was not asked for where an earlier plugin ends
// the attempt (dynamicresources.go, PostFilter, 1.37.1); so kube-scheduler does not
// look for victims, in vain. (The parity module knows this difference as well.)
func unasked(reference, subject string) bool {
	failure, fails := strings.CutSuffix(reference, " not found")
	return fails && strings.HasPrefix(subject, failure+" preemption: ") && strings.HasSuffix(subject, " Preemption is not helpful for scheduling.")
}

// counts says how often what has come of pods, on the reference's side.
type counts struct{ cases, placed, unschedulable, preempted, victims, refused int }

func (c *counts) add(outcomes []outcome) {
	c.cases++
	for _, o := range outcomes {
		switch {
		case o.Refused:
			c.refused++
		case len(o.Victims) > 0:
			c.preempted++
			c.victims += len(o.Victims)
		case o.Node != "":
			c.placed++
		default:
			c.unschedulable++
		}
	}
}

// poor reports whether too little has happened for a comparison to mean much: pods were
// placed or not, and made room, and few were refused.
func (c counts) poor() bool {
	all := c.placed + c.unschedulable + c.preempted + c.refused
	return c.placed < all/5 || c.unschedulable < all/5 || c.preempted < all/50 || c.refused > all/10
}

// String is for people.
func (c counts) String() string {
	return fmt.Sprintf("%d cases: %d pods placed, %d that fit nowhere, %d that made room by %d victims; %d that the API server refused",
		c.cases, c.placed, c.unschedulable, c.preempted, c.victims, c.refused)
}
