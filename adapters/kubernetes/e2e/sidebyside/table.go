package sidebyside

import "slices"

// Workloads are all that there are, in the order in which they are listed. Those
// whose figures are published keep the counts that they were published with; the
// counts of the others are in proportion to upstream's.
func Workloads() []Workload {
	return slices.Concat(basics, relations, preemptions, volumes, devices, groups, events)
}

// basics are about nodes and resources, and what else goes on in a cluster.
var basics = []Workload{
	{
		Name: "basic", Upstream: "misc/SchedulingBasic", UpstreamCounts: Counts{Nodes: 5000, Placed: 1000, Measured: 10000},
		counts: plenty, measured: small,
	},
	{
		Name: "daemonset", Upstream: "misc/SchedulingDaemonset", UpstreamCounts: Counts{Nodes: 15000, Measured: 30000},
		node: firstIsLarge, measured: onFirst,
	},
	{
		Name: "churn", Upstream: "misc/SchedulingWithMixedChurn", UpstreamCounts: Counts{Nodes: 5000, Measured: 10000},
		measured: small, beside: every(perSecond(1), mixedChurn),
	},
	{
		Name: "gated", Upstream: "misc/SchedulingWhileGated",
		UpstreamCounts: Counts{Nodes: 1, Placed: 20000, Waiting: 10000, Measured: 20000}, full: 5000,
		node: firstIsLarge, placed: []maker{light}, waiting: gated, measured: light, beside: every(perSecond(50), deletePlaced),
	},
	{
		Name: "finalizers", Upstream: "misc/SchedulingDeletedPodsWithFinalizers",
		UpstreamCounts: Counts{Nodes: 5000, Waiting: 5000, Measured: 5000},
		waiting:        finalized, measured: light, beside: every(perSecond(100), deleteWaiting),
	},
	{
		Name: "unschedulable", Upstream: "default_preemption/Unschedulable",
		UpstreamCounts: Counts{Nodes: 5000, Placed: 100, Measured: 10000},
		placed:         []maker{small}, measured: small, beside: every(perSecond(5), createPod(important(tooLarge))),
	},
	{
		Name: "starvation", Upstream: "starvation/StarvationIndependent",
		UpstreamCounts: Counts{Nodes: 10000, Waiting: 10000, Measured: 500},
		waiting:        clogger, measured: tiny, beside: every(perSecond(1), createPod(target)),
	},
	{
		Name: "hostports", Upstream: "batching/HostPortConflict", UpstreamCounts: Counts{Nodes: 20000, Measured: 20000},
		config: noDefaultSpread, measured: hostPort,
	},
	{
		Name: "saturation", Upstream: "batching/ResourceSaturation", UpstreamCounts: Counts{Nodes: 20000, Measured: 20000},
		config: noDefaultSpread, measured: large,
	},
	{
		Name: "nodeextended", Upstream: "misc/SchedulingWithExtendedResource", UpstreamCounts: Counts{Nodes: 5000, Measured: 5000},
		node: extendedNode, measured: extendedPod,
	},
	{
		Name: "declaredfeatures", Upstream: "nodedeclaredfeatures/NodeDeclaredFeaturesEnabled",
		UpstreamCounts: Counts{Nodes: 5000, Placed: 5000, Measured: 50000},
		node:           featuredNode, placed: []maker{podLevel}, measured: podLevel,
	},
}

