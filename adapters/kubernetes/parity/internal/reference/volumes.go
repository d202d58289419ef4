package reference

import (
	"context"
	"unsafe" // also for go:linkname

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
)

// What kube-scheduler asks of the API server to bind volumes, without the wait
// for it to come true, which looks once a second by the real time.
//
//go:linkname askForVolumes k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding.(*volumeBinder).bindAPIUpdate
func askForVolumes(binder unsafe.Pointer, ctx context.Context, pod *v1.Pod, bindings []*volumebinding.BindingInfo, provisions []*v1.PersistentVolumeClaim) error

// volumeBinder is kube-scheduler's, which asks and does not wait.
type volumeBinder struct {
	volumebinding.SchedulerVolumeBinder
}

// BindPodVolumes implements [volumebinding.SchedulerVolumeBinder].
func (b volumeBinder) BindPodVolumes(ctx context.Context, pod *v1.Pod, volumes *volumebinding.PodVolumes) error {
	provisions := []*v1.PersistentVolumeClaim{}
	for _, p := range volumes.DynamicProvisions {
		provisions = append(provisions, p.PVC)
	}
	// An interface is its type and a pointer to its value.
	binder := (*[2]unsafe.Pointer)(unsafe.Pointer(&b.SchedulerVolumeBinder))[1]
	return askForVolumes(binder, ctx, pod, volumes.StaticBindings, provisions)
}

// BindVolumesAtOnce lets PreBind of VolumeBinding, if that is the plugin, return
// when it has asked for the volumes: what comes of it is for others to tell.
func BindVolumesAtOnce(p fwk.Plugin) {
	if p, ok := p.(*volumebinding.VolumeBinding); ok {
		p.Binder = volumeBinder{p.Binder}
	}
}
