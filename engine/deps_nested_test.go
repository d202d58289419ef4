package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// nestedFloors are the packages of each nested module, lowest first, by their folders in
// it ("." is the module's own). Each may import those on floors below its own. It is a
// statement of intent, as floors is.
var nestedFloors = map[string][][]string{
	"adapters/fleet": {
		{"job", "pki", "web", "deploy", "replica/muxer", "agent/cpuset", "agent/internal/durable", "agent/internal/meter", "agent/internal/proc", "agent/internal/tasklog", "internal/command", "internal/fleettest"},
		{"api", "job/flags", "replica", "agent/cgroup"},
		{"api/client", "state", "agent/shim", "agent/fingerprint"},
		{"agent", "scheduler", "cli"},
		{"server"},
		{"daemon"},
		{"cmd/berth"},
	},
	"adapters/kubernetes": {
		{"internal/release"},
		{"convert", "loadwatcher", "metrics", "deploy", "explain/api", "internal/golden", "internal/strict"},
		{"queueing", "customresources"},
		{"words"},
		{".", "cel", "config", "explain", "cmd/kubectl-berth"},
		{"app", "config/configtest", "internal/kubetest"},
		{"cmd/berth-scheduler"},
	},
	"adapters/kubernetes/bridge": {
		{"."},
		{"app"},
	},
	"adapters/kubernetes/parity": {
		{
			".", "generate", "internal/answer", "internal/commandlevel", "internal/configlevel", "internal/differences", "internal/metriclevel",
			"internal/upstream/capacityscheduling", "internal/upstream/coscheduling", "internal/upstream/preemptiontoleration",
			"internal/upstream/qos", "internal/upstream/topologicalsort",
		},
		{"internal/reference"},
		{"internal/queuelevel", "internal/subject"},
		{"internal/twin", "internal/sidebyside"},
		{"internal/decisionlevel", "cmd/sidebyside"},
		{"internal/pluginlevel"},
		{"cmd/parity", "cmd/withplugins", "internal/bridgelevel"},
	},
	"adapters/kubernetes/e2e": {
		{".", "kit", "proxy", "controlplane", "cluster"},
		{"scenario", "placements", "sidebyside"},
		{"cmd/sidebyside"},
	},
	"adapters/fleet/e2e": {
		{".", "cluster", "scenario", "readme", "page", "load", "vm", "vm/guest", "fault/task"},
		{"fault"},
	},
	"examples": {
		{"hello", "quickstart", "customorchestrator", "customplugin", "gang", "orchestrator", "fairshare", "gpupacking/trace", "backfill/internal/swf"},
		{"backfill/internal/simulation", "gpupacking/internal/openb", "gpupacking/internal/bound", "gpupacking/internal/reference", "gpupacking/internal/simulation"},
		{"backfill", "gpupacking"},
	},
}

// The imports within each nested module go down too.
func TestImportsOfNestedModulesGoDownOnly(t *testing.T) {
	oneGoroutine(t)
	for dir, floors := range nestedFloors {
		if _, err := os.Stat(filepath.Join("..", dir)); err != nil {
			t.Skipf("%v: the repository is not whole here", err)
		}
		floorOf := map[string]int{}
		for i, floor := range floors {
			for _, pkg := range floor {
				floorOf[pkg] = i
			}
		}
		own := module + "/" + dir
		in := func(path string) (string, bool) {
			if path == own {
				return ".", true
			}
			return strings.CutPrefix(path, own+"/")
		}
		for _, p := range importsOf(t, dir) {
			name, _ := in(p.path)
			at, ok := floorOf[name]
			if !ok {
				t.Errorf("%s: package %s has no floor: add it to the table", dir, name)
				continue
			}
			for _, imported := range p.imports {
				if other, is := in(imported); is && floorOf[other] >= at {
					t.Errorf("%s: %s imports %s, which is not below it", dir, name, other)
				}
			}
		}
	}
}

// imports are those of a package.
type imports struct {
	path    string
	imports []string
}

// importsOf lists the packages of a module that need not be in the workspace. What they
// import need not be there.
func importsOf(t *testing.T, dir string) (list []imports) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = filepath.Join("..", dir)
	cmd.Env = os.Environ()
	if strings.Contains(dir, "bridge") || strings.Contains(dir, "parity") || strings.Contains(dir, "e2e") {
		cmd.Env = append(cmd.Env, "GOWORK=off")
	}
	out, err := cmd.Output()
	require.NoError(t, err, dir)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		list = append(list, imports{fields[0], slices.Clone(fields[1:])})
	}
	require.NotEmpty(t, list, dir)
	return list
}
