package reference

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/topologyaware"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// The plugins that take the chances out of placements: kube-scheduler has them in
// the order of a map, and chooses at random among equally good ones.
const (
	// PlacementsInOrder is TopologyPlacementGenerator, whose placements are
	// sorted by their first node.
	PlacementsInOrder = "PlacementsInOrder"
	// NoEqualPlacements scores placements so little that it only decides among
	// equal ones; see [Config].Tie.
	NoEqualPlacements = "NoEqualPlacements"
	// PlacementWeight is what other plugins' scores of placements weigh beside
	// NoEqualPlacements.
	PlacementWeight = 101
)

// orderPlacements takes the chances out of the profile.
func orderPlacements(profile *config.KubeSchedulerProfile) {
	set := &profile.Plugins.MultiPoint
	for i := range set.Enabled {
		if set.Enabled[i].Name == names.TopologyPlacementGenerator {
			set.Enabled[i].Name = PlacementsInOrder
		}
	}
	profile.Plugins.PlacementScore.Enabled = []config.Plugin{{Name: names.NodeResourcesFit, Weight: PlacementWeight},
		{Name: names.PodGroupPodsCount, Weight: PlacementWeight}, {Name: NoEqualPlacements, Weight: 1}}
}

// placementPlugins are the plugins of orderPlacements.
func placementPlugins(tie func(name string) int64) frameworkruntime.Registry {
	return frameworkruntime.Registry{
		PlacementsInOrder: func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			p, err := topologyaware.New(ctx, args, h, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
			return inOrderOfNodes{p}, err
		},
		NoEqualPlacements: func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return tieBreaker(tie), nil },
	}
}

type inOrderOfNodes struct {
	*topologyaware.TopologyPlacement
}

// Name implements [fwk.Plugin].
func (inOrderOfNodes) Name() string { return PlacementsInOrder }

// GeneratePlacements implements [fwk.PlacementGeneratePlugin].
func (p inOrderOfNodes) GeneratePlacements(ctx context.Context, state fwk.PodGroupCycleState, g fwk.PodGroupInfo, parent *fwk.Placement) (*fwk.GeneratePlacementsResult, *fwk.Status) {
	result, status := p.TopologyPlacement.GeneratePlacements(ctx, state, g, parent)
	if result != nil && len(result.Placements) > 1 {
		at := map[string]int{}
		for i, n := range parent.Nodes {
			at[n.Node().Name] = i
		}
		slices.SortFunc(result.Placements, func(a, b *fwk.Placement) int { return at[a.Nodes[0].Node().Name] - at[b.Nodes[0].Node().Name] })
	}
	return result, status
}

type tieBreaker func(name string) int64

// Name implements [fwk.Plugin].
func (tieBreaker) Name() string { return NoEqualPlacements }

// ScorePlacement implements [fwk.PlacementScorePlugin].
func (t tieBreaker) ScorePlacement(_ context.Context, _ fwk.PlacementCycleState, _ fwk.PodGroupInfo, a *fwk.PodGroupAssignments) (int64, *fwk.Status) {
	return t(a.Placement.Name), nil
}

// PlacementScoreExtensions implements [fwk.PlacementScorePlugin].
func (tieBreaker) PlacementScoreExtensions() fwk.PlacementScoreExtensions { return nil }
