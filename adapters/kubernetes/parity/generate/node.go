package generate

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	imageNames = []string{"web", "web:latest", "web:1", "registry.example:5000/web", "registry.example:5000/web:latest", "db@sha256:0123",
		"registry.example/db:2", "batch:latest", "batch", "a/b/c", "library/redis:7"}
	taintKeys = []string{"dedicated", "gpu", v1.TaintNodeUnschedulable, "weight"}
	// features are what nodes declare. Pods may need the first two.
	features = []string{"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"}
)

// NodeName is the name of the i-th node.
func NodeName(i int) string { return fmt.Sprintf("n%d", i) }

// Node draws the i-th node.
func (s *Source) Node(i int) *v1.Node {
	name := NodeName(i)
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: s.nodeLabels(name)}}
	n.Spec.Taints = s.taints()
	n.Spec.Unschedulable = s.Percent(6)
	n.Status.Allocatable = s.allocatable()
	if s.Measured {
		n.Status.Capacity = s.capacity()
	}
	n.Status.Images = s.images()
	n.Status.DeclaredFeatures = s.declared()
	return n
}

func (s *Source) taints() []v1.Taint {
	number := s.IntN(4)
	if s.Tame {
		number = 0
		if s.Percent(12) {
			number = 1
		}
	}
	var taints []v1.Taint
	for range number {
		t := v1.Taint{Key: Pick(s, taintKeys...), Value: Pick(s, "", "a", "1"), Effect: Pick(s, v1.TaintEffectNoSchedule,
			v1.TaintEffectPreferNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute)}
		if s.Comparing && s.Percent(60) {
			t.Value = Pick(s, "0", "1", "2", "7", "9", "10", "-3", "-7", "+7", "07", "-0", "7.5", "9223372036854775807", "9223372036854775808")
		}
		if !slices.ContainsFunc(taints, func(o v1.Taint) bool { return o.MatchTaint(&t) }) {
			taints = append(taints, t)
		}
	}
	return taints
}

func (s *Source) images() []v1.ContainerImage {
	var images []v1.ContainerImage
	for range s.IntN(4) {
		i := v1.ContainerImage{SizeBytes: Pick(s, int64(0), 1, 23<<20, 24<<20, 100<<20, 333333333, 1000<<20, 5<<30, 40<<30)}
		for range s.IntN(4) {
			i.Names = append(i.Names, Pick(s, imageNames...))
		}
		images = append(images, i)
	}
	return images
}

// declared features are sorted, as kubelets declare them.
func (s *Source) declared() []string {
	if s.Percent(40) {
		return nil
	}
	declared := some(s, len(features), features...)
	slices.Sort(declared)
	return declared
}

// ChangeNode returns a changed copy of the node. The change may be none at all.
func (s *Source) ChangeNode(old *v1.Node) *v1.Node {
	n := old.DeepCopy()
	for range 1 + s.IntN(2) {
		switch s.IntN(8) {
		case 0:
			n.Labels = s.nodeLabels(n.Name)
		case 1:
			n.Spec.Taints = s.taints()
		case 2:
			n.Spec.Unschedulable = !n.Spec.Unschedulable
		case 3:
			n.Status.Allocatable = s.allocatable()
		case 4:
			n.Status.Images = s.images()
		case 5:
			s.changeOneAmount(n)
		case 6:
			n.Status.DeclaredFeatures = s.declared()
		case 7: // something that no plugin cares for
			n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: Pick(s, v1.ConditionTrue, v1.ConditionFalse)}}
		}
	}
	return n
}

// changeOneAmount changes what the node offers of one resource.
func (s *Source) changeOneAmount(n *v1.Node) {
	offered := s.allocatable()
	for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourcePods, v1.ResourceEphemeralStorage} {
		if q, ok := offered[name]; ok && s.Percent(50) {
			if n.Status.Allocatable == nil {
				n.Status.Allocatable = v1.ResourceList{}
			}
			n.Status.Allocatable[name] = q
			return
		}
	}
}
