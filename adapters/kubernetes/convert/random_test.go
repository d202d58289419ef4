package convert

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var (
	seedFlag = flag.Uint64("seed", 1, "seed of the random tests")
	soakFlag = flag.Bool("soak", false, "draw the seed of the random tests")
)

// generator makes random objects. They are such as the API server lets in,
// except that wild ones have something in every fifth place that it refuses.
type generator struct {
	*rand.Rand
	wild bool
}

func newGenerator(t *testing.T, wild bool) *generator {
	t.Helper()
	seed := *seedFlag
	if *soakFlag {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	return &generator{Rand: rand.New(rand.NewPCG(seed, 0)), wild: wild}
}

// p is true so many times in a hundred.
func (g *generator) p(percent int) bool { return g.IntN(100) < percent }

// oneOf draws one; bad ones only where the object may be wild.
func oneOf[T any](g *generator, good []T, bad ...T) T {
	if g.wild && len(bad) > 0 && g.p(20) {
		return bad[g.IntN(len(bad))]
	}
	return good[g.IntN(len(good))]
}

// some draws a list of at most so many.
func some[T any](g *generator, most int, draw func() T) []T {
	var list []T
	for range g.IntN(most + 1) {
		list = append(list, draw())
	}
	return list
}

// maybe is nil now and then.
func maybe[T any](g *generator, draw func() T) *T {
	if g.p(50) {
		return nil
	}
	v := draw()
	return &v
}

var (
	keys       = []string{"app", "tier", "example.com/rack", "weight", v1.LabelTopologyZone, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaZone}
	values     = []string{"", "a", "b", "0", "1", "2", "01"}
	badValues  = []string{"-7", "no value", "\xff"}
	oddValues  = append([]string{"-1", "9223372036854775808", "no value"}, values...) // let in where nodes are required
	quantities = []string{"0", "1", "3", "100m", "1500m", "0.0001", "3333u", "1k", "1Ki", "128Mi", "200Mi", "1.5Gi", "64Gi"}
	badAmounts = []string{"-1", "-1m", "8Ei", "9223372036854775807", "9223372036854775808", "100Ei", "9223372036854776"}
	counted    = []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage, "example.com/gpu", "hugepages-2Mi", "attachable-volumes-aws-ebs", "x.kubernetes.io/thing"}
	uncounted  = []v1.ResourceName{v1.ResourceStorage, v1.ResourcePods, "unknown", "requests.io/odd", "bad name/x", ""}
	imageNames = []string{"web", "web:1", "registry.example:5000/web", "db@sha256:0123"}
	nodeNames  = []string{"n1", "n2", "n3"}
)

func (g *generator) labels() map[string]string {
	if g.p(20) {
		return nil
	}
	l := map[string]string{}
	for range g.IntN(5) {
		l[oneOf(g, keys, "", "\xff")] = oneOf(g, values, badValues...)
	}
	return l
}

func (g *generator) resources() v1.ResourceList {
	l := v1.ResourceList{}
	for range g.IntN(4) {
		name := oneOf(g, counted)
		if g.p(10) {
			name = oneOf(g, uncounted[:2], uncounted[2:]...)
		}
		l[name] = resource.MustParse(oneOf(g, quantities, badAmounts...))
	}
	return l
}

func (g *generator) labelSelector() *metav1.LabelSelector {
	if g.p(10) {
		return nil
	}
	s := &metav1.LabelSelector{}
	if g.p(50) {
		s.MatchLabels = g.labels()
	}
	for range g.IntN(3) {
		e := metav1.LabelSelectorRequirement{
			Key:      oneOf(g, keys, "", "no key!"),
			Operator: oneOf(g, []metav1.LabelSelectorOperator{metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist}, "", "Gt", "in"),
		}
		if in := e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn; in != (g.wild && g.p(10)) {
			e.Values = []string{oneOf(g, values, badValues...), "a"}
		}
		s.MatchExpressions = append(s.MatchExpressions, e)
	}
	return s
}

