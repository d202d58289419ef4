package plugins

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins/coscheduling"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/defaultpreemption"
	"github.com/berth-project/berth/plugins/devicepacking"
	"github.com/berth-project/berth/plugins/devices"
	"github.com/berth-project/berth/plugins/dynamicresources"
	"github.com/berth-project/berth/plugins/gangscheduling"
	"github.com/berth-project/berth/plugins/holds"
	"github.com/berth-project/berth/plugins/imagelocality"
	"github.com/berth-project/berth/plugins/interpodaffinity"
	"github.com/berth-project/berth/plugins/loadawarescheduling"
	"github.com/berth-project/berth/plugins/loadvariationriskbalancing"
	"github.com/berth-project/berth/plugins/lowriskovercommitment"
	"github.com/berth-project/berth/plugins/networkoverhead"
	"github.com/berth-project/berth/plugins/nodeaffinity"
	"github.com/berth-project/berth/plugins/nodedeclaredfeatures"
	"github.com/berth-project/berth/plugins/nodemetadata"
	"github.com/berth-project/berth/plugins/nodename"
	"github.com/berth-project/berth/plugins/nodeports"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/noderesourcesallocatable"
	"github.com/berth-project/berth/plugins/noderesourcesfitplus"
	"github.com/berth-project/berth/plugins/noderesourcetopologymatch"
	"github.com/berth-project/berth/plugins/nodeunschedulable"
	"github.com/berth-project/berth/plugins/nodevolumelimits"
	"github.com/berth-project/berth/plugins/peaks"
	"github.com/berth-project/berth/plugins/podgrouppodscount"
	"github.com/berth-project/berth/plugins/podstate"
	"github.com/berth-project/berth/plugins/podtopologyspread"
	"github.com/berth-project/berth/plugins/qossort"
	"github.com/berth-project/berth/plugins/queuesort"
	"github.com/berth-project/berth/plugins/scarceresourceavoidance"
	"github.com/berth-project/berth/plugins/schedulinggates"
	"github.com/berth-project/berth/plugins/sysched"
	"github.com/berth-project/berth/plugins/tainttoleration"
	"github.com/berth-project/berth/plugins/targetloadpacking"
	"github.com/berth-project/berth/plugins/topologicalsort"
	"github.com/berth-project/berth/plugins/topologyplacementgenerator"
	"github.com/berth-project/berth/plugins/volumebinding"
	"github.com/berth-project/berth/plugins/volumerestrictions"
	"github.com/berth-project/berth/plugins/volumezone"
)

// The names of the plugins, which are kube-scheduler's where it has the plugin.
const (
	PrioritySort                    = queuesort.Name
	SchedulingGates                 = schedulinggates.Name
	NodeName                        = nodename.Name
	NodeUnschedulable               = nodeunschedulable.Name
	TaintToleration                 = tainttoleration.Name
	NodeAffinity                    = nodeaffinity.Name
	NodePorts                       = nodeports.Name
	NodeResourcesFit                = noderesources.Name
	PodTopologySpread               = podtopologyspread.Name
	DefaultPreemption               = defaultpreemption.Name
	NodeResourcesBalancedAllocation = noderesources.BalancedAllocationName
	ImageLocality                   = imagelocality.Name
	InterPodAffinity                = interpodaffinity.Name
	Devices                         = devices.Name
	DevicePacking                   = devicepacking.Name
	NodeHolds                       = holds.Name
	DefaultBinder                   = defaultbinder.Name
	NodeDeclaredFeatures            = nodedeclaredfeatures.Name
	DynamicResources                = dynamicresources.Name
	VolumeRestrictions              = volumerestrictions.Name
	NodeVolumeLimits                = nodevolumelimits.Name
	VolumeBinding                   = volumebinding.Name
	VolumeZone                      = volumezone.Name
	GangScheduling                  = gangscheduling.Name
	Coscheduling                    = coscheduling.Name
	TopologyPlacementGenerator      = topologyplacementgenerator.Name
	PodGroupPodsCount               = podgrouppodscount.Name
	NodeResourcesAllocatable        = noderesourcesallocatable.Name
	NodeResourcesFitPlus            = noderesourcesfitplus.Name
	ScarceResourceAvoidance         = scarceresourceavoidance.Name
	PodState                        = podstate.Name
	NodeMetadata                    = nodemetadata.Name
	QOSSort                         = qossort.Name
	SySched                         = sysched.Name
	PreemptionToleration            = defaultpreemption.PreemptionTolerationName
	TargetLoadPacking               = targetloadpacking.Name
	LowRiskOverCommitment           = lowriskovercommitment.Name
	LoadAwareScheduling             = loadawarescheduling.Name
	Peaks                           = peaks.Name
	LoadVariationRiskBalancing      = loadvariationriskbalancing.Name
	NodeResourceTopologyMatch       = noderesourcetopologymatch.Name
	TopologicalSort                 = topologicalsort.Name
	NetworkOverhead                 = networkoverhead.Name
)

