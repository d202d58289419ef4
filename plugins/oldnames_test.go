package plugins_test

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// placement is a workload that runs on a node.
type placement struct {
	Node     string
	Workload *model.Workload
}

// oldName is a small cluster on which predicates and priorities of older
// documents decide, and what takes their place.
type oldName struct {
	// names are the old ones, plugins and args what oldnames.md gives in their place.
	names   string
	plugins []extpoints.Entry
	args    any // of the only plugin
	// driver is a storage driver that oldnames.md names besides.
	driver string
	// beside are plugins that would rather have another node.
	beside   []extpoints.Entry
	nodes    []*model.Node
	objects  []model.Object
	running  []placement
	workload *model.Workload
	want     string
	// rejected are the nodes that are not feasible: who rejects them.
	rejected map[string]string
}

// TestOldNames: what oldnames.md gives in place of an old name decides as that
// did, and without it the decision would be another.
func TestOldNames(t *testing.T) {
	for _, c := range oldNames {
		t.Run(c.names, func(t *testing.T) {
			node, why := c.place(t)
			require.Equal(t, c.want, node)
			for _, n := range why.Nodes {
				who := c.rejected[n.Node]
				require.Equal(t, who == "", n.Feasible, "node %s: %v", n.Node, n.Verdicts)
				if who != "" {
					require.Contains(t, rejecters(n), who, "node %s", n.Node)
				}
			}
			for what, less := range c.without() {
				node, _ := less.place(t)
				require.NotEqual(t, c.want, node, "without %s the same node is chosen", what)
			}
		})
	}
}

func rejecters(n engine.NodeExplanation) (names []string) {
	for _, v := range n.Verdicts {
		names = append(names, v.Plugin)
	}
	return names
}

// without is the case with something left out, by what that is.
func (c oldName) without() map[string]oldName {
	list := map[string]oldName{}
	less := c
	less.plugins, less.args = nil, nil
	list["the plugins"] = less
	if c.args != nil {
		less = c
		less.args = nil
		list["the arguments"] = less
	}
	if c.plugins[0].Weight != 0 {
		less = c
		less.plugins = []extpoints.Entry{usual(c.plugins[0].Name)}
		list["the weight"] = less
	}
	w := c.workload
	plain := &model.Workload{ID: w.ID, Namespace: w.Namespace, Labels: w.Labels, Requests: w.Requests}
	if !reflect.DeepEqual(plain, w) {
		less = c
		less.workload = plain
		list["what the workload says"] = less
	}
	return list
}

// usual is the plugin as the default profile has it.
func usual(name string) extpoints.Entry {
	list := plugins.DefaultProfile().Plugins
	return list[slices.IndexFunc(list, func(r extpoints.Entry) bool { return r.Name == name })]
}

// place schedules the workload, and says what was said of each node.
func (c oldName) place(t *testing.T) (string, *engine.Explanation) {
	t.Helper()
	own := slices.Clone(c.plugins)
	if c.args != nil {
		own[0].Args = c.args
	}
	profile := extpoints.Profile{Name: "old", Plugins: slices.Concat(entries(plugins.PrioritySort, plugins.DefaultBinder), c.beside, own)}
	return schedule(t, profile, c)
}

func schedule(t *testing.T, profile extpoints.Profile, c oldName) (string, *engine.Explanation) {
	t.Helper()
	raw, err := engine.NewRaw(engine.Config{
		Profiles: []extpoints.Profile{profile}, Orchestrator: nobody{},
	})
	require.NoError(t, err)
	var changes []engine.Change
	for _, n := range c.nodes {
		changes = append(changes, engine.PutNode(n.Clone()))
	}
	for _, o := range c.objects {
		changes = append(changes, engine.PutObject(o))
	}
	for i, p := range c.running {
		w := p.Workload.Clone()
		w.ID = fmt.Sprint("running-", i)
		changes = append(changes, engine.Adopt(w, model.Binding{Node: p.Node}))
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, raw.Apply(now, append(changes, engine.Submit(c.workload.Clone()))...))
	why, err := raw.Explain(now, c.workload.ID, engine.ExplainOptions{AllFilters: true})
	require.NoError(t, err)
	require.Len(t, why.Nodes, len(c.nodes))
	require.True(t, raw.Schedule(now))
	w, _ := raw.View().Workload(c.workload.ID)
	require.Equal(t, why.Node, w.Node)
	return w.Node, why
}

// nobody is an orchestrator that does nothing.
type nobody struct{}

func (nobody) Bind(context.Context, *model.Workload, model.Binding) error { return nil }
func (nobody) Evict(context.Context, *model.Workload, string) error       { return nil }