func (g *generator) nodeTerm(values, numbers []string) v1.NodeSelectorTerm {
	var t v1.NodeSelectorTerm
	for range g.IntN(3) {
		e := v1.NodeSelectorRequirement{
			Key:      oneOf(g, keys, "", "no key!"),
			Operator: oneOf(g, []v1.NodeSelectorOperator{v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists, v1.NodeSelectorOpDoesNotExist, v1.NodeSelectorOpGt, v1.NodeSelectorOpLt}, "", "Near"),
		}
		switch e.Operator {
		case v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn:
			e.Values = some(g, 2, func() string { return oneOf(g, values, badValues...) })
			if len(e.Values) == 0 && !g.wild {
				e.Values = []string{"a"}
			}
		case v1.NodeSelectorOpGt, v1.NodeSelectorOpLt:
			e.Values = []string{oneOf(g, numbers, badValues...)}
		}
		t.MatchExpressions = append(t.MatchExpressions, e)
	}
	if g.p(20) {
		t.MatchFields = append(t.MatchFields, v1.NodeSelectorRequirement{
			Key:      oneOf(g, []string{metav1.ObjectNameField}, "", "metadata.uid"),
			Operator: oneOf(g, []v1.NodeSelectorOperator{v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn}, v1.NodeSelectorOpExists),
			Values:   oneOf(g, [][]string{{"n1"}, {"n2"}, {""}}, nil, []string{"n1", "n2"}),
		})
	}
	return t
}

func (g *generator) affinityTerm() v1.PodAffinityTerm {
	return v1.PodAffinityTerm{
		LabelSelector:     g.labelSelector(),
		Namespaces:        some(g, 2, func() string { return oneOf(g, []string{"default", "web"}, "") }),
		NamespaceSelector: g.labelSelector(),
		TopologyKey:       oneOf(g, keys, "", "\xff"),
	}
}

func (g *generator) weight() int32 { return oneOf(g, []int32{1, 50, 100}, 0, -1, 101) }

func (g *generator) affinity() *v1.Affinity {
	a := &v1.Affinity{}
	required := func() []v1.PodAffinityTerm { return some(g, 2, g.affinityTerm) }
	preferred := func() []v1.WeightedPodAffinityTerm {
		return some(g, 2, func() v1.WeightedPodAffinityTerm {
			return v1.WeightedPodAffinityTerm{Weight: g.weight(), PodAffinityTerm: g.affinityTerm()}
		})
	}
	if g.p(40) {
		a.PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required(), PreferredDuringSchedulingIgnoredDuringExecution: preferred()}
	}
	if g.p(40) {
		a.PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required(), PreferredDuringSchedulingIgnoredDuringExecution: preferred()}
	}
	if g.p(60) {
		a.NodeAffinity = &v1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: some(g, 2, func() v1.PreferredSchedulingTerm {
			return v1.PreferredSchedulingTerm{Weight: g.weight(), Preference: g.nodeTerm(values, values[3:])}
		})}
		if terms := some(g, 3, func() v1.NodeSelectorTerm { return g.nodeTerm(oddValues, oddValues) }); len(terms) > 0 || g.wild {
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &v1.NodeSelector{NodeSelectorTerms: terms}
		}
	}
	return a
}

func (g *generator) container(name string) v1.Container {
	c := v1.Container{Name: name, Image: oneOf(g, imageNames, "")}
	if g.p(80) {
		c.Resources.Requests = g.resources()
	}
	c.Ports = some(g, 2, func() v1.ContainerPort {
		return v1.ContainerPort{
			HostPort: oneOf(g, []int32{0, 80, 443}, -1, 65536),
			HostIP:   oneOf(g, []string{"", "", "0.0.0.0", "10.0.0.1", "::"}),
			Protocol: oneOf(g, []v1.Protocol{"", v1.ProtocolTCP, v1.ProtocolUDP, v1.ProtocolSCTP}, "tcp"),
		}
	})
	if g.p(5) {
		c.VolumeMounts = []v1.VolumeMount{{BindMountOptions: []string{"noexec"}}}
	}
	if g.p(5) {
		c.RestartPolicyRules = []v1.ContainerRestartRule{{Action: oneOf(g, []v1.ContainerRestartRuleAction{v1.ContainerRestartRuleActionRestart, v1.ContainerRestartRuleActionRestartAllContainers})}}
	}
	return c
}

func (g *generator) status(name string) v1.ContainerStatus {
	s := v1.ContainerStatus{Name: name}
	if g.p(60) {
		s.AllocatedResources = g.resources()
	}
	if g.p(60) {
		s.Resources = &v1.ResourceRequirements{}
		if g.p(80) {
			s.Resources.Requests = g.resources()
		}
	}
	return s
}