// DefaultProfileName is the name of the default profile.
const DefaultProfileName = "default-scheduler"

// Default returns a new table of how all plugins that come with the engine are
// made, by name: for profiles that come from a file. Profiles in Go need none, see
// [extpoints.Use].
func Default() map[string]extpoints.Factory {
	return map[string]extpoints.Factory{
		PrioritySort:                    extpoints.FactoryOf(queuesort.New),
		SchedulingGates:                 extpoints.FactoryOf(schedulinggates.New),
		NodeName:                        extpoints.FactoryOf(nodename.New),
		NodeUnschedulable:               extpoints.FactoryOf(nodeunschedulable.New),
		TaintToleration:                 extpoints.FactoryOf(tainttoleration.New),
		NodeAffinity:                    extpoints.FactoryOf(nodeaffinity.New),
		NodePorts:                       extpoints.FactoryOf(nodeports.New),
		NodeResourcesFit:                extpoints.FactoryOf(noderesources.NewFit),
		PodTopologySpread:               extpoints.FactoryOf(podtopologyspread.New),
		DefaultPreemption:               extpoints.FactoryOf(defaultpreemption.New),
		NodeResourcesBalancedAllocation: extpoints.FactoryOf(noderesources.NewBalancedAllocation),
		ImageLocality:                   extpoints.FactoryOf(imagelocality.New),
		InterPodAffinity:                extpoints.FactoryOf(interpodaffinity.New),
		Devices:                         extpoints.FactoryOf(devices.New),
		DevicePacking:                   extpoints.FactoryOf(devicepacking.New),
		NodeHolds:                       extpoints.FactoryOf(holds.New),
		DefaultBinder:                   extpoints.FactoryOf(defaultbinder.New),
		NodeDeclaredFeatures:            extpoints.FactoryOf(nodedeclaredfeatures.New),
		DynamicResources:                extpoints.FactoryOf(dynamicresources.New),
		VolumeRestrictions:              extpoints.FactoryOf(volumerestrictions.New),
		NodeVolumeLimits:                extpoints.FactoryOf(nodevolumelimits.New),
		VolumeBinding:                   extpoints.FactoryOf(volumebinding.New),
		VolumeZone:                      extpoints.FactoryOf(volumezone.New),
		GangScheduling:                  extpoints.FactoryOf(gangscheduling.New),
		Coscheduling:                    extpoints.FactoryOf(coscheduling.New),
		TopologyPlacementGenerator:      extpoints.FactoryOf(topologyplacementgenerator.New),
		PodGroupPodsCount:               extpoints.FactoryOf(podgrouppodscount.New),
		NodeResourcesAllocatable:        extpoints.FactoryOf(noderesourcesallocatable.New),
		NodeResourcesFitPlus:            extpoints.FactoryOf(noderesourcesfitplus.New),
		ScarceResourceAvoidance:         extpoints.FactoryOf(scarceresourceavoidance.New),
		PodState:                        extpoints.FactoryOf(podstate.New),
		NodeMetadata:                    extpoints.FactoryOf(nodemetadata.New),
		QOSSort:                         extpoints.FactoryOf(qossort.New),
		SySched:                         extpoints.FactoryOf(sysched.New),
		PreemptionToleration:            extpoints.FactoryOf(defaultpreemption.NewPreemptionToleration),
		TargetLoadPacking:               extpoints.FactoryOf(targetloadpacking.New),
		LowRiskOverCommitment:           extpoints.FactoryOf(lowriskovercommitment.New),
		LoadAwareScheduling:             extpoints.FactoryOf(loadawarescheduling.New),
		Peaks:                           extpoints.FactoryOf(peaks.New),
		LoadVariationRiskBalancing:      extpoints.FactoryOf(loadvariationriskbalancing.New),
		NodeResourceTopologyMatch:       extpoints.FactoryOf(noderesourcetopologymatch.New),
		TopologicalSort:                 extpoints.FactoryOf(topologicalsort.New),
		NetworkOverhead:                 extpoints.FactoryOf(networkoverhead.New),
	}
}

