package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

// explanation shows why a pod is where it is.
func (p *printer) explanation(x *api.PodExplanation) {
	p.field("Pod", "%s/%s", x.Pod.Namespace, x.Pod.Name)
	if p.wide {
		p.field("UID", "%s", x.Pod.UID)
	}
	p.field("Scheduler", "%s", x.Pod.SchedulerName)
	p.field("Priority", "%d", x.Pod.Priority)
	p.field("Pod group", "%s", x.Pod.PodGroup)
	p.field("Phase", "%s", x.Phase)
	p.field("Node", "%s", p.whichNode(x))
	p.field("Nominated node", "%s", x.NominatedNode)
	p.position(x.Queue)
	p.field("Message", "%s", x.Message)
	if l := x.LastAttempt; l != nil {
		p.field("Last attempt", "%s ago, %s: %s", p.ago(&l.At), l.Code, l.Message)
	}
	if r := x.Preemption; r != nil {
		p.field("Preemption", "would make room on node %s by displacing %s", r.Node, names(r.Victims))
	}
	if keys := x.MissingTopologyKeys; len(keys) > 0 {
		p.field("Missing labels", "no node has the topology key %s", strings.Join(keys, ", "))
	}
	p.field("Closest nodes", "%s", strings.Join(x.ClosestNodes, ", "))
	if len(x.Ties) > 1 {
		p.field("Equal nodes", "%s; chosen by: %s", strings.Join(x.Ties, ", "), x.TieBreak)
	}
	if len(x.Nodes) > 0 {
		p.line("")
		p.nodes(x)
	}
}

// whichNode is the node, and what is known of how the pod got there.
func (p *printer) whichNode(x *api.PodExplanation) string {
	switch {
	case x.Basis == api.BasisNow && x.Node == "":
		return "<none>"
	case x.Basis == api.BasisNow:
		return x.Node + ", if it were tried now"
	case x.Basis == api.BasisNone:
		return fmt.Sprintf("%s, for %s; the decision is not known: it is too long ago, or another scheduler's or replica's", x.Node, p.ago(&x.At))
	}
	return fmt.Sprintf("%s, chosen %s ago", x.Node, p.ago(&x.At))
}

func (p *printer) position(q *api.QueuePosition) {
	if q == nil {
		return
	}
	text := fmt.Sprintf("%s, waiting for %s", q.Place, p.ago(cmp.Or(q.AddedAt, q.Since)))
	if q.Attempts > 0 || q.Node == "" {
		text += fmt.Sprintf(", attempts: %d", q.Attempts)
	}
	if q.BackoffUntil != nil && q.BackoffUntil.After(p.now) {
		text += fmt.Sprintf(", tried again in %s at the earliest", p.until(q))
	}
	p.field("Queue", "%s", text)
	p.field("Waits for", "%s", strings.Join(waitsFor(q), ", "))
	p.field("In queue", "%s", strings.Join(q.QueuePath, " / "))
	if q.Before != nil {
		p.field("Before it", "%d", *q.Before)
	}
	p.field("Held by", "%s", q.HeldBy)
	p.promise(q.Promise)
}

// promise says when the pod is to start, and why that was moved.
func (p *printer) promise(s *api.Promise) {
	if s == nil {
		return
	}
	start := "no reservation now"
	if s.Current != nil {
		start = p.in(s.Current)
		if s.Node != "" {
			start += " on " + s.Node
		}
	}
	if s.First != nil && !s.First.Equal(s.Current) {
		start += ", first promised for " + s.First.UTC().Format(time.RFC3339)
	}
	p.field("Starts", "%s", start)
	if s.MovedAt != nil {
		p.field("Moved", "%s ago: %s", p.ago(s.MovedAt), strings.Join(s.Causes, "; "))
	}
}

// in is the moment, and how far it is from now.
func (p *printer) in(t *metav1.MicroTime) string {
	text := t.UTC().Format(time.RFC3339)
	if d := t.Sub(p.now).Round(time.Second); d > 0 {
		return fmt.Sprintf("%s (in %s)", text, d)
	}
	return text + " (now)"
}

func (p *printer) until(q *api.QueuePosition) string {
	return q.BackoffUntil.Sub(p.now).Round(1e9).String()
}

// waitsFor are the plugins that must change their mind, or the binding that must end.
func waitsFor(q *api.QueuePosition) []string {
	switch {
	case len(q.PermitPlugins) > 0:
		return q.PermitPlugins
	case q.Node != "":
		return []string{"binding to " + q.Node}
	case q.GatingPlugin != "":
		return []string{q.GatingPlugin}
	}
	return slices.Concat(q.UnschedulablePlugins, q.PendingPlugins)
}

// nodes shows a line for each node and plugin: nodes where the pod fits first, the best
// of them before the others, and then those that the fewest plugins reject.
func (p *printer) nodes(x *api.PodExplanation) {
	var plugins []string
	if p.wide {
		plugins = scorers(x)
	}
	c := &columns{names: slices.Concat([]string{"NODE", "FITS", "SCORE"}, upper(plugins), []string{"PLUGIN", "REASON"})}
	list := slices.Clone(x.Nodes)
	slices.SortStableFunc(list, compareNodes)
	for i := range list {
		n := &list[i]
		scores := scoresOf(n, plugins)
		if len(n.Rejections) == 0 {
			c.row(slices.Concat([]string{n.Name, fits(n)}, scores, []string{"", remark(x, n)})...)
		}
		for j, r := range n.Rejections {
			first := []string{n.Name, fits(n)}
			if j > 0 {
				first = []string{"", ""}
			}
			c.row(slices.Concat(first, scores, []string{r.Plugin, strings.Join(r.Reasons, ", ")})...)
		}
	}
	p.table(c)
}

func compareNodes(a, b api.Node) int {
	rank := func(n *api.Node) int {
		switch {
		case n.Feasible:
			return 0
		case n.Unseen:
			return 1
		}
		return 2
	}
	score := func(n *api.Node) int64 {
		if n.Score == nil {
			return 0
		}
		return *n.Score
	}
	return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(score(&b), score(&a)), cmp.Compare(len(a.Rejections), len(b.Rejections)))
}

func fits(n *api.Node) string {
	switch {
	case n.Feasible:
		return "yes"
	case n.Unseen:
		return "?"
	}
	return "no"
}

func remark(x *api.PodExplanation, n *api.Node) string {
	switch {
	case n.Unseen:
		return "not looked at"
	case n.Name != x.Node:
		return ""
	case x.Basis == api.BasisNow:
		return "would be chosen"
	}
	return "chosen"
}

// scorers are the plugins that have scored some node, in order.
func scorers(x *api.PodExplanation) []string {
	var list []string
	for _, s := range x.ScorePlugins {
		if slices.ContainsFunc(x.Nodes, func(n api.Node) bool { return weighted(&n, s.Plugin) != "" }) {
			list = append(list, s.Plugin)
		}
	}
	return list
}

// scoresOf are the cells of the node's score and its parts.
func scoresOf(n *api.Node, plugins []string) []string {
	cells := []string{""}
	if n.Score != nil {
		cells[0] = strconv.FormatInt(*n.Score, 10)
	}
	for _, plugin := range plugins {
		cells = append(cells, weighted(n, plugin))
	}
	return cells
}

// weighted is the plugin's part of the node's score; empty for none.
func weighted(n *api.Node, plugin string) string {
	for _, s := range n.Scores {
		if s.Plugin == plugin {
			return strconv.FormatInt(s.Weighted, 10)
		}
	}
	return ""
}

func upper(list []string) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = strings.ToUpper(s)
	}
	return names
}
