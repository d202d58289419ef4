//go:build patched

package pluginlevel

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
)

// patchedPoints are the points that each plugin that is linked with a patch answers at.
var patchedPoints = map[string][]string{
	"QOSSort":            {"Less"},
	"TopologicalSort":    {"Less"},
	"Coscheduling":       {"Less"},
	"CapacityScheduling": {"PreFilter"},
}

func runPatched(t *testing.T, cases uint64, m Mutation) *differences.Report {
	t.Helper()
	report, err := differences.Cases(cases, func(number uint64, r *differences.Report) error { return RunPatched(1, number, r, m) })
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// The same as TestSchedulerPlugins for those that are linked with a patch.
func TestPatched(t *testing.T) {
	cases := uint64(16)
	if testing.Short() {
		cases = 4
	}
	report := runPatched(t, cases, Mutation{})
	if report.Unexplained() > 0 {
		var text strings.Builder
		report.Print(&text)
		t.Fatal(text.String())
	}
	for plugin, points := range patchedPoints {
		for _, point := range points {
			if n, least := report.Counted(plugin+" "+point), int(cases)*1400; n < least {
				t.Errorf("%s %s: compared %d times only, want %d", plugin, point, n, least)
			}
		}
	}
}

// Whatever one of them gets wrong is noticed.
func TestMistakesOfPatchedAreNoticed(t *testing.T) {
	for plugin, points := range patchedPoints {
		for _, point := range points {
			report := runPatched(t, 2, Mutation{plugin, point})
			if !slices.ContainsFunc(report.Places(), func(place string) bool { return strings.HasPrefix(place, plugin) }) {
				t.Errorf("%s: a mistake at %s was not noticed", plugin, point)
			}
		}
	}
}
