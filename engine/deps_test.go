package engine_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/berth-project/berth"

// floors is the policy: what each part of the module may import, of the module
// itself and of others. It is a statement of intent: an import that it forbids
// is wrong, not the table. The longest matching prefix counts. "std" stands
// for the standard library and is allowed everywhere.
var floors = []struct {
	pkg    string
	may    []string // prefixes of import paths; those of the module without its name
	third  []string // modules of others
	reason string
}{
	{pkg: "model", reason: "the nouns need nothing"},
	{pkg: "model/modeltest", may: []string{"model"}},
	{pkg: "extpoints", may: []string{"model"}, third: []string{"github.com/hashicorp/go-hclog"}, reason: "Handle has a logger"},
	{pkg: "extpoints/extpointstest", may: []string{"model", "model/modeltest", "extpoints"}, third: []string{"github.com/hashicorp/go-hclog"}},
	{pkg: "queue", may: []string{"model", "extpoints", "queue/share"}},
	{pkg: "queue/share", may: []string{"model"}, reason: "policies over integers, which know nothing of the engine"},
	{pkg: "plugins", may: []string{"model", "extpoints", "plugins/"}, reason: "the registry names all plugins"},
	{pkg: "plugins/dynamicresources", may: []string{"model", "extpoints", "plugins/helper", "plugins/dynamicresources/"}, reason: "its allocator can be used without it"},
	{pkg: "plugins/*", may: []string{"model", "extpoints", "plugins/helper"}, reason: "a plugin imports no other plugin"},
	{pkg: "engine", may: []string{"model", "extpoints", "queue", "engine/internal/"},
		third: []string{"github.com/hashicorp/go-hclog", "golang.org/x/sync"}, reason: "the caller passes plugins and adapters in"},
	{pkg: "engine/internal/store", may: []string{"model", "extpoints", "engine/internal/invariants", "engine/internal/decided"},
		third: []string{"github.com/hashicorp/go-memdb"}, reason: "the only place that knows the database"},
	{pkg: "engine/internal/snapshot", may: []string{"model", "extpoints", "engine/internal/invariants"}},
	{pkg: "engine/internal/record", may: []string{"model", "extpoints", "engine/internal/store", "engine/internal/snapshot"}, reason: "the truth and its view"},
	{pkg: "engine/internal/timeline", may: []string{"model", "extpoints", "queue", "engine/internal/record", "engine/internal/store", "engine/internal/snapshot"}, reason: "the future of the view"},
	{pkg: "engine/internal/decide/fast", may: []string{"extpoints", "engine/internal/framework", "engine/internal/snapshot"}, reason: "what is remembered of nodes, and no more"},
	{pkg: "engine/internal/decide", may: []string{"model", "extpoints", "engine/internal/decide/fast", "engine/internal/timeline", "engine/internal/record", "engine/internal/framework", "engine/internal/store", "engine/internal/snapshot", "engine/internal/parallel", "engine/internal/observe"}, reason: "an attempt, from filter to permit"},
	{pkg: "engine/internal/preempt", may: []string{"model", "extpoints", "engine/internal/record", "engine/internal/store", "engine/internal/observe"}, reason: "making room"},
	{pkg: "engine/internal/tasks", may: []string{"model", "extpoints", "queue", "engine/internal/callers", "engine/internal/decide", "engine/internal/framework", "engine/internal/preempt", "engine/internal/store"}, reason: "what is done outside"},
	{pkg: "engine/internal/wake", may: []string{"model", "extpoints", "queue", "engine/internal/record", "engine/internal/store", "engine/internal/observe"}, reason: "what a fact means for those that wait"},
	{pkg: "engine/internal/framework", may: []string{"model", "extpoints", "queue", "engine/internal/parallel", "engine/internal/observe", "engine/internal/decided"},
		third: []string{"github.com/hashicorp/go-hclog"}},
	{pkg: "engine/internal/observe", may: []string{"extpoints"}, third: []string{"github.com/hashicorp/go-hclog"}, reason: "it is told and never asked"},
	{pkg: "engine/internal/decided", may: []string{"model"}, reason: "what decisions do to objects"},
	{pkg: "engine/internal/forecast", reason: "run times and counts, which know nothing of the engine"},
	{pkg: "engine/internal/callers"},
	{pkg: "engine/internal/parallel", may: []string{"engine/internal/callers"}, reason: "it says which call did not return"},
	{pkg: "engine/internal/invariants"},
	{pkg: "engine/enginetest", reason: "a page of documentation"},
	{pkg: "engine/enginetest/faults", may: []string{"model", "extpoints"}, reason: "a kit, used by tests only"},
	{pkg: "engine/enginetest/transcript", may: []string{"model", "model/modeltest", "extpoints", "extpoints/extpointstest", "queue", "plugins", "engine"}, reason: "a kit, used by tests only"},
	{pkg: "engine/enginetest/simulate", may: []string{"model", "model/modeltest", "extpoints", "extpoints/extpointstest", "queue", "plugins", "plugins/", "engine", "engine/enginetest/faults"}, third: []string{"github.com/hashicorp/go-hclog"}, reason: "a kit, used by tests only"},
	{pkg: "engine/bench", reason: "benchmarks only"},
	{pkg: "adapters", reason: "a page of documentation"},
	{pkg: "adapters/inproc", may: []string{"model", "extpoints", "engine"}},
	{pkg: "adapters/extender", may: []string{"model", "extpoints"}, reason: "an extender is asked by the engine and need not know it"},
	{pkg: "adapters/adaptertest", may: []string{"model", "model/modeltest", "extpoints", "queue", "plugins", "engine"}, reason: "a kit, used by tests only"},
}

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

