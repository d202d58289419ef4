package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// modules are those that others import.
var modules = []string{"", "adapters/fleet", "adapters/kubernetes", "adapters/kubernetes/bridge"}

// withoutExample are the packages that others could import and that have no
// Example, with the reason.
var withoutExample = map[string]string{
	"adapters":                           "a page of documentation",
	"engine/bench":                       "benchmarks only",
	"engine/enginetest":                  "a page of documentation",
	"plugins/helper":                     "parts of the plugins here",
	"plugins/dynamicresources/allocator": "the search of DynamicResources; its tests have tables of cases",

	"adapters/fleet/agent":             "part of the program berth",
	"adapters/fleet/agent/cgroup":      "part of the program berth",
	"adapters/fleet/agent/cpuset":      "part of the program berth",
	"adapters/fleet/agent/fingerprint": "part of the program berth",
	"adapters/fleet/agent/shim":        "part of the program berth",
	"adapters/fleet/api":               "types only; api/client shows their use",
	"adapters/fleet/cli":               "part of the program berth",
	"adapters/fleet/daemon":            "part of the program berth",
	"adapters/fleet/deploy":            "files to install",
	"adapters/fleet/pki":               "part of the program berth",
	"adapters/fleet/replica":           "part of the program berth",
	"adapters/fleet/replica/muxer":     "part of the program berth",
	"adapters/fleet/scheduler":         "part of the program berth",
	"adapters/fleet/server":            "part of the program berth",
	"adapters/fleet/state":             "part of the program berth",
	"adapters/fleet/web":               "part of the program berth",

	"adapters/kubernetes/bridge":            "bridge/app shows its use",
	"adapters/kubernetes/config/configtest": "shared by tests of this module and of parity",
	"adapters/kubernetes/explain/api":       "types only; explain shows where they come from",
}

// TestPackagesHaveExamples: whoever opens the documentation of a package that can be
// imported sees code that uses it, compiled and, where it can be, run.
func TestPackagesHaveExamples(t *testing.T) {
	oneGoroutine(t)
	importable, shown := map[string]bool{}, map[string]bool{}
	for _, file := range files(t, ".go") {
		dir := path.Dir(file)
		if !slices.Contains(modules, moduleOf(file)) || strings.Contains("/"+dir+"/", "/internal/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), "../"+file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		switch {
		case strings.HasSuffix(file, "_test.go"):
			shown[dir] = shown[dir] || hasExample(parsed)
		case parsed.Name.Name != "main":
			importable[dir] = true
		}
	}
	require.Greater(t, len(importable), 50, "packages are not found")
	for dir := range importable {
		_, excepted := withoutExample[dir]
		switch {
		case excepted && shown[dir]:
			t.Errorf("%s has an Example: take it out of the list of exceptions", dir)
		case !excepted && !shown[dir]:
			t.Errorf("%s has no Example: write one that shows its use, or add it to the exceptions with a reason", dir)
		}
	}
	for dir := range withoutExample {
		if !importable[dir] {
			t.Errorf("%s is an exception, and no package that others can import", dir)
		}
	}
}

// moduleOf is the folder of the module that the file belongs to, of all in the
// repository.
func moduleOf(file string) string {
	for _, dir := range []string{"adapters/fleet/e2e", "adapters/kubernetes/e2e", "adapters/kubernetes/parity", "adapters/kubernetes/bridge", "adapters/fleet", "adapters/kubernetes", "examples"} {
		if strings.HasPrefix(file, dir+"/") {
			return dir
		}
	}
	return ""
}

func hasExample(file *ast.File) bool {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Example") {
			return true
		}
	}
	return false
}
