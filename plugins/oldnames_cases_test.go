package plugins_test

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/helper"
	"github.com/berth-project/berth/plugins/interpodaffinity"
	"github.com/berth-project/berth/plugins/nodeaffinity"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/podtopologyspread"
)

const (
	host = "kubernetes.io/hostname"
	zone = "topology.kubernetes.io/zone"
)

var (
	web    = map[string]string{"app": "web"}
	isWeb  = model.SelectLabels(web)
	byRack = model.AffinityTerm{Selector: isWeb, TopologyKey: "rack"}
)

// oldNames has the node first that would win if nothing had a say.
var oldNames = []oldName{
	{
		names:   "SelectorSpread SelectorSpreadPriority ServiceSpreadingPriority",
		plugins: entries(plugins.PodTopologySpread),
		nodes: []*model.Node{
			labelled("a", host, "a", zone, "1"), labelled("b", host, "b", zone, "1"), labelled("c", host, "c", zone, "2"),
		},
		running:  []placement{webOn("a")},
		workload: &model.Workload{ID: "w", Labels: web, OwnerSelector: isWeb},
		want:     "c",
	},
	{
		// By hosts and zones d would win, where nothing is; but it is in no rack.
		names:   "ServiceAntiAffinity",
		plugins: entries(plugins.PodTopologySpread),
		args: podtopologyspread.Args{
			DefaultingType:     podtopologyspread.List,
			DefaultConstraints: []model.SpreadConstraint{{TopologyKey: "rack", MaxSkew: 1, Mode: model.SpreadPreferred}},
		},
		nodes:    []*model.Node{labelled("a", "rack", "1"), labelled("b", "rack", "1"), labelled("c", "rack", "2"), labelled("d")},
		running:  []placement{webOn("a"), webOn("b"), webOn("c")},
		workload: &model.Workload{ID: "w", Labels: web, OwnerSelector: isWeb},
		want:     "c",
	},
	{
		names:   "EvenPodsSpread",
		plugins: entries(plugins.PodTopologySpread),
		nodes:   []*model.Node{labelled("a", zone, "1"), labelled("b", zone, "2")},
		running: []placement{webOn("a")},
		workload: &model.Workload{ID: "w", Labels: web, Spread: []model.SpreadConstraint{
			{TopologyKey: zone, MaxSkew: 1, Mode: model.SpreadRequired, Selector: isWeb},
		}},
		want:     "b",
		rejected: map[string]string{"a": plugins.PodTopologySpread},
	},
	{
		names:   "EvenPodsSpreadPriority",
		plugins: entries(plugins.PodTopologySpread),
		nodes:   []*model.Node{labelled("a", zone, "1"), labelled("b", zone, "2")},
		running: []placement{webOn("a")},
		workload: &model.Workload{ID: "w", Labels: web, Spread: []model.SpreadConstraint{
			{TopologyKey: zone, MaxSkew: 1, Mode: model.SpreadPreferred, Selector: isWeb},
		}},
		want: "b",
	},
	{
		names:    "ServiceAffinity CheckServiceAffinity",
		plugins:  entries(plugins.InterPodAffinity),
		nodes:    []*model.Node{labelled("a", "rack", "1"), labelled("b", "rack", "2"), labelled("c", "rack", "2")},
		running:  []placement{webOn("c")},
		workload: &model.Workload{ID: "w", Labels: web, Affinity: &model.WorkloadAffinity{Required: []model.AffinityTerm{byRack}}},
		want:     "b",
		rejected: map[string]string{"a": plugins.InterPodAffinity},
	},
	{
		// The first replica: the old one took any node, this only those with
		// the label.
		names:    "ServiceAffinity CheckServiceAffinity",
		plugins:  entries(plugins.InterPodAffinity),
		nodes:    []*model.Node{labelled("a"), labelled("b", "rack", "2")},
		workload: &model.Workload{ID: "w", Labels: web, Affinity: &model.WorkloadAffinity{Required: []model.AffinityTerm{byRack}}},
		want:     "b",
		rejected: map[string]string{"a": plugins.InterPodAffinity},
	},
	{
		// What runs on b requires to be near, on a it only wishes to.
		names:   "InterPodAffinityPriority",
		plugins: entries(plugins.InterPodAffinity),
		args:    interpodaffinity.Args{HardPodAffinityWeight: new(int32(100))},
		nodes:   []*model.Node{labelled("a", "rack", "1"), labelled("b", "rack", "2")},
		running: []placement{
			{Node: "a", Workload: &model.Workload{Affinity: &model.WorkloadAffinity{
				Preferred: []model.WeightedAffinityTerm{{Weight: 50, AffinityTerm: byRack}},
			}}},
			{Node: "b", Workload: &model.Workload{Affinity: &model.WorkloadAffinity{Required: []model.AffinityTerm{byRack}}}},
		},
		workload: &model.Workload{ID: "w", Labels: web},
		want:     "b",
	},
	{
		names:   "InterPodAffinityPriority",
		plugins: entries(plugins.InterPodAffinity),
		nodes:   []*model.Node{labelled("a", "rack", "1"), labelled("b", "rack", "2")},
		running: []placement{webOn("b")},
		workload: &model.Workload{ID: "w", Affinity: &model.WorkloadAffinity{
			Preferred: []model.WeightedAffinityTerm{{Weight: 1, AffinityTerm: byRack}},
		}},
		want: "b",
	},
	{
		names:    "MatchInterPodAffinity",
		plugins:  entries(plugins.InterPodAffinity),
		nodes:    []*model.Node{labelled("a", "rack", "1"), labelled("b", "rack", "2")},
		running:  []placement{webOn("a")},
		workload: &model.Workload{ID: "w", AntiAffinity: &model.WorkloadAffinity{Required: []model.AffinityTerm{byRack}}},
		want:     "b",
		rejected: map[string]string{"a": plugins.InterPodAffinity},
	},
	{
		names:    "LeastRequestedPriority NodeResourcesLeastAllocated",
		plugins:  entries(plugins.NodeResourcesFit),
		nodes:    []*model.Node{roomy("full", 4000), roomy("empty", 4000)},
		running:  []placement{busy("full", 3000)},
		workload: workload(500),
		want:     "empty",
	},
	{
		names:    "MostRequestedPriority NodeResourcesMostAllocated",
		plugins:  entries(plugins.NodeResourcesFit),
		args:     noderesources.FitArgs{Strategy: noderesources.Strategy{Type: noderesources.MostAllocated}},
		nodes:    []*model.Node{roomy("empty", 4000), roomy("full", 4000)},
		running:  []placement{busy("full", 3000)},
		workload: workload(500),
		want:     "full",
	},
	{
		names:   "RequestedToCapacityRatioPriority RequestedToCapacityRatio",
		plugins: entries(plugins.NodeResourcesFit),
		args: noderesources.FitArgs{Strategy: noderesources.Strategy{
			Type:  noderesources.RequestedToCapacityRatio,
			Shape: []helper.ShapePoint{{Utilization: 0}, {Utilization: 50, Score: 10}, {Utilization: 100}},
		}},
		nodes:    []*model.Node{roomy("empty", 4000), roomy("half", 4000), roomy("full", 4000)},
		running:  []placement{busy("half", 1500), busy("full", 3000)},
		workload: workload(500),
		want:     "half",
	},
	{
		names:   "BalancedResourceAllocation",
		plugins: entries(plugins.NodeResourcesBalancedAllocation),
		nodes:   []*model.Node{roomy("cpu", 4000), roomy("memory", 4000)},
		running: []placement{
			busy("cpu", 2000),
			{Node: "memory", Workload: &model.Workload{Requests: model.Resources{Memory: 32 << 30}}},
		},
		workload: workload(1000),
		want:     "memory",
	},
	{
		// Without an estimate the small node, which is empty, is better.
		names:    "ResourceLimitsPriority NodeResourceLimits",
		plugins:  entries(plugins.NodeResourcesFit),
		nodes:    []*model.Node{roomy("small", 2000), roomy("large", 16000)},
		running:  []placement{busy("large", 4000)},
		workload: &model.Workload{ID: "w", Requests: model.Resources{CPU: 100}, Estimate: &model.Resources{CPU: 4000, Memory: 1 << 30}},
		want:     "large",
	},
	{
		names:   "ImageLocalityPriority",
		plugins: entries(plugins.ImageLocality),
		nodes: []*model.Node{
			labelled("a"), {Name: "b", Images: []model.NodeImage{{Names: []string{"web:1"}, Size: 500 << 20}}},
		},
		workload: &model.Workload{ID: "w", Images: []string{"web:1"}},
		want:     "b",
	},
	{
		names:   "NodeAffinityPriority",
		plugins: entries(plugins.NodeAffinity),
		nodes:   []*model.Node{labelled("a", "disk", "hdd"), labelled("b", "disk", "ssd")},
		workload: &model.Workload{ID: "w", NodeAffinity: &model.NodeAffinity{Preferred: []model.PreferredNodeTerm{
			{Weight: 1, NodeTerm: term("disk", model.In, "ssd")},
		}}},
		want: "b",
	},
	{
		names:   "MatchNodeSelector",
		plugins: entries(plugins.NodeAffinity),
		nodes:   []*model.Node{labelled("a", "arm", ""), labelled("b", "disk", "ssd"), labelled("c", "arm", "", "disk", "ssd")},
		workload: &model.Workload{
			ID: "w", NodeSelector: map[string]string{"disk": "ssd"},
			NodeAffinity: &model.NodeAffinity{Required: &model.NodeTerms{Terms: []model.NodeTerm{term("arm", model.Exists)}}},
		},
		want:     "c",
		rejected: map[string]string{"a": plugins.NodeAffinity, "b": plugins.NodeAffinity},
	},
	{
		names:   "CheckNodeLabelPresence NodeLabel",
		plugins: entries(plugins.NodeAffinity),
		args: nodeaffinity.Args{AddedAffinity: &model.NodeAffinity{Required: &model.NodeTerms{Terms: []model.NodeTerm{{
			Labels: []model.Requirement{{Key: "rack", Operator: model.Exists}, {Key: "retiring", Operator: model.DoesNotExist}},
		}}}}},
		nodes:    []*model.Node{labelled("a"), labelled("b", "rack", "1", "retiring", ""), labelled("c", "rack", "1")},
		workload: workload(0),
		want:     "c",
		rejected: map[string]string{"a": plugins.NodeAffinity, "b": plugins.NodeAffinity},
	},
	{
		names:   "NodeLabelPriority NodeLabel",
		plugins: entries(plugins.NodeAffinity),
		args: nodeaffinity.Args{AddedAffinity: &model.NodeAffinity{Preferred: []model.PreferredNodeTerm{
			{Weight: 1, NodeTerm: term("rack", model.Exists)}, {Weight: 1, NodeTerm: term("retiring", model.DoesNotExist)},
		}}},
		nodes:    []*model.Node{labelled("a"), labelled("b", "rack", "1", "retiring", ""), labelled("c", "rack", "1")},
		workload: workload(0),
		want:     "c",
	},
	{
		names:   "TaintTolerationPriority",
		plugins: entries(plugins.TaintToleration),
		nodes:   []*model.Node{tainted("a", "old", model.PreferNoSchedule), tainted("b", "spot", model.PreferNoSchedule)},
		workload: &model.Workload{ID: "w", Tolerations: []model.Toleration{
			{Key: "spot", Operator: model.Exists, Effect: model.PreferNoSchedule},
		}},
		want: "b",
	},
	{
		names:   "PodToleratesNodeTaints",
		plugins: entries(plugins.TaintToleration),
		nodes: []*model.Node{
			tainted("a", "old", model.NoSchedule), tainted("b", "broken", model.NoExecute), tainted("c", "spot", model.NoSchedule),
		},
		workload: &model.Workload{ID: "w", Tolerations: []model.Toleration{{Key: "spot", Operator: model.Exists}}},
		want:     "c",
		rejected: map[string]string{"a": plugins.TaintToleration, "b": plugins.TaintToleration},
	},
	{
		// With the weight of the default profile, room would outweigh the taint.
		names:    "NodePreferAvoidPods NodePreferAvoidPodsPriority",
		plugins:  weighted(plugins.TaintToleration, 10000),
		beside:   weighted(plugins.NodeResourcesFit, 10),
		nodes:    []*model.Node{tainted("avoid", "avoid", model.PreferNoSchedule), roomy("full", 4000)},
		running:  []placement{busy("full", 3000)},
		workload: workload(500),
		want:     "full",
	},
	{
		names:    "PodFitsResources",
		plugins:  entries(plugins.NodeResourcesFit),
		nodes:    []*model.Node{roomy("a", 400), {Name: "b", Allocatable: big, MaxWorkloads: 1}, roomy("c", 500)},
		running:  []placement{busy("b", 0)},
		workload: workload(500),
		want:     "c",
		rejected: map[string]string{"a": plugins.NodeResourcesFit, "b": plugins.NodeResourcesFit},
	},
	{
		names:    "PodFitsHostPorts PodFitsPorts",
		plugins:  entries(plugins.NodePorts),
		nodes:    []*model.Node{labelled("a"), labelled("b")},
		running:  []placement{{Node: "a", Workload: &model.Workload{Ports: []model.HostPort{{Port: 80}}}}},
		workload: &model.Workload{ID: "w", Ports: []model.HostPort{{Port: 80}}},
		want:     "b",
		rejected: map[string]string{"a": plugins.NodePorts},
	},
	{
		names:    "HostName PodFitsHost",
		plugins:  entries(plugins.NodeName),
		nodes:    []*model.Node{labelled("a"), labelled("b")},
		workload: &model.Workload{ID: "w", NodeName: "b"},
		want:     "b",
		rejected: map[string]string{"a": plugins.NodeName},
	},
	{
		names:   "GeneralPredicates",
		plugins: entries(plugins.NodeResourcesFit, plugins.NodeName, plugins.NodePorts, plugins.NodeAffinity),
		nodes: []*model.Node{
			labelled("other", "disk", "ssd"), roomy("full", 400, "disk", "ssd"), labelled("taken", "disk", "ssd"),
			labelled("plain"), labelled("right", "disk", "ssd"),
		},
		running: []placement{{Node: "taken", Workload: &model.Workload{Ports: []model.HostPort{{Port: 80}}}}},
		workload: &model.Workload{
			ID: "w", Requests: model.Resources{CPU: 500}, NodeName: "right",
			Ports: []model.HostPort{{Port: 80}}, NodeSelector: map[string]string{"disk": "ssd"},
		},
		want: "right",
		rejected: map[string]string{
			"other": plugins.NodeName, "full": plugins.NodeResourcesFit, "taken": plugins.NodePorts, "plain": plugins.NodeAffinity,
		},
	},
	{
		names:    "CheckNodeUnschedulable",
		plugins:  entries(plugins.NodeUnschedulable),
		nodes:    []*model.Node{{Name: "a", Unschedulable: true}, labelled("b")},
		workload: workload(0),
		want:     "b",
		rejected: map[string]string{"a": plugins.NodeUnschedulable},
	},
	{
		names:   "CheckNodeCondition",
		plugins: entries(plugins.NodeUnschedulable, plugins.TaintToleration),
		nodes: []*model.Node{
			tainted("a", "node.kubernetes.io/not-ready", model.NoSchedule),
			tainted("b", "node.kubernetes.io/network-unavailable", model.NoSchedule),
			{Name: "c", Unschedulable: true}, labelled("d"),
		},
		workload: workload(0),
		want:     "d",
		rejected: map[string]string{"a": plugins.TaintToleration, "b": plugins.TaintToleration, "c": plugins.NodeUnschedulable},
	},
	{
		names:   "CheckNodeMemoryPressure CheckNodeDiskPressure CheckNodePIDPressure",
		plugins: entries(plugins.TaintToleration),
		nodes: []*model.Node{
			tainted("memory", "node.kubernetes.io/memory-pressure", model.NoSchedule),
			tainted("disk", "node.kubernetes.io/disk-pressure", model.NoSchedule),
			tainted("pid", "node.kubernetes.io/pid-pressure", model.NoSchedule), labelled("fine"),
		},
		workload: workload(0),
		want:     "fine",
		rejected: map[string]string{"memory": plugins.TaintToleration, "disk": plugins.TaintToleration, "pid": plugins.TaintToleration},
	},
	{
		// Memory pressure only kept those away that request nothing.
		names:   "CheckNodeMemoryPressure",
		plugins: entries(plugins.TaintToleration),
		nodes: []*model.Node{
			tainted("disk", "node.kubernetes.io/disk-pressure", model.NoSchedule),
			tainted("memory", "node.kubernetes.io/memory-pressure", model.NoSchedule),
		},
		workload: &model.Workload{ID: "w", Requests: model.Resources{CPU: 500}, Tolerations: []model.Toleration{
			{Key: "node.kubernetes.io/memory-pressure", Operator: model.Exists, Effect: model.NoSchedule},
		}},
		want:     "memory",
		rejected: map[string]string{"disk": plugins.TaintToleration},
	},
	{
		// On c the same disk is only read, and so it is by the workload.
		names:   "NoDiskConflict",
		plugins: entries(plugins.VolumeRestrictions),
		nodes:   []*model.Node{labelled("a"), labelled("c"), labelled("d")},
		running: []placement{
			{Node: "a", Workload: &model.Workload{Disks: []model.Disk{{Keys: []string{"ebs/vol-1"}}}}},
			{Node: "c", Workload: &model.Workload{Disks: []model.Disk{{Keys: []string{"ebs/vol-1"}, ReadOnly: true}}}},
		},
		workload: &model.Workload{ID: "w", Disks: []model.Disk{{Keys: []string{"ebs/vol-1"}, ReadOnly: true}}},
		want:     "c",
		rejected: map[string]string{"a": plugins.VolumeRestrictions},
	},
	{
		names:   "NoVolumeZoneConflict",
		plugins: entries(plugins.VolumeZone),
		nodes:   []*model.Node{labelled("a", zone, "1"), labelled("b", zone, "2")},
		objects: []model.Object{
			&model.VolumeClaim{ID: "data", Volume: "v", Bound: true},
			&model.Volume{Name: "v", Labels: map[string]string{zone: "2"}},
		},
		workload: claiming("data"),
		want:     "b",
		rejected: map[string]string{"a": plugins.VolumeZone},
	},
	{
		names:   "CheckVolumeBinding",
		plugins: entries(plugins.VolumeBinding),
		nodes:   []*model.Node{labelled("a"), labelled("b", "disk", "local")},
		objects: []model.Object{
			&model.VolumeClaim{ID: "data", Volume: "v", Bound: true},
			&model.Volume{Name: "v", Nodes: onlyOn("disk", "local"), Claim: &model.ClaimIdentity{ID: "data"}, Phase: model.VolumeBound},
		},
		workload: claiming("data"),
		want:     "b",
		rejected: map[string]string{"a": plugins.VolumeBinding},
	},
	{
		// The claim has no volume yet: from a none can be had, from b only one
		// that is too small.
		names:   "CheckVolumeBinding",
		plugins: entries(plugins.VolumeBinding),
		nodes:   []*model.Node{labelled("a"), labelled("b", "rack", "1"), labelled("c", "rack", "2")},
		objects: []model.Object{
			&model.StorageClass{Name: "local", Provisioner: model.NoProvisioner, Binding: model.BindWhenConsumed},
			&model.VolumeClaim{ID: "data", Class: "local", Request: 10, AccessModes: []model.AccessMode{model.ReadWriteOnce}},
			&model.Volume{Name: "small", Class: "local", Capacity: 9, AccessModes: []model.AccessMode{model.ReadWriteOnce}, Nodes: onlyOn("rack", "1")},
			&model.Volume{Name: "large", Class: "local", Capacity: 10, AccessModes: []model.AccessMode{model.ReadWriteOnce}, Nodes: onlyOn("rack", "2")},
		},
		workload: claiming("data"),
		want:     "c",
		rejected: map[string]string{"a": plugins.VolumeBinding, "b": plugins.VolumeBinding},
	},
	{
		// Two workloads with the same volume are one volume on b.
		names:   "MaxCSIVolumeCountPred MaxCSIVolumeCount",
		plugins: entries(plugins.NodeVolumeLimits),
		nodes:   []*model.Node{labelled("a"), labelled("b")},
		objects: []model.Object{
			atMost("a", "csi.example.com", 2), atMost("b", "csi.example.com", 2),
			&model.VolumeClaim{ID: "data", Volume: "v0", Bound: true}, &model.Volume{Name: "v0", Driver: "csi.example.com", Handle: "0"},
			&model.VolumeClaim{ID: "one", Volume: "v1", Bound: true}, &model.Volume{Name: "v1", Driver: "csi.example.com", Handle: "1"},
			&model.VolumeClaim{ID: "two", Volume: "v2", Bound: true}, &model.Volume{Name: "v2", Driver: "csi.example.com", Handle: "2"},
		},
		running: []placement{
			{Node: "a", Workload: claiming("one")}, {Node: "a", Workload: claiming("two")},
			{Node: "b", Workload: claiming("one")}, {Node: "b", Workload: claiming("one")},
		},
		workload: claiming("data"),
		want:     "b",
		rejected: map[string]string{"a": plugins.NodeVolumeLimits},
	},
	diskLimit("MaxEBSVolumeCount EBSLimits", "ebs.csi.aws.com", "kubernetes.io/aws-ebs"),
	diskLimit("MaxGCEPDVolumeCount GCEPDLimits", "pd.csi.storage.gke.io", "kubernetes.io/gce-pd"),
	diskLimit("MaxAzureDiskVolumeCount AzureDiskLimits", "disk.csi.azure.com", "kubernetes.io/azure-disk"),
	diskLimit("MaxCinderVolumeCount CinderLimits", "cinder.csi.openstack.org", "kubernetes.io/cinder"),
}

