package sidebyside

import (
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/plugins"
)

// kube is kube-scheduler.
type kube struct {
	*reference.Scheduler
	row     Row
	made    int // pods of the row
	queued  []*framework.QueuedPodInfo
	gates   []fwk.PreEnqueuePlugin
	assumed []assumed
	since   int // pods that had been made at the last Reset
	listed  []*v1.Pod
	chosen  []string
}

// assumed is a pod that has a node, and its cycle's state.
type assumed struct {
	pod   *v1.Pod
	state fwk.CycleState
}

// NewKube makes kube-scheduler with the cluster.
func NewKube(r Row, c Cluster) (Side, error) {
	cfg := reference.Config{PercentageOfNodesToScore: &c.Share, Now: epoch, Gates: r.gates()}
	if c.NoLots {
		cfg.Tie = lots
	}
	s, err := reference.New(cfg)
	if err != nil {
		return nil, err
	}
	k := &kube{Scheduler: s, row: r, gates: s.Framework.PreEnqueuePlugins()}
	k.put(r.common())
	for i := range c.Nodes {
		s.Put(r.node(i))
		k.put(r.nodeObjects(i))
	}
	for i := range c.Nodes {
		for j := range c.PodsPerNode {
			p := r.already(i, j)
			k.put(r.needs(p))
			s.Put(p)
		}
	}
	if r.Members > 0 {
		return newGroupKube(k), nil
	}
	return k, nil
}

func (k *kube) put(list []runtime.Object) {
	for _, object := range list {
		k.Put(object)
	}
}

// Name implements [Side].
func (k *kube) Name() string { return "kube" }

// Limit implements [Side].
func (k *kube) Limit() int { return k.row.Limit() }

// Queue implements [Side].
func (k *kube) Queue(n int) {
	for range n {
		pod := k.row.pod(k.made)
		k.put(k.row.needs(pod))
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
	if k.row.reserves {
		must(k.Framework.RunReservePluginsReserve(k.Context, state, pod, result.SuggestedHost).AsError())
	}
	k.assumed = append(k.assumed, assumed{pod, state})
	k.chosen = append(k.chosen, result.SuggestedHost)
}

// makeRoom is what ScheduleOne does for a pod that fits nowhere. Victims are
// asked to go on a goroutine of their own; it is waited for in Reset.
func (k *kube) makeRoom(state fwk.CycleState, pod *v1.Pod, err error) {
	var fit *framework.FitError
	if !errors.As(err, &fit) {
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
	for _, a := range k.assumed {
		if k.row.reserves {
			k.Framework.RunReservePluginsUnreserve(k.Context, a.state, a.pod, a.pod.Spec.NodeName)
		}
		must(k.Cache.ForgetPod(k.Logger(), a.pod))
	}
	for _, pod := range k.listed {
		k.await(pod)
		k.Delete(pod)
	}
	k.forget()
	chosen := k.chosen
	k.assumed, k.listed, k.chosen = nil, nil, nil
	return chosen
}

// forget deletes what there was for the pods.
func (k *kube) forget() {
	for _, object := range k.row.gone(k.since, k.made) {
		k.Delete(object)
	}
	k.since = k.made
}

func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("sidebyside: %v", err))
	}
}
