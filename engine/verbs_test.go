package engine_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// verbTable is one of the tables of adapters/doc.go: the outcome of a change, by its verb and by the
// state of what it is about.
type verbTable struct {
	columns []string
	rows    map[string][]string
}

// verbTables are those of the document, by their first headings.
func verbTables(t *testing.T) map[string]verbTable {
	t.Helper()
	_, text, found := strings.Cut(document(t, "adapters/doc.go"), "# What a change asks of the state")
	require.True(t, found)
	text, _, found = strings.Cut(text, "# 3.")
	require.True(t, found)
	tables := map[string]verbTable{}
	var table verbTable
	gap := regexp.MustCompile(`\s{2,}`)
	for line := range strings.Lines(text) {
		row, is := strings.CutPrefix(strings.TrimRight(line, "\n"), "//\t")
		cells := gap.Split(row, -1)
		switch {
		case !is:
			table = verbTable{}
		case table.rows == nil:
			table = verbTable{columns: cells[1:], rows: map[string][]string{}}
			tables[cells[0]] = table
		default:
			require.Len(t, cells, len(table.columns)+1, row)
			table.rows[cells[0]] = cells[1:]
		}
	}
	return tables
}

// workloadVerbs are the changes about the workload w, which is on n1, if it is on any node.
func workloadVerbs() map[string]engine.Change {
	w := &model.Workload{ID: "w", Requests: model.Resources{CPU: 100}}
	return map[string]engine.Change{
		"Submit":            engine.Submit(w),
		"Adopt":             engine.Adopt(w, model.Binding{Node: "n1"}),
		"Update":            engine.Update(w),
		"Confirm":           engine.Confirm(model.Binding{Workload: "w", Node: "n1"}),
		"Confirm elsewhere": engine.Confirm(model.Binding{Workload: "w", Node: "n2"}),
		"Nominate":          engine.Nominate("w", "n1"),
		"Terminate":         engine.Terminate("w"),
		"Displace":          engine.Displace("w"),
		"Finish":            engine.Finish("w"),
		"Requeue":           engine.Requeue("w"),
		"Remove":            engine.Remove("w"),
	}
}

func nodeVerbs() map[string]engine.Change {
	return map[string]engine.Change{
		"PutNode": node("n1", 1000), "RemoveNode": engine.RemoveNode("n1"), "LoseNode": engine.LoseNode("n1"), "Drain": engine.Drain("n1", ""),
	}
}

// otherVerbs are the changes about what is called x, and what can be put.
func otherVerbs() map[string]engine.Change {
	return map[string]engine.Change{
		"PutGroup": engine.PutGroup(&model.Group{ID: "x"}), "RemoveGroup": engine.RemoveGroup("x"),
		"PutBudget": engine.PutBudget(&model.Budget{ID: "x"}), "RemoveBudget": engine.RemoveBudget("x"),
		"PutNamespace": engine.PutNamespace(&model.Namespace{Name: "x"}), "RemoveNamespace": engine.RemoveNamespace("x"),
		"PutObject": engine.PutObject(&model.Queue{Name: "x"}), "RemoveObject": engine.RemoveObject(model.ObjectRef{Kind: model.QueueKind, ID: "x"}),
		"ChargeUsage": engine.ChargeUsage("x", "", map[string]int64{"cpu": 1}, time.Time{}),
	}
}

// inState is an engine with a workload w in the phase on node n1, or without it.
func inState(t *testing.T, phase string) *engine.Raw {
	t.Helper()
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000)))
	if phase == "not there" {
		return r
	}
	require.NoError(t, r.Apply(epoch, task("w", 100)))
	steps := map[string]func(){
		"Pending":     func() {},
		"Assumed":     func() { r.Schedule(epoch) },
		"Bound":       func() { work(r, epoch) },
		"Confirmed":   func() { require.NoError(t, r.Apply(epoch, engine.Confirm(model.Binding{Workload: "w", Node: "n1"}))) },
		"Terminating": func() { require.NoError(t, r.Apply(epoch, engine.Terminate("w"))) },
		"Finished":    func() { require.NoError(t, r.Apply(epoch, engine.Finish("w"))) },
	}
	for _, p := range []string{"Pending", "Assumed", "Bound", "Confirmed", "Terminating", "Finished"} {
		if steps[p](); p == phase {
			break
		}
	}
	require.Equal(t, phase, phaseAlone(r))
	return r
}

