package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// How much of an explanation is printed.
const (
	maxNodes   = 4 // nodes with their verdicts or scores
	maxTies    = 4 // names of nodes of the same total
	gaugeWidth = 24
)

// explanations explains two decisions: why a workload is pending, and why one
// is where it is.
func (p *printer) explanations(r *result) error {
	if w := r.history.puzzle; w != nil {
		e, err := r.engine.Explain(w.ID, engine.ExplainOptions{AllFilters: true})
		if err != nil {
			return err
		}
		p.pending(e)
	}
	e, err := interesting(r)
	if err == nil && e != nil {
		p.placed(e)
	}
	return err
}

// interesting explains the decision with most to compare among those that the
// engine remembers, which are the last ones; nil where there is none.
func interesting(r *result) (*engine.Explanation, error) {
	var best *engine.Explanation
	found := 0
	for _, w := range slices.Backward(r.history.placed) {
		e, err := r.engine.Explain(w.ID, engine.ExplainOptions{})
		if err != nil {
			return nil, err
		}
		if e.Undecided {
			break // it is too long ago
		}
		if n := variety(e); best == nil || n > found {
			best, found = e, n
		}
	}
	return best, nil
}

// variety counts how many plugins tell the best nodes apart, and prefers
// decisions that were tied.
func variety(e *engine.Explanation) int {
	n := 0
	nodes := bestNodes(e)
	for i := range e.Scores {
		if slices.ContainsFunc(nodes, func(node engine.NodeExplanation) bool { return node.Scores[i] != nodes[0].Scores[i] }) {
			n += 2
		}
	}
	if len(e.Ties) > 1 {
		n += 3
	}
	return n
}

// pending prints why a workload fits nowhere: in one line, by plugin, and for
// the nodes that came closest.
func (p *printer) pending(e *engine.Explanation) {
	p.heading(fmt.Sprintf("Why is %s pending?", describe(e.Workload)))
	p.wrapped(" ", e.Message)
	first := map[string]int{}
	for _, n := range e.Nodes {
		if len(n.Verdicts) > 0 {
			first[n.Verdicts[0].Plugin]++
		}
	}
	p.printf("  first to reject     nodes\n")
	for _, plugin := range byCount(first) {
		p.printf("    %-17s %5s  %s\n", plugin, grouped(first[plugin]), p.gauge(int64(first[plugin]), int64(len(e.Nodes)), gaugeWidth))
	}
	p.printf("  closest nodes\n")
	for _, n := range closest(e) {
		p.wrapped(fmt.Sprintf("    %-17s", n.Node), verdicts(n))
	}
}

// closest picks nodes that few plugins rejected, no two with the same verdicts.
func closest(e *engine.Explanation) []engine.NodeExplanation {
	nodes := slices.Clone(e.Nodes)
	slices.SortStableFunc(nodes, func(a, b engine.NodeExplanation) int {
		return cmp.Compare(len(a.Verdicts), len(b.Verdicts))
	})
	var picked []engine.NodeExplanation
	seen := map[string]bool{}
	for _, n := range nodes {
		if said := verdicts(n); !seen[said] && len(picked) < maxNodes {
			seen[said] = true
			picked = append(picked, n)
		}
	}
	return picked
}

// verdicts is what all plugins that rejected the node said.
func verdicts(n engine.NodeExplanation) string {
	var said []string
	for _, v := range n.Verdicts {
		said = append(said, v.Plugin+": "+strings.Join(v.Reasons, ", "))
	}
	return strings.Join(said, "; ")
}

// placed prints why a workload is where it is: what each plugin gave the best
// nodes, weighted.
func (p *printer) placed(e *engine.Explanation) {
	feasible := 0
	for _, n := range e.Nodes {
		if n.Feasible {
			feasible++
		}
	}
	p.heading(fmt.Sprintf("Why is %s on %s?", describe(e.Workload), e.Node))
	nodes := bestNodes(e)
	if len(nodes) == 0 {
		p.printf("  %s looked at: it is the only feasible one, and needs no score\n", counted(len(e.Nodes), "node"))
		return
	}
	p.printf("  %s looked at, %s feasible, %s with the highest total\n",
		counted(len(e.Nodes), "node"), grouped(feasible), grouped(len(e.Ties)))
	p.printf("  %-36s", "score × weight")
	for _, n := range nodes {
		p.printf(" %12s", n.Node)
	}
	p.printf("\n")
	for i, plugin := range e.Scores {
		p.printf("    %-34s", fmt.Sprintf("%s × %d", plugin.Plugin, plugin.Weight))
		for _, n := range nodes {
			p.printf(" %12s", points(n.Scores[i]))
		}
		p.printf("\n")
	}
	p.printf("    %-34s", "total")
	for _, n := range nodes {
		p.printf(" %12d", n.Total)
	}
	p.printf("\n")
	if len(e.Ties) > 1 {
		p.printf("  tied: %s; chosen by the rule %q\n", some(e.Ties), e.TieBreak)
	}
}

// bestNodes are the nodes of the highest totals, the chosen one first; none
// where nothing was scored.
func bestNodes(e *engine.Explanation) []engine.NodeExplanation {
	var nodes []engine.NodeExplanation
	for _, n := range e.Nodes {
		if n.Scores != nil {
			nodes = append(nodes, n)
		}
	}
	slices.SortStableFunc(nodes, func(a, b engine.NodeExplanation) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), -cmp.Compare(chosen(e, a), chosen(e, b)))
	})
	// Of equal nodes two are enough, so that others are seen, too.
	var picked []engine.NodeExplanation
	same := 0
	for i, n := range nodes {
		if i > 0 && n.Total == nodes[i-1].Total {
			same++
		} else {
			same = 0
		}
		if same < 2 && len(picked) < maxNodes {
			picked = append(picked, n)
		}
	}
	return picked
}

func chosen(e *engine.Explanation, n engine.NodeExplanation) int {
	if n.Node == e.Node {
		return 1
	}
	return 0
}

func points(s engine.PluginScore) string {
	if s.Skipped {
		return "-"
	}
	return fmt.Sprint(s.Weighted)
}

// describe is the workload and what it asks for.
func describe(w *model.Workload) string {
	asks := []string{
		fmt.Sprintf("priority %d", w.Priority),
		cores(w.Requests.CPU),
		fmt.Sprintf("%g GiB", float64(w.Requests.Memory)/float64(gib)),
	}
	for _, d := range w.Devices {
		models := ""
		if len(d.Models) > 0 {
			models = " " + strings.Join(d.Models, "|")
		}
		asks = append(asks, fmt.Sprintf("%g GPU%s", float64(d.Total())/float64(model.WholeDevice), models))
	}
	return fmt.Sprintf("%s (%s)", w.ID, strings.Join(asks, ", "))
}

func cores(milli int64) string {
	if milli == 1000 {
		return "1 core"
	}
	return fmt.Sprintf("%g cores", float64(milli)/1000)
}

// some names the first few.
func some(names []string) string {
	if len(names) <= maxTies {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxTies], ", "), len(names)-maxTies)
}

// textWidth is how long lines of text are.
const textWidth = 98

// wrapped prints a long text over several lines: the first begins with head,
// the others with as much space.
func (p *printer) wrapped(head, text string) {
	line := head
	for word := range strings.SplitSeq(text, " ") {
		if len(line)+1+len(word) > textWidth && line != head {
			p.printf("%s\n", line)
			line = strings.Repeat(" ", len(head))
		}
		line += " " + word
	}
	p.printf("%s\n", line)
}
