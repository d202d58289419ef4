package sidebyside

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// asking is a maker of pods that ask for so much and nothing else.
func asking(cpu, memory string) maker {
	return func(p *st.PodWrapper, _ int) *st.PodWrapper {
		return p.Req(cluster.Resources{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory})
	}
}

var (
	small     = asking("100m", "500Mi") // as scheduler_perf's pods are unless it says otherwise
	tiny      = asking("10m", "10Mi")
	large     = asking("3", "1Gi")
	victim    = asking("900m", "500Mi") // four fill a node but for 400m
	threeCPUs = asking("3", "500Mi")
	wholeNode = asking("3970m", "500Mi")
	tooLarge  = asking("9", "500Mi") // for any node
)

// light asks for nothing.
func light(p *st.PodWrapper, _ int) *st.PodWrapper { return p }

// podLevel asks as a whole, not in its container.
func podLevel(p *st.PodWrapper, _ int) *st.PodWrapper {
	return p.PodLevelResourceRequests(cluster.Resources{corev1.ResourceCPU: "100m", corev1.ResourceMemory: "200Mi"})
}

func hostPort(p *st.PodWrapper, _ int) *st.PodWrapper {
	return p.Req(cluster.Resources{corev1.ResourceCPU: "100m", corev1.ResourceMemory: "100Mi"}).HostPort(80)
}

// extendedPod asks for what the node of its number alone has.
func extendedPod(p *st.PodWrapper, i int) *st.PodWrapper {
	amount := cluster.Resources{extended(i): "1"}
	return p.Containers([]corev1.Container{st.MakeContainer().Name("main").Image("example.com/image").Resources(amount).Obj()})
}

// onFirst is for the first node, as the pods of a daemon set are each for one.
func onFirst(p *st.PodWrapper, _ int) *st.PodWrapper {
	return p.NodeAffinityIn(metav1.ObjectNameField, []string{nodeName(0)}, st.NodeSelectorTypeMatchFields)
}

func gated(p *st.PodWrapper, _ int) *st.PodWrapper {
	return p.SchedulingGates([]string{"example.com/hold"})
}

// finalized stays when it is deleted.
func finalized(p *st.PodWrapper, _ int) *st.PodWrapper {
	p.Finalizers = []string{"example.com/finalizer"}
	return p
}

// served is a pod of the service.
func served(p *st.PodWrapper, _ int) *st.PodWrapper { return p.Label("app", "scheduler-perf") }

// withSecret has a volume that schedulers need not care about.
func withSecret(p *st.PodWrapper, i int) *st.PodWrapper {
	return small(p, i).Volume(corev1.Volume{
		Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "secret"}},
	})
}

// Priority classes, from the least important one.
const (
	middle  = "middle"
	high    = "high"
	highest = "highest"
)

// priorities are what they mean. Pods without a class have priority 0.
var priorities = map[string]int32{middle: 1000, high: 10000, highest: 1000000}

// important makes pods that displace others.
func important(of maker) maker {
	return func(p *st.PodWrapper, i int) *st.PodWrapper { return cluster.WithClass(of(p, i), highest) }
}

// colour is the selector of the pods of one colour. Those of another kind are of
// another colour, so that kinds do not meet.
func colour(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"color": name}}
}

func coloured(name string) maker {
	return func(p *st.PodWrapper, i int) *st.PodWrapper { return small(p, i).Label("color", name) }
}

func zoneSpread(p *st.PodWrapper, i int) *st.PodWrapper {
	return coloured("blue")(p, i).SpreadConstraint(5, cluster.Zone, corev1.DoNotSchedule, colour("blue"), nil, nil, nil, nil)
}

func preferredSpread(p *st.PodWrapper, i int) *st.PodWrapper {
	return coloured("blue")(p, i).SpreadConstraint(5, cluster.Zone, corev1.ScheduleAnyway, colour("blue"), nil, nil, nil, nil)
}

