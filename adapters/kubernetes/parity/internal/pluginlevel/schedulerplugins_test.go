package pluginlevel

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
)

// runSchedulerPlugins runs cases about plugins of scheduler-plugins until done says so or there
// are no more.
func runSchedulerPlugins(t *testing.T, cases uint64, m Mutation, done func(*differences.Report) bool) *differences.Report {
	t.Helper()
	report, err := differences.New()
	if err != nil {
		t.Fatal(err)
	}
	for number := uint64(0); number < cases && !done(report); number++ {
		if err := RunSchedulerPlugins(1, number, report, m); err != nil {
			t.Fatalf("case %d: %v", number, err)
		}
	}
	return report
}

// The same as TestPlugins for plugins of scheduler-plugins.
func TestSchedulerPlugins(t *testing.T) {
	cases := uint64(100)
	if testing.Short() {
		cases = 16
	}
	report := runSchedulerPlugins(t, cases, Mutation{}, func(*differences.Report) bool { return false })
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{
		"NodeResourcesAllocatable Score", "NodeResourcesAllocatable NormalizeScore", "PodState Score", "PodState NormalizeScore",
		"TargetLoadPacking Score", "LoadVariationRiskBalancing Score", "LowRiskOverCommitment Score", "Peaks Score", "Peaks NormalizeScore",
		"SySched Score", "SySched NormalizeScore", "NetworkOverhead Filter", "NetworkOverhead Score", "NetworkOverhead NormalizeScore",
		"NodeResourceTopologyMatch Filter", "NodeResourceTopologyMatch Score", "NodeResourceTopologyMatch (most allocated) Score",
		"NodeResourceTopologyMatch (balanced) Score", "NodeResourceTopologyMatch (fewest zones) Score",
	} {
		if n, least := report.Counted(what), int(cases)*100; n < least {
			t.Errorf("%s: compared %d times only, want %d", what, n, least)
		}
	}
}

// schedulerMutations are the points that each plugin of scheduler-plugins answers at.
var schedulerMutations = map[string][]string{
	"NodeResourcesAllocatable":   {"Score", "NormalizeScore"},
	"PodState":                   {"Score", "NormalizeScore"},
	"TargetLoadPacking":          {"Score"},
	"LoadVariationRiskBalancing": {"Score"},
	"LowRiskOverCommitment":      {"Score"},
	"Peaks":                      {"Score", "NormalizeScore"},
	"SySched":                    {"Score", "NormalizeScore"},
	"NetworkOverhead":            {"PreFilter", "Filter", "Score", "NormalizeScore"},
	"NodeResourceTopologyMatch":  {"Filter", "Score"},
}

// Whatever a plugin of scheduler-plugins gets wrong is noticed.
func TestMistakesOfSchedulerPluginsAreNoticed(t *testing.T) {
	for plugin, points := range schedulerMutations {
		for _, point := range points {
			noticed := func(r *differences.Report) bool {
				return slices.ContainsFunc(r.Places(), func(place string) bool { return strings.HasPrefix(place, plugin) })
			}
			if report := runSchedulerPlugins(t, 10, Mutation{plugin, point}, noticed); !noticed(report) {
				t.Errorf("%s: a mistake at %s was not noticed", plugin, point)
			}
		}
	}
}
