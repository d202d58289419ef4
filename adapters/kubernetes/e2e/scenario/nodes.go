package scenario

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// nodes is about NodeUnschedulable, TaintToleration, NodeName, NodeAffinity,
// NodeDeclaredFeatures and ImageLocality.
var nodes = []Scenario{
	{Name: "nodes/there are none", Run: noNodes},
	{Name: "nodes/one that is cordoned takes nothing until it is uncordoned", Run: cordoned},
	{Name: "taints/a pod that does not tolerate one waits until it is gone", Run: taint},
	{Name: "taints/a toleration lets a pod in", Run: toleration},
	{Name: "taints/a toleration that is added lets a pod in that waits", Run: addedToleration},
	{Name: "taints/a node that is better avoided is avoided", Run: preferNoSchedule},
	{Name: "taints/a toleration that compares numbers lets a pod in", Run: comparingToleration},
	{Name: "taints/a pod waits until the number of the taint will do", Run: comparedTaint},
	{Name: "taints/a node is not avoided whose number is tolerated", Run: preferCompared},
	{Name: "taints/a toleration that compares is none without the feature gate", Run: notComparing},
	{Name: "node affinity/a selector and its absence", Run: nodeSelector},
	{Name: "node affinity/required terms are alternatives", Run: requiredNodeAffinity},
	{Name: "node affinity/a node's name can be required", Run: nodeFields},
	{Name: "node affinity/the heavier preference wins", Run: preferredNodeAffinity},
	{Name: "node affinity/the profile's own is added", Run: addedAffinity},
	{Name: "node name/a pod that has one is left alone, and takes its room", Run: nodeName},
	{Name: "node features/a pod goes where the feature is that it needs", Run: declaredFeatures},
	{Name: "images/the node that has the image is preferred", Run: imageLocality},
}

func noNodes(t *testing.T, e *Env) {
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").Obj())
	e.Unschedulable(t, "p", "no nodes available to schedule pods")
	e.Create(t, cluster.Node("n").Obj())
	e.BoundTo(t, "p", "n")
}

func cordoned(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Unschedulable(true).Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").Obj())
	e.Unschedulable(t, "p", "0/1 nodes are available: 1 node(s) were unschedulable. preemption: 0/1 nodes are available: "+
		"1 Preemption is not helpful for scheduling.")
	e.UpdateNode(t, "n", func(n *corev1.Node) { n.Spec.Unschedulable = false })
	e.BoundTo(t, "p", "n")
}

// dedicated is a taint that keeps away what does not tolerate it.
var dedicated = corev1.Taint{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}

// toDB tolerates it.
var toDB = corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "db", Effect: corev1.TaintEffectNoSchedule}

const untolerated = "0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: " +
	"1 Preemption is not helpful for scheduling."

func taint(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Taints([]corev1.Taint{dedicated}).Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").Obj())
	e.Unschedulable(t, "p", untolerated)
	e.UpdateNode(t, "n", func(n *corev1.Node) { n.Spec.Taints = nil })
	e.BoundTo(t, "p", "n")
}

func toleration(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Taints([]corev1.Taint{dedicated}).Obj())
	e.Schedule(t, "")
	e.Create(t,
		cluster.Pod("other-value").Tolerations([]corev1.Toleration{{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule}}).Obj(),
		cluster.Pod("same").Tolerations([]corev1.Toleration{toDB}).Obj(),
		cluster.Pod("any").Tolerations([]corev1.Toleration{{Operator: corev1.TolerationOpExists}}).Obj())
	e.BoundTo(t, "same", "n")
	e.BoundTo(t, "any", "n")
	e.Unschedulable(t, "other-value", untolerated)
}

func addedToleration(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Taints([]corev1.Taint{dedicated}).Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").Obj())
	e.Unschedulable(t, "p", untolerated)
	e.UpdatePod(t, "p", func(p *corev1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, toDB) })
	e.BoundTo(t, "p", "n")
}

func preferNoSchedule(t *testing.T, e *Env) {
	avoid := corev1.Taint{Key: "old", Effect: corev1.TaintEffectPreferNoSchedule}
	e.Create(t, cluster.Node("a").Taints([]corev1.Taint{avoid}).Obj(), cluster.Node("b").Obj(), cluster.Node("c").Taints([]corev1.Taint{avoid}).Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").Obj())
	e.BoundTo(t, "p", "b")
}

const noMatch = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: " +
	"2 Preemption is not helpful for scheduling."

func nodeSelector(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("hdd").Label("disk", "hdd").Obj(), cluster.Node("none").Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("hdd").NodeSelector(map[string]string{"disk": "hdd"}).Obj(), cluster.Pod("ssd").NodeSelector(map[string]string{"disk": "ssd"}).Obj())
	e.BoundTo(t, "hdd", "hdd")
	e.Unschedulable(t, "ssd", noMatch)
	e.UpdateNode(t, "none", func(n *corev1.Node) { n.Labels["disk"] = "ssd" })
	e.BoundTo(t, "ssd", "none")
}

