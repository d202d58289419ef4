package convert

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	typeOnly    = "says what kind of object it is, which is known"
	bookkeeping = "bookkeeping of the API server and its clients"
	toRun       = "says how to run the containers, which the node does"
	reported    = "reports what the containers do, on which no decision depends"
	namesOnly   = "a name within the object"

	whichContainer = "says which container uses a claim of the pod, which is for the node"
)

// meta is the fate of the metadata, of which some fields are read.
func meta(paths ...string) []fieldFate {
	rest := []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.creationTimestamp", "metadata.deletionTimestamp",
		"metadata.ownerReferences", "metadata.generateName", "metadata.selfLink", "metadata.resourceVersion", "metadata.generation",
		"metadata.deletionGracePeriodSeconds", "metadata.annotations", "metadata.finalizers", "metadata.managedFields",
	}
	for _, p := range paths {
		rest = slices.DeleteFunc(rest, func(r string) bool { return r == p })
	}
	return slices.Concat(unread(typeOnly, "kind", "apiVersion"), read(paths...), unread(bookkeeping, rest...))
}

// container is the fate of the fields of a container, of which some are read.
func container(at string, paths ...string) []fieldFate {
	read, rest := []string{}, []string{
		"name", "image", "ports", "resources", "restartPolicy", "restartPolicyRules", "volumeMounts",
		"command", "args", "workingDir", "envFrom", "env", "resizePolicy", "volumeDevices", "livenessProbe", "readinessProbe", "startupProbe",
		"lifecycle", "terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy", "securityContext", "stdin", "stdinOnce", "tty",
	}
	for _, p := range paths {
		rest = slices.DeleteFunc(rest, func(r string) bool { return r == p })
		read = append(read, at+"."+p)
	}
	for i := range rest {
		rest[i] = at + "." + rest[i]
	}
	return slices.Concat(unread("", read...), unread(toRun, rest...))
}

