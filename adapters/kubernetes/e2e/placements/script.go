package placements

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
)

// script is a case: nodes, pods that are on them, and what happens then, all of it
// drawn before.
type script struct {
	seed, number uint64
	nodes        []*corev1.Node
	adopted      []*corev1.Pod // they have a node, a start time, and perhaps a time to go
	steps        []step
}

// step is one thing that happens: a pod is found on a node, a pod goes, or one is
// submitted.
type step struct {
	adopt  *corev1.Pod // see script.adopted
	submit *corev1.Pod
	// remove, in steps that have neither, is which of the pods on nodes goes, if
	// they are counted on and on.
	remove int
}

// submitted is how many pods are submitted in a case.
const submitted = 12

// epoch is when the first pods have started, in all cases.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// artist draws a script.
type artist struct {
	*generate.Source
	script
	pods int // drawn
}

// draw draws the number-th case of a seed.
func draw(seed, number uint64) script {
	s := generate.New(seed, number, generate.Mood{})
	zones := s.Zones
	plan := generate.NewPlan(number/6*8+number%6, s) // two of eight are large clusters
	s.Mood, s.Zones = plan.Mood, zones
	a := artist{Source: s, script: script{seed: seed, number: number}}
	for i := range plan.Size {
		a.nodes = append(a.nodes, fitNode(s.Node(i)))
	}
	for range a.IntN(plan.Adopted*plan.Size + 1) {
		a.adopted = append(a.adopted, a.onNode())
	}
	for range submitted {
		switch {
		case a.Percent(20):
			a.steps = append(a.steps, step{remove: a.IntN(1000)})
		case a.Percent(20):
			a.steps = append(a.steps, step{adopt: a.onNode()})
		}
		a.steps = append(a.steps, step{submit: a.pod()})
	}
	return a.script
}

// pod draws a pod. No other case has one of its name.
func (a *artist) pod() *corev1.Pod {
	a.pods++
	return fitPod(a.Pod(fmt.Sprintf("c%d-w%d", a.number, a.pods)))
}

// onNode draws a pod that is on a node already; now and then the node is unknown.
func (a *artist) onNode() *corev1.Pod {
	pod := a.pod()
	node := generate.NodeName(a.IntN(len(a.nodes)))
	if a.Percent(3) {
		node = generate.NodeName(a.IntN(a.Nodes))
	}
	// The seconds are all different.
	since := epoch.Add(time.Duration(a.IntN(1000)*1000+a.pods) * time.Second)
	pod = a.Placed(pod, node, since)
	pod.Status = corev1.PodStatus{StartTime: pod.Status.StartTime}
	if pod.DeletionTimestamp != nil {
		// How many of the victims it has told to go itself, a scheduler does not say:
		// those that go already are more important than all others, and no victims.
		pod.Spec.PriorityClassName = "system-node-critical"
	}
	return pod
}

// startTime is when a pod has started that got its node as the i-th of a case, later
// than all that had one.
func startTime(i int) *metav1.Time {
	return &metav1.Time{Time: epoch.Add(time.Duration(2_000_000+i) * time.Second)}
}

// String is the whole case, for people.
func (s script) String() string {
	var b strings.Builder
	for _, n := range s.nodes {
		fmt.Fprintf(&b, "node %s labels %s spec %s status %s\n", n.Name, text(n.Labels), text(n.Spec), text(n.Status))
	}
	for _, p := range s.adopted {
		fmt.Fprintf(&b, "%s\n", step{adopt: p})
	}
	for i, step := range s.steps {
		fmt.Fprintf(&b, "step %d: %s\n", i, step)
	}
	return b.String()
}

// String is for people.
func (s step) String() string {
	switch {
	case s.adopt != nil:
		going := ""
		if s.adopt.DeletionTimestamp != nil {
			going = " going"
		}
		return fmt.Sprintf("found on a node since %v%s: %s", s.adopt.Status.StartTime, going, describe(s.adopt))
	case s.submit != nil:
		return "submitted: " + describe(s.submit)
	}
	return fmt.Sprintf("removed: pod number %d of those on nodes", s.remove)
}

func describe(p *corev1.Pod) string {
	return fmt.Sprintf("%s/%s labels %s owners %s spec %s", p.Namespace, p.Name, text(p.Labels), text(p.OwnerReferences), text(p.Spec))
}

// text is the value as JSON.
func text(v any) string {
	content, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(content)
}
