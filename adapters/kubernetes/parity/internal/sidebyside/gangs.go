package sidebyside

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/plugins"
)

// gang is the row of groups of so many plain pods, all of which are wanted; with
// a topology, on nodes that have the same value of the label
// (scheduler_perf/podgroup, GangScheduling and TopologyAwareScheduling).
func gang(members int, topology string) Row {
	r := Row{Name: fmt.Sprintf("gang of %d", members), Needs: []string{plugins.GangScheduling}, Members: members, topology: topology, shape: func(*v1.Pod, bool) {}}
	switch topology {
	case rackLabel:
		r.Name += " in one rack"
		if members >= 1000 { // each rack is tried, and kube-scheduler takes minutes over more
			r.mostNodes = 1000
		}
	case v1.LabelTopologyZone:
		r.Name += " in one zone"
	}
	if topology != "" {
		r.Needs = append(r.Needs, plugins.TopologyPlacementGenerator)
	}
	return r
}

// Pods is how many pods a decision is about.
func (r Row) Pods() int { return max(r.Members, 1) }

// gates are kube-scheduler's for the row.
func (r Row) gates() reference.Gates {
	if r.Members > 0 {
		return reference.Gangs
	}
	return nil
}

// group makes the i-th group.
func (r Row) group(i int) *schedulingv1beta1.PodGroup {
	name := fmt.Sprintf("gang-%d", i)
	g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	g.Spec.Priority = new(int32(0))
	g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(r.Members)}
	if r.topology != "" {
		g.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: r.topology}}}
	}
	return g
}

// lots takes the place of lots: of the names that there are no two are equal.
func lots(name string) int64 {
	var score int64
	for _, c := range name {
		score = (score*31 + int64(c)) % 101
	}
	return score
}
