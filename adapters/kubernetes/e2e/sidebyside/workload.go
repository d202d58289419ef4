package sidebyside

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// Workload is what a scheduler is measured with.
type Workload struct {
	Name string
	// Placed is how many pods are on nodes already, and Measured how many are to be
	// placed, on so many nodes.
	Placed, Measured func(nodes int) int
	// Stuck is how many pods wait that fit nowhere. The default is none.
	Stuck func(nodes int) int

	placed, measured func(p *st.PodWrapper, i int) *st.PodWrapper
}

// Workloads are all that there are, in the order in which they are listed.
func Workloads() []Workload {
	return []Workload{
		{Name: "basic", Measured: least(5000), measured: small},
		{Name: "zonespread", Measured: least(5000), measured: zoneSpread},
		{Name: "antiaffinity", Placed: share(5), placed: antiAffinity, Measured: share(2), measured: antiAffinity},
		{Name: "preemption", Placed: times(4), placed: victim, Measured: share(2), measured: preemptor},
		{Name: "affinity", Placed: least(1000), placed: affinity, Measured: least(1000), measured: affinity},
		{Name: "preferredaffinity", Placed: least(1000), placed: small, Measured: least(2000), measured: preferredAffinity},
		{Name: "preferredantiaffinity", Placed: least(1000), placed: small, Measured: least(2000), measured: preferredAntiAffinity},
		{Name: "nodeaffinity", Placed: least(1000), placed: small, Measured: least(5000), measured: nodeAffinity},
		{Name: "preferredspread", Placed: least(1000), placed: small, Measured: least(2000), measured: preferredSpread},
		{Name: "mixed", Placed: least(2000), placed: mixed, Measured: least(5000), measured: small},
		{Name: "unschedulable", Stuck: least(200), Measured: least(5000), measured: small},
		{Name: "hostports", Measured: share(2), measured: hostPort},
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

func least(n int) func(int) int { return func(nodes int) int { return min(n, 5*nodes) } }
func share(n int) func(int) int { return func(nodes int) int { return nodes / n } }
func times(n int) func(int) int { return func(nodes int) int { return nodes * n } }
func count(f func(int) int, nodes int) int {
	if f == nil {
		return 0
	}
	return f(nodes)
}

const zones = 3

// node is a node as scheduler_perf's, in one of three zones.
func node(i int) *corev1.Node {
	name := fmt.Sprintf("node-%05d", i)
	return st.MakeNode().Name(name).Label(cluster.Hostname, name).Label(cluster.Zone, fmt.Sprintf("zone-%d", i%zones)).
		Capacity(cluster.Resources{corev1.ResourceCPU: "4", corev1.ResourceMemory: "32Gi", corev1.ResourcePods: "110"}).Obj()
}

func small(p *st.PodWrapper, _ int) *st.PodWrapper {
	return p.Req(cluster.Resources{corev1.ResourceCPU: "100m", corev1.ResourceMemory: "500Mi"})
}

func labelled(p *st.PodWrapper, i int) *st.PodWrapper { return small(p, i).Label("color", "blue") }

func blue() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"color": "blue"}}
}

func zoneSpread(p *st.PodWrapper, i int) *st.PodWrapper {
	return labelled(p, i).SpreadConstraint(5, cluster.Zone, corev1.DoNotSchedule, blue(), nil, nil, nil, nil)
}

func preferredSpread(p *st.PodWrapper, i int) *st.PodWrapper {
	return labelled(p, i).SpreadConstraint(5, cluster.Zone, corev1.ScheduleAnyway, blue(), nil, nil, nil, nil)
}

func antiAffinity(p *st.PodWrapper, i int) *st.PodWrapper {
	return labelled(p, i).PodAntiAffinity(cluster.Hostname, blue(), st.PodAntiAffinityWithRequiredReq)
}

func preferredAntiAffinity(p *st.PodWrapper, i int) *st.PodWrapper {
	return labelled(p, i).PodAntiAffinity(cluster.Hostname, blue(), st.PodAntiAffinityWithPreferredReq)
}

func affinity(p *st.PodWrapper, i int) *st.PodWrapper {
	return labelled(p, i).PodAffinity(cluster.Zone, blue(), st.PodAffinityWithRequiredReq)
}

func preferredAffinity(p *st.PodWrapper, i int) *st.PodWrapper {
	return labelled(p, i).PodAffinity(cluster.Hostname, blue(), st.PodAffinityWithPreferredReq)
}

func nodeAffinity(p *st.PodWrapper, i int) *st.PodWrapper {
	return small(p, i).NodeAffinityIn(cluster.Zone, []string{"zone-0", "zone-1"}, st.NodeSelectorTypeMatchExpressions)
}

func mixed(p *st.PodWrapper, i int) *st.PodWrapper {
	return []func(*st.PodWrapper, int) *st.PodWrapper{small, affinity, preferredAffinity, preferredAntiAffinity}[i%4](p, i)
}

func hostPort(p *st.PodWrapper, i int) *st.PodWrapper { return small(p, i).HostPort(8080) }

func victim(p *st.PodWrapper, _ int) *st.PodWrapper {
	return p.Req(cluster.Resources{corev1.ResourceCPU: "900m", corev1.ResourceMemory: "500Mi"})
}

func preemptor(p *st.PodWrapper, _ int) *st.PodWrapper {
	return cluster.WithClass(p.Req(cluster.Resources{corev1.ResourceCPU: "3", corev1.ResourceMemory: "500Mi"}), highPriority)
}

// highPriority is the priority class of pods that displace others.
const highPriority = "high"

func stuck(p *st.PodWrapper) *st.PodWrapper {
	return p.Req(cluster.Resources{corev1.ResourceCPU: "9"})
}