// EqualPriority is what remains where nothing scores.
func TestEqualPriority(t *testing.T) {
	c := oldName{
		nodes:    []*model.Node{roomy("full", 1000), roomy("empty", 100000)},
		workload: workload(500),
	}
	profile := plugins.DefaultProfile()
	node, _ := schedule(t, profile, c)
	require.Equal(t, "empty", node, "the default profile has scores")
	for i := range profile.Plugins {
		profile.Plugins[i].Except = []extpoints.Point{"Score"}
	}
	node, why := schedule(t, profile, c)
	require.Equal(t, "full", node, "the first of equals")
	for _, n := range why.Nodes {
		require.EqualValues(t, 1, n.Total)
	}
	require.Equal(t, []string{"full", "empty"}, why.Ties)
}

// Coscheduling: of a gang for which there is not enough room nobody gets a node,
// although there is room for one of them. Without it the one would get it.
func TestCoscheduling(t *testing.T) {
	for _, c := range []struct {
		what    string
		plugins []extpoints.Entry
		nodes   []*model.Node
		want    []string
	}{
		{"room for one", entries(plugins.Coscheduling), []*model.Node{roomy("a", 500)}, []string{"", ""}},
		{"room for two", entries(plugins.Coscheduling), []*model.Node{roomy("a", 500), roomy("b", 500)}, []string{"a", "b"}},
		{"room for one, without", entries(plugins.PrioritySort), []*model.Node{roomy("a", 500)}, []string{"a", ""}},
	} {
		t.Run(c.what, func(t *testing.T) {
			profile := extpoints.Profile{Name: "old", Plugins: append(entries(plugins.NodeResourcesFit, plugins.DefaultBinder), c.plugins...)}
			raw, err := engine.NewRaw(engine.Config{
				Profiles: []extpoints.Profile{profile}, Orchestrator: nobody{},
			})
			require.NoError(t, err)
			var changes []engine.Change
			for _, n := range c.nodes {
				changes = append(changes, engine.PutNode(n))
			}
			changes = append(changes, engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 2}))
			for i := range c.want {
				changes = append(changes, engine.Submit(&model.Workload{
					ID: fmt.Sprint("w", i), Group: "g", Requests: model.Resources{CPU: 500},
				}))
			}
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			require.NoError(t, raw.Apply(now, changes...))
			for raw.Schedule(now) {
			}
			bound := make([]string, len(c.want))
			for task := raw.NextTask(); task != nil; task = raw.NextTask() {
				b, ok := task.Binding()
				require.True(t, ok)
				bound[slices.Index([]string{"w0", "w1"}, b.Workload)] = b.Node
			}
			require.Equal(t, c.want, bound)
		})
	}
}

// ofTheirOwn are the old names that have a test of their own, with the plugin
// that takes their place.
var ofTheirOwn = map[string]string{
	"EqualPriority": "", // the absence of plugins
	"Coscheduling":  plugins.Coscheduling, "PodGroup": plugins.Coscheduling,
}

// TestOldNamesAreListed: every name that is tested here has a row in
// oldnames.md, with the plugins and the arguments of the test, and every name there is tested.
func TestOldNamesAreListed(t *testing.T) {
	rows := listedNames(t)
	known := map[string]bool{}
	for name, plugin := range ofTheirOwn {
		known[name] = true
		require.Len(t, rows[name], 4, "%s has no row", name)
		if plugin != "" {
			require.Contains(t, rows[name][2], "`"+plugin+"`", name)
		}
	}
	for _, c := range oldNames {
		for name := range strings.FieldsSeq(c.names) {
			known[name] = true
			row := rows[name]
			require.Len(t, row, 4, "%s has no row", name)
			for _, p := range c.plugins {
				require.Contains(t, row[2], "`"+p.Name+"`", name)
				if p.Weight != 0 {
					require.Contains(t, row[2], fmt.Sprint("weight ", p.Weight), name)
				}
			}
			if c.args != nil {
				require.Contains(t, row[2], fmt.Sprintf("`%T`", c.args), name)
			}
			if c.driver != "" {
				require.Contains(t, row[2], "`"+c.driver+"`", name)
			}
		}
	}
	for name := range rows {
		require.True(t, known[name], "nothing tests the row of %s in oldnames.md", name)
	}
}

// listedNames returns the cells of the row of each name in the first column of
// oldnames.md.
func listedNames(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("oldnames.md")
	require.NoError(t, err)
	rows := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		for name := range strings.SplitSeq(cells[0], ", ") {
			name = strings.Trim(name, "`")
			require.NotContains(t, rows, name, "two rows")
			rows[name] = cells
		}
	}
	return rows
}
