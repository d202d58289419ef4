package reference

import (
	"slices"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

// Comparisons is the feature gate of tolerations that compare numbers.
const Comparisons = "TaintTolerationComparisonOperators"

// Gates are feature gates that are on: [Comparisons], and those about groups. Others
// of these are off, and the rest has kube-scheduler's defaults, but for batching, which
// goes by the real time.
type Gates []string

// The gates that there are about groups, and those with which kube-scheduler's own
// benchmarks of gangs run (scheduler_perf/podgroup).
var (
	Groups = Gates{"GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup", GroupPolicy, "DRAWorkloadResourceClaims"}
	Gangs  = Gates{"GenericWorkload", "TopologyAwareWorkloadScheduling"}
)

// GroupPolicy is the gate by which groups have a preemption policy of their own. It is
// off by default.
const GroupPolicy = "PodGroupPreemptionPolicy"

// Without are the gates but for one.
func (g Gates) Without(gate string) Gates {
	return slices.DeleteFunc(slices.Clone(g), func(name string) bool { return name == gate })
}

// set sets the gates of the process. kube-scheduler reads some of them when it is
// made and some whenever it wants to know.
func (g Gates) set() error {
	klog.LogToStderr(false)
	gates := map[string]bool{"OpportunisticBatching": false, Comparisons: slices.Contains(g, Comparisons)}
	for _, name := range Groups {
		gates[name] = slices.Contains(g, name)
	}
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(gates)
}
