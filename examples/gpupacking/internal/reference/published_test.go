package reference_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/internal/openb"
	"github.com/berth-project/berth/examples/gpupacking/internal/reference"
	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// Every column of every published run of the policies that do not draw is met:
// digit for digit, but for those of openb.Tolerance.
func TestPublishedRuns(t *testing.T) {
	published := openb.Published(t)
	for _, list := range openb.Lists() {
		loaded := openb.Load(t, list)
		for _, policy := range trace.Published() {
			if policy == trace.Random {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", list, policy), func(t *testing.T) {
				t.Parallel()
				for _, seed := range seeds() {
					key := openb.Key{List: list, Policy: policy, Seed: seed}
					published.Check(t, key, reference.Run(loaded, policy, seed).Run)
				}
			})
		}
	}
}

// seeds are those that are run: the first, or all of them with -long.
func seeds() []int64 {
	if openb.Long() {
		return openb.Seeds()
	}
	return openb.Seeds()[:1]
}

// publishedTable is the GPU allocation at 100 % arrived demand, mean over the
// seeds, as the publication has it.
var publishedTable = map[string]map[trace.Policy]string{
	"default": {
		trace.DotProd: "90.62", trace.Clustering: "91.65", trace.Packing: "91.78", trace.BestFit: "92.86", trace.FGD: "95.23",
	},
	"gpuspec10": {
		trace.DotProd: "90.17", trace.Clustering: "91.96", trace.Packing: "92.24", trace.BestFit: "93.10", trace.FGD: "94.66",
	},
	"gpushare100": {
		trace.DotProd: "81.98", trace.Clustering: "82.22", trace.Packing: "82.13", trace.BestFit: "84.62", trace.FGD: "86.64",
	},
	"multigpu50": {
		trace.DotProd: "94.73", trace.Clustering: "95.69", trace.Packing: "96.06", trace.BestFit: "95.62", trace.FGD: "97.09",
	},
}

// The table follows from the published columns, so that TestPublishedRuns
// covers it.
func TestPublishedTable(t *testing.T) {
	published := openb.Published(t)
	for list, row := range publishedTable {
		for policy, want := range row {
			var runs []trace.Run
			for seed := int64(openb.FirstSeed); seed <= openb.LastSeed; seed++ {
				key := openb.Key{List: list, Policy: policy, Seed: seed}
				runs = append(runs, trace.Run{Policy: policy, Seed: seed, Allocation: published.Allocation[key]})
			}
			if got := fmt.Sprintf("%.2f", trace.Summarize(runs, policy).Mean); got != want {
				t.Errorf("%s, %s: %s, want %s", list, policy, got, want)
			}
		}
	}
}

// Random draws from another generator than the published runs did: it is met in
// the mean over the seeds.
func TestRandomMeetsThePublishedMean(t *testing.T) {
	if !openb.Long() {
		t.Skip("a mean needs all seeds: -long")
	}
	want := map[string]float64{"default": 86.30, "gpuspec10": 86.26, "gpushare100": 78.90, "multigpu50": 81.28}
	for _, list := range openb.Lists() {
		loaded := openb.Load(t, list)
		t.Run(list, func(t *testing.T) {
			t.Parallel()
			var runs []trace.Run
			for _, seed := range openb.Seeds() {
				runs = append(runs, reference.Run(loaded, trace.Random, seed).Run)
			}
			got := trace.Summarize(runs, trace.Random).Mean
			if math.Abs(got-want[list]) > 0.25 {
				t.Errorf("mean %.2f, want %.2f within 0.25", got, want[list])
			}
		})
	}
}
