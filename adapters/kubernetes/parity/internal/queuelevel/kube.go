package queuelevel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

// shared lists the default plugins that both sides have. The scripted binder
// binds; preemption is compared at the decision level, and here the scripted
// nominator stands for it.
func shared() ([]string, error) {
	names, err := reference.DefaultPlugins(nil)
	if err != nil {
		return nil, err
	}
	ours := plugins.DefaultProfile().Plugins
	return slices.DeleteFunc(names, func(name string) bool {
		return name == plugins.DefaultBinder || name == plugins.DefaultPreemption ||
			!slices.ContainsFunc(ours, func(r extpoints.Entry) bool { return r.Name == name })
	}), nil
}

// makeKube makes the reference.
func (h *history) makeKube(names []string, c queue.Timing) error {
	gates := map[featuregate.Feature]bool{
		features.SchedulerPopFromBackoffQ:        !c.NoPopFromBackoff,
		features.NominatedNodeNameForExpectation: false, // see the package comment
	}
	err := withGates(gates, func() (err error) {
		h.kube, err = reference.New(reference.Config{
			Plugins: names, Registry: kubeRegistry(&h.script, h.kubeBinder), Now: h.now,
			Options: []scheduler.Option{
				scheduler.WithPodInitialBackoffSeconds(int64(c.InitialBackoff / time.Second)),
				scheduler.WithPodMaxBackoffSeconds(int64(max(c.MaxBackoff, 0) / time.Second)),
				scheduler.WithPodMaxInUnschedulablePodsDuration(c.MaxInUnschedulable),
			},
		})
		return err
	})
	if err != nil {
		return err
	}
	pop, fail := h.kube.NextEntity, h.kube.FailureHandler
	h.kube.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		entity, err := pop(logger)
		if info, ok := entity.(*framework.QueuedPodInfo); ok {
			h.popped[info.Pod.UID], h.lastPopped = info, string(info.Pod.UID)
		}
		return entity, err
	}
	h.kube.FailureHandler = func(ctx context.Context, fw framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		h.failed = true
		fail(ctx, fw, info, status, nominating, start)
	}
	return nil
}

// withGates calls f with the features switched on or off. kube-scheduler looks
// at these when it is made, and never again.
func withGates(gates map[featuregate.Feature]bool, f func() error) error {
	before, during := map[string]bool{}, map[string]bool{}
	for gate, on := range gates {
		before[string(gate)] = utilfeature.DefaultFeatureGate.Enabled(gate)
		during[string(gate)] = on
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(during); err != nil {
		return err
	}
	return errors.Join(f(), utilfeature.DefaultMutableFeatureGate.SetFromMap(before))
}

// ready reports whether the reference would give out a pod; it waits for one
// where it would not.
func (h *history) ready() bool {
	if h.noPopFromBackoff {
		return len(h.kube.Queue().PodsInActiveQ()) > 0
	}
	return h.kube.Ready()
}

// settle waits until each of the reference's binding goroutines is where it
// waits for the history, or has ended.
func (h *history) settle() {
	deadline := time.Now().Add(10 * time.Second)
	for {
		running, err := testutil.GetGaugeMetricValue(metrics.Goroutines.WithLabelValues(metrics.Binding))
		must(err)
		atBind := len(h.in(binding, orphaned))
		if int(running) == len(h.in(waiting))+atBind && h.kubeBinder.len() == atBind {
			return
		}
		if time.Now().After(deadline) {
			panic(fmt.Sprintf("queuelevel: the reference's binding goroutines do not come to rest: %v run, %d wait for Bind to end", running, h.kubeBinder.len()))
		}
		time.Sleep(10 * time.Microsecond)
	}
}

// put gives the reference an object as it is now, and returns what it keeps.
func put[T runtime.Object](h *history, object T) T {
	h.kube.Put(object)
	return h.kube.Get(object).(T)
}

// close ends what is under way on the reference's goroutines.
func (h *history) close() {
	for _, p := range h.pods {
		switch p.stage {
		case waiting:
			h.kube.Framework.GetWaitingPod(p.UID).Reject(guard, "the history ends")
		case binding, orphaned:
			h.kubeBinder.end(p.UID, fwk.NewStatus(fwk.Error, "the history ends"))
		}
		p.stage = queued
	}
	h.settle()
	h.kube.Close()
}

func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("queuelevel: %v", err))
	}
}
