package generate

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// GroupTree is a group, or several below each other, and the pods in them.
type GroupTree struct {
	// Groups are the groups, parents first.
	Groups []runtime.Object
	// Leaves are the names of those that have pods, with how many there are to be.
	Leaves []Leaf
	// Claims are the device claims that are made for groups of the tree.
	Claims []runtime.Object

	shared    map[string]*schedulingv1beta1.PodGroupResourceClaim // claims of leaves, by name
	namespace string
	priority  int32
	policy    *v1.PreemptionPolicy
	// What some members do not have as all must.
	odd oddity
}

// oddity is what some members have otherwise than the others.
type oddity int

const (
	none oddity = iota
	oddPriority
	oddPolicy
)

// Leaf is a group of pods.
type Leaf struct {
	Name    string // of the PodGroup
	Members int    // pods that it is to have; the MinCount of a gang is no more
}

// topologies of groups: labels that few nodes are without.
var groupTopologies = []string{v1.LabelTopologyZone, v1.LabelTopologyZone, "rack", v1.LabelHostname, v1.LabelTopologyRegion}

// TieScore tells placements apart by their name, which is the value of a label:
// the higher goes first among equally good ones.
func TieScore(name string) int64 {
	var number int64
	if _, err := fmt.Sscanf(name, "n%d", &number); err == nil {
		return min(30+number, 100)
	}
	if _, err := fmt.Sscanf(name, "z%d", &number); err == nil {
		return min(10+number, 29)
	}
	for i, value := range []string{"", "a", "b", "c", "r1", "r2", "shared"} {
		if value == name {
			return int64(i)
		}
	}
	return 9
}

// GroupTree draws a group with the name, at most so many levels deep.
func (s *Source) GroupTree(name string, now time.Time) *GroupTree {
	t := &GroupTree{shared: map[string]*schedulingv1beta1.PodGroupResourceClaim{}, namespace: Namespaces[0], priority: Pick(s, int32(0), 0, 1, 5, 10, 100)}
	if s.Percent(35) {
		t.policy = new(Pick(s, v1.PreemptLowerPriority, v1.PreemptNever))
	}
	depth := Pick(s, 1, 1, 1, 2, 2, 3, 4)
	s.group(t, name, nil, depth, now)
	switch n := s.IntN(100); {
	case n < 5:
		t.odd = oddPriority
	case n < 12 && len(t.Leaves) == 1:
		// Which member of several leaves comes first is for a map to say, and with
		// it which policy is the odd one.
		t.odd = oddPolicy
	}
	return t
}

// group adds a group that is so many levels deep.
func (s *Source) group(t *GroupTree, name string, parent *string, depth int, now time.Time) {
	// Whole seconds, as an API server keeps them: whatever has been written and
	// read again has no finer ones.
	created := now.Add(-time.Duration(s.IntN(2)) * time.Second).Truncate(time.Second)
	meta := metav1.ObjectMeta{Namespace: t.namespace, Name: name, UID: types.UID("group-" + name), CreationTimestamp: metav1.Time{Time: created}}
	if depth == 1 {
		t.Groups = append(t.Groups, s.podGroup(t, meta, parent))
		return
	}
	c := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: meta}
	c.Spec.ParentCompositePodGroupName, c.Spec.Priority = parent, &t.priority
	if t.policy != nil {
		c.Spec.PreemptionPolicy = new(schedulingv1alpha3.PreemptionPolicy(*t.policy))
	}
	children := 1 + s.IntN(3)
	if s.Percent(70) {
		c.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: int32(1 + s.IntN(children))}
	} else {
		c.Spec.SchedulingPolicy.Basic = &schedulingv1alpha3.CompositeBasicSchedulingPolicy{}
	}
	if s.Percent(30) {
		c.Spec.SchedulingConstraints = &schedulingv1alpha3.CompositePodGroupSchedulingConstraints{
			Topology: []schedulingv1alpha3.TopologyConstraint{{Key: Pick(s, groupTopologies...)}}}
	}
	switch s.IntN(4) {
	case 0:
		c.Spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{All: &schedulingv1alpha3.AllCompositeDisruptionMode{}}
	case 1:
		c.Spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{Single: &schedulingv1alpha3.SingleCompositeDisruptionMode{}}
	}
	t.Groups = append(t.Groups, c)
	for i := range children {
		below := 1
		if i == 0 || s.Percent(20) {
			below = depth - 1
		}
		s.group(t, fmt.Sprintf("%s-%d", name, i), &name, below, now)
	}
}

