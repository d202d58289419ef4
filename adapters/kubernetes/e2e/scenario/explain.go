package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// explain is about "kubectl berth", which asks the scheduler for its reasons.
var explain = []Scenario{
	{Name: "explain/why a pod waits", Run: explainPending, Berth: true},
	{Name: "explain/why a pod is where it is", Run: explainPlaced, Berth: true},
	{Name: "explain/what waits", Run: explainQueue, Berth: true},
	{Name: "explain/where pods would go while nothing changes", Run: explainSimulation, Berth: true},
	{Name: "explain/priorities of a cluster that the user may not read", Run: explainPriorities, Berth: true},
	{Name: "explain/only for those who may ask", Run: explainRefused, Berth: true},
	{Name: "explain/a scheduler that is not found", Run: explainNotFound, Berth: true},
}

// podExplanation is what a test reads of an answer in JSON.
type podExplanation struct {
	Phase, Node, Basis, Message string
	ClosestNodes                []string
	Queue                       struct {
		Place                string
		UnschedulablePlugins []string
	}
	Nodes []struct {
		Name       string
		Feasible   bool
		Score      *int64
		Rejections []struct {
			Plugin  string
			Reasons []string
		}
		Scores []struct {
			Plugin   string
			Weighted int64
		}
	}
}

// rejections are the reasons of each plugin, as "node: plugin: reason".
func (x *podExplanation) rejections() []string {
	var list []string
	for _, n := range x.Nodes {
		for _, r := range n.Rejections {
			list = append(list, n.Name+": "+r.Plugin+": "+strings.Join(r.Reasons, ", "))
		}
	}
	slices.Sort(list)
	return list
}

func explainPending(t *testing.T, e *Env) {
	e.Create(t, smallNode("large", "4").Taints([]corev1.Taint{dedicated}).Obj(), smallNode("small", "1").Label("disk", "ssd").Obj())
	a := e.asker(t, e.Schedule(t, ""))
	e.Create(t, cluster.Pod("p").NodeSelector(map[string]string{"disk": "ssd"}).Req(cluster.CPU("2")).Obj())
	const message = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)."
	e.Unschedulable(t, "p", message+" preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")

	wantLines(t, a.ask(t, "explain", "pod", "p"),
		"Pod: default/p", "Scheduler: default-scheduler", "Phase: Pending", "Node: <none>", "Closest nodes: small",
		"Waits for: NodeResourcesFit, TaintToleration", "Message: "+message,
		"NODE FITS SCORE PLUGIN REASON",
		"small no NodeResourcesFit Insufficient cpu",
		"large no TaintToleration node(s) had untolerated taint(s)", "NodeAffinity node(s) didn't match Pod's node affinity/selector")
	var x podExplanation
	a.askJSON(t, &x, "explain", "pod", "p")
	want := []string{
		"large: NodeAffinity: node(s) didn't match Pod's node affinity/selector",
		"large: TaintToleration: node(s) had untolerated taint(s)",
		"small: NodeResourcesFit: Insufficient cpu",
	}
	if got := x.rejections(); x.Basis != "Now" || x.Message != message || x.Queue.Place != "Unschedulable" || !slices.Equal(got, want) {
		t.Errorf("it says %+v, want that the pod waits because of %q", x, want)
	}

	e.UpdateNode(t, "small", func(n *corev1.Node) {
		n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("4")
		n.Status.Capacity[corev1.ResourceCPU] = resource.MustParse("4")
	})
	e.BoundTo(t, "p", "small")
	wantLines(t, a.ask(t, "explain", "pod", "p"), "large no TaintToleration node(s) had untolerated taint(s)", "small yes chosen")
}

func explainPlaced(t *testing.T, e *Env) {
	e.Create(t, smallNode("large", "4").Obj(), smallNode("small", "2").Obj(), cluster.Node("tainted").Taints([]corev1.Taint{dedicated}).Obj())
	s := e.Schedule(t, "")
	a := e.asker(t, s)
	e.Create(t, cluster.Pod("p").Req(cluster.CPU("1")).Obj())
	e.BoundTo(t, "p", "large")

	var x podExplanation
	a.askJSON(t, &x, "explain", "pod", "p")
	scores := map[string]int64{}
	for _, n := range x.Nodes {
		if n.Score == nil {
			continue
		}
		scores[n.Name] = *n.Score
		for _, s := range n.Scores {
			*n.Score -= s.Weighted
		}
		if *n.Score != 0 {
			t.Errorf("the score of node %s is not the sum of %+v", n.Name, n.Scores)
		}
	}
	if x.Basis != "Decision" || x.Node != "large" || len(scores) != 2 || scores["large"] <= scores["small"] {
		t.Errorf("it says %+v, want that large is better than small, and chosen", x)
	}
	wantLines(t, a.ask(t, "explain", "pod", "p"),
		fmt.Sprintf("large yes %d chosen", scores["large"]), fmt.Sprintf("small yes %d", scores["small"]),
		"tainted no TaintToleration node(s) had untolerated taint(s)")

	s.Kill()
	a.scheduler = e.Schedule(t, "")
	var y podExplanation
	if a.askJSON(t, &y, "explain", "pod", "p"); y.Basis != "None" || y.Node != "large" || len(y.Nodes) != 0 {
		t.Errorf("a scheduler that did not decide says %+v", y)
	}
}

