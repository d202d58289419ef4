package pluginlevel

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/helper"
	"github.com/berth-project/berth/plugins/interpodaffinity"
	"github.com/berth-project/berth/plugins/nodeaffinity"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/podtopologyspread"
)

// variant is a plugin and a set of arguments, in the types of both sides.
type variant struct {
	plugin    string
	name      string // of the arguments; empty: the default ones
	reference runtime.Object
	subject   any
}

// variants are all plugins that the mood is about, each with the default
// arguments and with random ones.
func variants(s *generate.Source) []variant {
	switch {
	case s.Storage:
		return ofStorage(s)
	case s.Devices:
		return ofDevices()
	}
	list := []variant{
		{plugin: plugins.SchedulingGates},
		{plugin: plugins.PrioritySort},
		{plugin: plugins.NodeName},
		{plugin: plugins.NodeUnschedulable},
		{plugin: plugins.TaintToleration},
		{plugin: plugins.NodePorts},
		{plugin: plugins.ImageLocality},
		{plugin: plugins.NodeDeclaredFeatures},
		{plugin: plugins.NodeAffinity, reference: &config.NodeAffinityArgs{}},
		{plugin: plugins.DefaultPreemption, reference: &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100}},
		addedAffinity(s),
		balanced("", []config.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}),
		balanced("other resources", weights(s, false)),
	}
	list = append(list, fits(s)...)
	list = append(list, spreads(s)...)
	return append(list, relations(s)...)
}

func addedAffinity(s *generate.Source) variant {
	several, odd := s.Several, s.Odd
	s.Several, s.Odd = true, false
	added := s.NodeAffinity()
	s.Several, s.Odd = several, odd
	// The conversion of a pod's is the one there is.
	w, err := convert.Pod(&v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "x"}, Spec: v1.PodSpec{Affinity: &v1.Affinity{NodeAffinity: added}}})
	if err != nil {
		panic(err)
	}
	return variant{plugins.NodeAffinity, "added affinity", &config.NodeAffinityArgs{AddedAffinity: added}, nodeaffinity.Args{AddedAffinity: w.NodeAffinity}}
}

func balanced(name string, list []config.ResourceSpec) variant {
	var args noderesources.BalancedAllocationArgs
	for _, r := range list {
		args.Resources = append(args.Resources, noderesources.ResourceWeight{Name: r.Name, Weight: r.Weight})
	}
	return variant{plugins.NodeResourcesBalancedAllocation, name, &config.NodeResourcesBalancedAllocationArgs{Resources: list}, args}
}

// weights draws resources, of weight 1 or of any weight.
func weights(s *generate.Source, anyWeight bool) []config.ResourceSpec {
	all := []string{"cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi", "other.io/nic"}
	s.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var list []config.ResourceSpec
	for _, name := range all[:1+s.IntN(len(all))] {
		weight := int64(1)
		if anyWeight {
			weight = generate.Pick(s, int64(1), 2, 3, 50, 100)
		}
		list = append(list, config.ResourceSpec{Name: name, Weight: weight})
	}
	return list
}

func fits(s *generate.Source) []variant {
	two := []config.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}
	ratio := config.NodeResourcesFitArgs{
		IgnoredResources: []string{"other.io/nic", "requests.io/odd"}, IgnoredResourceGroups: []string{"example.com", "x.kubernetes.io", "requests.io"},
		ScoringStrategy: &config.ScoringStrategy{Type: config.RequestedToCapacityRatio, Resources: weights(s, true),
			RequestedToCapacityRatio: &config.RequestedToCapacityRatioParam{Shape: shape(s)}},
	}
	return []variant{
		fit("", config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{Type: config.LeastAllocated, Resources: two}}),
		fit("least allocated, weights", config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{Type: config.LeastAllocated, Resources: weights(s, true)}}),
		fit("most allocated", config.NodeResourcesFitArgs{IgnoredResources: []string{"example.com/gpu", "hugepages-2Mi", "x.kubernetes.io/thing"},
			ScoringStrategy: &config.ScoringStrategy{Type: config.MostAllocated, Resources: weights(s, true)}}),
		fit("requested to capacity ratio", ratio),
	}
}

