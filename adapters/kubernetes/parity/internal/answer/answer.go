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
	// Message says in one line why it fits nowhere.
	Message string
	// Plugins are those that rejected it, sorted.
	Plugins []string
	// Nominated is the node that it is nominated to afterwards.
	Nominated string
	// Victims are the UIDs of those displaced for it, in the order in which
	// they are asked to go.
	Victims []string
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
	}
	return ""
}

// String is for people.
func (d Decision) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s ", d.Workload)
	if d.Node != "" {
		fmt.Fprintf(&text, "on %s (%d evaluated, %d feasible)", d.Node, d.Evaluated, d.Feasible)
		return text.String()
	}
	fmt.Fprintf(&text, "nowhere: %q by %v", d.Message, d.Plugins)
	if d.Nominated != "" {
		fmt.Fprintf(&text, ", nominated to %s", d.Nominated)
	}
	if len(d.Victims) > 0 {
		fmt.Fprintf(&text, ", displacing %v", d.Victims)
	}
	return text.String()
}