// term is a term of node affinity with one expression.
func term(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}
}

func required(terms ...corev1.NodeSelectorTerm) *corev1.NodeAffinity {
	return &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}
}

func requiredNodeAffinity(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("four").Label("cores", "4").Obj(), cluster.Node("sixteen").Label("cores", "16").Label("arch", "arm64").Obj())
	e.Schedule(t, "")
	e.Create(t,
		cluster.Pod("more-than-8").NodeAffinity(required(term("cores", corev1.NodeSelectorOpGt, "8"))).Obj(),
		cluster.Pod("no-arch").NodeAffinity(required(term("arch", corev1.NodeSelectorOpDoesNotExist))).Obj(),
		cluster.Pod("one-of-two").NodeAffinity(required(term("cores", corev1.NodeSelectorOpIn, "32"), term("arch", corev1.NodeSelectorOpIn, "arm64"))).Obj(),
		cluster.Pod("neither").NodeAffinity(required(term("cores", corev1.NodeSelectorOpIn, "32"), term("arch", corev1.NodeSelectorOpIn, "s390x"))).Obj())
	e.BoundTo(t, "more-than-8", "sixteen")
	e.BoundTo(t, "no-arch", "four")
	e.BoundTo(t, "one-of-two", "sixteen")
	e.Unschedulable(t, "neither", noMatch)
}

func nodeFields(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("a").Obj(), cluster.Node("b").Obj(), cluster.Node("c").Obj())
	e.Schedule(t, "")
	for _, name := range []string{"c", "a", "b"} {
		named := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{name}},
		}}
		e.Create(t, cluster.Pod("to-"+name).NodeAffinity(required(named)).Obj())
		e.BoundTo(t, "to-"+name, name)
	}
}

func preferredNodeAffinity(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("plain").Obj(), cluster.Node("fast").Label("disk", "ssd").Obj(), cluster.Node("near").Label("rack", "r1").Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").NodeAffinity(&corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
		{Weight: 10, Preference: term("disk", corev1.NodeSelectorOpIn, "ssd")},
		{Weight: 80, Preference: term("rack", corev1.NodeSelectorOpIn, "r1")},
	}}).Obj())
	e.BoundTo(t, "p", "near")
}

func addedAffinity(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("a").Obj(), cluster.Node("b").Label("pool", "batch").Obj(), cluster.Node("c").Obj())
	e.Schedule(t, `
profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: pool, operator: In, values: [batch]}]
`)
	e.Create(t, cluster.Pod("p").Obj(), cluster.Pod("to-a").NodeSelector(map[string]string{cluster.Hostname: "a"}).Obj())
	e.BoundTo(t, "p", "b")
	e.Unschedulable(t, "to-a", "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "+
		"2 node(s) didn't match scheduler-enforced node affinity. preemption: 0/3 nodes are available: "+
		"3 Preemption is not helpful for scheduling.")
}

func nodeName(t *testing.T, e *Env) {
	e.Create(t, smallNode("n", "2").Obj())
	e.Schedule(t, "")
	// It does not even fit, which is for the kubelet to say.
	placed := cluster.Pod("placed").Node("n").Req(cluster.CPU("3")).Obj()
	e.Create(t, placed)
	e.BoundTo(t, "placed", "n")
	e.Create(t, cluster.Pod("p").Req(cluster.CPU("1")).Obj())
	e.Unschedulable(t, "p", "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "+
		"1 No preemption victims found for incoming pod.")
	e.Delete(t, placed)
	e.BoundTo(t, "p", "n")
}

func imageLocality(t *testing.T, e *Env) {
	const image = "registry.example.com/large:v1"
	e.Create(t, cluster.Node("a").Obj(), cluster.Node("has-it").Images(map[string]int64{image: 900 << 20}).Obj(), cluster.Node("c").Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").Containers([]corev1.Container{st.MakeContainer().Name("c").Image(image).Obj()}).Obj())
	e.BoundTo(t, "p", "has-it")
}

func declaredFeatures(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("old").Obj(), cluster.Node("new").DeclaredFeatures([]string{"RestartAllContainersOnContainerExits"}).Obj())
	e.Schedule(t, "")
	pod := func(name string) *st.PodWrapper {
		p := cluster.Pod(name)
		p.Spec.Containers = []corev1.Container{{RestartPolicy: ptr.To(corev1.ContainerRestartPolicyNever), RestartPolicyRules: []corev1.ContainerRestartRule{{
			Action:    corev1.ContainerRestartRuleActionRestartAllContainers,
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
		}}}}
		return p
	}
	e.Create(t, pod("p").Obj())
	e.BoundTo(t, "p", "new")
	e.Create(t, pod("on-old").NodeSelector(map[string]string{cluster.Hostname: "old"}).Obj())
	e.Unschedulable(t, "on-old", "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "+
		"1 node(s) didn't match Pod's required features. preemption: 0/2 nodes are available: "+
		"2 Preemption is not helpful for scheduling.")
}
