package bridge

import (
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/extpoints"
)

// What a plugin that makes room asks of the framework: the engine's own filters and
// extensions, its own plugins' and bridged ones, on copies.

// question are the engine's sides of a state, a pod and a node that a plugin gives.
func (h *handle) question(state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo) (*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo, error) {
	c, ok := state.(*cycle)
	if !ok {
		return nil, nil, nil, fmt.Errorf("bridge: the cycle state is a %T, want the one that the plugin was given, or a clone of it", state)
	}
	n, ok := info.(*nodeInfo)
	if !ok {
		return nil, nil, nil, fmt.Errorf("bridge: the node is a %T, want one of the lister's, or a copy that Snapshot made", info)
	}
	w := c.workload
	if string(pod.UID) != w.ID {
		var err error
		if w, err = h.host.workloadOf(pod); w == nil {
			return nil, nil, nil, err
		}
	}
	return c.ours.Load(), w, n.ours, nil
}

// RunFilterPluginsWithNominatedPods implements [fwk.Handle].
func (h *handle) RunFilterPluginsWithNominatedPods(_ context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo) *fwk.Status {
	s, w, n, err := h.question(state, pod, info)
	if err != nil {
		return fwk.AsStatus(err)
	}
	return toTheirs(h.ours.Preemption().RunFilters(s, w, n))
}

// RunFilterPlugins implements [fwk.PluginsRunner], where nobody is nominated to the node:
// then it is the same as with those that are.
func (h *handle) RunFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo) *fwk.Status {
	if c, ok := state.(*cycle); ok && len(c.view.Nominated(info.Node().Name)) > 0 {
		return fwk.AsStatus(&NotServedError{Method: "Handle.RunFilterPlugins", Why: "pods are nominated to node " + info.Node().Name + "; use RunFilterPluginsWithNominatedPods"})
	}
	return h.RunFilterPluginsWithNominatedPods(ctx, state, pod, info)
}

// RunPreFilterExtensionAddPod implements [fwk.PluginsRunner].
func (h *handle) RunPreFilterExtensionAddPod(_ context.Context, state fwk.CycleState, pod *v1.Pod, added fwk.PodInfo, info fwk.NodeInfo) *fwk.Status {
	s, w, n, err := h.question(state, pod, info)
	if err != nil {
		return fwk.AsStatus(err)
	}
	other, err := h.other(added, info)
	if err != nil {
		return fwk.AsStatus(err)
	}
	return toTheirs(h.ours.Preemption().AddWorkload(s, w, other, n))
}

// RunPreFilterExtensionRemovePod implements [fwk.PluginsRunner].
func (h *handle) RunPreFilterExtensionRemovePod(_ context.Context, state fwk.CycleState, pod *v1.Pod, removed fwk.PodInfo, info fwk.NodeInfo) *fwk.Status {
	s, w, n, err := h.question(state, pod, info)
	if err != nil {
		return fwk.AsStatus(err)
	}
	other, err := h.other(removed, info)
	if err != nil {
		return fwk.AsStatus(err)
	}
	return toTheirs(h.ours.Preemption().RemoveWorkload(s, w, other, n))
}

// other is the engine's side of a pod on the node, or that was taken off it.
func (h *handle) other(p fwk.PodInfo, info fwk.NodeInfo) (*extpoints.WorkloadInfo, error) {
	id := string(p.GetPod().UID)
	if n := info.(*nodeInfo); n.gone[id] != nil {
		return n.gone[id], nil
	}
	for _, w := range info.(*nodeInfo).ours.Workloads {
		if w.ID == id {
			return w, nil
		}
	}
	if p, ok := p.(*podInfo); ok {
		return p.workload, nil
	}
	w, err := h.host.workloadOf(p.GetPod())
	if w != nil {
		err = nil // part of it that cannot be understood counts for nothing
	}
	return w, err
}

// RunPreScorePlugins implements [fwk.PluginsRunner].
func (h *handle) RunPreScorePlugins(context.Context, fwk.CycleState, *v1.Pod, []fwk.NodeInfo) *fwk.Status {
	return fwk.AsStatus(&NotServedError{Method: "Handle.RunPreScorePlugins"})
}

// RunScorePlugins implements [fwk.PluginsRunner].
func (h *handle) RunScorePlugins(context.Context, fwk.CycleState, *v1.Pod, []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	return nil, fwk.AsStatus(&NotServedError{Method: "Handle.RunScorePlugins"})
}

// RunReservePluginsReserve implements [fwk.PluginsRunner].
func (h *handle) RunReservePluginsReserve(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	return fwk.AsStatus(&NotServedError{Method: "Handle.RunReservePluginsReserve"})
}

