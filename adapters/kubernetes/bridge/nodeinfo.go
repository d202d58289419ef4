package bridge

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/extpoints"
)

// nodeInfo is a node as plugins see it: k8s.io/kubernetes' own NodeInfo, and the
// engine's. What a plugin tries out on a copy happens to both, so that the engine's
// filters can be asked about it.
type nodeInfo struct {
	*framework.NodeInfo
	ours *extpoints.NodeInfo
	host *Host
	// gone are the workloads that were taken off the copy, by ID: a plugin may put them
	// back. Nil: this is no copy, and must not be changed.
	gone map[string]*extpoints.WorkloadInfo

	// What it was made of; see made.is.
	made made
	// seen is the cycle that compared it with the engine's last.
	seen atomic.Pointer[root]
}

var _ fwk.NodeInfo = (*nodeInfo)(nil)

// made is what a nodeInfo was made of. A node of a view changes in place while nobody else
// has the view (engine/internal/snapshot), so the address alone does not say that it is as
// it was.
type made struct {
	node      *extpoints.NodeInfo
	object    any
	workloads []*extpoints.WorkloadInfo
	images    uintptr
}

func newMade(n *extpoints.NodeInfo) made {
	return made{node: n, object: n.Node, workloads: slices.Clone(n.Workloads), images: reflect.ValueOf(n.Images).Pointer()}
}

// is reports whether the node is as it was when m was made. Maps of images are replaced,
// not changed, once somebody has seen them.
func (m *made) is(n *extpoints.NodeInfo) bool {
	return m.node == n && m.object == any(n.Node) && slices.Equal(m.workloads, n.Workloads) && m.images == reflect.ValueOf(n.Images).Pointer()
}

// newNodeInfo makes the NodeInfo of the engine's node. The pods that old has are taken from
// there; it may be nil.
func (h *Host) newNodeInfo(n *extpoints.NodeInfo, old *nodeInfo) *nodeInfo {
	info := framework.NewNodeInfo()
	info.SetNode(h.opts.Objects.node(n.Node))
	known := map[*extpoints.WorkloadInfo]*podInfo{}
	if old != nil && old.ours.Node.Name == n.Node.Name {
		for _, p := range old.GetPods() {
			if p, ok := p.(*podInfo); ok {
				known[p.workload] = p
			}
		}
	}
	for _, w := range n.Workloads {
		p := known[w]
		if p == nil {
			p = h.podInfo(w, n.Node.Name)
		}
		info.AddPodInfo(p)
	}
	// A set of ports, not a bag: of two pods on the same port the first to go frees it.
	info.UsedPorts = fwk.HostPortInfo{}
	for i := range n.Ports {
		info.UsedPorts.Add(n.Ports[i].IP, string(n.Ports[i].Protocol), n.Ports[i].Port)
	}
	for name, state := range n.Images {
		info.ImageStates[name] = &fwk.ImageStateSummary{Size: state.Size, NumNodes: state.NumNodes}
	}
	return &nodeInfo{NodeInfo: info, ours: n, host: h, made: newMade(n)}
}

// Snapshot implements [fwk.NodeInfo].
func (n *nodeInfo) Snapshot() fwk.NodeInfo {
	gone := maps.Clone(n.gone)
	if gone == nil {
		gone = map[string]*extpoints.WorkloadInfo{}
	}
	return &nodeInfo{NodeInfo: n.SnapshotConcrete(), ours: n.ours.Clone(), host: n.host, gone: gone}
}

// mustBeCopy panics where a plugin changes a node of the snapshot.
func (n *nodeInfo) mustBeCopy(method string) {
	if n.gone == nil {
		panic(fmt.Sprintf("bridge: NodeInfo.%s changes node %s of the snapshot, which the engine shares; call Snapshot and change the copy", method, n.ours.Node.Name))
	}
}

// AddPodInfo implements [fwk.NodeInfo].
func (n *nodeInfo) AddPodInfo(p fwk.PodInfo) {
	n.mustBeCopy("AddPodInfo")
	w := n.workload(p)
	if w != nil {
		n.ours.AddWorkload(w)
	}
	n.NodeInfo.AddPodInfo(p)
}

// workload is the engine's side of a pod that is added to the node.
func (n *nodeInfo) workload(p fwk.PodInfo) *extpoints.WorkloadInfo {
	if p, ok := p.(*podInfo); ok {
		return p.workload
	}
	if w := n.gone[string(p.GetPod().UID)]; w != nil {
		return w
	}
	w, err := n.host.workloadOf(p.GetPod())
	if err != nil {
		n.host.log.Error(err, "Part of a pod that a plugin supposes on a node cannot be understood", "pod", klog.KObj(p.GetPod()), "node", n.ours.Node.Name)
	}
	return w
}

// RemovePod implements [fwk.NodeInfo].
func (n *nodeInfo) RemovePod(logger klog.Logger, pod *v1.Pod) error {
	n.mustBeCopy("RemovePod")
	if err := n.NodeInfo.RemovePod(logger, pod); err != nil {
		return err
	}
	id := string(pod.UID)
	for _, w := range n.ours.Workloads {
		if w.ID == id {
			n.gone[id] = w
			break
		}
	}
	n.ours.RemoveWorkload(id)
	return nil
}

// SetNode implements [fwk.NodeInfo]. The engine's filters do not see it: nothing says what
// the engine's node would be.
func (n *nodeInfo) SetNode(node *v1.Node) {
	n.mustBeCopy("SetNode")
	n.NodeInfo.SetNode(node)
}
