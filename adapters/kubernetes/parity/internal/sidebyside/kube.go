package sidebyside

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// kube is kube-scheduler.
type kube struct {
	*reference.Scheduler
	row     Row
	made    int // pods of the row
	queued  []*framework.QueuedPodInfo
	gates   []fwk.PreEnqueuePlugin
	assumed []*v1.Pod
	listed  []*v1.Pod
	chosen  []string
}

// NewKube makes kube-scheduler with the cluster.
func NewKube(r Row, c Cluster) (Side, error) {
	names, err := reference.DefaultPlugins()
	if err != nil {
		return nil, err
	}
	ours := plugins.DefaultProfile().Plugins.MultiPoint.Enabled
	names = slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(ours, func(ref extpoints.PluginRef) bool { return ref.Name == name })
	})
	s, err := reference.New(reference.Config{Plugins: names, PercentageOfNodesToScore: &c.Share, Now: epoch})
	if err != nil {
		return nil, err
	}
	k := &kube{Scheduler: s, row: r, gates: s.Framework.PreEnqueuePlugins()}
	for i := range c.Nodes {
		s.Put(node(i))
	}
	for i := range c.Nodes {
		for j := range c.PodsPerNode {
			s.Put(r.already(i, j))
		}
	}
	return k, nil
}

// Name implements [Side].
func (k *kube) Name() string { return "kube" }

// Limit implements [Side].
func (k *kube) Limit() int { return k.row.Limit() }

// Queue implements [Side].
func (k *kube) Queue(n int) {
	for range n {
		pod := k.row.pod(k.made)
		if k.row.Full {
			k.Put(pod) // preemption asks the lister for it
			k.listed = append(k.listed, pod)
		}
		info, err := framework.NewPodInfo(pod)
		must(err)
		k.made++
		k.queued = append(k.queued, &framework.QueuedPodInfo{PodInfo: info})
	}
}

// Decide implements [Side].
func (k *kube) Decide() {
	info := k.queued[0]
	k.queued = k.queued[1:]
	k.UpdateSnapshot()
	state := framework.NewCycleState()
	result, err := k.SchedulePod(k.Context, k.Framework, state, info)
	if err != nil {
		k.makeRoom(state, info.Pod, err)
		return
	}
	pod := info.Pod // SchedulePod of package reference has copied it
	pod.Spec.NodeName = result.SuggestedHost
	must(k.Cache.AssumePod(k.Logger(), pod))
	k.assumed = append(k.assumed, pod)
	k.chosen = append(k.chosen, result.SuggestedHost)
}

// makeRoom is what ScheduleOne does for a pod that fits nowhere. Victims are
// asked to go on a goroutine of their own; it is waited for in Reset.
func (k *kube) makeRoom(state fwk.CycleState, pod *v1.Pod, err error) {
	fit, ok := err.(*framework.FitError)
	if !ok {
		must(err)
	}
	result, status := k.Framework.RunPostFilterPlugins(k.Context, state, pod, fit.Diagnosis.NodeToStatus)
	if !status.IsSuccess() {
		must(fmt.Errorf("%s: %w", pod.Name, status.AsError()))
	}
	k.chosen = append(k.chosen, result.NominatedNodeName)
}

// await waits until the goroutine that evicts the victims of the pod has ended:
// so long its plugin keeps the pod out of the queue. The victims stay in the
// cache, since nobody tells it that they are going.
func (k *kube) await(pod *v1.Pod) {
	for _, gate := range k.gates {
		for gate.Name() == plugins.DefaultPreemption && !gate.PreEnqueue(k.Context, pod).IsSuccess() {
			time.Sleep(10 * time.Microsecond)
		}
	}
}

// Reset implements [Side].
func (k *kube) Reset() []string {
	for _, pod := range k.assumed {
		must(k.Cache.ForgetPod(k.Logger(), pod))
	}
	for _, pod := range k.listed {
		k.await(pod)
		k.Delete(pod)
	}
	chosen := k.chosen
	k.assumed, k.listed, k.chosen = nil, nil, nil
	return chosen
}

func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("sidebyside: %v", err))
	}
}
