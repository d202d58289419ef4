package sidebyside

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
}

// Suits reports whether the row can be measured on the cluster: a full one has
// ten pods a node.
func (c Cluster) Suits(r Row) bool { return !r.Full || c.PodsPerNode == 10 }

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
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func amounts(cpu, memory int64) v1.ResourceList {
	return v1.ResourceList{
		v1.ResourceCPU:    *resource.NewMilliQuantity(cpu, resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
	}
}

func nodeName(i int) string { return fmt.Sprintf("node-%05d", i) }

// node makes the i-th node. They are all of one size, in three zones; every
// tenth has another architecture, every second an SSD, some have taints.
func node(i int) *v1.Node {
	name := nodeName(i)
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		v1.LabelHostname: name, v1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3), archLabel: "amd64",
	}}}
	if i%10 == 3 {
		n.Labels[archLabel] = "arm64"
	}
	if i%2 == 0 {
		n.Labels[diskLabel] = "ssd"
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
