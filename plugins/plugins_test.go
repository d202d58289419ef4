package plugins

import (
	"maps"
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/nodemetadata"
	"github.com/berth-project/berth/plugins/noderesourcesfitplus"
	"github.com/berth-project/berth/plugins/scarceresourceavoidance"
)

// reference is kube-scheduler's order and weights (apis/config/v1/
// default_plugins.go, 1.37.1, with the feature gates at their defaults); 0 where
// it gives no weight.
var reference = []struct {
	Name   string
	Weight int32
}{
	{Name: "SchedulingGates"}, {Name: "PrioritySort"}, {Name: "NodeName"}, {Name: "NodeUnschedulable"},
	{Name: "TaintToleration", Weight: 3}, {Name: "NodeAffinity", Weight: 2}, {Name: "NodePorts"},
	{Name: "NodeResourcesFit", Weight: 1}, {Name: "VolumeRestrictions"}, {Name: "NodeVolumeLimits"},
	{Name: "VolumeBinding"}, {Name: "VolumeZone"}, {Name: "PodTopologySpread", Weight: 2},
	{Name: "InterPodAffinity", Weight: 2}, {Name: "DynamicResources", Weight: 2}, {Name: "DefaultPreemption"},
	{Name: "NodeResourcesBalancedAllocation", Weight: 1}, {Name: "ImageLocality", Weight: 1}, {Name: "DefaultBinder"},
	{Name: "NodeDeclaredFeatures"}, {Name: "GangScheduling"}, {Name: "TopologyPlacementGenerator"}, {Name: "PodGroupPodsCount", Weight: 1},
}

// ours are the plugins of the default profile that the reference does not have.
var ours = []string{"Devices"}

func TestDefaultProfileIsTheReferences(t *testing.T) {
	var names []string
	for _, r := range reference {
		names = append(names, r.Name)
	}
	next := 0
	for _, got := range DefaultProfile().Plugins {
		if slices.Contains(ours, got.Name) {
			continue
		}
		i := slices.Index(names, got.Name)
		switch {
		case i < 0:
			t.Errorf("%s is not in the reference's profile", got.Name)
		case i < next:
			t.Errorf("%s is out of the reference's order", got.Name)
		case reference[i].Weight != got.Weight:
			t.Errorf("%s has weight %d, in the reference %d", got.Name, got.Weight, reference[i].Weight)
		default:
			next = i + 1
		}
	}
}

// RequiredArgs are arguments of the plugins that need some.
var RequiredArgs = map[string]any{
	NodeMetadata:            nodemetadata.Args{Label: "price"},
	NodeResourcesFitPlus:    noderesourcesfitplus.Args{Resources: []noderesourcesfitplus.Resource{{Name: model.CPU, Strategy: noderesourcesfitplus.LeastAllocated, Weight: 1}}},
	ScarceResourceAvoidance: scarceresourceavoidance.Args{Resources: []string{"gpu"}},
}

func TestDefaultProfileIsMadeOfTheTable(t *testing.T) {
	factories := Default()
	for _, e := range DefaultProfile().Plugins {
		if e.New == nil {
			t.Errorf("%s is in the profile, and nothing makes it", e.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(factories)) {
		p, err := factories[name](RequiredArgs[name], extpointstest.NewHandle())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if p.Name() != name {
			t.Errorf("the plugin under %s is called %s", name, p.Name())
		}
	}
}

// Both functions give the caller something of her own.
func TestDefaultsAreNotShared(t *testing.T) {
	Default()["mine"] = nil
	DefaultProfile().Plugins[0].Name = "mine"
	if _, ok := Default()["mine"]; ok || DefaultProfile().Plugins[0].Name == "mine" {
		t.Error("a change of the one shows in the next")
	}
}

// BenchmarkNode is what the default filters and scores cost for one node and an
// ordinary workload. Aim: below 250 ns, without allocation.
func BenchmarkNode(b *testing.B) {
	node := extpointstest.NodeWith(&model.Node{
		Name: "n", Labels: map[string]string{"zone": "a", "host": "n", "disk": "ssd"}, MaxWorkloads: 110,
		Allocatable: model.Resources{CPU: 32000, Memory: 128 << 30, EphemeralStorage: 1 << 40},
	}, &model.Workload{ID: "other", Requests: model.Resources{CPU: 900, Memory: 1 << 30}})
	s := extpointstest.NewSituation(&model.Workload{ID: "w", Requests: model.Resources{CPU: 100, Memory: 512 << 20}, Images: []string{"web:1"}}, node, node)
	state := extpoints.NewCycle(extpoints.CycleOptions{View: s.View, Now: extpointstest.Now, Seed: 1}).State()
	var filters []extpoints.FilterPlugin
	var scores []extpoints.ScorePlugin
	for _, ref := range DefaultProfile().Plugins {
		p, err := ref.New(ref.Args, extpointstest.NewHandle())
		if err != nil {
			b.Fatal(err)
		}
		skip := false
		if pre, ok := p.(extpoints.PreFilterPlugin); ok {
			_, status := pre.PreFilter(state, s.Workload)
			skip = status.Code() == extpoints.Skip
		}
		if f, ok := p.(extpoints.FilterPlugin); ok && !skip {
			filters = append(filters, f)
		}
		skip = false
		if pre, ok := p.(extpoints.PreScorePlugin); ok {
			skip = pre.PreScore(state, s.Workload, s.View.NodeInfos).Code() == extpoints.Skip
		}
		if f, ok := p.(extpoints.ScorePlugin); ok && !skip {
			scores = append(scores, f)
		}
	}
	b.Run("Filter", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, f := range filters {
				f.Filter(state, s.Workload, node)
			}
		}
	})
	b.Run("Score", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, f := range scores {
				f.Score(state, s.Workload, node)
			}
		}
	})
}
