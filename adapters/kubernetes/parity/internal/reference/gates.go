package reference

import (
	"slices"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

// Gates are feature gates about groups that are on. All others are off; whatever is
// not about groups has kube-scheduler's defaults, but for batching, which goes by
// the real time.
type Gates []string

// The gates that there are about groups, and those with which kube-scheduler's own
// benchmarks of gangs run (scheduler_perf/podgroup).
var (
	Groups = Gates{"GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup", "PodGroupPreemptionPolicy", "DRAWorkloadResourceClaims"}
	Gangs  = Gates{"GenericWorkload", "TopologyAwareWorkloadScheduling"}
)

// set sets the gates of the process. kube-scheduler reads some of them when it is
// made and some whenever it wants to know.
func (g Gates) set() error {
	klog.LogToStderr(false)
	gates := map[string]bool{"OpportunisticBatching": false}
	for _, name := range Groups {
		gates[name] = slices.Contains(g, name)
	}
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(gates)
}