func explainQueue(t *testing.T, e *Env) {
	classes(t, e)
	e.Create(t, cluster.OtherNamespace("other", nil), cluster.Node("n").Taints([]corev1.Taint{dedicated}).Obj())
	a := e.asker(t, e.Schedule(t, ""))
	if out := a.ask(t, "queue"); out != "No pod waits.\n" {
		t.Errorf("it says %q of an empty queue", out)
	}
	e.Create(t, cluster.Pod("gated").SchedulingGates([]string{"example.com/a"}).Obj(), cluster.Pod("elsewhere").Namespace("other").Obj(),
		cluster.Pod("not-ours").SchedulerName("somebody-else").Obj(), withPriority("unimportant", "low", "1"))
	e.Unschedulable(t, "unimportant", untolerated)
	e.Create(t, withPriority("important", "high", "1")) // later, and yet first
	e.Unschedulable(t, "important", untolerated)

	out := a.ask(t, "queue")
	var rows []string
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 7 && f[0] != "NAMESPACE" {
			rows = append(rows, strings.Join([]string{f[0], f[1], f[2], f[3], f[6]}, " "))
		}
	}
	want := []string{
		"default important 1000 Unschedulable TaintToleration", "default unimportant 1 Unschedulable TaintToleration",
		"default gated 0 Gated SchedulingGates", "other elsewhere 0 Unschedulable TaintToleration",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("it lists %q, want %q in\n%s", rows, want, out)
	}
	wantLines(t, out, "Waiting: 4: 3 unschedulable, 1 gated")
	var queue struct {
		Pods []struct{ Name, Place string }
	}
	if a.askJSON(t, &queue, "queue", "-n", "other"); len(queue.Pods) != 1 || queue.Pods[0].Name != "elsewhere" {
		t.Errorf("of namespace other it lists %+v, want elsewhere", queue)
	}
}

// simulation is what a test reads of an answer in JSON.
type simulation struct {
	Fits bool
	Pods []struct {
		Name, Outcome, Node, Message string
		Preempts                     []struct{ Name, Node string }
	}
}

// podsFile has pods for a cluster of two full nodes.
const podsFile = `
apiVersion: v1
kind: Pod
metadata: {name: impossible}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: urgent}
spec: {priorityClassName: high, containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: modest}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}
`

// almostFull has two nodes of two CPUs, with important pods on a and unimportant ones
// on b, so that half a CPU of a is free.
func almostFull(t *testing.T, e *Env) {
	t.Helper()
	classes(t, e)
	e.Create(t, smallNode("a", "2").Obj(), smallNode("b", "2").Obj(),
		on("a", withPriority("middle-a", "middle", "1500m")), on("b", withPriority("low-b", "low", "2")))
}

