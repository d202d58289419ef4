package simulation_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/internal/openb"
	"github.com/berth-project/berth/examples/gpupacking/internal/simulation"
	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// TestMain trades memory, of which a run needs little, for time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// Every column of the published runs is met by the engine, digit for digit
// (but see openb.Tolerance), for the policies that do not draw. A run takes a
// few seconds; which ones there are is in chosen.
func TestPublishedRuns(t *testing.T) {
	published := openb.Published(t)
	for _, list := range openb.Lists() {
		loaded := openb.Load(t, list)
		for _, policy := range trace.Policies() {
			for _, seed := range chosen(list, policy) {
				key := openb.Key{List: list, Policy: policy, Seed: seed}
				t.Run(fmt.Sprintf("%s/%s/%d", list, policy, seed), func(t *testing.T) {
					t.Parallel()
					published.Check(t, key, run(t, loaded, policy, seed).Run)
				})
			}
		}
	}
}

// chosen are the seeds that are run: all of them for the default trace, and
// for the others two, or all with BERTH_DATA_ALL=1. Under -short it is one run of
// the two policies that look at most.
func chosen(list string, policy trace.Policy) []int64 {
	seeds := openb.Seeds()
	switch {
	case policy == trace.Random:
		return nil // see TestRandomMeetsThePublishedMean
	case testing.Short() && (list != "default" || policy != trace.Clustering && policy != trace.FGD):
		return nil
	case testing.Short() || list == "default" || everything():
		return seeds
	default:
		return []int64{seeds[0], seeds[len(seeds)-1]}
	}
}

func everything() bool { return os.Getenv("BERTH_DATA_ALL") == "1" }

// Random draws from another generator than the published runs did: it is met in
// the mean over the seeds.
func TestRandomMeetsThePublishedMean(t *testing.T) {
	if testing.Short() {
		t.Skip("a mean needs all seeds")
	}
	want := map[string]float64{"default": 86.30, "gpuspec10": 86.26, "gpushare100": 78.90, "multigpu50": 81.28}
	for _, list := range openb.Lists() {
		if list != "default" && !everything() {
			continue
		}
		loaded := openb.Load(t, list)
		t.Run(list, func(t *testing.T) {
			t.Parallel()
			var runs []trace.Run
			for _, seed := range openb.Seeds() {
				runs = append(runs, run(t, loaded, trace.Random, seed).Run)
			}
			got := trace.Summarize(runs, trace.Random).Mean
			t.Logf("mean %.2f, published %.2f", got, want[list])
			if math.Abs(got-want[list]) > 0.25 {
				t.Errorf("mean %.2f, want %.2f within 0.25", got, want[list])
			}
		})
	}
}

func run(t *testing.T, tr *trace.Trace, policy trace.Policy, seed int64) simulation.Result {
	t.Helper()
	result, err := simulation.Run(context.Background(), tr, policy, seed)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