// diskLimit is a case in which a has as many volumes of the driver as it may
// have, and b as many of another driver.
func diskLimit(names, driver, plugin string) oldName {
	const other = "csi.example.com"
	disk := func(driver, plugin, handle string) *model.Workload {
		return &model.Workload{ID: "w", Disks: []model.Disk{{Driver: driver, Plugin: plugin, Handle: handle}}}
	}
	return oldName{
		names:    names,
		plugins:  entries(plugins.NodeVolumeLimits),
		driver:   driver,
		nodes:    []*model.Node{labelled("a"), labelled("b")},
		objects:  []model.Object{atMost("a", driver, 1), atMost("b", other, 1)},
		running:  []placement{{Node: "a", Workload: disk(driver, plugin, "1")}, {Node: "b", Workload: disk(other, "", "1")}},
		workload: disk(driver, plugin, "2"),
		want:     "b",
		rejected: map[string]string{"a": plugins.NodeVolumeLimits},
	}
}

var big = model.Resources{CPU: 4000, Memory: 64 << 30}

// entries are the plugins of the names, without arguments.
func entries(names ...string) (list []extpoints.Entry) {
	for _, name := range names {
		list = append(list, weighted(name, 0)...)
	}
	return list
}

func weighted(name string, weight int32) []extpoints.Entry {
	return []extpoints.Entry{{Name: name, New: plugins.Default()[name], Weight: weight}}
}

