package engine

import (
	"fmt"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// String says in some lines where the workload is, or what it waits for; what speaks
// against nodes, and on how many; and what would help.
func (e *Explanation) String() string {
	t := &explanationText{e: e}
	t.where()
	t.waits()
	t.against()
	t.missing()
	t.leaving()
	t.last()
	return strings.TrimSuffix(t.String(), "\n")
}

// explanationText is the text of an explanation.
type explanationText struct {
	strings.Builder
	e *Explanation
}

func (t *explanationText) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// where is the first line, and how its node was chosen.
func (t *explanationText) where() {
	e := t.e
	head := fmt.Sprintf("workload %q is %v", e.Workload.ID, e.Phase)
	switch {
	case e.Phase == model.Pending && e.Message != "":
		t.line("%s: %s", head, line(e.Message))
	case e.Phase == model.Pending:
		t.line("%s, and would go to node %q", head, e.Node)
	case e.Node == "":
		t.line("%s", head)
	default:
		t.line("%s on node %q since %s", head, e.Node, stamp(e.Since))
	}
	switch {
	case e.NotRunning && e.Phase == model.Pending:
		t.line("  the engine does not run, so nothing is tried")
	case e.Adopted:
		t.line("  it was found there: the node was not chosen here")
	case e.Undecided && e.Node != "":
		t.line("  how the node was chosen is not remembered")
	case e.Phase != model.Pending && len(e.Ties) > 1:
		t.line("  %d nodes had the highest total: %s", len(e.Ties), strings.Join(e.Ties, ", "))
	}
}

// waits says in which place it waits, and until when.
func (t *explanationText) waits() {
	p := t.e.Waiting
	if p == nil {
		return
	}
	text := fmt.Sprintf("waits in place %v", p.Place)
	if p.Node != "" {
		text += fmt.Sprintf(" with node %q", p.Node)
	}
	if !p.Since.IsZero() {
		text += " since " + stamp(p.Since)
	}
	if !p.Until.IsZero() {
		text += " until " + stamp(p.Until)
	}
	switch {
	case len(p.Permit) > 0:
		text += " for " + strings.Join(p.Permit, ", ")
	case (p.Place == queue.Backoff || p.Place == queue.ErrorBackoff) && !p.BackoffExpiration.IsZero():
		text += " until " + stamp(p.BackoffExpiration)
	case p.Place == queue.Unschedulable && len(p.UnschedulablePlugins) > 0:
		text += " until something changes for " + strings.Join(p.UnschedulablePlugins, ", ")
	}
	if p.Place == queue.Active {
		text += fmt.Sprintf("; %d go before it", t.e.Ahead)
	}
	t.line("  %s", text)
}

// against lists what speaks against nodes, and which fit.
func (t *explanationText) against() {
	e := t.e
	var fit []string
	for _, n := range e.Nodes {
		if n.Feasible {
			fit = append(fit, n.Node)
		}
	}
	if e.Undecided && len(e.Nodes) > 0 && len(fit) == 0 {
		t.line("  it would not fit there now:")
	}
	for _, r := range e.Reasons {
		if r.Nodes == 0 {
			continue // it is the message
		}
		text, help, nodes := line(r.Text), "", "nodes"
		if r.Nodes == 1 {
			nodes = "node"
		}
		if r.Plugin != "" {
			text += " (" + r.Plugin + ")"
		}
		if r.Code == extpoints.Unschedulable {
			help = "; others there may leave"
		}
		t.line("  %d %s: %s%s", r.Nodes, nodes, strings.TrimSpace(text), help)
	}
	if e.Phase == model.Pending && len(fit) > 0 {
		t.line("  it fits on %s", few(fit))
	}
}

// missing says which labels would help.
func (t *explanationText) missing() {
	for _, key := range t.e.MissingTopology {
		t.line("  no node has a value for topology key %q", key)
	}
}

// leaving says which departures are awaited.
func (t *explanationText) leaving() {
	for _, d := range t.e.Leaving {
		how := "is to be asked to leave"
		switch {
		case d.Terminating:
			how = "is terminating since " + stamp(d.Since)
		case !d.Since.IsZero():
			how = "is being asked to leave since " + stamp(d.Since)
		}
		who := "it"
		if d.Workload != t.e.Workload.ID {
			who = fmt.Sprintf("workload %q on node %q", d.Workload, d.Node)
		}
		t.line("  %s %s", who, how)
	}
}

// last is why the last attempt failed.
func (t *explanationText) last() {
	if l := t.e.Last; l != nil && l.Message != t.e.Message {
		t.line("  the last attempt, at %s: %s", stamp(l.At), line(l.Message))
	}
}

// few names the first of the nodes.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