func (g *generator) spread() []v1.TopologySpreadConstraint {
	var list []v1.TopologySpreadConstraint
	for i := range g.IntN(3) {
		policies := []v1.NodeInclusionPolicy{v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore}
		c := v1.TopologySpreadConstraint{
			MaxSkew:            oneOf(g, []int32{1, 5}, 0),
			TopologyKey:        oneOf(g, []string{keys[i]}, "", keys[0]),
			WhenUnsatisfiable:  oneOf(g, []v1.UnsatisfiableConstraintAction{v1.DoNotSchedule, v1.ScheduleAnyway}, "", "Sometimes"),
			LabelSelector:      g.labelSelector(),
			NodeAffinityPolicy: maybe(g, func() v1.NodeInclusionPolicy { return oneOf(g, policies, "") }),
			NodeTaintsPolicy:   maybe(g, func() v1.NodeInclusionPolicy { return oneOf(g, policies, "honor") }),
			MatchLabelKeys:     some(g, 2, func() string { return oneOf(g, keys, "") }),
		}
		if c.WhenUnsatisfiable == v1.DoNotSchedule || g.wild {
			c.MinDomains = maybe(g, func() int32 { return oneOf(g, []int32{1, 3}, 0, -1) })
		}
		list = append(list, c)
	}
	return list
}

func (g *generator) toleration() v1.Toleration {
	effects := []v1.TaintEffect{"", v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute}
	t := v1.Toleration{Key: oneOf(g, keys, ""), Effect: oneOf(g, effects, "Sometimes")}
	t.Operator = oneOf(g, []v1.TolerationOperator{"", v1.TolerationOpEqual, v1.TolerationOpExists, v1.TolerationOpGt, v1.TolerationOpLt}, "Near")
	if t.Operator != v1.TolerationOpExists || g.wild {
		t.Value = oneOf(g, values)
	} else if g.p(20) {
		t.Key = ""
	}
	return t
}

func (g *generator) pod(i int) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: oneOf(g, []string{"default", "web"}, "", "\xff"), Name: fmt.Sprintf("p%d", i), UID: types.UID(fmt.Sprintf("uid-%d", i)), Labels: g.labels()}}
	p.CreationTimestamp = metav1.NewTime(time.Unix(int64(i), 0))
	if g.p(10) {
		p.UID = ""
	}
	p.Spec.SchedulerName = oneOf(g, []string{"default-scheduler", "other"}, "")
	p.Spec.Priority = maybe(g, func() int32 { return oneOf(g, []int32{0, 1, -1, 2000001000}) })
	p.Spec.PreemptionPolicy = maybe(g, func() v1.PreemptionPolicy {
		return oneOf(g, []v1.PreemptionPolicy{v1.PreemptLowerPriority, v1.PreemptNever}, "", "Always")
	})
	for c := range 1 + g.IntN(3) {
		p.Spec.Containers = append(p.Spec.Containers, g.container(fmt.Sprintf("c%d", c)))
	}
	for c := range g.IntN(3) {
		container := g.container(fmt.Sprintf("i%d", c))
		container.RestartPolicy = maybe(g, func() v1.ContainerRestartPolicy { return v1.ContainerRestartPolicyAlways })
		p.Spec.InitContainers = append(p.Spec.InitContainers, container)
	}
	if g.p(20) {
		p.Spec.Volumes = []v1.Volume{{VolumeSource: v1.VolumeSource{Image: &v1.ImageVolumeSource{Reference: oneOf(g, imageNames, "")}}}}
	}
	if g.p(30) {
		p.Spec.Volumes = append(p.Spec.Volumes, g.podVolumes()...)
	}
	if g.p(20) {
		p.Spec.Overhead = g.resources()
	}
	if g.p(20) {
		p.Spec.Resources = &v1.ResourceRequirements{Requests: g.resources(), Limits: g.resources()}
	}
	if g.p(10) {
		p.Spec.HostNetwork = true
		p.Spec.HostUsers = maybe(g, func() bool { return g.p(50) })
	}
	if g.p(30) {
		p.Spec.NodeSelector = g.labels()
	}
	if g.p(50) {
		p.Spec.Affinity = g.affinity()
	}
	p.Spec.TopologySpreadConstraints = g.spread()
	p.Spec.Tolerations = some(g, 3, g.toleration)
	if !g.wild {
		for i := range p.Spec.Tolerations {
			if t := &p.Spec.Tolerations[i]; t.Key == "" {
				t.Operator = v1.TolerationOpExists
			}
		}
	}
	p.Spec.SchedulingGates = some(g, 2, func() v1.PodSchedulingGate {
		return v1.PodSchedulingGate{Name: oneOf(g, []string{"example.com/a", "example.com/b"}, "", "\xff")}
	})
	if g.p(50) {
		g.place(p)
	}
	return p
}

