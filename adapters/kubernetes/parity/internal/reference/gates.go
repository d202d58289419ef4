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
	Groups = Gates{"GenericWorkload", Placements, Composite, GroupPolicy, GroupClaims}
	Gangs  = Gates{"GenericWorkload", Placements}
)

// The gates that decide what there is in a cluster, and in its profiles.
const (
	Placements  = "TopologyAwareWorkloadScheduling"
	Composite   = "CompositePodGroup"
	GroupClaims = "DRAWorkloadResourceClaims"
)

// Combinations are the combinations of the gates about groups that a cluster can have: each needs
// GenericWorkload, and composite groups need placements (pkg/features/kube_features.go, 1.37.1).
func Combinations() (all []Gates) {
	for _, tree := range []Gates{{}, {Placements}, {Placements, Composite}} {
		for _, policy := range []Gates{{}, {GroupPolicy}} {
			for _, claims := range []Gates{{}, {GroupClaims}} {
				all = append(all, slices.Concat(Gates{"GenericWorkload"}, tree, policy, claims))
			}
		}
	}
	return all
}

// Has reports whether the gate is on.
func (g Gates) Has(gate string) bool { return slices.Contains(g, gate) }

// GroupPolicy is the gate by which groups have a preemption policy of their own. It is
// off by default.
const GroupPolicy = "PodGroupPreemptionPolicy"

// set sets the gates of the process. kube-scheduler reads some of them when it is
// made and some whenever it wants to know.
func (g Gates) set() error {
	klog.LogToStderr(false)
	gates := map[string]bool{"OpportunisticBatching": false, Comparisons: g.Has(Comparisons)}
	for _, name := range Groups {
		gates[name] = g.Has(name)
	}
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(gates)
}
