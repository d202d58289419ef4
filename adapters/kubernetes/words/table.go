package words

// row is a phrase in both wordings. %q, %s and %d stand for what is named: a quoted
// text, a word without spaces, a number. They come in the same order in both, unless
// kube-scheduler's say by their index which they are.
type row struct{ neutral, kube string }

// table has all phrases in which the wordings differ, by the part of the engine that
// says them. No phrase occurs twice, on either side: what is different here is different
// there. The sources are those that the comments in the engine name.
var table = []row{
	// engine
	{"no nodes available to schedule workloads", "no nodes available to schedule pods"},
	{"waiting on permit for workload", "waiting on permit for pod"},
	{"group is unschedulable", "pod group is unschedulable"},
	{"failed to schedule other workload from a group: ", "failed to schedule other pod from a pod group: "},
	{"composite group evaluation failed due to child error: ", "composite pod group evaluation failed due to child error: "},
	{"all workloads in a single group should have the same profile, got: %q and %q",
		"all pods in a single pod group should have the same .spec.schedulerName set, got: %q and %q"},
	{"all workloads in a single group should have the same priority as the group's priority, got %d and %d",
		"all pods in a single pod group should have the same priority as the pod group's priority, got %d and %d"},
	{"all workloads in a single group should have the same preemption policy, got %s and %s",
		"all pods in a single pod group should have the same preemption policy, got %s and %s"},
	{"all workloads in a single group should have the same preemption policy as the group's preemption policy, got %s and %s",
		"all pods in a single pod group should have the same preemption policy as the pod group's preemption policy, got %s and %s"},
	{"error in %q GroupPostFilter plugins: ", "error in %q PodGroupPostFilter plugins: "},

	// the order by queues
	{"there is no principal %q", "there is no namespace %q"},

	// DefaultPreemption
	{"not eligible due to a terminating workload on the nominated node.", "not eligible due to a terminating pod on the nominated node."},
	{"waiting for the preemption for this workload to be finished", "waiting for the preemption for this pod to be finished"},
	{"waiting for the preemption for this group to be finished", "waiting for the preemption for this pod group to be finished"},
	{"found a potential placement for workload on node %s, preempting %d victims",
		"found a potential placement for pod on node %s, preempting %d victims"},
	{"found a placement for group, preempting %d victims", "found a placement for podgroup, preempting %d victims"},
	{"expected at least one victim on node %q", "expected at least one victim pod on node %q"},
	{"No preemption victims found for incoming workload", "No preemption victims found for incoming pod"},
	{"group preemption: ", "pod group preemption: "},
	{"group %q stays: workload %q of it is on node %q, which is not there", "pod group %q stays: pod %q of it is on node %q, which is not there"},

	// GangScheduling, TopologyPlacementGenerator, PodGroupPodsCount
	{"waiting for workload's group %q to appear in scheduling queue", "waiting for pods's pod group %q to appear in scheduling queue"},
	{"waiting for minCount workloads from a gang to appear in scheduling queue", "waiting for minCount pods from a gang to appear in scheduling queue"},
	{"waiting for minCount workloads from a gang to be scheduled", "waiting for minCount pods from a gang to be scheduled"},
	{"waiting for composite group %q tree to meet quorum", "waiting for composite pod group %q tree to meet quorum"},
	{"failed to get group %s: group not found", "failed to get podGroup %[1]s: pod group object not found for pod group podgroup/%[1]s"},
	{"failed to build hierarchy snapshot: there is no composite group %s",
		"failed to build hierarchy snapshot: composite pod group object not found in state for compositepodgroup/%s"},
	{"cannot determine domain for already scheduled workloads: ", "cannot determine domain for already scheduled pods: "},
	{"getting node for workload %s: nodeinfo not found for node name %q", "getting node for pod %s: nodeinfo not found for node name %q"},
	{"no topology domain found for workload %s", "no topology domain found for pod %s"},
	{"more than 1 domain found for group: ", "more than 1 domain found for pod group: "},
	{"no workloads from group are assigned to any of the candidate placements", "no pods from pod group are assigned to any of the candidate placements"},

	// NodeResourcesFit, NodePorts, NodeAffinity, NodeDeclaredFeatures
	{"Too many workloads", "Too many pods"},
	{"node(s) didn't have free ports for the requested workload ports", "node(s) didn't have free ports for the requested pod ports"},
	{"node(s) didn't match workload's node affinity/selector", "node(s) didn't match Pod's node affinity/selector"},
	{"workload affinity terms conflict", "pod affinity terms conflict"},
	{"node(s) didn't match workload's required features", "node(s) didn't match Pod's required features"},

	// InterPodAffinity, PodTopologySpread
	{"node(s) didn't match workload affinity rules", "node(s) didn't match pod affinity rules"},
	{"node(s) didn't match workload anti-affinity rules", "node(s) didn't match pod anti-affinity rules"},
	{"node(s) didn't satisfy existing workloads anti-affinity rules", "node(s) didn't satisfy existing pods anti-affinity rules"},
	{"workloads with InterPodAffinity are not signable", "pods with InterPodAffinity are not signable"},
	{"node(s) didn't match workload topology spread constraints", "node(s) didn't match pod topology spread constraints"},

	// NodeResourceTopologyMatch
	{"cannot align workload", "cannot align pod"},

	// VolumeBinding, VolumeZone, VolumeRestrictions, NodeVolumeLimits
	{"volume claim %q not found", "persistentvolumeclaim %q not found"},
	{"volume claim %q is being deleted", "persistentvolumeclaim %q is being deleted"},
	{"volume claim %q bound to non-existent volume %q", "persistentvolumeclaim %q bound to non-existent persistentvolume %q"},
	{"volume claim %s was not created for workload %s (workload is not owner)", "PVC %s was not created for pod %s (pod is not owner)"},
	{"looking up volume claim %s: ", "looking up PVC %s: "},
	{"waiting for volume claim %q to be created for the workload", "waiting for ephemeral volume controller to create the persistentvolumeclaim %q"},
	{"workload has unbound immediate volume claims", "pod has unbound immediate PersistentVolumeClaims"},
	{"node(s) didn't match volume's node affinity", "node(s) didn't match PersistentVolume's node affinity"},
	{"node(s) didn't find available volumes to bind", "node(s) didn't find available persistent volumes to bind"},
	{"node(s) unavailable due to one or more volume claims bound to non-existent volumes",
		"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"},
	{"node(s) unavailable due to volume claim with ReadWriteOnceWorkload access mode already in-use by another workload",
		"node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"},
	{"volume claim had no name", "PersistentVolumeClaim had no name"},
	{"volume claim had no volume name and storage class name", "PersistentVolumeClaim had no pv name and storageClass name"},
	{"volume had no name", "PersistentVolume had no name"},
	{"volume %q of the claim not found", "persistentvolume %q not found"},
	{"storage class %q of the claim not found", "storageclass.storage.k8s.io %q not found"},
	{"binding mode not set for storage class %q", "VolumeBindingMode not set for StorageClass %q"},

	// DynamicResources
	{"workload %q: device claim not created yet", "pod %q: ResourceClaim not created yet"},
	{"could not find device claim %q", "could not find ResourceClaim %q"},
	{"device claim %q is being deleted", "resourceclaim %q is being deleted"},
	{"device claim %s is not in the same namespace as workload %s", "ResourceClaim %s is not in the same namespace as Pod %s"},
	{"device claim %s was not created for workload %s (workload is not owner)", "ResourceClaim %s was not created for Pod %s (Pod is not owner)"},
	{"device claim %s was not created for workload %s (neither workload nor group %s is the owner)",
		"ResourceClaim %s was not created for Pod %s (neither Pod nor PodGroup %s is the owner)"},
	{"device claim in use", "resourceclaim in use"},
	{"device claim not available on the node", "resourceclaim not available on the node"},
	{"device claim %s, request %s: unknown request type", "resource claim %s, request %s: unknown request type"},
	{"claim %s, request %s: could not retrieve device class %s: device class %q not found",
		"claim %s, request %s: could not retrieve device class %s: deviceclass.resource.k8s.io %q not found"},
	{"create node terms for claim %s: unsupported device slice with %d node terms",
		"create NodeSelector for claim %s: unsupported ResourceSlice.NodeSelector with %d terms"},
	{"cannot schedule device claim for scalar resources", "cannot schedule extended resource claim"},
	{"deletion of device claim completed", "deletion of ResourceClaim completed"},
	{"deallocation of device claim completed", "deallocation of ResourceClaim completed"},
	{"deallocation and deletion of device claims completed", "deallocation and deletion of ResourceClaims completed"},
	{"deallocation of group device claim completed", "deallocation of PodGroup ResourceClaim completed"},
	{"device claim unreserved for group", "ResourceClaim unreserved for PodGroup"},
	{"workloads with device claims are not signable", "pods with dra resource claims are not signable"},
	{"signature disabled when scalar resources of device classes are used in the cluster",
		"signature disabled when dra extended resources are used in the cluster"},
}
