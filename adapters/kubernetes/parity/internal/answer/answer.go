// Package answer holds what both sides of a comparison answer with, in one form.
package answer

import (
	"fmt"
	"slices"
	"strings"
)

// Decision is what one scheduling cycle came to.
type Decision struct {
	// Workload is the pod's UID, which is the workload's ID.
	Workload string
	// Node is where it goes; empty where it fits nowhere.
	Node string
	// Evaluated and Feasible count nodes. They are 0 where Node is empty: the
	// reference does not tell then.
	Evaluated, Feasible int
	// Message says in one line why it fits nowhere, as kube-scheduler words it.
	Message string
	// Neutral is the message as the engine words it, where that differs. It is not
	// compared.
	Neutral string
	// Plugins are those that rejected it, sorted.
	Plugins []string
	// Nominated is the node that it is nominated to afterwards.
	Nominated string
	// Victims are the UIDs of those displaced for it, in the order in which
	// they are asked to go.
	Victims []string
	// Decided says in words what happens to volumes and of claims to volumes
	// and devices.
	Decided []string
	// Members are those of a group, sorted by Workload, in the cycle of the
	// group. Of one that has a node nothing but that is said.
	Members []Decision
}

// WithNeutral is the decision with the engine's own words of other, which is equal to it.
func (d Decision) WithNeutral(other Decision) Decision {
	d.Neutral = other.Neutral
	d.Members = slices.Clone(d.Members)
	for i := range min(len(d.Members), len(other.Members)) {
		d.Members[i].Neutral = other.Members[i].Neutral
	}
	return d
}

// SortMembers puts the members of a group in order.
func SortMembers(list []Decision) {
	slices.SortFunc(list, func(a, b Decision) int { return strings.Compare(a.Workload, b.Workload) })
}

// Compare names the first thing in which two decisions differ, empty where
// they do not.
func Compare(a, b Decision) string {
	switch {
	case a.Workload != b.Workload:
		return "order"
	case a.Node != b.Node:
		return "node"
	case a.Message != b.Message:
		return "message"
	case !slices.Equal(a.Plugins, b.Plugins):
		return "plugins"
	case a.Evaluated != b.Evaluated, a.Feasible != b.Feasible:
		return "numbers"
	case !slices.Equal(a.Victims, b.Victims):
		return "victims"
	case a.Nominated != b.Nominated:
		return "nominated"
	case !slices.Equal(a.Decided, b.Decided):
		return "decided"
	case len(a.Members) != len(b.Members):
		return "members"
	}
	for i := range a.Members {
		if what := Compare(a.Members[i], b.Members[i]); what != "" {
			return what + " of a member"
		}
	}
	return ""
}

// String is for people.
func (d Decision) String() string {
	var text strings.Builder
	text.WriteString(d.Workload)
	if len(d.Members) > 0 {
		for i, m := range d.Members {
			fmt.Fprintf(&text, "\n    %d %s", i, m)
		}
		d.others(&text)
		return text.String()
	}
	if d.Node != "" {
		fmt.Fprintf(&text, " on %s", d.Node)
		if d.Evaluated > 0 {
			fmt.Fprintf(&text, " (%d evaluated, %d feasible)", d.Evaluated, d.Feasible)
		}
		d.others(&text)
		return text.String()
	}
	fmt.Fprintf(&text, " nowhere: %q by %v", d.Message, d.Plugins)
	if d.Nominated != "" {
		fmt.Fprintf(&text, ", nominated to %s", d.Nominated)
	}
	d.others(&text)
	return text.String()
}

// others says what happens to others.
func (d Decision) others(text *strings.Builder) {
	if len(d.Victims) > 0 {
		fmt.Fprintf(text, ", displacing %v", d.Victims)
	}
	if len(d.Decided) > 0 {
		fmt.Fprintf(text, ", %s", strings.Join(d.Decided, "; "))
	}
}
