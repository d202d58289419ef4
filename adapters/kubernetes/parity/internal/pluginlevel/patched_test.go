//go:build patched

package pluginlevel

import (
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/model"
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
	if err := report.Err(); err != nil {
		t.Fatal(err)
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

// A short run with a fixed seed, as TestSchedulerPluginsDecisions.
func TestPatchedDecisions(t *testing.T) {
	cases := uint64(12)
	if testing.Short() {
		cases = 3
	}
	report := runPatchedDecisions(t, cases, PatchedDecisions())
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	if n, least := report.Counted("decision with PreemptionToleration"), int(cases)*20; n < least {
		t.Errorf("%d decisions only, want %d", n, least)
	}
}

func runPatchedDecisions(t *testing.T, cases uint64, o decisionlevel.Options) *differences.Report {
	t.Helper()
	report, err := differences.Cases(cases, func(number uint64, r *differences.Report) error { return decisionlevel.Run(1, number, r, o) })
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// That the subject takes one thing for another that a class says is noticed.
func TestMistakesAboutPatchedTolerationsAreNoticed(t *testing.T) {
	for name, mistake := range map[string]func(*model.PreemptionToleration){
		"nobody is tolerated":  func(m *model.PreemptionToleration) { *m = model.PreemptionToleration{} },
		"the time runs longer": func(m *model.PreemptionToleration) { m.For *= 2 },
		"one priority less":    func(m *model.PreemptionToleration) { m.MinPriority-- },
	} {
		o := PatchedDecisions()
		begin := o.Begin
		o.Begin = func(t *twin.Twin) error {
			err := begin(t)
			said := t.Toleration
			t.Toleration = func(p *v1.Pod) model.PreemptionToleration {
				m := said(p)
				mistake(&m)
				return m
			}
			return err
		}
		if report := runPatchedDecisions(t, 60, o); report.Unexplained() == 0 {
			t.Errorf("%s: it was not noticed", name)
		}
	}
}
