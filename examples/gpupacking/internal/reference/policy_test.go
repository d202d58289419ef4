package reference

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// Pods of the cases below.
var (
	cpuOnly = &trace.Pod{Shape: trace.Shape{CPU: 16000}}
	share   = &trace.Pod{Shape: trace.Shape{CPU: 16000, GPUs: 1, Share: 400}}
	single  = &trace.Pod{Shape: trace.Shape{CPU: 16000, GPUs: 1, Share: 1000}}
	pair    = &trace.Pod{Shape: trace.Shape{CPU: 16000, GPUs: 2, Share: 1000}}
)

// with is a node with half the CPU of the largest one, and these milli left on
// its GPUs.
func with(gpus ...int64) *node {
	return &node{model: "A", cpu: 64000, gpus: gpus, tags: map[string]bool{}}
}

func hosting(n *node, pods ...*trace.Pod) *node {
	for _, p := range pods {
		n.tags[tag(p)] = true
	}
	return n
}

type scoreCase struct {
	name string
	node *node
	pod  *trace.Pod
	want int64
}

func checkScores(t *testing.T, p policy, tests []scoreCase) {
	t.Helper()
	for _, test := range tests {
		if got := p.score(test.node, test.pod); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

func TestDotProdScores(t *testing.T) {
	checkScores(t, dotProd{}, []scoreCase{
		{"CPU only: 100 (1 - 1/16 / 2), truncated", with(1000, 1000), cpuOnly, 96},
		{"CPU and GPUs: 100 (1 - (1/16 + 1/16) / 2)", with(1000, 1000), pair, 93},
		{"less left scores higher", with(400, 0), share, 96},
	})
}

func TestClusteringScores(t *testing.T) {
	eight := []int64{1000, 1000, 1000, 1000, 0, 0, 0, 0} // 25 * 4000/8000 = 12
	checkScores(t, clustering{}, []scoreCase{
		{"a pod without GPUs", with(eight...), cpuOnly, 0},
		{"its kind alone", hosting(with(eight...), share), share, 87},
		{"its kind among others", hosting(with(eight...), share, single), share, 62},
		{"no GPU pod yet", with(eight...), share, 37},
		{"other kinds only", hosting(with(eight...), single), share, 12},
		{"one GPU and two are different kinds", hosting(with(eight...), single), pair, 12},
	})
}

func TestPackingScores(t *testing.T) {
	checkScores(t, packing{}, []scoreCase{
		{"a pod without GPUs", with(500), cpuOnly, 0},
		{"an unused node with one GPU", with(1000), share, 32},
		{"an unused node with eight GPUs", with(1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000), share, 25},
		{"a used node, free GPUs are taken", with(1000, 1000, 500), pair, 48},
		{"a used node, one free GPU is taken", with(1000, 300), share, 49},
		{"a used GPU: 100 - 50/10", with(1000, 500), share, 95},
		{"the GPU with least left counts: 100 - int(45.9)/10", with(900, 459), share, 96},
	})
}

func TestBestFitScores(t *testing.T) {
	checkScores(t, bestFit{}, []scoreCase{
		{"100 (1 - 48/128 / 2 - 0), truncated", with(1000, 1000), pair, 81},
		{"100 (1 - 48/128 / 2 - 1.6/8 / 2), truncated", with(1000, 1000), share, 71},
	})
}

func TestBestFitNormalizes(t *testing.T) {
	tests := []struct{ scores, want []int64 }{
		{scores: []int64{60, 71, 83}, want: []int64{0, 47, 100}},
		{scores: []int64{70, 70}, want: []int64{70, 70}},
		{scores: nil, want: nil},
	}
	for _, test := range tests {
		var candidates []candidate
		for _, s := range test.scores {
			candidates = append(candidates, candidate{score: s})
		}
		bestFit{}.normalize(single, candidates)
		for i, c := range candidates {
			if c.score != test.want[i] {
				t.Errorf("%v: number %d is %d, want %d", test.scores, i, c.score, test.want[i])
			}
		}
	}
}

// The only typical pod wants half a GPU: what is less on a device is lost.
func TestFGDScores(t *testing.T) {
	p := fgd{trace.Typical{{Shape: trace.Shape{GPUs: 1, Share: 500}, Weight: 1}}}
	checkScores(t, p, []scoreCase{
		{"nothing changes: 100 sigmoid(0)", with(1000, 1000), pair, 50},
		{"400 lost milli come into use: 100 sigmoid(0.4)", with(400, 1000), share, 59},
		{"of a device with 500, 100 are lost: 100 sigmoid(-0.1)", with(500), share, 47},
		{"the CPU does not matter here", with(1000), cpuOnly, 50},
	})
	starving := fgd{trace.Typical{{Shape: trace.Shape{CPU: 50000, GPUs: 1, Share: 500}, Weight: 1}}}
	checkScores(t, starving, []scoreCase{
		{"taking the CPU makes 1000 milli useless: 100 sigmoid(-1)", with(1000), cpuOnly, 26},
	})
}

func TestDevices(t *testing.T) {
	fgdPolicy := fgd{trace.Typical{{Shape: trace.Shape{GPUs: 1, Share: 500}, Weight: 1}}}
	drawn := &random{rand.New(rand.NewSource(1))}
	tests := []struct {
		name   string
		policy policy
		node   *node
		pod    *trace.Pod
		want   []int
	}{
		{"none for a pod without GPUs", bestFit{}, with(1000), cpuOnly, []int{}},
		{"whole GPUs from the lowest index", bestFit{}, with(500, 1000, 1000, 1000), pair, []int{1, 2}},
		{"a share from the tightest fit", bestFit{}, with(1000, 300, 600, 500), share, []int{3}},
		{"and of equal fits the first", packing{}, with(1000, 500, 500), share, []int{1}},
		{"FGD: the device that loses least", fgdPolicy, with(700, 1000, 400), share, []int{2}},
		{"FGD: of equal scores the first", fgdPolicy, with(1000, 900), share, []int{0}},
		{"FGD: scores that are equal once truncated are equal", fgdPolicy, with(501, 500), share, []int{0}},
		{"FGD: whole GPUs from the lowest index", fgdPolicy, with(400, 1000, 1000), single, []int{1}},
		{"Random: whole GPUs from the lowest index", drawn, with(400, 1000, 1000), single, []int{1}},
		{"Random: a share from any that fits", drawn, with(300, 1000, 300), share, []int{1}},
	}
	for _, test := range tests {
		if got := test.policy.devices(test.node, test.pod); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestFilters(t *testing.T) {
	tests := []struct {
		name string
		pod  trace.Pod
		node node
		want bool
	}{
		{"everything just fits", trace.Pod{Memory: 5, Shape: share.Shape}, node{cpu: 16000, memory: 5, gpus: []int64{400}}, true},
		{"CPU", trace.Pod{Shape: share.Shape}, node{cpu: 15999, gpus: []int64{400}}, false},
		{"memory", trace.Pod{Memory: 5, Shape: share.Shape}, node{cpu: 16000, memory: 4, gpus: []int64{400}}, false},
		{"share", trace.Pod{Shape: share.Shape}, node{cpu: 16000, gpus: []int64{399, 399}}, false},
		{"devices", trace.Pod{Shape: pair.Shape}, node{cpu: 16000, gpus: []int64{1000, 999}}, false},
		{"the last place", trace.Pod{}, node{pods: 1000}, true},
		{"one pod too many", trace.Pod{}, node{pods: 1001}, false},
		{"model", trace.Pod{Shape: trace.Shape{GPUs: 1, Share: 1, Spec: "B"}}, node{model: "A", gpus: []int64{1}}, false},
		{"one of several models", trace.Pod{Shape: trace.Shape{GPUs: 1, Share: 1, Spec: "B|A"}}, node{model: "A", gpus: []int64{1}}, true},
		{"the model does not matter without a GPU", trace.Pod{Shape: trace.Shape{Spec: "B"}}, node{model: "A"}, true},
	}
	for _, test := range tests {
		if got := test.node.fits(&test.pod); got != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
}
