package noderesourcesallocatable

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

const gi, mi = 1 << 30, 1 << 20

func nodes(resources ...model.Resources) (list []*extpoints.NodeInfo) {
	for i, r := range resources {
		list = append(list, extpointstest.NodeWith(&model.Node{Name: string(rune('a' + i)), Allocatable: r}))
	}
	return list
}

// scored are the raw scores of the nodes and the normalised ones, for a workload that asks for so much.
func scored(t *testing.T, p *NodeResourcesAllocatable, list []*extpoints.NodeInfo, asks model.Resources) (raw, normal []int64) {
	t.Helper()
	return extpointstest.NewSituation(&model.Workload{ID: "w", Requests: asks}, list...).Scores(t, p)
}

// Answers by the upstream rules that its own tests do not have.
func TestScore(t *testing.T) {
	large := nodes(
		model.Resources{CPU: 96000, Memory: 384 * gi}, model.Resources{CPU: 96000, Memory: 768 * gi},
		model.Resources{CPU: 48000, Memory: 192 * gi}, model.Resources{CPU: 128000, Memory: 512 * gi},
	)
	doubling := nodes(model.Resources{CPU: 4000, Memory: 16 * gi}, model.Resources{CPU: 8000, Memory: 32 * gi}, model.Resources{CPU: 16000, Memory: 32 * gi})
	stairs := nodes(model.Resources{CPU: 1000, Memory: 1000 * mi}, model.Resources{CPU: 2000, Memory: 2000 * mi}, model.Resources{CPU: 3000, Memory: 3000 * mi})
	for _, c := range []struct {
		name        string
		nodes       []*extpoints.NodeInfo
		mode        Mode
		raw, normal []int64 // raw is not looked at where it is nil
	}{
		{"by default small ones", stairs, "", nil, []int64{100, 50, 0}},
		{"weights by default, least", doubling, Least, []int64{-20383, -40767, -48767}, []int64{100, 28, 0}},
		{"weights by default, most", doubling, Most, []int64{20383, 40767, 48767}, []int64{0, 71, 100}},
		{"large nodes", large, Least, []int64{-489215, -882431, -244607, -652287}, []int64{61, 0, 100, 36}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := New(Args{Mode: c.mode}, extpointstest.NewHandle())
			if err != nil {
				t.Fatal(err)
			}
			raw, normal := scored(t, p, c.nodes, model.Resources{})
			if c.raw != nil && !slices.Equal(raw, c.raw) {
				t.Errorf("raw: got %v, want %v", raw, c.raw)
			}
			if !slices.Equal(normal, c.normal) {
				t.Errorf("normalised: got %v, want %v", normal, c.normal)
			}
		})
	}
}

// A sum that no int64 can hold: the largest node is the largest, unless it is to be as
// upstream.
func TestOverflow(t *testing.T) {
	args := Args{Mode: Most, Resources: []ResourceWeight{{"x", 1 << 40}}}
	list := nodes(model.Resources{}.With("x", 1), model.Resources{}.With("x", 1<<23))
	for compat, want := range map[extpoints.Compat][]int64{extpoints.Improved: {0, 100}, extpoints.KubeScheduler137: {100, 0}} {
		h := extpointstest.NewHandle()
		h.Mode = compat
		p, err := New(args, h)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := scored(t, p, list, model.Resources{}); !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", compat, got, want)
		}
	}
}

func TestArgs(t *testing.T) {
	_, err := New(Args{Mode: "Median", Resources: []ResourceWeight{{"", 1}, {"cpu", 0}}}, extpointstest.NewHandle())
	for _, want := range []string{`Mode: "Median" is neither "Least" nor "Most"`, "Resources: a name is empty", `the weight 0 of "cpu" is less than 1`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
