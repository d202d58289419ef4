package configlevel

import "fmt"

// pluginConfig is one of some plugins, that take arguments or do not.
func (s *source) pluginConfig() []object {
	var list []object
	for range 1 + s.IntN(4) {
		name := pick(s, "DefaultPreemption", "DynamicResources", "InterPodAffinity", "NodeAffinity", "NodeResourcesBalancedAllocation",
			"NodeResourcesFit", "PodTopologySpread", "VolumeBinding", pick(s, s.all...))
		entry := object{"name": name}
		if !s.chance(20) {
			entry["args"] = s.args(name)
		}
		list = append(list, entry)
	}
	if s.chance(30) {
		return list
	}
	return onlyOnce(list)
}

// args are arguments for the plugin, now and then wrong ones.
func (s *source) args(plugin string) object {
	a := object{}
	switch plugin {
	case "DefaultPreemption":
		s.maybe(a, 2, "minCandidateNodesPercentage", func() any { return s.IntN(103) - 1 })
		s.maybe(a, 2, "minCandidateNodesAbsolute", func() any { return s.IntN(30) })
	case "DynamicResources":
		s.maybe(a, 2, "filterTimeout", func() any { return fmt.Sprint(s.IntN(20), "s") })
		s.maybe(a, 2, "bindingTimeout", func() any { return fmt.Sprint(s.IntN(20), "s") })
	case "InterPodAffinity":
		s.maybe(a, 2, "hardPodAffinityWeight", func() any { return s.IntN(105) })
		s.maybe(a, 2, "ignorePreferredTermsOfExistingPods", func() any { return s.chance(2) })
	case "NodeAffinity":
		s.maybe(a, 2, "addedAffinity", s.affinity)
	case "NodeResourcesBalancedAllocation":
		s.maybe(a, 2, "resources", func() any { return s.resources(2) })
	case "NodeResourcesFit":
		s.maybe(a, 2, "ignoredResources", func() any { return []string{pick(s, "example.com/a", "example.com/b", "not good")} })
		s.maybe(a, 2, "ignoredResourceGroups", func() any { return []string{pick(s, "example.com", "example.org", "a/b")} })
		s.maybe(a, 2, "scoringStrategy", s.strategy)
	case "PodTopologySpread":
		s.maybe(a, 2, "defaultingType", func() any { return pick(s, "List", "List", "System") })
		s.maybe(a, 2, "defaultConstraints", func() any {
			return []object{{"maxSkew": s.IntN(5), "topologyKey": pick(s, "zone", "kubernetes.io/hostname"), "whenUnsatisfiable": pick(s, "DoNotSchedule", "ScheduleAnyway")}}
		})
	case "VolumeBinding":
		s.maybe(a, 2, "bindTimeoutSeconds", func() any { return s.IntN(900) - 5 })
		s.maybe(a, 2, "shape", s.shape)
	default:
		a["anything"] = s.IntN(10)
	}
	s.maybe(a, 60, "unheardOf", func() any { return 1 })
	return a
}

func (s *source) affinity() any {
	term := object{"matchExpressions": []object{{"key": "disk", "operator": pick(s, "Exists", "DoesNotExist", "Near")}}}
	return object{
		"requiredDuringSchedulingIgnoredDuringExecution":  object{"nodeSelectorTerms": []object{term}},
		"preferredDuringSchedulingIgnoredDuringExecution": []object{{"weight": 1 + s.IntN(100), "preference": term}},
	}
}

func (s *source) resources(most int) []object {
	var list []object
	for _, name := range []string{"cpu", "memory", "example.com/a"} {
		if s.chance(2) {
			list = append(list, object{"name": name, "weight": s.IntN(most + 1)})
		}
	}
	return list
}

func (s *source) strategy() any {
	o := object{"type": pick(s, "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"), "resources": s.resources(101)}
	if (o["type"] == "RequestedToCapacityRatio") != s.chance(10) {
		o["requestedToCapacityRatio"] = object{"shape": s.shape()}
	}
	return o
}

func (s *source) shape() any {
	return []object{{"utilization": s.IntN(30), "score": s.IntN(12)}, {"utilization": 29 + s.IntN(70), "score": s.IntN(11)}}
}
