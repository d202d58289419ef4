package extpoints

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestPointsAreComplete: every interface of this package that embeds Plugin is in
// one of the two tables.
func TestPointsAreComplete(t *testing.T) {
	listed := map[string]bool{}
	for _, c := range append(points[:len(points):len(points)], additions...) {
		listed[c.iface.Name()] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if iface, ok := spec.Type.(*ast.InterfaceType); ok && embedsPlugin(iface) {
				found++
				if !listed[spec.Name.Name] {
					t.Errorf("%s is in neither table", spec.Name.Name)
				}
			}
			return true
		})
	}
	if found != len(listed) {
		t.Errorf("%d interfaces of plugins, and %d in the tables", found, len(listed))
	}
}

// embedsPlugin reports whether the interface asks for Name by way of Plugin, or of
// an interface that does.
func embedsPlugin(iface *ast.InterfaceType) bool {
	for _, m := range iface.Methods.List {
		if name, ok := m.Type.(*ast.Ident); ok && len(m.Names) == 0 && strings.HasSuffix(name.Name, "Plugin") {
			return true
		}
	}
	return false
}

func TestServes(t *testing.T) {
	for _, c := range []struct {
		point  Point
		plugin Plugin
		want   bool
	}{
		{"Filter", filtering{}, true},
		{"Filter", &filtering{}, true},
		{"Score", filtering{}, false},
		{"Nonesuch", filtering{}, false},
		{"Filter", nil, false},
	} {
		if got := c.point.Serves(c.plugin); got != c.want {
			t.Errorf("%s, %T: %v", c.point, c.plugin, got)
		}
	}
}

type filtering struct{}

func (filtering) Name() string { return "Filtering" }

func (filtering) Filter(*CycleState, *WorkloadInfo, *NodeInfo) *Status { return nil }

func (filtering) PreEnqueue() {}

// onlyFilters hides what filtering has besides.
type onlyFilters struct{ FilterPlugin }

type byPointer struct{}

func (byPointer) Name() string { return "ByPointer" }

func (*byPointer) Filter(*CycleState, *WorkloadInfo, *NodeInfo) *Status { return nil }

type normalizes struct{ FilterPlugin }

func (normalizes) NormalizeScore(*CycleState, *WorkloadInfo, []*NodeInfo, []int64) *Status {
	return nil
}

type scores struct{ ScorePlugin }

type halfEvents struct{ FilterPlugin }

func (halfEvents) EventsToRegister() []EventHint { return nil }

type idle struct{}

func (idle) Name() string { return "Idle" }

func TestCheckPlugin(t *testing.T) {
	for _, c := range []struct {
		plugin Plugin
		want   string
	}{
		{onlyFilters{filtering{}}, ""},
		{scores{}, ""}, // without a normalizer
		{&byPointer{}, ""},
		{byPointer{}, "Filter: Filter has a pointer receiver, so New must return a *extpoints.byPointer"},
		{idle{}, "extpoints.idle serves no extension point"},
		{filtering{}, "PreEnqueue: PreEnqueue is func(), and must be func(*model.Workload) *extpoints.Status"},
		{&plain{}, "PreEnqueue: PreEnqueue is func() *extpoints.Status, and must be func(*model.Workload) *extpoints.Status"},
		{normalizes{}, "ScoreNormalizer: Score is missing"},
		{halfEvents{}, "EnqueueExtensions: EventsToRegister is func() []extpoints.EventHint, and must be func() ([]extpoints.EventHint, error)"},
	} {
		got := ""
		if err := errors.Join(CheckPlugin(c.plugin)...); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%T: %s\nwant %s", c.plugin, got, c.want)
		}
	}
}

// partial has the methods of two points, and serves those that it is told to.
type partial []string

func (partial) Name() string { return "Partial" }
func (partial) Filter(*CycleState, *WorkloadInfo, *NodeInfo) *Status {
	return nil
}
func (partial) Score(*CycleState, *WorkloadInfo, *NodeInfo) (int64, *Status) { return 0, nil }
func (partial) NormalizeScore(*CycleState, *WorkloadInfo, []*NodeInfo, []int64) *Status {
	return nil
}
func (p partial) Selects(name string) bool {
	for _, served := range p {
		if served == name {
			return true
		}
	}
	return false
}

func TestSelective(t *testing.T) {
	p := partial{"Score"}
	if !Point("Score").Serves(p) || Point("Filter").Serves(p) {
		t.Error("it does not serve what it selects, and that alone")
	}
	if _, ok := As[ScorePlugin](p); !ok {
		t.Error("it is not what it selects")
	}
	if _, ok := As[FilterPlugin](p); ok {
		t.Error("it is a point that it leaves out")
	}
	if _, ok := As[ScoreNormalizer](p); ok {
		t.Error("it is an optional interface that it leaves out")
	}
	if _, ok := As[PreFilterPlugin](p); ok {
		t.Error("it is what it has no methods of")
	}
	if problems := CheckPlugin(partial{}); len(problems) != 1 {
		t.Errorf("one that selects nothing: %v, want that it serves no point", problems)
	}
	if problems := CheckPlugin(p); len(problems) != 0 {
		t.Errorf("%v", problems)
	}
}
