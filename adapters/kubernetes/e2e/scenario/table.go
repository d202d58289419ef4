package scenario

import "slices"

// All is every scenario, in the order in which they run.
func All() []Scenario {
	return slices.Concat(resources, nodes, relations, queue, preemption, volumes, devices, configuration, deployed, custom, extenders, ownPlugin, explain, replicas, kills, faults, groups, groupsByGates(), trees)
}