// place puts the pod on a node, where its containers may be in the middle of
// being resized.
func (g *generator) place(p *v1.Pod) {
	p.Spec.NodeName = oneOf(g, nodeNames)
	start := metav1.NewTime(time.Unix(1000, 0))
	p.Status.StartTime = maybe(g, func() metav1.Time { return start })
	p.Status.Phase = oneOf(g, []v1.PodPhase{v1.PodPending, v1.PodRunning, v1.PodSucceeded, v1.PodFailed, v1.PodUnknown})
	if g.p(20) {
		p.DeletionTimestamp = &start
	}
	if g.p(50) {
		for _, c := range p.Spec.Containers {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, g.status(c.Name))
		}
		for _, c := range p.Spec.InitContainers {
			p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, g.status(c.Name))
		}
	}
	if g.p(20) {
		p.Status.AllocatedResources = g.resources()
	}
	if g.p(20) {
		p.Status.Resources = &v1.ResourceRequirements{Requests: g.resources()}
	}
	p.Status.Conditions = some(g, 2, func() v1.PodCondition {
		return v1.PodCondition{
			Type:   oneOf(g, []v1.PodConditionType{v1.PodResizePending, v1.DisruptionTarget, v1.PodReady}),
			Status: oneOf(g, []v1.ConditionStatus{v1.ConditionTrue, v1.ConditionFalse}),
			Reason: oneOf(g, []string{v1.PodReasonInfeasible, v1.PodReasonDeferred, v1.PodReasonPreemptionByScheduler, "Other"}),
		}
	})
}

func (g *generator) node(i int) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: oneOf(g, []string{fmt.Sprintf("n%d", i)}, "", "\xff"), Labels: g.labels()}}
	n.Spec.Unschedulable = g.p(20)
	effects := []v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute}
	for i := range g.IntN(3) {
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: oneOf(g, []string{keys[i]}, "", keys[0], "\xff"), Value: oneOf(g, values), Effect: oneOf(g, effects, "", "Sometimes")})
	}
	n.Status.Allocatable = g.resources()
	if g.p(80) {
		n.Status.Allocatable[v1.ResourcePods] = resource.MustParse(oneOf(g, []string{"0", "1", "110"}, badAmounts...))
	}
	n.Status.Images = some(g, 3, func() v1.ContainerImage {
		return v1.ContainerImage{Names: some(g, 2, func() string { return oneOf(g, imageNames, "") }), SizeBytes: oneOf(g, []int64{0, 1 << 30}, -1)}
	})
	n.Status.DeclaredFeatures = oneOf(g, [][]string{nil, {"RestartAllContainersOnContainerExits", "VolumeBindMountOptions"}}, []string{""})
	return n
}

// owners are a few objects of the kinds that own pods, and a pod that one of
// them may own.
func (g *generator) owners() (*v1.Pod, Owners) {
	var o Owners
	meta := func() metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: oneOf(g, []string{"default", "web"}), Name: oneOf(g, []string{"x", "y"})}
	}
	plain := func() map[string]string {
		if g.p(20) {
			return nil
		}
		return oneOf(g, []map[string]string{{}, {"app": "a"}, {"tier": "b"}, {"app": "a", "tier": "b"}})
	}
	for range g.IntN(4) {
		o.Services = append(o.Services, &v1.Service{ObjectMeta: meta(), Spec: v1.ServiceSpec{Selector: plain()}})
		o.ReplicationControllers = append(o.ReplicationControllers, &v1.ReplicationController{ObjectMeta: meta(), Spec: v1.ReplicationControllerSpec{Selector: plain()}})
		o.ReplicaSets = append(o.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: meta(), Spec: appsv1.ReplicaSetSpec{Selector: g.labelSelector()}})
		o.StatefulSets = append(o.StatefulSets, &appsv1.StatefulSet{ObjectMeta: meta(), Spec: appsv1.StatefulSetSpec{Selector: g.labelSelector()}})
	}
	p := &v1.Pod{ObjectMeta: meta()}
	p.Labels = map[string]string{"app": oneOf(g, []string{"a", "b"}), "tier": oneOf(g, []string{"a", "b"})}
	controller := g.p(80)
	if g.p(80) {
		p.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: oneOf(g, []string{"v1", "apps/v1", "apps/v1", "apps/v1beta1", "a/b/c", ""}),
			Kind:       oneOf(g, []string{"ReplicationController", "ReplicaSet", "StatefulSet", "Job"}),
			Name:       oneOf(g, []string{"x", "y", "z"}),
			Controller: &controller,
		}}
	}
	return p, o
}