// relations are about where nodes are and which pods are there.
var relations = []Workload{
	{
		Name: "zonespread", Upstream: "topology_spreading/TopologySpreading",
		UpstreamCounts: Counts{Nodes: 5000, Placed: 5000, Measured: 5000},
		counts:         plenty, measured: zoneSpread,
	},
	{
		Name: "preferredspread", Upstream: "topology_spreading/PreferredTopologySpreading",
		UpstreamCounts: Counts{Nodes: 5000, Placed: 5000, Measured: 5000},
		placed:         []maker{small}, measured: preferredSpread,
	},
	{
		Name: "defaultspread", Upstream: "topology_spreading/DefaultTopologySpreading",
		UpstreamCounts: Counts{Nodes: 5000, Placed: 5000, Measured: 10000},
		objects:        service, placed: []maker{small}, measured: served,
	},
	{
		Name: "nodeinclusion", Upstream: "topology_spreading/SchedulingWithNodeInclusionPolicy",
		UpstreamCounts: Counts{Nodes: 5000, Measured: 4000},
		node:           fifthIsTainted, measured: hostSpread,
	},
	{
		Name: "nodeaffinity", Upstream: "affinity/SchedulingNodeAffinity", UpstreamCounts: Counts{Nodes: 5000, Placed: 5000, Measured: 10000},
		node: oneZone, placed: []maker{nodeAffinity}, measured: nodeAffinity,
	},
	{
		Name: "antiaffinity", Upstream: "affinity/SchedulingPodAntiAffinity", UpstreamCounts: Counts{Nodes: 5000, Placed: 1000, Measured: 2000},
		counts: func(nodes int) Counts { return Counts{Nodes: nodes, Placed: nodes / 5, Measured: nodes / 2} },
		placed: []maker{antiAffinity}, measured: antiAffinity,
	},
	{
		Name: "matchingantiaffinity", Upstream: "affinity/SchedulingPodMatchingAntiAffinity",
		UpstreamCounts: Counts{Nodes: 5000, Placed: 1000, Measured: 5000},
		placed:         []maker{antiAffinity}, measured: coloured("green"),
	},
	{
		Name: "affinity", Upstream: "affinity/SchedulingPodAffinity", UpstreamCounts: Counts{Nodes: 5000, Placed: 5000, Measured: 5000},
		node: oneZone, placed: []maker{affinity}, measured: affinity,
	},
	{
		Name: "preferredaffinity", Upstream: "affinity/SchedulingPreferredPodAffinity",
		UpstreamCounts: Counts{Nodes: 5000, Placed: 5000, Measured: 5000},
		placed:         []maker{preferredAffinity}, measured: preferredAffinity,
	},
	{
		Name: "preferredantiaffinity", Upstream: "affinity/SchedulingPreferredPodAntiAffinity",
		UpstreamCounts: Counts{Nodes: 5000, Placed: 5000, Measured: 5000},
		placed:         []maker{preferredAntiAffinity}, measured: preferredAntiAffinity,
	},
	{
		Name: "mixed", Upstream: "affinity/MixedSchedulingBasePod", UpstreamCounts: Counts{Nodes: 5000, Placed: 10000, Measured: 5000},
		node: oneZone, placed: []maker{small, affinity, antiAffinity, preferredAffinity, preferredAntiAffinity}, measured: small,
	},
	{
		Name: "nsantiaffinity", Upstream: "affinity/SchedulingRequiredPodAntiAffinityWithNSSelector",
		UpstreamCounts: Counts{Nodes: 6000, Placed: 4000, Measured: 2000},
		objects:        teams, placed: []maker{inTeams(antiAffinity)}, measured: inTeam(antiAffinity),
	},
	{
		Name: "nspreferredantiaffinity", Upstream: "affinity/SchedulingPreferredAntiAffinityWithNSSelector",
		UpstreamCounts: Counts{Nodes: 5000, Placed: 4000, Measured: 2000},
		objects:        teams, placed: []maker{inTeams(preferredAntiAffinity)}, measured: inTeam(preferredAntiAffinity),
	},
	{
		Name: "nsaffinity", Upstream: "affinity/SchedulingRequiredPodAffinityWithNSSelector",
		UpstreamCounts: Counts{Nodes: 5000, Placed: 5000, Measured: 2000},
		node:           oneZone, objects: teams, placed: []maker{inTeams(affinity)}, measured: inTeam(affinity),
	},
	{
		Name: "nspreferredaffinity", Upstream: "affinity/SchedulingPreferredAffinityWithNSSelector",
		UpstreamCounts: Counts{Nodes: 5000, Placed: 5000, Measured: 5000},
		objects:        teams, placed: []maker{inTeams(preferredAffinity)}, measured: inTeam(preferredAffinity),
	},
	{
		Name: "gatedaffinity", Upstream: "affinity/SchedulingGatedPodsWithPodAffinityImpactForThroughput",
		UpstreamCounts: Counts{Nodes: 1, Waiting: 10000, Measured: 20000}, full: 5000,
		node: firstIsLarge, waiting: gatedAffinity, measured: served,
	},
}

// preemptions are about pods that displace others, which is done one by one here and
// in groups among the groups.
var preemptions = []Workload{
	{
		Name: "preemption", Upstream: "default_preemption/PreemptionBasic", UpstreamCounts: Counts{Nodes: 1000, Placed: 4000, Measured: 1000},
		counts: func(nodes int) Counts { return Counts{Nodes: nodes, Placed: 4 * nodes, Measured: nodes / 2} },
		placed: []maker{victim}, measured: important(threeCPUs),
	},
	{
		Name: "preemptionbeside", Upstream: "default_preemption/PreemptionAsync", UpstreamCounts: Counts{Nodes: 5000, Placed: 20000, Measured: 5000},
		placed: []maker{victim}, measured: small, beside: every(perSecond(5), createPod(important(wholeNode))),
	},
	{
		Name: "preemptionpvs", Upstream: "volumes/PreemptionPVs", UpstreamCounts: Counts{Nodes: 1000, Placed: 4000, Measured: 1000},
		owned: volumesOf(inTree), placed: []maker{victim}, measured: withVolume(important(threeCPUs)),
	},
}

// plenty is five thousand pods, or five for each node if those are fewer.
func plenty(nodes int) Counts { return Counts{Nodes: nodes, Measured: min(most, 5*nodes)} }