// podFields: what is read of a pod, by plugins, node sums, preemption and
// DefaultSelector.
var podFields = fieldTest{
	kind: "Pod",
	fates: slices.Concat(
		meta("metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.creationTimestamp", "metadata.deletionTimestamp",
			"metadata.ownerReferences"),
		unread("the owner is found by its kind and name", "metadata.ownerReferences[].uid"),
		unread("is for the garbage collector", "metadata.ownerReferences[].blockOwnerDeletion"),

		container("spec.containers[]", "name", "image", "ports", "resources", "restartPolicyRules"),
		container("spec.initContainers[]", "name", "image", "ports", "resources", "restartPolicy", "restartPolicyRules"),
		container("spec.ephemeralContainers[]"),
		unread(toRun, "spec.ephemeralContainers[].targetContainerName"),
		containerParts("spec.containers[]"), containerParts("spec.initContainers[]"), mounts("spec.ephemeralContainers[]"),

		read("spec.nodeName", "spec.schedulerName", "spec.priority", "spec.preemptionPolicy", "spec.priorityClassName", "spec.nodeSelector",
			"spec.affinity", "spec.topologySpreadConstraints", "spec.tolerations", "spec.schedulingGates", "spec.overhead",
			"spec.resources.requests", "spec.resources.limits", "spec.hostNetwork", "spec.hostUsers", "spec.volumes[].image.reference"),
		unread("the API server has put it into labelSelector",
			"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[].matchLabelKeys",
			"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[].mismatchLabelKeys",
			"spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm.matchLabelKeys",
			"spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm.mismatchLabelKeys",
			"spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[].matchLabelKeys",
			"spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[].mismatchLabelKeys",
			"spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm.matchLabelKeys",
			"spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm.mismatchLabelKeys"),
		unread("is for the eviction of pods from tainted nodes, which the scheduler has no part in", "spec.tolerations[].tolerationSeconds"),
		read("spec.resourceClaims", "status.resourceClaimStatuses", "spec.schedulingGroup"),
		unread(whichContainer, "spec.resources.claims"),
		unread("the scheduler finds the claim by its owner and writes this for the node", "status.extendedResourceClaimStatus"),
		unread("counts only while the feature gate DRANodeAllocatableResources is on; it is off in 1.37", "status.nodeAllocatableResourceClaimStatuses"),
		read("spec.volumes[].name", "spec.volumes[].persistentVolumeClaim.claimName", "spec.volumes[].ephemeral", "spec.volumes[].gcePersistentDisk.pdName",
			"spec.volumes[].gcePersistentDisk.readOnly", "spec.volumes[].awsElasticBlockStore.volumeID", "spec.volumes[].azureDisk.diskURI",
			"spec.volumes[].azureDisk.kind", "spec.volumes[].cinder.volumeID", "spec.volumes[].portworxVolume.volumeID", "spec.volumes[].iscsi.iqn",
			"spec.volumes[].iscsi.readOnly", "spec.volumes[].rbd.monitors", "spec.volumes[].rbd.image", "spec.volumes[].rbd.pool", "spec.volumes[].rbd.readOnly",
			"spec.volumes[].csi.driver"),
		unread("is for the controller that makes the claim", "spec.volumes[].ephemeral.volumeClaimTemplate"),
		unread("the node mounts what is in there; every node can", "spec.volumes"),
		unread(toRun, "spec.restartPolicy", "spec.terminationGracePeriodSeconds", "spec.activeDeadlineSeconds", "spec.dnsPolicy", "spec.serviceAccountName",
			"spec.serviceAccount", "spec.automountServiceAccountToken", "spec.hostPID", "spec.hostIPC", "spec.shareProcessNamespace", "spec.securityContext",
			"spec.imagePullSecrets", "spec.hostname", "spec.subdomain", "spec.hostAliases", "spec.dnsConfig", "spec.readinessGates", "spec.enableServiceLinks",
			"spec.setHostnameAsFQDN", "spec.hostnameOverride"),
		unread("the API server has put what it means into overhead, nodeSelector and tolerations", "spec.runtimeClassName"),
		unread("kubelets refuse pods of another system; the scheduler goes by labels only", "spec.os"),
		unread("says who else is asked before an eviction; the scheduler deletes", "spec.evictionResponders"),

		read("status.qosClass"),
		read("status.phase", "status.nominatedNodeName", "status.startTime", "status.conditions", "status.allocatedResources", "status.resources.requests",
			"status.containerStatuses[].name", "status.containerStatuses[].allocatedResources", "status.containerStatuses[].resources.requests",
			"status.initContainerStatuses[].name", "status.initContainerStatuses[].allocatedResources", "status.initContainerStatuses[].resources.requests"),
		unread("only type, status and reason count", "status.conditions[].observedGeneration", "status.conditions[].lastProbeTime",
			"status.conditions[].lastTransitionTime", "status.conditions[].message"),
		unread("requests are what counts", "status.resources", "status.containerStatuses[].resources", "status.initContainerStatuses[].resources"),
		unread(reported, "status.containerStatuses", "status.initContainerStatuses", "status.ephemeralContainerStatuses", "status.observedGeneration", "status.message",
			"status.reason", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs", "status.volumeHealth"),
		unread("is not set any more; conditions say it", "status.resize"),
	),
	zero: func() any { return &v1.Pod{} },
	bases: map[string]func(any){
		"placed, resources of containers": func(o any) {
			p := goodPod(o)
			p.Spec.Resources, p.Status.Resources, p.Status.AllocatedResources = nil, nil, nil
		},
		"placed, resources of the pod": func(o any) { goodPod(o) },
		"placed, resize infeasible": func(o any) {
			p := goodPod(o)
			p.Spec.Resources, p.Status.Resources, p.Status.AllocatedResources = nil, nil, nil
			p.Status.Conditions[0].Type, p.Status.Conditions[0].Reason = v1.PodResizePending, v1.PodReasonInfeasible
			p.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("100")}
		},
		"waiting": func(o any) {
			p := goodPod(o)
			p.Spec.NodeName, p.Spec.Resources = "", nil
			p.Spec.Priority, p.Spec.PreemptionPolicy = nil, nil
		},
		"guaranteed, as the API server says": func(o any) { goodPod(o).Status.QOSClass = v1.PodQOSGuaranteed },
		"guaranteed by its containers": func(o any) {
			p := goodPod(o)
			p.Spec.Resources, p.Status.QOSClass = nil, ""
			for _, c := range []*v1.Container{&p.Spec.Containers[0], &p.Spec.InitContainers[0]} {
				c.Resources.Requests, c.Resources.Limits = amounts("1", "1Gi"), amounts("1", "1Gi")
			}
		},
		"guaranteed as a whole": func(o any) {
			p := goodPod(o)
			p.Spec.Resources.Requests, p.Spec.Resources.Limits, p.Status.QOSClass = amounts("1", "1Gi"), amounts("1", "1Gi"), ""
		},
		"claim of a template, shared with the group": func(o any) {
			p := goodPod(o)
			p.Spec.ResourceClaims[0].ResourceClaimName = nil
		},
		"only a container needs features": func(o any) {
			p := goodPod(o)
			p.Spec.InitContainers[0].RestartPolicyRules, p.Spec.InitContainers[0].VolumeMounts, p.Spec.EphemeralContainers[0].VolumeMounts = nil, nil, nil
		},
		"only an init container needs features": func(o any) {
			p := goodPod(o)
			p.Spec.Containers[0].RestartPolicyRules, p.Spec.Containers[0].VolumeMounts, p.Spec.EphemeralContainers[0].VolumeMounts = nil, nil, nil
		},
		"only a debugging container needs features": func(o any) {
			p := goodPod(o)
			p.Spec.InitContainers[0].VolumeMounts, p.Spec.Containers[0].VolumeMounts = nil, nil
		},
	},
	result: func(o any) any {
		p := o.(*v1.Pod)
		w, err := Pod(p)
		ownerless := ID(p)
		var unfound error
		if p.Spec.Priority == nil {
			unfound = Prioritize(w, p, []PriorityClass{{Name: "x", Value: 1000}})
		}
		w.OwnerSelector = OwnerSelector(p, Owners{ReplicaSets: []*appsv1.ReplicaSet{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "x"},
			Spec:       appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"x": "x"}}},
		}}})
		return []any{ownerless, w, text(err), text(unfound), Status(p)}
	},
}