func explainSimulation(t *testing.T, e *Env) {
	almostFull(t, e)
	a := e.asker(t, e.Schedule(t, ""))
	file := podsIn(t, podsFile)
	before, err := e.Versions(t.Context())
	must(t, err)

	code, out, complaints := a.run(t, "simulate", "-f", file)
	if code != 2 || complaints != "" {
		t.Errorf("exit code %d, want 2 as a pod is not placed\n%s%s", code, out, complaints)
	}
	wantLines(t, out, "NAMESPACE NAME OUTCOME NODE PREEMPTS MESSAGE", "default urgent Placed b default/low-b it waits until what it preempts has left, and then it goes to node b", "default modest Placed a <none>",
		"default impossible Unplaced <none> <none> 0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: "+
			"2 Preemption is not helpful for scheduling.")
	_, out, _ = a.run(t, "simulate", "-f", file, "-o", "json")
	var s simulation
	if err := json.Unmarshal([]byte(out), &s); err != nil || s.Fits || len(s.Pods) != 3 || s.Pods[0].Name != "urgent" ||
		len(s.Pods[0].Preempts) != 1 || s.Pods[0].Preempts[0].Name != "low-b" {
		t.Errorf("error %v, want that urgent is first and low-b has to go in\n%s", err, out)
	}

	// What was simulated has left nothing, neither in the cluster nor in what the
	// scheduler knows: a pod that needs the same room gets it.
	e.Create(t, cluster.Pod("real").Req(cluster.CPU("500m")).Obj())
	e.BoundTo(t, "real", "a")
	e.Event(t, "real", cluster.Event{Type: corev1.EventTypeNormal, Reason: "Scheduled", Action: "Binding"})
	if out := a.ask(t, "queue"); out != "No pod waits.\n" {
		t.Errorf("after a simulation there wait\n%s", out)
	}
	after, err := e.Versions(t.Context())
	must(t, err)
	maps.DeleteFunc(after, func(name, _ string) bool { return strings.Contains(name, "/real") })
	if !maps.Equal(before, after) {
		t.Errorf("the cluster has changed, from %v to %v", before, after)
	}
}

// podsIn is a file with the text.
func podsIn(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pods.yaml")
	must(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func explainPriorities(t *testing.T, e *Env) {
	almostFull(t, e)
	role := explainRole(t)
	role.Rules = role.Rules[:1] // who may ask, and no more
	e.grant(t, role, operator)
	a := &asker{env: e, scheduler: e.Schedule(t, ""), user: operator}
	const warning = "warning: the priority classes of the cluster cannot be read"
	wantFailure(t, warning, `pod/urgent: spec.priorityClassName: there is no priority class "high" among those that are known here`)(a.run(t, "simulate", "-f", podsIn(t, podsFile)))
	withClass := strings.Replace(podsFile, "cpu: 3", "cpu: 1", 1) + `
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 50
`
	code, out, complaints := a.run(t, "simulate", "-f", podsIn(t, withClass))
	if code != 2 || !strings.Contains(complaints, warning) {
		t.Errorf("exit code %d, want 2 and a warning\n%s", code, complaints)
	}
	wantLines(t, out, "default urgent Placed b default/low-b it waits until what it preempts has left, and then it goes to node b") // but not middle-a, which is worth more than 50
}

func explainRefused(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Obj())
	s := e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").Obj(), cluster.Pod("other").SchedulerName("somebody-else").Obj())
	e.BoundTo(t, "p", "n")
	a := e.asker(t, s)
	b := &asker{env: e, scheduler: s, user: stranger}
	file := podsIn(t, podsFile)

	advice := `: a cluster role with the nonResourceURLs /explain/* and the verbs get and post allows it`
	wantFailure(t, `User "stranger" cannot get path "/explain/pods/default/p"`, advice)(b.run(t, "explain", "pod", "p"))
	wantFailure(t, `User "stranger" cannot get path "/explain/queue"`, advice)(b.run(t, "queue"))
	wantFailure(t, `User "stranger" cannot post path "/explain/simulate"`, advice)(b.run(t, "simulate", "-f", file))
	wantFailure(t, "does not know you")(a.run(t, "queue", "--token", "wrong"))
	wantFailure(t, "is not known to be one (see --scheduler-certificate-authority)")(e.kubectlBerth(t, operator, "queue", "--scheduler", s.URL()))
	wantFailure(t, "there is no pod default/none, or it has ended")(a.run(t, "explain", "pod", "none"))
	wantFailure(t, `pod default/other is not this scheduler's to place: its spec.schedulerName is "somebody-else"`)(a.run(t, "explain", "pod", "other"))
	if code, _, complaints := a.run(t, "queue"); code != 0 {
		t.Errorf("who may ask is refused: %s", complaints)
	}
}

func explainNotFound(t *testing.T, e *Env) {
	e.replica(t)
	holder := e.holder(t, "")
	wantFailure(t, "the leading scheduler is not found", "there is no lease kube-system/berth-scheduler",
		fmt.Sprintf("the lease kube-system/kube-scheduler is held by %q, and there is no running pod of that name", holder),
	)(e.kubectlBerth(t, controlplane.AdminUser, "queue"))
	wantFailure(t, "get lease kube-system/kube-scheduler: ", "forbidden")(e.kubectlBerth(t, stranger, "queue"))
	e.mayLook(t, operator)
	wantFailure(t, "there is no lease kube-system/berth-scheduler", "there is no running pod of that name")(e.kubectlBerth(t, operator, "queue"))
}