// RunReservePluginsUnreserve implements [fwk.PluginsRunner].
func (h *handle) RunReservePluginsUnreserve(context.Context, fwk.CycleState, *v1.Pod, string) {
	unserved("RunReservePluginsUnreserve", "")
}

// NominatedPodsForNode implements [fwk.PodNominator].
func (h *handle) NominatedPodsForNode(node string) []fwk.PodInfo {
	r := h.host.turn.now()
	if r == nil {
		return nil
	}
	var list []fwk.PodInfo
	for _, w := range r.view.Nominated(node) {
		list = append(list, h.host.podInfo(w, ""))
	}
	return list
}

// AddNominatedPod implements [fwk.PodNominator].
func (h *handle) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {
	unserved("AddNominatedPod", "PostFilter's result nominates")
}

// DeleteNominatedPodIfExists implements [fwk.PodNominator].
func (h *handle) DeleteNominatedPodIfExists(*v1.Pod) {
	unserved("DeleteNominatedPodIfExists", "PostFilter's result nominates")
}

// UpdateNominatedPod implements [fwk.PodNominator].
func (h *handle) UpdateNominatedPod(klog.Logger, *v1.Pod, fwk.PodInfo) {
	unserved("UpdateNominatedPod", "PostFilter's result nominates")
}

// Extenders implements [fwk.Handle]: those that have a say in who is displaced.
func (h *handle) Extenders() []fwk.Extender {
	var list []fwk.Extender
	for _, x := range h.ours.Preemption().Extenders() {
		list = append(list, &extender{x, h})
	}
	return list
}

// extender is one of the engine's, for the plugin that makes room. That is all it is asked.
type extender struct {
	extpoints.Extender
	h *handle
}

var _ fwk.Extender = (*extender)(nil)

// Name implements [fwk.Extender].
func (x *extender) Name() string { return x.Extender.Name }

// IsIgnorable implements [fwk.Extender].
func (x *extender) IsIgnorable() bool { return x.Ignorable }

// SupportsPreemption implements [fwk.Extender].
func (x *extender) SupportsPreemption() bool { return x.Preempt != nil }

// IsInterested implements [fwk.Extender].
func (x *extender) IsInterested(pod *v1.Pod) bool {
	if x.Interested == nil {
		return true
	}
	w, err := x.h.host.workloadOf(pod)
	return err == nil && x.Interested(w.Workload)
}

// IsBinder implements [fwk.Extender].
func (x *extender) IsBinder() bool { return false }

// IsPrioritizer implements [fwk.Extender].
func (x *extender) IsPrioritizer() bool { return false }

// IsFilter implements [fwk.Extender].
func (x *extender) IsFilter() bool { return false }

var errEngineAsks = errors.New("bridge: the engine asks the extender this, and plugins do not")

// Bind implements [fwk.Extender].
func (x *extender) Bind(*v1.Binding) error { return errEngineAsks }

// Filter implements [fwk.Extender].
func (x *extender) Filter(*v1.Pod, []fwk.NodeInfo) ([]fwk.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	return nil, nil, nil, errEngineAsks
}

// Prioritize implements [fwk.Extender].
func (x *extender) Prioritize(*v1.Pod, []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	return nil, 0, errEngineAsks
}

// ProcessPreemption implements [fwk.Extender].
func (x *extender) ProcessPreemption(pod *v1.Pod, candidates map[string]*extenderv1.Victims, _ fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	r := x.h.host.turn.now()
	w, err := x.h.host.workloadOf(pod)
	if r == nil || w == nil {
		return nil, errors.Join(errNoCycle, err)
	}
	asked := map[string]*extpoints.Victims{}
	for node, victims := range candidates {
		v := &extpoints.Victims{BudgetViolations: int(victims.NumPDBViolations)}
		for _, pod := range victims.Pods {
			if on := onNode(r.view.Nodes().Get(node), string(pod.UID)); on != nil {
				v.Workloads = append(v.Workloads, on)
			}
		}
		asked[node] = v
	}
	left, err := x.Preempt(r.ctx, w, asked, r.view.Nodes())
	if err != nil {
		return nil, err
	}
	result := map[string]*extenderv1.Victims{}
	for node, victims := range left {
		v := &extenderv1.Victims{NumPDBViolations: int64(victims.BudgetViolations)}
		for _, w := range victims.Workloads {
			v.Pods = append(v.Pods, x.h.host.podInfo(w, node).Pod)
		}
		result[node] = v
	}
	return result, nil
}

// onNode is the workload with the ID on the node, nil where it is not there.
func onNode(n *extpoints.NodeInfo, id string) *extpoints.WorkloadInfo {
	if n == nil {
		return nil
	}
	for _, w := range n.Workloads {
		if w.ID == id {
			return w
		}
	}
	return nil
}
