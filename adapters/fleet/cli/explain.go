package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
)

func explainCommand(a *app) *cobra.Command {
	all := false
	c := &cobra.Command{
		Use:     "explain JOB[_ELEMENT]",
		Short:   "Say why a job waits, or why it is where it is",
		Example: "  berth explain 17_3",
		Args:    args(1, 1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			id, element, err := parseElement(args[0])
			if err != nil {
				return err
			}
			e, err := servers.Explain(c.Context(), id, element)
			if err != nil {
				return err
			}
			v := view{value: e, people: func(w io.Writer) { a.writeExplanation(c, w, &e, all) }}
			for _, n := range e.Nodes {
				if n.Feasible {
					v.names = append(v.names, n.Node)
				}
			}
			return a.print(c, v)
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "every node, however many there are")
	return c
}

// maxShown is how many nodes are shown each by itself.
const maxShown = 20

// writeExplanation prints an explanation for people: first what speaks against
// nodes and how many, then the nodes.
func (a *app) writeExplanation(c *cobra.Command, w io.Writer, e *api.Explanation, all bool) {
	position := ""
	if e.Position > 0 {
		position = strconv.Itoa(e.Position)
	}
	fields(w, "Job", fmt.Sprintf("%s_%d", e.Job, e.Element), "State", string(e.State), "Reason", a.waitsUntil(e.Reason, e.Eligible),
		"Message", e.Message, "Position", position, "Expected", a.expected(e.ExpectedStart, e.ExpectedNodes))
	a.writeFailures(c, w, e.Failures)
	if len(e.Nodes) == 0 {
		return
	}
	fmt.Fprintln(w)
	a.writeReasons(c, w, e)
	columns := telling(e)
	names := []string{"NODE", "FITS", "TOTAL"}
	for _, k := range columns {
		names = append(names, e.Scores[k])
	}
	t := a.newTable(c, append(names, "WHY NOT")...)
	for i, n := range e.Nodes {
		if i == maxShown && !all {
			break
		}
		fits, total := "no", "-"
		if n.Unseen {
			fits = "not tried"
		}
		if n.Feasible {
			fits, total = "yes", strconv.FormatInt(n.Total, 10)
		}
		row := []string{n.Node, fits, total}
		for _, k := range columns {
			score := "-"
			if k < len(n.Scores) {
				score = strconv.FormatInt(n.Scores[k], 10)
			}
			row = append(row, score)
		}
		t.row(append(row, whyNot(n.Verdicts))...)
	}
	fmt.Fprintln(w)
	t.write(w)
	if more := len(e.Nodes) - maxShown; more > 0 && !all {
		fmt.Fprintf(w, "and %d more nodes, see --all\n", more)
	}
}

// telling are the plugins, as indices of e.Scores, that give any node anything.
func telling(e *api.Explanation) []int {
	var columns []int
	for k := range e.Scores {
		if slices.ContainsFunc(e.Nodes, func(n api.NodeVerdict) bool { return k < len(n.Scores) && n.Scores[k] != 0 }) {
			columns = append(columns, k)
		}
	}
	return columns
}

// whyNot are the verdicts on one node.
func whyNot(verdicts []api.Verdict) string {
	var parts []string
	for _, v := range verdicts {
		parts = append(parts, v.Reasons...)
	}
	return strings.Join(parts, ", ")
}

// writeReasons prints how many nodes there are for each verdict, the most common
// first.
func (a *app) writeReasons(c *cobra.Command, w io.Writer, e *api.Explanation) {
	type reason struct {
		text  string
		nodes int
	}
	var (
		reasons  []reason
		place    = map[string]int{}
		feasible int
	)
	for _, n := range e.Nodes {
		if n.Feasible {
			feasible++
		}
		for _, v := range n.Verdicts {
			text := whyNot([]api.Verdict{v})
			i, ok := place[text]
			if !ok {
				i = len(reasons)
				place[text] = i
				reasons = append(reasons, reason{text: text})
			}
			reasons[i].nodes++
		}
	}
	slices.SortStableFunc(reasons, func(a, b reason) int { return b.nodes - a.nodes })
	if e.Tasks > 1 {
		fmt.Fprintf(w, "%d of %d nodes fit, for one task or more. It needs room for %d tasks at once.\n", feasible, len(e.Nodes), e.Tasks)
	} else {
		fmt.Fprintf(w, "%d of %d nodes fit.\n", feasible, len(e.Nodes))
	}
	if len(reasons) == 0 {
		return
	}
	t := a.newTable(c, "NODES", "WHY NOT")
	for _, r := range reasons {
		t.row(strconv.Itoa(r.nodes), r.text)
	}
	t.write(w)
}