// DefaultProfile returns the profile that schedules as kube-scheduler does
// without a configuration: its plugins in its order with its weights (apis/
// config/v1/default_plugins.go, 1.37.1), as far as they are built. It is the
// one place where the order is written down. The caller may change the result: add
// plugins with [extpoints.Use], and take some out with Remove.
//
// The order of the filters decides which reason is given for a node, because
// the first rejection of a node is the only one: the cheap and permanent ones
// come first.
func DefaultProfile() extpoints.Profile {
	factories := Default()
	p := extpoints.Profile{
		Name: DefaultProfileName,
		Plugins: []extpoints.Entry{
			// First, so that a gated workload costs nothing else.
			{Name: SchedulingGates},
			{Name: PrioritySort},
			{Name: NodeName},
			{Name: NodeUnschedulable},
			// 3: somebody tainted the node on purpose. It is to outweigh the
			// preferences of workloads, which have 2.
			{Name: TaintToleration, Weight: 3},
			// 2: what the user prefers outweighs what uses the cluster well,
			// which has 1.
			{Name: NodeAffinity, Weight: 2},
			{Name: NodePorts},
			// After the filters above: room can be made by displacing others,
			// and preemption is only tried where nothing else is in the way.
			{Name: NodeResourcesFit, Weight: 1},
			// Ours. It skips workloads that ask for no devices, so it costs
			// those nothing; those that do must never be placed without.
			{Name: Devices},
			{Name: VolumeRestrictions},
			{Name: NodeVolumeLimits},
			{Name: VolumeBinding},
			{Name: VolumeZone},
			// 2: as for NodeAffinity, it is what the user prefers.
			{Name: PodTopologySpread, Weight: 2},
			{Name: InterPodAffinity, Weight: 2},
			// 2: it scores alternatives in the order in which the user prefers them.
			{Name: DynamicResources, Weight: 2},
			// The one that makes room. Where others join it there, those in front
			// of it are asked first.
			{Name: DefaultPreemption},
			// Only scores from here to the binder: there is no filter to come before.
			{Name: NodeResourcesBalancedAllocation, Weight: 1},
			{Name: ImageLocality, Weight: 1},
			// It always binds, so no Bind plugin after it is asked.
			{Name: DefaultBinder},
			// A filter after all others: the reference appends what is behind a
			// feature gate, and the place decides whose reason is given.
			{Name: NodeDeclaredFeatures},
			// The members of a group are placed together because of it.
			{Name: GangScheduling},
			{Name: TopologyPlacementGenerator},
			{Name: PodGroupPodsCount, Weight: 1},
		},
	}
	for i := range p.Plugins {
		p.Plugins[i].New = factories[p.Plugins[i].Name]
	}
	return p
}
