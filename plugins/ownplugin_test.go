package plugins_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// fewer is a plugin that prefers nodes with fewer workloads.
type fewer struct{}

func newFewer(extpoints.NoArgs, extpoints.Handle) (fewer, error) { return fewer{}, nil }
func (fewer) Name() string                                       { return "Fewer" }
func (fewer) Score(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	return max(extpoints.MinScore, extpoints.MaxScore-int64(len(node.Workloads))), nil
}

// A plugin of one's own, beside the default ones.
func Example_ownPlugin() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, newFewer, extpoints.NoArgs{}, extpoints.Weight(1000))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1"}),
		engine.PutNode(&model.Node{Name: "n2"}),
		engine.Adopt(&model.Workload{ID: "other"}, model.Binding{Node: "n1"}),
		engine.Submit(&model.Workload{ID: "w"}))
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output: n2 <nil> <nil>
}

// TestOwnPluginIsShort: a plugin is at most six lines besides the statements that
// decide: its type, its factory, its name, the signature of its point, and its use.
func TestOwnPluginIsShort(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "ownplugin_test.go", nil, 0)
	require.NoError(t, err)
	lines := func(n ast.Node) int { return fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1 }
	count, found := 0, 0
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			if spec, ok := n.Specs[0].(*ast.TypeSpec); ok && spec.Name.Name == "fewer" {
				count, found = count+lines(n), found+1
			}
		case *ast.FuncDecl:
			if n.Name.Name == "newFewer" || n.Recv != nil {
				count, found = count+lines(n), found+1
			}
			if n.Name.Name == "Score" {
				count -= len(n.Body.List)
			}
		case *ast.ExprStmt:
			call, ok := n.X.(*ast.CallExpr)
			if !ok {
				break
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Use" {
				count, found = count+lines(n), found+1
			}
		}
		return true
	})
	require.Equal(t, 5, found, "the type, the factory, the two methods and the use")
	require.LessOrEqual(t, count, 6)
}