func fit(name string, ref config.NodeResourcesFitArgs) variant {
	sub := noderesources.FitArgs{IgnoredResources: ref.IgnoredResources, IgnoredResourceGroups: ref.IgnoredResourceGroups,
		Strategy: noderesources.Strategy{Type: noderesources.StrategyType(ref.ScoringStrategy.Type)}}
	for _, r := range ref.ScoringStrategy.Resources {
		sub.Strategy.Resources = append(sub.Strategy.Resources, noderesources.ResourceWeight{Name: r.Name, Weight: r.Weight})
	}
	if r := ref.ScoringStrategy.RequestedToCapacityRatio; r != nil {
		for _, p := range r.Shape {
			sub.Strategy.Shape = append(sub.Strategy.Shape, helper.ShapePoint{Utilization: int64(p.Utilization), Score: int64(p.Score)})
		}
	}
	return variant{plugins.NodeResourcesFit, name, &ref, sub}
}

func shape(s *generate.Source) []config.UtilizationShapePoint {
	var points []config.UtilizationShapePoint
	for u := s.IntN(30); u <= 100; u += 1 + s.IntN(60) {
		points = append(points, config.UtilizationShapePoint{Utilization: int32(u), Score: int32(s.IntN(11))})
	}
	return points
}

func spreads(s *generate.Source) []variant {
	ref := &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting}
	sub := podtopologyspread.Args{DefaultingType: podtopologyspread.List}
	for _, c := range s.DefaultConstraints() {
		ref.DefaultConstraints = append(ref.DefaultConstraints, c)
		mode := model.SpreadRequired
		if c.WhenUnsatisfiable == v1.ScheduleAnyway {
			mode = model.SpreadPreferred
		}
		m := model.SpreadConstraint{TopologyKey: c.TopologyKey, MaxSkew: c.MaxSkew, Mode: mode}
		if c.MinDomains != nil {
			m.MinDomains = *c.MinDomains
		}
		if c.NodeAffinityPolicy != nil {
			m.NodeAffinityPolicy = model.InclusionPolicy(*c.NodeAffinityPolicy)
		}
		if c.NodeTaintsPolicy != nil {
			m.NodeTaintsPolicy = model.InclusionPolicy(*c.NodeTaintsPolicy)
		}
		sub.DefaultConstraints = append(sub.DefaultConstraints, m)
	}
	return []variant{
		{plugins.PodTopologySpread, "", &config.PodTopologySpreadArgs{DefaultingType: config.SystemDefaulting}, podtopologyspread.Args{}},
		{plugins.PodTopologySpread, allHints, &config.PodTopologySpreadArgs{DefaultingType: config.SystemDefaulting}, nil},
		{plugins.PodTopologySpread, "listed defaults", ref, sub},
	}
}

// allHints is the name of the variants whose hints are more than the reference's.
const allHints = "all hints"

func relations(s *generate.Source) []variant {
	weight := generate.Pick(s, int32(0), 1, 2, 50, 100)
	return []variant{
		{plugins.InterPodAffinity, "", &config.InterPodAffinityArgs{HardPodAffinityWeight: 1}, interpodaffinity.Args{}},
		{plugins.InterPodAffinity, "hard weight", &config.InterPodAffinityArgs{HardPodAffinityWeight: weight},
			interpodaffinity.Args{HardPodAffinityWeight: &weight}},
		{plugins.InterPodAffinity, "ignoring others' preferences", &config.InterPodAffinityArgs{HardPodAffinityWeight: 1, IgnorePreferredTermsOfExistingPods: true},
			interpodaffinity.Args{IgnorePreferredTermsOfExistingPods: true}},
		{plugins.InterPodAffinity, allHints, &config.InterPodAffinityArgs{HardPodAffinityWeight: 1}, nil},
	}
}