// hostSpread counts only the nodes whose taints it tolerates.
func hostSpread(p *st.PodWrapper, i int) *st.PodWrapper {
	honor := corev1.NodeInclusionPolicyHonor
	return coloured("blue")(p, i).SpreadConstraint(1, cluster.Hostname, corev1.DoNotSchedule, colour("blue"), nil, &honor, &honor, nil)
}

func nodeAffinity(p *st.PodWrapper, i int) *st.PodWrapper {
	return small(p, i).NodeAffinityIn(cluster.Zone, []string{zoneName(0), zoneName(1)}, st.NodeSelectorTypeMatchExpressions)
}

func affinity(p *st.PodWrapper, i int) *st.PodWrapper {
	return coloured("blue")(p, i).PodAffinity(cluster.Zone, colour("blue"), st.PodAffinityWithRequiredReq)
}

func antiAffinity(p *st.PodWrapper, i int) *st.PodWrapper {
	return coloured("green")(p, i).PodAntiAffinity(cluster.Hostname, colour("green"), st.PodAntiAffinityWithRequiredReq)
}

func preferredAffinity(p *st.PodWrapper, i int) *st.PodWrapper {
	return coloured("red")(p, i).PodAffinity(cluster.Hostname, colour("red"), st.PodAffinityWithPreferredReq)
}

func preferredAntiAffinity(p *st.PodWrapper, i int) *st.PodWrapper {
	return coloured("yellow")(p, i).PodAntiAffinity(cluster.Hostname, colour("yellow"), st.PodAntiAffinityWithPreferredReq)
}

func gatedAffinity(p *st.PodWrapper, i int) *st.PodWrapper {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "scheduler-perf"}}
	return gated(served(p, i), i).PodAffinity(cluster.Hostname, selector, st.PodAffinityWithRequiredReq)
}

// inTeams makes pods of many namespaces that look at those of all teams.
func inTeams(of maker) maker {
	return func(p *st.PodWrapper, i int) *st.PodWrapper { return everyTeam(of(p, i)).Namespace(namespaceName(i)) }
}

// inTeam makes pods of one namespace that look at those of all teams.
func inTeam(of maker) maker {
	return func(p *st.PodWrapper, i int) *st.PodWrapper { return everyTeam(of(p, i)).Namespace(measuredTeam) }
}

// everyTeam makes all terms of the pod look into the namespaces of all teams.
func everyTeam(p *st.PodWrapper) *st.PodWrapper {
	selector := &metav1.LabelSelector{MatchLabels: teamLabels}
	var found []*corev1.PodAffinityTerm
	if a := p.Spec.Affinity.PodAffinity; a != nil {
		found = append(found, terms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)...)
	}
	if a := p.Spec.Affinity.PodAntiAffinity; a != nil {
		found = append(found, terms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)...)
	}
	for _, term := range found {
		term.NamespaceSelector = selector
	}
	return p
}

func terms(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) []*corev1.PodAffinityTerm {
	var all []*corev1.PodAffinityTerm
	for i := range required {
		all = append(all, &required[i])
	}
	for i := range preferred {
		all = append(all, &preferred[i].PodAffinityTerm)
	}
	return all
}

// target is what cloggers want to be with, and will not be with.
func target(p *st.PodWrapper, i int) *st.PodWrapper {
	return cluster.WithClass(tiny(p, i).Label("service", "target"), high)
}

// clogger fits nowhere, ever, which is dear to find out each time that a target comes.
func clogger(p *st.PodWrapper, _ int) *st.PodWrapper {
	return cluster.WithClass(p, middle).
		PodAffinityIn("service", cluster.Hostname, []string{"target"}, st.PodAffinityWithRequiredReq).
		PodAffinityExists("service", cluster.Hostname, st.PodAffinityWithRequiredReq).
		PodAntiAffinityIn("service", cluster.Hostname, []string{"target"}, st.PodAntiAffinityWithRequiredReq)
}
