package sidebyside

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
)

// Cluster is what the decisions are made on.
type Cluster struct {
	Nodes int
	// PodsPerNode are there already. One of them is of the kind of the row, the
	// others are plain.
	PodsPerNode int
	// Share of the nodes that is looked at, in percent; 0: adaptive.
	Share int32
	// NoLots: of equally good placements of a group the one of the last name is
	// taken, for comparing decisions. kube-scheduler chooses at random.
	NoLots bool
}

// Suits reports whether the row can be measured on the cluster: a full one has
// ten pods a node, and some rows are about smaller ones.
func (c Cluster) Suits(r Row) bool {
	return (!r.Full || c.PodsPerNode == 10) && (r.mostNodes == 0 || c.Nodes <= r.mostNodes)
}

// Sizes are the numbers of nodes, of those given, that the row is measured on. A
// row about smaller clusters has its largest in place of larger ones.
func (r Row) Sizes(nodes []int) []int {
	sizes := slices.Clone(nodes)
	for i := range sizes {
		if r.mostNodes > 0 {
			sizes[i] = min(sizes[i], r.mostNodes)
		}
	}
	return slices.Compact(sizes)
}

// String names the cluster, for benchmarks.
func (c Cluster) String() string {
	share := "adaptive"
	if c.Share != 0 {
		share = fmt.Sprintf("%d%%", c.Share)
	}
	return fmt.Sprintf("nodes=%d/pods=%d/share=%s", c.Nodes, c.PodsPerNode, share)
}

// What a node has room for, and labels and taints that some nodes have.
const (
	nodeCPU    = 32_000 // thousandths
	nodeMemory = 128 << 30
	archLabel  = v1.LabelArchStable
	diskLabel  = "disk"
	dedicated  = "dedicated"
	rackLabel  = "topology.kubernetes.io/rack"
	zones      = 3
	nodesARack = 100
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func amounts(cpu, memory int64) v1.ResourceList {
	return v1.ResourceList{
		v1.ResourceCPU:    *resource.NewMilliQuantity(cpu, resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
	}
}

func nodeName(i int) string { return fmt.Sprintf("node-%05d", i) }

// zoneOf is the zone of the node.
func zoneOf(node string) string {
	var i int
	if _, err := fmt.Sscanf(node, "node-%d", &i); err != nil {
		panic(fmt.Sprintf("sidebyside: %v", err))
	}
	return fmt.Sprintf("zone-%d", i%zones)
}

// node makes the i-th node. They are all of one size, in three zones; every
// tenth has another architecture, every second an SSD, some have taints. Where
// the row is about racks, there are a hundred in each.
func (r Row) node(i int) *v1.Node {
	name := nodeName(i)
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		v1.LabelHostname: name, v1.LabelTopologyZone: zoneOf(name), archLabel: "amd64",
	}}}
	if i%10 == 3 {
		n.Labels[archLabel] = "arm64"
	}
	if i%2 == 0 {
		n.Labels[diskLabel] = "ssd"
	}
	if r.topology == rackLabel {
		n.Labels[rackLabel] = fmt.Sprintf("rack-%d", i/nodesARack)
	}
	switch i % 10 {
	case 5:
		n.Spec.Taints = []v1.Taint{{Key: dedicated, Effect: v1.TaintEffectNoSchedule}}
	case 6, 7:
		n.Spec.Taints = []v1.Taint{{Key: "old", Effect: v1.TaintEffectPreferNoSchedule}}
	}
	n.Status.Allocatable = amounts(nodeCPU, nodeMemory)
	n.Status.Allocatable[v1.ResourcePods] = *resource.NewQuantity(110, resource.DecimalSI)
	return n
}

func plain(name string) *v1.Pod {
	priority := int32(0)
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name), Labels: map[string]string{"app": "plain"}},
		Spec: v1.PodSpec{
			SchedulerName: reference.ProfileName, Priority: &priority,
			Containers: []v1.Container{{Name: "main", Image: "app:1", Resources: v1.ResourceRequirements{Requests: amounts(100, 500<<20)}}},
		},
	}
}

// pod makes the i-th pod to decide on.
func (r Row) pod(i int) *v1.Pod {
	p := plain(fmt.Sprintf("new-%d", i))
	if r.Members > 0 {
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: new(r.group(i / r.Members).Name)}
	}
	r.shape(p, false)
	return p
}

// already makes the k-th pod that is on the i-th node at first. Start times are
// all different: they decide who is displaced where all else is equal.
func (r Row) already(i, k int) *v1.Pod {
	name := nodeName(i)
	p := plain(fmt.Sprintf("%s-%d", name, k))
	if k == 0 || r.Full {
		r.shape(p, true)
	}
	p.Spec.NodeName = name
	started := epoch.Add(-time.Duration((i*7919)%100_003*10+k) * time.Second)
	p.Status.StartTime = &metav1.Time{Time: started}
	return p
}

// needs makes what the pod of the row needs besides nodes.
func (r Row) needs(p *v1.Pod) []runtime.Object {
	if r.objects == nil {
		return nil
	}
	return r.objects(p)
}

// common makes what all pods of the row use.
func (r Row) common() []runtime.Object {
	if r.shared == nil {
		return nil
	}
	return r.shared()
}

// gone makes what there was of the pods from the one number to the other, and of
// their groups.
func (r Row) gone(from, to int) []runtime.Object {
	var list []runtime.Object
	for i := from; i < to; i++ {
		list = append(list, r.needs(r.pod(i))...)
		if r.Members > 0 && i%r.Members == 0 {
			list = append(list, r.group(i/r.Members))
		}
	}
	return list
}
