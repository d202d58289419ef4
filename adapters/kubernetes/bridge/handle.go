package bridge

import (
	"context"
	"sync"
	"weak"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// handle is the [fwk.Handle] of one plugin in one profile.
type handle struct {
	host *Host
	ours extpoints.Handle
	name string

	mu sync.Mutex
	// turnedDown are those that the plugin rejected last, by ID, where it listens to kinds
	// of objects that the engine does not know.
	turnedDown map[string]weak.Pointer[model.Workload]
	tidyAt     int // how many of them there are before those are looked for that are gone
	listens    bool
}

var _ fwk.Handle = (*handle)(nil)

// unserved is the panic of a method that is not served.
func unserved(method, why string) { panic(&NotServedError{Method: "Handle." + method, Why: why}) }

// SnapshotSharedLister implements [fwk.Handle].
func (h *handle) SnapshotSharedLister() fwk.SharedLister { return lister{h.host} }

// MutableSnapshotSharedLister implements [fwk.Handle]: it can be read.
func (h *handle) MutableSnapshotSharedLister() fwk.MutableSnapshotSharedLister {
	return lister{h.host}
}

// ClientSet implements [fwk.Handle].
func (h *handle) ClientSet() clientset.Interface { return guardedClient{h.host.opts.Client, h} }

// KubeConfig implements [fwk.Handle].
func (h *handle) KubeConfig() *rest.Config {
	if h.host.opts.KubeConfig == nil {
		unserved("KubeConfig", "the host was made without one")
	}
	c := rest.CopyConfig(h.host.opts.KubeConfig)
	c.Wrap(refuseTrials)
	return c
}

// EventRecorder implements [fwk.Handle].
func (h *handle) EventRecorder() events.EventRecorderLogger {
	return recorder{h.host.opts.Recorder, h.host}
}

// SharedInformerFactory implements [fwk.Handle].
func (h *handle) SharedInformerFactory() informers.SharedInformerFactory {
	return informerFactory{h.host.opts.Informers, h.host}
}

// SharedCSIManager implements [fwk.Handle]: by the informers, so on a branch too as it is
// now.
func (h *handle) SharedCSIManager() fwk.CSIManager {
	return nodevolumelimits.NewCSIManager(h.host.opts.Informers.Storage().V1().CSINodes().Lister())
}

// ProfileName implements [fwk.Handle].
func (h *handle) ProfileName() string { return h.ours.Profile() }

// PodGroupManager implements [fwk.Handle].
func (h *handle) PodGroupManager() fwk.PodGroupManager {
	unserved("PodGroupManager", "")
	return nil
}

// SignPod implements [fwk.Handle]: nothing is signed, so nothing is taken for the same.
func (h *handle) SignPod(context.Context, *v1.Pod) fwk.PodSignature { return nil }

// APIDispatcher implements [fwk.Handle]: there is none, as in kube-scheduler without the
// feature gate SchedulerAsyncAPICalls.
func (h *handle) APIDispatcher() fwk.APIDispatcher { return nil }

// APICacher implements [fwk.Handle]; see APIDispatcher.
func (h *handle) APICacher() fwk.APICacher { return nil }

// Parallelizer implements [fwk.Handle].
func (h *handle) Parallelizer() fwk.Parallelizer { return serial{} }

// serial does one piece after the other, so that the outcome does not depend on chance.
type serial struct{}

// Until implements [fwk.Parallelizer].
func (serial) Until(ctx context.Context, pieces int, do workqueue.DoWorkPieceFunc, _ string) {
	for i := range pieces {
		if ctx.Err() != nil {
			return
		}
		do(i)
	}
}

// Activate implements [fwk.PodActivator].
func (h *handle) Activate(_ klog.Logger, pods map[string]*v1.Pod) {
	if h.host.inTrial() {
		return
	}
	var ids []string
	for _, pod := range pods {
		ids = append(ids, string(pod.UID))
	}
	h.ours.Activate(ids...)
}

// IterateOverWaitingPods implements [fwk.Handle].
func (h *handle) IterateOverWaitingPods(callback func(fwk.WaitingPod)) {
	h.ours.Waiting().Each(func(w extpoints.WaitingWorkload) bool {
		callback(&waitingPod{w, h})
		return true
	})
}

// GetWaitingPod implements [fwk.Handle].
func (h *handle) GetWaitingPod(id types.UID) fwk.WaitingPod {
	if w := h.ours.Waiting().Get(string(id)); w != nil {
		return &waitingPod{w, h}
	}
	return nil
}

// RejectWaitingPod implements [fwk.Handle].
func (h *handle) RejectWaitingPod(id types.UID) bool {
	w := h.GetWaitingPod(id)
	return w != nil && w.Reject("", "removed")
}

// waitingPod is a workload that waits on Permit.
type waitingPod struct {
	extpoints.WaitingWorkload
	h *handle
}

// GetPod implements [fwk.WaitingPod].
func (w *waitingPod) GetPod() *v1.Pod { return w.h.host.podInfo(w.Workload(), w.Node()).Pod }

// GetPendingPlugins implements [fwk.WaitingPod].
func (w *waitingPod) GetPendingPlugins() []string { return w.PendingPlugins() }

// Allow implements [fwk.WaitingPod].
func (w *waitingPod) Allow(plugin string) {
	if !w.h.host.inTrial() {
		w.WaitingWorkload.Allow(plugin)
	}
}

// Reject implements [fwk.WaitingPod]. It takes effect when the engine is done with what it is
// doing.
func (w *waitingPod) Reject(plugin, msg string) bool {
	if w.h.host.inTrial() {
		return false
	}
	w.WaitingWorkload.Reject(plugin, msg)
	return true
}

// Preempt implements [fwk.WaitingPod]. False: the pod is to be deleted, which the engine
// makes of it what it does with one of its own victims that waits.
func (w *waitingPod) Preempt(string, string) bool { return false }

// AddPodInPreBind implements [fwk.Handle].
func (h *handle) AddPodInPreBind(types.UID, context.CancelCauseFunc) {
	unserved("AddPodInPreBind", "the engine binds")
}

// GetPodInPreBind implements [fwk.Handle]: the engine knows whom it is binding, so a plugin
// deletes such a pod, and the engine interrupts the binding.
func (h *handle) GetPodInPreBind(types.UID) fwk.PodInPreBind { return nil }

// RemovePodInPreBind implements [fwk.Handle].
func (h *handle) RemovePodInPreBind(types.UID) { unserved("RemovePodInPreBind", "the engine binds") }

// inTrial reports whether plugins are being called for a cycle that only tries something out.
func (h *Host) inTrial() bool {
	r := h.turn.now()
	return r != nil && h.turn.state.Load() > 0 && r.isTrial()
}
