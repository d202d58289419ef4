package convert

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	ndf "k8s.io/component-helpers/nodedeclaredfeatures"

	"github.com/berth-project/berth/adapters/kubernetes/internal/release"
	"github.com/berth-project/berth/model"
)

// The paths of fields that every object or every pod has, made once.
var (
	uidPath       = field.NewPath("metadata", "uid")
	namespacePath = field.NewPath("metadata", "namespace")
	namePath      = field.NewPath("metadata", "name")
	labelsPath    = field.NewPath("metadata", "labels")

	specPath         = field.NewPath("spec")
	affinityPath     = specPath.Child("affinity", "podAffinity")
	antiAffinityPath = specPath.Child("affinity", "podAntiAffinity")
	nodeAffinityPath = specPath.Child("affinity", "nodeAffinity")
	nodeSelectorPath = specPath.Child("nodeSelector")
	preemptionPath   = specPath.Child("preemptionPolicy")

	schedulerNamePath = specPath.Child("schedulerName")
)

// ID is the identity of the pod as a workload: its UID or, where it has none
// (it has not been created yet), namespace/name.
func ID(p *v1.Pod) string {
	if p.UID != "" {
		return string(p.UID)
	}
	return p.Namespace + "/" + p.Name
}

// Pod is [Gates.Pod] with the feature gates as they are by default.
func Pod(p *v1.Pod) (*model.Workload, error) { return Gates{}.Pod(p) }

// Pod translates a pod, placed or waiting. The result shares maps and slices
// with the pod, which must not be changed any more.
//
// The error, a [*model.ValidationError], lists all fields that cannot be
// translated, by their names in Kubernetes' API. The workload is there even so,
// and valid, without those fields, for pods that are on a node: kube-scheduler
// counts what such a pod takes, and ignores a list of affinity terms of which
// one cannot be read. A pod on no node must not be placed by it. Nor can
// kube-scheduler place such a pod; it tries in vain.
//
// Four things are the caller's. OwnerSelector is left nil; see
// [OwnerSelector]. DeviceClaims are those of a pod that shares none with its
// group; see [DeviceClaimRefs]. NodeName is left empty: a pod with spec.nodeName
// is on that node, which [Status] says. And Profile is spec.schedulerName, which
// need not be one of the engine's where the pod is somebody else's.
func (gates Gates) Pod(p *v1.Pod) (*model.Workload, error) {
	var c problems
	class := qos(p)
	w := &model.Workload{
		ID:           c.text(uidPath, ID(p)),
		Namespace:    c.text(namespacePath, p.Namespace),
		Name:         c.text(namePath, p.Name),
		Labels:       c.labels(labelsPath, p.Labels),
		Profile:      c.text(schedulerNamePath, p.Spec.SchedulerName),
		Preemption:   c.preemption(preemptionPath, p.Spec.PreemptionPolicy),
		NodeSelector: c.labels(nodeSelectorPath, p.Spec.NodeSelector),
		Spread:       c.spread(p.Spec.TopologySpreadConstraints),
		Tolerations:  c.tolerations(p.Spec.Tolerations, gates),
		Ports:        c.ports(&p.Spec),
		Images:       c.images(&p.Spec),
		Features:     c.features(&p.Spec),
		Gates:        c.gates(p.Spec.SchedulingGates),
		DeviceClaims: c.claimRefs(p, nil),
		Containers:   c.parts(&p.Spec, class),
		QoS:          class,
		CreatedAt:    p.CreationTimestamp.Time,
	}
	if g := p.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		w.Group = c.text(schedulingGroupPath, GroupID(p.Namespace, *g.PodGroupName))
	}
	if p.Spec.Priority != nil {
		w.Priority = *p.Spec.Priority
	}
	w.VolumeClaims, w.Disks = c.volumes(p)
	requests, estimate := c.podRequests(p)
	w.Requests, w.Estimate = requests, &estimate
	w.FitLoad, w.UsageLimits = fitLoad(p), usageLimits(p)
	if a := p.Spec.Affinity; a != nil {
		w.NodeAffinity = c.nodeAffinity(nodeAffinityPath, a.NodeAffinity)
		if a := a.PodAffinity; a != nil {
			w.Affinity = c.podAffinity(affinityPath, a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
		}
		if a := a.PodAntiAffinity; a != nil {
			w.AntiAffinity = c.podAffinity(antiAffinityPath, a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
		}
	}
	return w, c.err("pod", p.Namespace+"/"+p.Name)
}

func (p *problems) preemption(at *field.Path, policy *v1.PreemptionPolicy) model.PreemptionPolicy {
	if policy == nil {
		return ""
	}
	switch *policy {
	case v1.PreemptLowerPriority:
		return model.PreemptLower
	case v1.PreemptNever:
		return model.PreemptNever
	}
	p.report(at, "%q is neither %s nor %s", *policy, v1.PreemptLowerPriority, v1.PreemptNever)
	return ""
}

// rulesOf is the version whose rules say which features a pod needs.
var rulesOf = version.MustParseGeneric(release.Kubernetes)

// features are those that the node must declare to have, sorted.
//
// Rules: component-helpers nodedeclaredfeatures/features, v0.37.1.
func (p *problems) features(s *v1.PodSpec) []string {
	set, err := ndf.DefaultFramework.InferForPodScheduling(&ndf.PodInfo{Spec: s}, rulesOf)
	if err == nil && set.IsEmpty() {
		return nil
	}
	var names []string
	if err == nil {
		names, err = ndf.DefaultFramework.Unmap(set)
	}
	if err != nil {
		p.report(specPath, "it cannot be told which features its node must have: %s", err)
	}
	return names
}