// containerParts are the parts of a container's fields that are not read.
func containerParts(at string) []fieldFate {
	return slices.Concat(mounts(at),
		unread(namesOnly, at+".ports[].name"),
		unread("a port of the container is no port of the node", at+".ports[].containerPort"),
		unread(whichContainer, at+".resources.claims"),
		unread(toRun, at+".restartPolicyRules[].exitCodes"))
}

// mounts is what is read of a container's mounts.
func mounts(at string) []fieldFate { return read(at + ".volumeMounts[].bindMountOptions") }

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// goodPod makes a pod, in which every field says something, one that the API
// server would let in as far as the translated fields go.
func goodPod(o any) *v1.Pod {
	p := o.(*v1.Pod)
	yes, no := true, false
	p.OwnerReferences[0].APIVersion, p.OwnerReferences[0].Kind, p.OwnerReferences[0].Controller = "apps/v1", "ReplicaSet", &yes
	always, lower, honor := v1.ContainerRestartPolicyAlways, v1.PreemptLowerPriority, v1.NodeInclusionPolicyHonor

	p.Spec.HostNetwork, p.Spec.HostUsers = true, &no
	p.Spec.PreemptionPolicy = &lower
	p.Spec.Overhead = cpu(p.Spec.Overhead)
	p.Spec.Resources.Requests = cpu(p.Spec.Resources.Requests)
	p.Spec.Resources.Limits = cpu(p.Spec.Resources.Limits)
	p.Spec.InitContainers[0].Name, p.Spec.InitContainers[0].RestartPolicy = "i", &always
	for _, c := range []*v1.Container{&p.Spec.Containers[0], &p.Spec.InitContainers[0]} {
		c.Ports[0].Protocol = v1.ProtocolTCP
		c.RestartPolicyRules[0].Action = v1.ContainerRestartRuleActionRestartAllContainers
		c.Resources.Requests, c.Resources.Limits = cpu(c.Resources.Requests), cpu(c.Resources.Limits)
	}
	p.Spec.InitContainers[0].Ports[0].HostPort = 2

	s := &p.Spec.TopologySpreadConstraints[0]
	s.WhenUnsatisfiable, s.NodeAffinityPolicy, s.NodeTaintsPolicy = v1.DoNotSchedule, &honor, &honor
	in(s.LabelSelector)
	p.Spec.Tolerations[0].Operator, p.Spec.Tolerations[0].Effect = v1.TolerationOpEqual, v1.TaintEffectNoExecute

	a := p.Spec.Affinity
	terms := []*v1.NodeSelectorTerm{&a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0], &a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Preference}
	for _, t := range terms {
		t.MatchExpressions[0].Operator = v1.NodeSelectorOpIn
		t.MatchFields[0].Key, t.MatchFields[0].Operator = metav1.ObjectNameField, v1.NodeSelectorOpIn
	}
	for _, t := range []*v1.PodAffinityTerm{
		&a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0], &a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm,
		&a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0], &a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm,
	} {
		in(t.LabelSelector)
		in(t.NamespaceSelector)
	}

	p.Spec.Volumes = oneSourceEach(p.Spec.Volumes[0].VolumeSource)
	p.Status.Phase = v1.PodRunning
	p.Status.Conditions[0].Type, p.Status.Conditions[0].Status, p.Status.Conditions[0].Reason = v1.DisruptionTarget, v1.ConditionTrue, v1.PodReasonPreemptionByScheduler
	p.Status.InitContainerStatuses[0].Name = "i"
	p.Status.AllocatedResources, p.Status.Resources.Requests = cpu(p.Status.AllocatedResources), cpu(p.Status.Resources.Requests)
	for _, c := range []*v1.ContainerStatus{&p.Status.ContainerStatuses[0], &p.Status.InitContainerStatuses[0]} {
		c.AllocatedResources = v1.ResourceList{v1.ResourceCPU: resource.MustParse("20")}
		c.Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("20")}
	}
	return p
}