func TestImportsGoDownOnly(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "./...") {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		i, ok := floorOf(name)
		if !ok {
			t.Errorf("package %s has no floor: add it to the table with what it may import", name)
			continue
		}
		for _, imported := range p.Imports {
			if own, is := strings.CutPrefix(imported, module+"/"); is {
				if !allowed(own, floors[i].may) {
					t.Errorf("%s imports %s, which its floor does not allow (%s)", name, own, floors[i].reason)
				}
			} else if strings.Contains(strings.Split(imported, "/")[0], ".") && !allowedThird(imported, floors[i].third) {
				t.Errorf("%s imports %s, which its floor does not allow (%s)", name, imported, floors[i].reason)
			}
		}
	}
}

func floorOf(name string) (int, bool) {
	wild := -1
	for i := range floors {
		if floors[i].pkg == name {
			return i, true
		}
		if parent, ok := strings.CutSuffix(floors[i].pkg, "/*"); ok && strings.HasPrefix(name, parent+"/") {
			wild = i
		}
	}
	return wild, wild >= 0
}

// allowed reports whether the list has the package, or a prefix ending in a
// slash that it begins with.
func allowed(pkg string, list []string) bool {
	for _, a := range list {
		if pkg == a || strings.HasSuffix(a, "/") && strings.HasPrefix(pkg, a) {
			return true
		}
	}
	return false
}

func allowedThird(pkg string, list []string) bool {
	for _, a := range list {
		if pkg == a || strings.HasPrefix(pkg, a+"/") {
			return true
		}
	}
	return false
}

func goList(t *testing.T, pattern string) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Standard", pattern)
	cmd.Dir = ".."
	out, err := cmd.Output()
	require.NoError(t, err)
	var list []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		list = append(list, p)
	}
}

// TestDependenciesAreFew pins what an importer of the root module pays: at most
// these four.
func TestDependenciesAreFew(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	var direct []string
	for line := range strings.Lines(string(file)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) == 2 && strings.HasPrefix(fields[1], "v") && !strings.Contains(line, "// indirect") {
			direct = append(direct, fields[0])
		}
	}
	require.Subset(t, []string{
		"github.com/hashicorp/go-memdb", "github.com/hashicorp/go-hclog", "golang.org/x/sync", "github.com/stretchr/testify",
	}, direct)
	require.NotContains(t, string(file), "\nreplace ")
}

// forbidden are the calls that the deciding code must not make: what it needs
// of them is an argument, or belongs to the shell.
var forbidden = []struct {
	text, instead string
}{
	{"time.Now(", "the time is an argument"},
	{"time.Since(", "the time is an argument"},
	{"time.Sleep(", "nothing sleeps"},
	{"time.After(", "timers belong to engine/run.go"},
	{"time.NewTimer(", "timers belong to engine/run.go"},
	{"time.AfterFunc(", "timers belong to engine/run.go"},
	{"\"math/rand", "seeds are arguments"},
	{"time.Until(", "the time is an argument"},
	{"time.Tick(", "timers belong to engine/run.go"},
	{"time.NewTicker(", "timers belong to engine/run.go"},
	{"\tgo ", "goroutines belong to engine/run.go and engine/internal/parallel"},
	{".Go(", "goroutines belong to engine/run.go and engine/internal/parallel"},
	{"\"log\"", "events go to a Listener"},
	{"\"log/slog\"", "events go to a Listener"},
	{"fmt.Print", "events go to a Listener"},
	{"os.Stdout", "events go to a Listener"},
	{"os.Stderr", "events go to a Listener"},
	{"\"reflect\"", "no reflection where decisions are made"},
}

// shell are the files that may do some of it.
var shell = map[string][]string{
	"engine/run.go":                        {"time.Now(", "time.Since(", "time.NewTimer(", "time.AfterFunc(", ".Go(", "\tgo "},
	"engine/internal/parallel/parallel.go": {".Go("},
	"engine/internal/invariants":           {"\"reflect\""},
	"extpoints/point.go":                   {"\"reflect\""}, // of a plugin, when an engine is made
}

// core are the directories that decide.
var core = []string{"model", "extpoints", "queue", "plugins", "engine"}

func TestTheCoreIsPure(t *testing.T) {
	t.Parallel()
	for _, dir := range core {
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && strings.HasSuffix(d.Name(), "test") {
				return filepath.SkipDir // a kit
			}
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				checkFile(t, path)
			}
			return nil
		})
		require.NoError(t, err)
	}
}

func checkFile(t *testing.T, path string) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	name := filepath.ToSlash(strings.TrimPrefix(path, "../"))
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		code, _, _ := strings.Cut(lines.Text(), "//")
		for _, f := range forbidden {
			if strings.Contains(code, f.text) && !mayUse(name, f.text) {
				t.Errorf("%s:%d: %s is forbidden here: %s", name, n, f.text, f.instead)
			}
		}
	}
	require.NoError(t, lines.Err())
}

func mayUse(file, text string) bool {
	for prefix, uses := range shell {
		if strings.HasPrefix(file, prefix) {
			for _, u := range uses {
				if u == text {
					return true
				}
			}
		}
	}
	return false
}

func TestRootHasNoGoFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*.go")
	require.NoError(t, err)
	require.Empty(t, files)
}
