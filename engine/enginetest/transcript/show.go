package transcript

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
)

// show does the verbs that print what is.
func (e *env) show(l line) bool {
	switch l.verb {
	case "store":
		// store: the rows of all workloads, and the names of the nodes.
		e.store(e.raw.View())
	case "queue":
		// queue: where each workload is in the queue, and why.
		e.queue()
	case "standings":
		// standings: where each workload that waits stands in the order by queues.
		e.standings()
	case "shares":
		// shares: Raw.Queues.
		e.shares()
	case "due":
		// due: Raw.NextDue.
		if due, ok := e.raw.NextDue(e.now); ok {
			e.say("due at %s", since(due))
		} else {
			e.say("nothing due")
		}
	case "waiting":
		// waiting: the workloads that wait on Permit, as plugins see them.
		e.handle().Waiting().Each(func(w extpoints.WaitingWorkload) bool {
			e.say("%s waits on %s for %v", w.Workload().ID, w.Node(), w.PendingPlugins())
			return true
		})
	case "explain":
		// explain ID [all]: Raw.Explain; all asks for AllFilters.
		x, err := e.raw.Explain(e.now, l.words[0], engine.ExplainOptions{AllFilters: l.word(1) == "all"})
		if err != nil {
			e.say("error: %v", err)
			return true
		}
		e.explain(x)
	case "branch":
		// branch NAME [from=NAME]: Raw.Branch, or Branch.Branch.
		if from := l.args["from"]; from != "" {
			e.branches[l.words[0]] = e.branches[from].Branch()
		} else {
			e.branches[l.words[0]] = e.raw.Branch()
		}
	case "on":
		// on BRANCH VERB...: schedule ID, store, or any change, on the branch.
		_, rest, _ := strings.Cut(strings.TrimPrefix(l.text, "on "), " ")
		e.onBranch(l, e.branches[l.words[0]], parseLine(rest))
	default:
		return false
	}
	return true
}

func (e *env) store(v *engine.View) {
	var names []string
	for n := range v.Nodes() {
		names = append(names, n.Node.Name)
	}
	e.say("nodes %s", strings.Join(names, " "))
	for w := range v.Workloads() {
		text := w.Workload.ID + " " + strings.TrimSpace(w.Phase.String()+" "+w.Node)
		if w.Nominated != "" {
			text += " nominated=" + w.Nominated
		}
		if w.Displaced {
			text += " displaced"
		}
		e.say("%s", text)
	}
}

func (e *env) queue() {
	count := e.raw.QueueCounts()
	for w := range e.raw.View().Workloads() {
		p, ok := e.raw.Queue(w.Workload.ID)
		if !ok {
			continue
		}
		text := fmt.Sprintf("%s %s", p.ID, p.Place)
		if p.Node != "" {
			text += fmt.Sprintf(" %s since %s", p.Node, since(p.Since))
		}
		if len(p.Permit) > 0 {
			text += fmt.Sprintf(" for %v", p.Permit)
		}
		if p.Place != queue.Binding && p.Place != queue.OldBinding { // of which the queue knows nothing
			text += fmt.Sprintf(" attempts=%d", p.Attempts)
		}
		if p.UnschedulableCount > 0 {
			text += fmt.Sprintf(" unschedulable=%d", p.UnschedulableCount)
		}
		if p.ConsecutiveErrors > 0 {
			text += fmt.Sprintf(" errors=%d", p.ConsecutiveErrors)
		}
		if len(p.UnschedulablePlugins) > 0 {
			text += fmt.Sprintf(" by=%v", sorted(slices.Clone(p.UnschedulablePlugins)))
		}
		if len(p.PendingPlugins) > 0 {
			text += fmt.Sprintf(" pending=%v", sorted(slices.Clone(p.PendingPlugins)))
		}
		if p.GatingPlugin != "" {
			text += fmt.Sprintf(" gate=%v", p.Gate)
		}
		if !p.BackoffExpiration.IsZero() {
			text += " backoff=" + since(p.BackoffExpiration)
		}
		e.say("%s", text)
	}
	if flights := count.InFlight + count.Permit; flights > 0 || count.Events > 0 {
		e.say("%d in flight, %d events", flights, count.Events)
	}
}

func (e *env) explain(x *engine.Explanation) {
	text := x.Workload.ID + " " + strings.TrimSpace(x.Phase.String()+" "+x.Node)
	if x.Message != "" {
		text += ": " + x.Message
	}
	e.say("%s", text)
	if x.Last != nil {
		e.say("  last at %s: %s by %v: %s", since(x.Last.At), x.Last.Code, x.Last.Plugins, x.Last.Message)
	}
	if x.Waiting != nil {
		e.say("  queue: %s", x.Waiting.Place)
	}
	e.say("  filters %v scores %v", x.Filters, x.Scores)
	for _, n := range x.Nodes {
		text := "  " + n.Node
		if n.Feasible {
			text += fmt.Sprintf(" total %d", n.Total)
		}
		for i, s := range n.Scores {
			if text += " " + x.Scores[i].Plugin; s.Skipped {
				text += " skipped"
			} else {
				text += fmt.Sprintf(" %d/%d/%d", s.Raw, s.Normalized, s.Weighted)
			}
		}
		for _, v := range n.Verdicts {
			text += fmt.Sprintf(" %s(%s): %s;", v.Code, v.Plugin, strings.Join(v.Reasons, ", "))
		}
		e.say("%s", strings.TrimSuffix(text, ";"))
	}
	if len(x.Ties) > 0 {
		e.say("  best %v, by %s", x.Ties, x.TieBreak)
	}
}

func (e *env) onBranch(l line, b *engine.Branch, what line) {
	switch {
	case b == nil:
		e.fail(l, "there is no such branch")
	case what.verb == "store":
		e.store(b.View())
	case what.verb == "schedule":
		d, err := b.Schedule(e.now, what.words[0])
		if err != nil {
			e.say("error: %v", err)
			return
		}
		e.decision(what.words[0], &d)
	default:
		// What happens on a branch has not happened.
		latest, nodes := maps.Clone(e.latest), maps.Clone(e.nodes)
		if !e.changeOn(what, func(c ...engine.Change) error { return b.Apply(e.now, c...) }) {
			e.fail(l, "not on a branch")
		}
		e.latest, e.nodes = latest, nodes
	}
}

func (e *env) decision(id string, d *engine.Decision) {
	if d.Placed() {
		e.say("%s goes to %s: %d evaluated, %d feasible, %d best", id, d.Binding.Node, d.Evaluated, d.Feasible, d.Ties)
		return
	}
	text := fmt.Sprintf("%s fits nowhere: %s", id, d.Message)
	if len(d.Plugins) > 0 {
		text += fmt.Sprintf(" by %v", d.Plugins)
	}
	if d.Nominated != "" {
		text += "; nominated " + d.Nominated
	}
	for _, ev := range d.Evictions {
		text += fmt.Sprintf("; evict %s", ev.ID)
	}
	e.say("%s", text)
}