// roomy is a node of the given milli-CPU with labels, keys and values in turn.
func roomy(name string, cpu int64, labels ...string) *model.Node {
	n := &model.Node{Name: name, Allocatable: model.Resources{CPU: cpu, Memory: big.Memory}, Labels: map[string]string{}}
	for i := 0; i < len(labels); i += 2 {
		n.Labels[labels[i]] = labels[i+1]
	}
	return n
}

func labelled(name string, labels ...string) *model.Node { return roomy(name, big.CPU, labels...) }

func tainted(name, key string, effect model.TaintEffect) *model.Node {
	return &model.Node{Name: name, Allocatable: big, Taints: []model.Taint{{Key: key, Effect: effect}}}
}

func workload(cpu int64) *model.Workload {
	return &model.Workload{ID: "w", Requests: model.Resources{CPU: cpu}}
}

func busy(node string, cpu int64) placement {
	return placement{Node: node, Workload: workload(cpu)}
}

func webOn(node string) placement {
	return placement{Node: node, Workload: &model.Workload{Labels: web}}
}

func claiming(claim string) *model.Workload {
	return &model.Workload{ID: "w", VolumeClaims: []model.VolumeClaimRef{{ID: claim}}}
}

func onlyOn(key, value string) *model.NodeTerms {
	return &model.NodeTerms{Terms: []model.NodeTerm{term(key, model.In, value)}}
}

// atMost is what a node has of storage drivers: one, with a limit.
func atMost(node, driver string, volumes int32) *model.NodeStorage {
	return &model.NodeStorage{Node: node, Drivers: []model.NodeDriver{{Name: driver, MaxVolumes: &volumes}}}
}

func term(key string, operator model.Operator, values ...string) model.NodeTerm {
	return model.NodeTerm{Labels: []model.Requirement{{Key: key, Operator: operator, Values: values}}}
}
