package metrics

import (
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Values of labels. Sources: pkg/scheduler/metrics/metrics.go and
// profile_metrics.go, 1.37.1.
const (
	scheduled     = "scheduled"
	unschedulable = "unschedulable"
	failed        = "error"
	makingRoom    = "waiting_on_preemption"

	activeQueue        = "active"
	backoffQueue       = "backoff"
	unschedulableQueue = "unschedulable"
	gatedQueue         = "gated"

	podEntity   = "pod"
	groupEntity = "podgroup"
)

// resources are kube-scheduler's names of the kinds of object that events are
// about (k8s.io/kube-scheduler/framework/types.go, 0.37.1), where they differ.
var resources = map[model.ObjectKind]string{
	extpoints.AnyWorkload:         "Pod",
	extpoints.AssignedWorkload:    "AssignedPod",
	extpoints.UnscheduledWorkload: "UnscheduledPod",
	extpoints.TargetWorkload:      "TargetPod",
	extpoints.GroupResource:       "scheduling.k8s.io/PodGroup",
	model.VolumeClaimKind:         "PersistentVolumeClaim",
	model.VolumeKind:              "PersistentVolume",
	model.StorageClassKind:        "storage.k8s.io/StorageClass",
	model.StorageDriverKind:       "storage.k8s.io/CSIDriver",
	model.NodeStorageKind:         "storage.k8s.io/CSINode",
	model.StorageCapacityKind:     "storage.k8s.io/CSIStorageCapacity",
	model.VolumeAttachmentKind:    "storage.k8s.io/VolumeAttachment",
	model.DeviceSliceKind:         "resource.k8s.io/ResourceSlice",
	model.DeviceClassKind:         "resource.k8s.io/DeviceClass",
	model.DeviceClaimKind:         "resource.k8s.io/ResourceClaim",
}

// actions are those with names of their own there.
var actions = map[extpoints.Action]string{
	extpoints.UpdateNodeFeatures:            "UpdateNodeDeclaredFeature",
	extpoints.UpdateWorkloadGatesEliminated: "UpdatePodSchedulingGatesEliminated",
	extpoints.UpdateWorkloadDeviceClaims:    "UpdatePodGeneratedResourceClaim",
}

// points are those with names of their own there (pkg/scheduler/metrics/metrics.go
// ExtensionPoints, 1.37.1).
var points = map[string]string{
	"PreFilter extension AddWorkload":    "PreFilterExtensionAddPod",
	"PreFilter extension RemoveWorkload": "PreFilterExtensionRemovePod",
	"NormalizeScore":                     "ScoreExtensionNormalize",
	"NormalizePlacementScore":            "PlacementScoreExtensionNormalize",
	"GroupPostFilter":                    "PodGroupPostFilter",
}

// PointLabel is what kube-scheduler calls the extension point in labels.
func PointLabel(point string) string {
	if theirs, ok := points[point]; ok {
		return theirs
	}
	return point
}

// wakeUps are the labels of the queue that kube-scheduler does not have, and what
// the same is called there. Sources, all in backend/queue/scheduling_queue.go,
// 1.37.1: Activate after a preemption that failed, or that leaves no departure to
// wait for; addPodGroupMember; deletePodGroupMember, which says "add"; Update.
var wakeUps = map[string]string{
	queue.EvictionFailed: queue.ForceActivate,
	queue.RoomMade:       queue.ForceActivate,
	queue.GroupChanged:   "UnscheduledPodAdd",
	queue.Deleted:        "UnscheduledPodAdd",
	queue.DemandsChanged: "TargetPodUpdate",
	queue.RoomGivenUp:    "AssignedPodDelete",
	queue.RoomLost:       queue.ForceActivate,
	queue.NextAlike:      queue.ForceActivate,
}

// EventLabel is what kube-scheduler calls the event in labels (framework/types.go
// ClusterEvent.Label, staging 0.37.1): its own label, or kind and action.
// Composite groups are called like the others.
func EventLabel(e extpoints.ClusterEvent) string {
	if e.Label != "" {
		if theirs, ok := wakeUps[e.Label]; ok {
			return theirs
		}
		return e.Label
	}
	resource, ok := resources[e.Resource]
	if !ok {
		resource = string(e.Resource)
	}
	action, ok := actions[e.Action]
	if !ok {
		action = strings.Replace(e.Action.String(), "Workload", "Pod", 1)
	}
	return resource + action
}
