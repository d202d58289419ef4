package pluginlevel

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
)

// run runs cases until done says so or there are no more.
func run(t *testing.T, cases uint64, m Mutation, done func(*differences.Report) bool) *differences.Report {
	t.Helper()
	report, err := differences.New()
	if err != nil {
		t.Fatal(err)
	}
	for number := range cases {
		if err := Run(1, number, report, m); err != nil {
			t.Fatalf("case %d: %v", number, err)
		}
		if done(report) {
			break
		}
	}
	return report
}

// A short run with a fixed seed: nothing that is not in the list differs, and
// every plugin has been asked often enough.
func TestPlugins(t *testing.T) {
	cases := uint64(64)
	if testing.Short() {
		cases = 16
	}
	report := run(t, cases, Mutation{}, func(*differences.Report) bool { return false })
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{
		"NodeName Filter", "NodeUnschedulable Filter", "TaintToleration Score", "NodeAffinity Score", "NodePorts Filter", "NodeResourcesFit Filter",
		"NodeResourcesBalancedAllocation Score", "ImageLocality Score", "PodTopologySpread Filter", "PodTopologySpread Score",
		"PodTopologySpread Filter after AddPod and RemovePod", "InterPodAffinity Filter", "InterPodAffinity Score",
		"InterPodAffinity Filter after AddPod and RemovePod", "NodeDeclaredFeatures Filter",
		"VolumeBinding Filter", "VolumeBinding Score", "VolumeZone Filter", "VolumeRestrictions Filter", "NodeVolumeLimits Filter",
		"DynamicResources Filter",
	} {
		if n, least := report.Counted(what), int(cases)*2; n < least {
			t.Errorf("%s: compared %d times only, want %d", what, n, least)
		}
	}
}

// mutations are the points that each plugin answers at.
var mutations = map[string][]string{
	"SchedulingGates":                 {"PreEnqueue", "Hint"},
	"PrioritySort":                    {"Less"},
	"NodeName":                        {"PreFilter", "Filter", "Hint", "Sign"},
	"NodeUnschedulable":               {"Filter", "Hint", "Sign"},
	"TaintToleration":                 {"Filter", "PreScore", "Score", "NormalizeScore", "Hint", "Sign"},
	"NodeAffinity":                    {"PreFilter", "Filter", "PreScore", "Score", "NormalizeScore", "Hint", "Sign"},
	"NodePorts":                       {"PreFilter", "Filter", "Hint", "Sign"},
	"NodeResourcesFit":                {"PreFilter", "Filter", "PreScore", "Score", "Hint", "Sign"},
	"NodeResourcesBalancedAllocation": {"PreScore", "Score", "Sign"},
	"ImageLocality":                   {"Score", "Sign"},
	"PodTopologySpread":               {"PreFilter", "Filter", "AddWorkload", "PreScore", "Score", "NormalizeScore", "Hint", "Sign"},
	"InterPodAffinity":                {"PreFilter", "Filter", "AddWorkload", "PreScore", "Score", "NormalizeScore", "Hint", "Sign"},
	"NodeDeclaredFeatures":            {"PreFilter", "Filter", "Hint", "Sign"},
	"DefaultPreemption":               {"PreEnqueue", "Hint"},
	"VolumeRestrictions":              {"PreFilter", "Filter", "AddWorkload", "Hint", "Sign"},
	"NodeVolumeLimits":                {"PreFilter", "Filter", "Hint", "Sign"},
	"VolumeZone":                      {"PreFilter", "Filter", "Hint", "Sign"},
	"VolumeBinding":                   {"PreFilter", "Filter", "PreScore", "Score", "Reserve", "Hint", "Sign"},
	"DynamicResources":                {"PreEnqueue", "PreFilter", "Filter", "Score", "NormalizeScore", "Reserve", "Hint"},
}

// Whatever a plugin gets wrong at any point is noticed.
func TestMistakesAreNoticed(t *testing.T) {
	seen := map[string]bool{}
	for plugin, points := range mutations {
		for _, point := range points {
			if !slices.Contains(Points, point) {
				t.Fatalf("there is no point %q", point)
			}
			seen[point] = true
			noticed := func(r *differences.Report) bool {
				return slices.ContainsFunc(r.Places(), func(place string) bool { return strings.HasPrefix(place, plugin) })
			}
			if report := run(t, 30, Mutation{plugin, point}, noticed); !noticed(report) {
				t.Errorf("%s: a mistake at %s was not noticed", plugin, point)
			}
		}
	}
	for _, point := range Points {
		if !seen[point] {
			t.Errorf("no mistake was made at %s", point)
		}
	}
}

// runGroups runs cases about groups until done says so or there are no more.
func runGroups(t *testing.T, cases uint64, m Mutation, done func(*differences.Report) bool) *differences.Report {
	t.Helper()
	report, err := differences.New()
	if err != nil {
		t.Fatal(err)
	}
	for number := uint64(0); number < cases && !done(report); number++ {
		if err := RunGroups(1, number, report, m); err != nil {
			t.Fatalf("case %d: %v", number, err)
		}
	}
	return report
}

// The same as TestPlugins for the plugins that are about groups.
func TestGroupPlugins(t *testing.T) {
	cases := uint64(32)
	if testing.Short() {
		cases = 8
	}
	report := runGroups(t, cases, Mutation{}, func(*differences.Report) bool { return false })
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{
		"GangScheduling PreEnqueue", "GangScheduling Permit", "GangScheduling PlacementFeasible", "GangScheduling hint",
		"TopologyPlacementGenerator GeneratePlacements", "PodGroupPodsCount ScorePlacement", "PodGroupPodsCount NormalizePlacementScore",
		"NodeResourcesFit ScorePlacement", "NodeResourcesFit (most allocated) ScorePlacement",
	} {
		if n, least := report.Counted(what), int(cases)*20; n < least {
			t.Errorf("%s: compared %d times only, want %d", what, n, least)
		}
	}
}

// groupMutations are the points about groups that each plugin answers at.
var groupMutations = map[string][]string{
	"GangScheduling":             {"PreEnqueue", "Permit", "PlacementFeasible", "Hint"},
	"TopologyPlacementGenerator": {"GeneratePlacements"},
	"PodGroupPodsCount":          {"ScorePlacement", "NormalizePlacementScore"},
	"NodeResourcesFit":           {"ScorePlacement"},
}

// Whatever a plugin gets wrong about groups is noticed.
func TestMistakesAboutGroupsAreNoticed(t *testing.T) {
	for plugin, points := range groupMutations {
		for _, point := range points {
			if !slices.Contains(GroupPoints, point) {
				t.Fatalf("there is no point %q", point)
			}
			noticed := func(r *differences.Report) bool {
				return slices.ContainsFunc(r.Places(), func(place string) bool { return strings.HasPrefix(place, plugin) })
			}
			if report := runGroups(t, 10, Mutation{plugin, point}, noticed); !noticed(report) {
				t.Errorf("%s: a mistake at %s was not noticed", plugin, point)
			}
		}
	}
}