// oneSourceEach are volumes that have one of the sources each, of those that are
// read, and one with all the others.
func oneSourceEach(s v1.VolumeSource) []v1.Volume {
	managed := v1.AzureManagedDisk
	s.AzureDisk.Kind = &managed
	rest := s
	rest.PersistentVolumeClaim, rest.Ephemeral, rest.GCEPersistentDisk, rest.AWSElasticBlockStore, rest.AzureDisk = nil, nil, nil, nil, nil
	rest.Cinder, rest.PortworxVolume, rest.ISCSI, rest.RBD = nil, nil, nil, nil
	var volumes []v1.Volume
	for _, source := range []v1.VolumeSource{
		rest, {PersistentVolumeClaim: s.PersistentVolumeClaim}, {Ephemeral: s.Ephemeral}, {GCEPersistentDisk: s.GCEPersistentDisk},
		{AWSElasticBlockStore: s.AWSElasticBlockStore}, {AzureDisk: s.AzureDisk}, {Cinder: s.Cinder}, {PortworxVolume: s.PortworxVolume},
		{ISCSI: s.ISCSI}, {RBD: s.RBD},
	} {
		volumes = append(volumes, v1.Volume{Name: "x", VolumeSource: source})
	}
	return volumes
}

// cpu is a list of the same quantity, of CPU.
func cpu(l v1.ResourceList) v1.ResourceList { return v1.ResourceList{v1.ResourceCPU: l["x"]} }

func in(s *metav1.LabelSelector) { s.MatchExpressions[0].Operator = metav1.LabelSelectorOpIn }