func (s *Source) podGroup(t *GroupTree, meta metav1.ObjectMeta, parent *string) *schedulingv1beta1.PodGroup {
	g := &schedulingv1beta1.PodGroup{ObjectMeta: meta}
	g.Spec.ParentCompositePodGroupName, g.Spec.Priority = parent, &t.priority
	if t.policy != nil {
		g.Spec.PreemptionPolicy = new(schedulingv1beta1.PreemptionPolicy(*t.policy))
	}
	members := 1 + s.IntN(5)
	if s.Percent(75) {
		g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(1 + s.IntN(members))}
	} else {
		g.Spec.SchedulingPolicy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
	}
	if s.Percent(35) {
		g.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{
			Topology: []schedulingv1beta1.TopologyConstraint{{Key: Pick(s, groupTopologies...)}}}
	}
	switch s.IntN(4) {
	case 0:
		g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
	case 1:
		g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
	}
	s.sharedClaim(t, g)
	t.Leaves = append(t.Leaves, Leaf{meta.Name, members})
	return g
}

// sharedClaim draws a device claim that the members of the group share: one that
// there is, or one that is made of a template for the group.
func (s *Source) sharedClaim(t *GroupTree, g *schedulingv1beta1.PodGroup) {
	if !s.Devices || s.Percent(30) {
		return
	}
	c := schedulingv1beta1.PodGroupResourceClaim{Name: "shared"}
	if s.Percent(50) {
		c.ResourceClaimName = new(deviceClaimName(s.IntN(deviceClaimNames) / 2 * 2))
	} else {
		c.ResourceClaimTemplateName = new("template")
		made := s.deviceClaim(t.namespace, g.Name+"-shared")
		made.OwnerReferences = []metav1.OwnerReference{{APIVersion: schedulingv1beta1.SchemeGroupVersion.String(), Kind: "PodGroup", Name: g.Name, UID: g.UID, Controller: new(true)}}
		t.Claims = append(t.Claims, made)
		g.Status.ResourceClaimStatuses = []schedulingv1beta1.PodGroupResourceClaimStatus{{Name: c.Name, ResourceClaimName: &made.Name}}
	}
	g.Spec.ResourceClaims = []schedulingv1beta1.PodGroupResourceClaim{c}
	t.shared[g.Name] = &c
}

// DropClaims has no group share a claim.
func (t *GroupTree) DropClaims() {
	t.Claims = nil
	clear(t.shared)
	for _, g := range t.Groups {
		if g, ok := g.(*schedulingv1beta1.PodGroup); ok {
			g.Spec.ResourceClaims, g.Status.ResourceClaimStatuses = nil, nil
		}
	}
}

// DropTopologies has no group ask for a topology.
func (t *GroupTree) DropTopologies() {
	for _, g := range t.Groups {
		if g, ok := g.(*schedulingv1beta1.PodGroup); ok {
			g.Spec.SchedulingConstraints = nil
		}
	}
}

// shares gives a member the claim that its group shares, mostly, and no other.
func (s *Source) shares(p *v1.Pod, t *GroupTree, leaf string) {
	p.Spec.ResourceClaims, p.Status.ResourceClaimStatuses = nil, nil
	c := t.shared[leaf]
	if c == nil || s.Percent(15) {
		return
	}
	p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: c.Name, ResourceClaimName: c.ResourceClaimName, ResourceClaimTemplateName: c.ResourceClaimTemplateName}}
	if c.ResourceClaimTemplateName != nil {
		p.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: c.Name, ResourceClaimName: new(leaf + "-shared")}}
	}
}

// Member makes a drawn pod a member of a leaf of the tree. In a few trees some do not have
// the tree's priority or preemption policy, as they must.
func (s *Source) Member(p *v1.Pod, t *GroupTree, leaf string) {
	p.Namespace = t.namespace
	s.shares(p, t, leaf)
	p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &leaf}
	p.Spec.Priority, p.Spec.PreemptionPolicy = new(t.priority), t.policy
	switch {
	case t.odd == oddPriority && s.Percent(20):
		p.Spec.Priority = new(t.priority + 1)
	case t.odd == oddPolicy && s.Percent(20):
		p.Spec.PreemptionPolicy = new(v1.PreemptNever)
		if t.policy != nil && *t.policy == v1.PreemptNever {
			p.Spec.PreemptionPolicy = Pick(s, nil, new(v1.PreemptLowerPriority))
		}
	}
}

// ChangeGroup returns a changed copy of a pod group: another number that makes
// it a gang, which is all that an API server lets change.
func (s *Source) ChangeGroup(old *schedulingv1beta1.PodGroup) *schedulingv1beta1.PodGroup {
	g := old.DeepCopy()
	if g.Spec.SchedulingPolicy.Gang != nil {
		g.Spec.SchedulingPolicy.Gang.MinCount = int32(1 + s.IntN(5))
	}
	return g
}