func phaseAlone(r *engine.Raw) string {
	phase, _, _ := strings.Cut(phaseOf(r, "w"), "@")
	return phase
}

func nodeState(r *engine.Raw) string {
	n, there := r.View().Node("n1")
	switch {
	case !there:
		return "gone"
	case n.Node.Unschedulable:
		return "closed"
	}
	return "open"
}

// otherState says whether anything is there that is called x.
func otherState(r *engine.Raw) string {
	v := r.View()
	_, group := v.Group("x")
	_, queue := v.Object(model.ObjectRef{Kind: model.QueueKind, ID: "x"})
	budgets := slices.ContainsFunc(slices.Collect(v.Budgets()), func(b model.BudgetRecord) bool { return b.ID == "x" })
	namespaces := slices.ContainsFunc(slices.Collect(v.Namespaces()), func(n model.NamespaceRecord) bool { return n.Name == "x" })
	if group || queue || budgets || namespaces {
		return "there"
	}
	return "gone"
}

// becomes is what the table says of the change: what is wrong with it, or what state leads to.
func becomes(r *engine.Raw, ch engine.Change, state func(*engine.Raw) string) string {
	before := state(r)
	err := r.Apply(epoch, ch)
	switch after := state(r); {
	case errors.Is(err, engine.ErrNotFound):
		return "not found"
	case errors.Is(err, engine.ErrExists):
		return "exists"
	case err != nil:
		return "refused"
	case after == before:
		return "="
	default:
		return after
	}
}

// What the document says of each verb, in each phase of a workload and each state of all else, is
// what happens.
func TestVerbsByStateAreAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	tables := verbTables(t)
	for _, c := range []struct {
		table string
		verbs map[string]engine.Change
		in    func(column, verb string) *engine.Raw
		state func(*engine.Raw) string
	}{
		{"workload", workloadVerbs(), func(phase, _ string) *engine.Raw { return inState(t, phase) }, phaseAlone},
		{"on the node", nodeVerbs(), func(phase, _ string) *engine.Raw { return inState(t, phase) }, phaseAlone},
		{"node", nodeVerbs(), func(state, _ string) *engine.Raw {
			r := newRaw(t, &world{})
			if state == "not there" {
				return r
			}
			n := node("n1", 1000)
			nodeOf(n).Unschedulable = state == "closed"
			require.NoError(t, r.Apply(epoch, n))
			return r
		}, nodeState},
		{"anything else", otherVerbs(), func(state, verb string) *engine.Raw {
			cfg := config(&world{})
			cfg.Order = engine.OrderByQueues
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			if put := "Put" + strings.TrimPrefix(strings.TrimPrefix(verb, "Put"), "Remove"); state == "there" {
				if verb == "ChargeUsage" {
					put = "PutObject"
				}
				require.NoError(t, r.Apply(epoch, otherVerbs()[put]))
			}
			return r
		}, otherState},
	} {
		require.Contains(t, tables, c.table)
		for verb, want := range tables[c.table].rows {
			require.Contains(t, c.verbs, verb)
			for i, column := range tables[c.table].columns {
				got := becomes(c.in(column, verb), c.verbs[verb], c.state)
				require.Equal(t, want[i], got, fmt.Sprintf("%s, %s, %s", c.table, verb, column))
			}
		}
	}
}

// No verb is missing in the tables.
func TestAllVerbsAreInTheDocument(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	for _, table := range verbTables(t) {
		for verb := range maps.Keys(table.rows) {
			said[strings.Fields(verb)[0]] = true
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "change.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var verbs []string
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || f.Recv != nil || f.Type.Results == nil {
			continue
		}
		if result, is := f.Type.Results.List[0].Type.(*ast.Ident); is && result.Name == "Change" && f.Name.IsExported() {
			verbs = append(verbs, f.Name.Name)
		}
	}
	require.ElementsMatch(t, verbs, slices.Collect(maps.Keys(said)))
}
