package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/extpoints"
)

// root is what the plugins of a profile share in one cycle: the cluster as it sees it. The
// states that are cloned of the cycle's have the same.
type root struct {
	host *Host
	ctx  context.Context
	ours *extpoints.CycleState // in which it began
	view extpoints.ClusterView
	// own: it is one of the engine's own cycles, for one workload. In others (on branches,
	// of groups) nodes may have changed in place since the last cycle saw them.
	own bool

	once  sync.Once
	nodes []fwk.NodeInfo // all, in visiting order
}

// isTrial reports whether the cycle only tries something out.
func (r *root) isTrial() bool { return r.ours.Trial() }

// node is the NodeInfo of a node, which is one of the cycle's or a copy that somebody tries
// something out on. The last of each slot is kept.
func (r *root) node(n *extpoints.NodeInfo) *nodeInfo {
	place := r.host.slot(n.Slot)
	old := place.Load()
	if old != nil && old.made.node == n {
		if old.seen.Load() == r {
			return old
		}
		if old.made.is(n) {
			old.seen.Store(r)
			return old
		}
	}
	info := r.host.newNodeInfo(n, old)
	if r.view.Nodes().Get(n.Node.Name) == n { // a copy changes, and others get its memory
		info.seen.Store(r)
		place.Store(info)
	}
	return info
}

// infos are the NodeInfos of the nodes.
func (r *root) infos(list []*extpoints.NodeInfo) []fwk.NodeInfo {
	infos := make([]fwk.NodeInfo, len(list))
	for i, n := range list {
		infos[i] = r.node(n)
	}
	return infos
}

// all are the NodeInfos of all nodes, in visiting order. The engine's own cycles share one
// list, which each brings up to date; it takes turns (see turnstile), so nobody reads it
// then. Whoever tries something out has a list of its own.
func (r *root) all() []fwk.NodeInfo {
	r.once.Do(func() {
		nodes, list := r.view.Nodes(), r.host.list
		if !r.own || cap(list) < nodes.Len() {
			list = make([]fwk.NodeInfo, nodes.Len())
		}
		list = list[:nodes.Len()]
		for i := range list {
			n := nodes.At(i)
			// Between two of the engine's own cycles a node that changes is another.
			if known, ok := list[i].(*nodeInfo); !ok || known.made.node != n {
				list[i] = r.node(n)
			}
		}
		if r.nodes = list; r.own {
			r.host.list = list
		}
	})
	return r.nodes
}

// slots are the last NodeInfos by slot.
type slots struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*atomic.Pointer[nodeInfo]]
}

// slot is the place of a slot's NodeInfo.
func (s *slots) slot(i int32) *atomic.Pointer[nodeInfo] {
	if list := s.list.Load(); list != nil && int(i) < len(*list) {
		return (*list)[i]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*atomic.Pointer[nodeInfo]
	if known := s.list.Load(); known != nil {
		list = *known
	}
	longer := append([]*atomic.Pointer[nodeInfo]{}, list...)
	for len(longer) <= int(i)+len(longer)/2 {
		longer = append(longer, &atomic.Pointer[nodeInfo]{})
	}
	s.list.Store(&longer)
	return longer[i]
}

// lister is the lister of a profile's plugins, which they may keep: it shows the cluster of
// the cycle for which a plugin is being called, or was last.
type lister struct{ h *Host }

var _ fwk.MutableSnapshotSharedLister = lister{}

var errNoCycle = errors.New("bridge: there was no scheduling cycle yet, so there is nothing to list")

// errMutable: the snapshot is shared with the engine.
var errMutable = errors.New("bridge: the snapshot cannot be changed; try things out on copies of nodes")

func (l lister) root() (*root, error) {
	if r := l.h.turn.now(); r != nil {
		return r, nil
	}
	return nil, errNoCycle
}

// NodeInfos implements [fwk.SharedLister].
func (l lister) NodeInfos() fwk.NodeInfoLister { return l }

// StorageInfos implements [fwk.SharedLister].
func (l lister) StorageInfos() fwk.StorageInfoLister { return l }

// List implements [fwk.NodeInfoLister].
func (l lister) List() ([]fwk.NodeInfo, error) {
	r, err := l.root()
	if err != nil {
		return nil, err
	}
	return r.all(), nil
}

// HavePodsWithAffinityList implements [fwk.NodeInfoLister].
func (l lister) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) {
	r, err := l.root()
	if err != nil {
		return nil, err
	}
	return r.infos(r.view.Nodes().WithAffinity()), nil
}

