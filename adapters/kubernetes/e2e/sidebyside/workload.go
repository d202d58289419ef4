package sidebyside

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// Workload is what schedulers are measured with: a row of the table of shapes. What
// is measured of it, and how, is the same for all.
type Workload struct {
	Name string // unique; what Find takes
	// Upstream is the workload of scheduler_perf that has this shape, as
	// folder/case, and its counts. It is empty if there is none.
	Upstream       string
	UpstreamCounts Counts // what Counts scales for other numbers of nodes

	// full is with how many nodes asked for the counts are upstream's. Others are in
	// proportion. The default is upstream's number of nodes.
	full int
	// multiple is what the number of measured pods is a multiple of: they come in
	// groups of so many.
	multiple int
	// counts says how many there are, where that is not in proportion.
	counts func(nodes int) Counts

	groups      bool     // needs pod groups, which are off by default
	config      string   // of the scheduler, as in [controlplane.SchedulerOptions]
	controllers []string // that run beside the scheduler

	node    func(i int) *corev1.Node        // the default is [node]
	objects func(n Counts) []runtime.Object // that are neither nodes nor pods
	// owned is what is created before the pod, because the pod needs it. i is the
	// pod's number among its like.
	owned func(p *corev1.Pod, i int) []runtime.Object

	placed   []maker // kinds of pods on nodes already, in equal shares
	waiting  maker   // pods that wait beside the measured ones
	measured maker
	beside   beside // what else goes on meanwhile; the default is nothing
}

// Counts is how many there are of each.
type Counts struct {
	Nodes int // created before the scheduler starts
	// Placed is pods that are on nodes before the scheduler starts, or claims that
	// have devices then. Waiting is pods that are not measured and have no node.
	// Measured is the pods that are to be bound.
	Placed, Waiting, Measured int
}

// maker finishes the i-th pod of its kind.
type maker func(p *st.PodWrapper, i int) *st.PodWrapper

// most is how many pods are measured at most: enough to see a rate, few enough for a
// small machine.
const most = 5000

// Counts is how many of each there are if so many nodes are asked for.
func (w Workload) Counts(nodes int) Counts {
	if w.counts != nil {
		return w.counts(nodes)
	}
	full, up := cmp.Or(w.full, w.UpstreamCounts.Nodes), w.UpstreamCounts
	part := func(n int) int {
		if n == 0 {
			return 0
		}
		return max(1, n*nodes/full)
	}
	measured, multiple := min(part(up.Measured), most), max(1, w.multiple)
	return Counts{
		Nodes: part(up.Nodes), Placed: part(up.Placed), Waiting: part(up.Waiting),
		Measured: max(1, measured/multiple) * multiple,
	}
}

// Find is the workloads of the names.
func Find(names []string) ([]Workload, error) {
	var found []Workload
	all := Workloads()
	for _, name := range names {
		i := slices.IndexFunc(all, func(w Workload) bool { return w.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no workload %q", name)
		}
		found = append(found, all[i])
	}
	return found, nil
}

// plane says what the control plane of the workload is.
func (w Workload) plane() controlplane.Options {
	if !w.groups {
		return controlplane.Options{}
	}
	return controlplane.Options{FeatureGates: groupGates, RuntimeConfig: []string{"scheduling.k8s.io/v1beta1=true"}}
}

// scheduler says how a scheduler runs with the workload.
func (w Workload) scheduler(kind controlplane.SchedulerKind, kubeconfig string) controlplane.SchedulerOptions {
	o := controlplane.SchedulerOptions{Kind: kind, Kubeconfig: kubeconfig, Config: w.config}
	if w.groups {
		o.FeatureGates = groupGates
	}
	return o
}

// groupGates are those that pod groups need, in the API server and the scheduler.
var groupGates = map[string]bool{
	"GenericWorkload":                 true,
	"TopologyAwareWorkloadScheduling": true,
	"DRAWorkloadResourceClaims":       true,
}
