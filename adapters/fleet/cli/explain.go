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
	"github.com/berth-project/berth/adapters/fleet/internal/command"
)

func explainCommand(a *app) *cobra.Command {
	all := false
	c := &cobra.Command{
		Use:   "explain JOB[_ELEMENT]",
		Short: "Say why a job waits, or why it is where it is",
		Long: `Say why a job waits, or why it is where it is.

The table of nodes has SCORE for those that fit: the node with most points is taken.
Its parts stand beside it where they tell nodes apart: "free resources" is what would
be left, "balance" how evenly cpu and memory would be used, "spread", "near and apart"
and "preferences" are what the job asks for. Of a gang the table is about one task.`,
		Example: "  berth explain 17_3",
		Args:    command.Args(1, 1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			t, err := parseElement(args[0])
			if err != nil {
				return err
			}
			e, err := servers.Explain(c.Context(), t.job, t.index())
			if err != nil {
				return err
			}
			name := a.noteFirst(c, servers, t)
			v := view{value: e, people: func(w io.Writer) { a.writeExplanation(c, w, name, &e, all) }}
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
func (a *app) writeExplanation(c *cobra.Command, w io.Writer, name string, e *api.Explanation, all bool) {
	position := ""
	if e.Position > 0 {
		position = fmt.Sprintf("%d (%s before this one)", e.Position, before(e.Position-1))
	}
	promised := ""
	if !e.PromisedStart.IsZero() {
		promised = a.stamp(e.PromisedStart)
		if len(e.Moved) > 0 {
			promised += "; moved: " + strings.Join(e.Moved, ", ")
		}
	}
	fields(w, "Job", name, "State", string(e.State), "Reason", a.waitsUntil(e.Reason, e.Eligible),
		"Message", a.localTimes(e.Message), "Position", position, "Order", pathText(e.Path),
		"Expected", a.expected(e.ExpectedStart, e.ExpectedNodes), "Promised", promised,
		"Likely", a.likely(e.Forecast), "Forecasts", cameTrue(e.Calibration))
	a.writeFailures(c, w, e.Failures)
	if len(e.Nodes) == 0 {
		return
	}
	fmt.Fprintln(w)
	a.writeReasons(c, w, e)
	columns := telling(e)
	fits := "FITS"
	if e.Tasks > 1 {
		fits = "FITS ONE TASK"
	}
	names := []string{"NODE", fits, "SCORE"}
	for _, k := range columns {
		names = append(names, e.Scores[k])
	}
	t := a.newTable(c, append(names, "WHY NOT")...)
	for i, n := range e.Nodes {
		if i == maxShown && !all {
			break
		}
		fit, total := "no", "-"
		if n.Unseen {
			fit = "not tried"
		}
		if n.Feasible {
			fit, total = "yes", strconv.FormatInt(n.Total, 10)
		}
		row := []string{n.Node, fit, total}
		for _, k := range columns {
			score := "-"
			if k < len(n.Scores) {
				score = strconv.FormatInt(n.Scores[k], 10)
			}
			row = append(row, score)
		}
		t.row(append(row, a.localTimes(whyNot(n.Verdicts)))...)
	}
	fmt.Fprintln(w)
	t.write(w)
	if more := len(e.Nodes) - maxShown; more > 0 && !all {
		fmt.Fprintf(w, "and %d more nodes, see --all\n", more)
	}
}

// telling are the plugins, as indices of e.Scores, that do not give all nodes the same.
func telling(e *api.Explanation) []int {
	var columns []int
	for k := range e.Scores {
		given := map[int64]bool{}
		for _, n := range e.Nodes {
			if k < len(n.Scores) {
				given[n.Scores[k]] = true
			}
		}
		if len(given) > 1 {
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
			text := a.localTimes(whyNot([]api.Verdict{v}))
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
		fmt.Fprintf(w, "%d of %d nodes fit one task; it needs room for %d at once.\n", feasible, len(e.Nodes), e.Tasks)
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

// before says how many have their turn before a job, elements of arrays each by itself.
func before(n int) string {
	if n == 1 {
		return "1 job is"
	}
	return fmt.Sprintf("%d jobs are", n)
}