// HavePodsWithRequiredAntiAffinityList implements [fwk.NodeInfoLister].
func (l lister) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	r, err := l.root()
	if err != nil {
		return nil, err
	}
	return r.infos(r.view.Nodes().WithRequiredAntiAffinity()), nil
}

// HavePodsWithRequiredNonHostScopedAntiAffinityList implements [fwk.NodeInfoLister].
func (l lister) HavePodsWithRequiredNonHostScopedAntiAffinityList() ([]fwk.NodeInfo, error) {
	list, err := l.HavePodsWithRequiredAntiAffinityList()
	if err != nil {
		return nil, err
	}
	var some []fwk.NodeInfo
	for _, n := range list {
		if len(n.GetPodsWithRequiredNonHostScopedAntiAffinity()) > 0 {
			some = append(some, n)
		}
	}
	return some, nil
}

// Get implements [fwk.NodeInfoLister].
func (l lister) Get(name string) (fwk.NodeInfo, error) {
	r, err := l.root()
	if err != nil {
		return nil, err
	}
	if n := r.view.Nodes().Get(name); n != nil {
		return r.node(n), nil
	}
	return nil, fmt.Errorf("nodeinfo not found for node name %q", name)
}

// IsPVCUsedByPods implements [fwk.StorageInfoLister]. The key is namespace/name, as the
// claim's ID is.
func (l lister) IsPVCUsedByPods(key string) bool {
	r, err := l.root()
	return err == nil && r.view.Storage().Users(key) > 0
}

// StartMutations implements [fwk.MutableSnapshotSharedLister].
func (lister) StartMutations() error { return errMutable }

// EndMutations implements [fwk.MutableSnapshotSharedLister].
func (lister) EndMutations() error { return errMutable }

// AddPod implements [fwk.MutableSnapshotSharedLister].
func (lister) AddPod(fwk.PodInfo, string) error { return errMutable }

// RemovePod implements [fwk.MutableSnapshotSharedLister].
func (lister) RemovePod(klog.Logger, *v1.Pod, string) error { return errMutable }

// PodGroupStates implements [fwk.SharedLister].
func (lister) PodGroupStates() fwk.PodGroupStateLister { return noGroupStates{} }

// PodGroups implements [fwk.SharedLister].
func (l lister) PodGroups() fwk.PodGroupLister { return podGroups{l} }

// CompositePodGroupStates implements [fwk.SharedLister].
func (lister) CompositePodGroupStates() fwk.CompositePodGroupStateLister {
	return noCompositeStates{}
}

// CompositePodGroups implements [fwk.SharedLister].
func (l lister) CompositePodGroups() fwk.CompositePodGroupLister { return compositePodGroups{l} }

type noGroupStates struct{}

// Get implements [fwk.PodGroupStateLister].
func (noGroupStates) Get(string, string) (fwk.PodGroupState, error) {
	return nil, &NotServedError{Method: "SharedLister.PodGroupStates"}
}

type noCompositeStates struct{}

// Get implements [fwk.CompositePodGroupStateLister].
func (noCompositeStates) Get(string, string) (fwk.CompositePodGroupState, error) {
	return nil, &NotServedError{Method: "SharedLister.CompositePodGroupStates"}
}

type podGroups struct{ l lister }

// Get implements [fwk.PodGroupLister].
func (g podGroups) Get(namespace, name string) (*schedulingv1beta1.PodGroup, error) {
	return groupObject[*schedulingv1beta1.PodGroup](g.l, namespace, name, convert.GroupID(namespace, name))
}

type compositePodGroups struct{ l lister }

// Get implements [fwk.CompositePodGroupLister].
func (g compositePodGroups) Get(namespace, name string) (*schedulingv1alpha3.CompositePodGroup, error) {
	return groupObject[*schedulingv1alpha3.CompositePodGroup](g.l, namespace, name, convert.CompositeGroupID(namespace, name))
}

func groupObject[T any](l lister, namespace, name, id string) (object T, err error) {
	r, err := l.root()
	if err != nil {
		return object, err
	}
	if g := r.view.Groups().Get(id); g != nil {
		if o, ok := r.host.opts.Objects.group(g).(T); ok {
			return o, nil
		}
	}
	return object, fmt.Errorf("%s %s/%s not found", strings.ToLower(fmt.Sprintf("%T", object)), namespace, name)
}
