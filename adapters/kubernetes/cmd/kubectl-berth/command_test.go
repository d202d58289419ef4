package main

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// to are the flags for a scheduler at a known place.
func to(scheduler *httptest.Server, args ...string) []string {
	return slices.Concat(args, []string{"--scheduler", scheduler.URL, "--scheduler-insecure-skip-tls-verify", "--token", token, "--server", scheduler.URL, "--insecure-skip-tls-verify"})
}

const small = "apiVersion: v1\nkind: Pod\nmetadata: {name: small}\nspec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n"

const web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
`

func TestCommands(t *testing.T) {
	scheduler := newScheduler(t)
	huge := strings.NewReplacer("small", "huge", "cpu: 1", "cpu: 32").Replace(small)
	file := filepath.Join(t.TempDir(), "pods.yaml")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		in   string
		args []string
		code int
		out  string // what is in it
		err  string
	}{
		{"explain a pod that waits", "", to(scheduler, "explain", "pod", "big", "-n", "shop"), 0, "a      no             NodeResourcesFit   Insufficient cpu\n", ""},
		{"explain a pod on a node", "", to(scheduler, "explain", "pods", "web"), 0, "the decision is not known", ""},
		{"explain a kind and a name", "", to(scheduler, "explain", "pod/big", "-n", "shop"), 0, "a      no             NodeResourcesFit   Insufficient cpu\n", ""},
		{"explain another kind", "", to(scheduler, "explain", "node/a"), 1, "", `error: "node/a": only pods are explained, as in pod/NAME`},
		{"explain a name alone", "", to(scheduler, "explain", "web"), 1, "", `error: "web": only pods are explained, as in pod/NAME`},
		{"explain another pod of a kind and a name", "", to(scheduler, "explain", "pod/web", "--uid", "x"), 1, "", "error: the UID of pod default/web is uid-web, not x: it is another pod\n"},
		{"explain as JSON", "", to(scheduler, "explain", "pod", "web", "-o", "json"), 0, "    \"node\": \"a\",\n", ""},
		{"explain as YAML", "", to(scheduler, "explain", "po", "web", "-oyaml"), 0, "\nnode: a\n", ""},
		{"explain another pod", "", to(scheduler, "explain", "pod", "web", "--uid", "x"), 1, "", "error: the UID of pod default/web is uid-web, not x: it is another pod\n"},
		{"explain no pod", "", to(scheduler, "explain", "pod", "nobody"), 1, "", "error: there is no pod default/nobody, or it has ended\n"},
		{"explain an odd name", "", to(scheduler, "explain", "pod", "../queue"), 1, "", "error: there is no pod default/../queue, or it has ended\n"},
		{"explain nothing", "", to(scheduler, "explain", "pod"), 1, "", "error: accepts 1 arg(s), received 0\n"},
		{"queue", "", to(scheduler, "queue"), 0, "shop        big", ""},
		{"queue of a namespace", "", to(scheduler, "queue", "-n", "default"), 0, "Waiting: 1: 1 active\n", ""},
		{"queue of all namespaces", "", to(scheduler, "queue", "-n", "default", "-A"), 0, "shop        big", ""},
		{"a queue that is too long", "", to(scheduler, "queue", "--limit", "100000"), 1, "", "is not a number from 1 to 5000"},
		{"queues where there are none", "", to(scheduler, "queues"), 0, "There are no queues: ", ""},
		{"no such queue", "", to(scheduler, "queues", "x"), 1, "", `error: there is no queue "x", and no other: the configuration has no document of kind QueueingConfiguration`},
		{"two queues", "", to(scheduler, "queues", "x", "y"), 1, "", "error: accepts at most 1 arg(s), received 2"},
		{"help on the queue", "", []string{"queue", "--help"}, 0, "is shown by \"kubectl berth queues\"", ""},
		{"help on queues", "", []string{"queues", "--help"}, 0, "is shown by \"kubectl berth queue\"", ""},
		{"simulate", "", to(scheduler, "simulate", "-f", file), 0, "default     small   Placed    a      <none>\n", "warning: the priority classes"},
		{"simulate the input", small, to(scheduler, "simulate", "-f", "-", "-n", "shop"), 0, "shop        small   Placed    a      <none>\n", ""},
		{"simulate what does not fit", huge, to(scheduler, "simulate", "-f", "-", "-f", file), 2, "0/1 nodes are available: 1 Insufficient cpu.", ""},
		{"simulate a pod of another scheduler", strings.Replace(small, "spec: {", "spec: {schedulerName: other, ", 1) + "---\n" + strings.Replace(small, "small", "mine", 1),
			to(scheduler, "simulate", "-f", "-"), 2, "default     mine    Placed    a        <none>\ndefault     small   NotOurs   <none>", ""},
		{"simulate a deployment", web, to(scheduler, "simulate", "-f", "-"), 0,
			"NAMESPACE   OWNER            PODS   PLACED   MESSAGE\ndefault     deployment/web   2      2\n", ""},
		{"simulate what is wrong", strings.Replace(web, "containers", "nodeName: a, containers", 1), to(scheduler, "simulate", "-f", "-"), 1, "",
			"error: the scheduler refuses what it was sent:\n  deployment/web: spec.template.spec.nodeName: is \"a\": "},
		{"simulate nonsense", "a: b", to(scheduler, "simulate", "-f", "-"), 1, "", "error: the scheduler refuses what it was sent:\n  objects[0]: Object 'Kind' is missing"},
		{"simulate nothing", "", to(scheduler, "simulate"), 1, "", `required flag(s) "filename" not set`},
		{"simulate no file", "", to(scheduler, "simulate", "-f", file+"x"), 1, "", "error: --filename: open " + file + "x"},
		{"another output", "", to(scheduler, "queue", "-o", "xml"), 1, "", `error: --output: "xml" is none of table, wide, json, yaml`},
		{"flags that make no sense", "", []string{"queue", "--scheduler-port", "0", "--scheduler-insecure-skip-tls-verify"}, 1, "",
			"--scheduler-insecure-skip-tls-verify: only with --scheduler\n--scheduler-port: 0 is not a port"},
		{"somebody else", "", to(scheduler, "queue", "--as", "root"), 1, "", "error: --as: the scheduler answers only for yourself"},
		{"a wrong token", "", append(to(scheduler, "queue"), "--token", "x"), 1, "", "does not know you"},
		{"no TLS", "", []string{"queue", "--scheduler", "http://localhost:1"}, 1, "", "is not of the form https://host:port"},
		{"a certificate of nobody", "", []string{"queue", "--scheduler", scheduler.URL, "--token", token}, 1, "", "see --scheduler-certificate-authority"},
		{"no such command", "", []string{"queeu"}, 1, "", `unknown command "queeu"`},
		{"completion of outputs", "", []string{"__complete", "queue", "-o", ""}, 0, "table\nwide\njson\nyaml\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, complaints := kubectlBerth(t, c.in, c.args...)
			if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(complaints, c.err) {
				t.Errorf("exit code %d, not %d; output:\n%s\nerrors:\n%s", code, c.code, out, complaints)
			}
			if c.code == exitError && out != "" {
				t.Errorf("there is output with an error:\n%s", out)
			}
		})
	}
}

// The certificate of the scheduler is checked against the authority that is given.
func TestTheSchedulersCertificate(t *testing.T) {
	scheduler := newScheduler(t)
	file := filepath.Join(t.TempDir(), "ca.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: scheduler.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"queue", "--scheduler", scheduler.URL, "--scheduler-certificate-authority", file, "--token", token, "--server", "https://127.0.0.1:1"}
	if code, _, complaints := kubectlBerth(t, "", args...); code != exitOK {
		t.Error(complaints)
	}
}

// What is not Berth says so, and gets nothing sent elsewhere.
func TestServersThatAreNotBerth(t *testing.T) {
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked, too") }))
	defer elsewhere.Close()
	for _, c := range []struct {
		handler http.HandlerFunc
		says    string
	}{
		{http.NotFound, "does not explain anything: it is not Berth, or an old version"},
		{func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }, "answers 302 Found"},
		{func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusBadGateway) }, "answers 502 Bad Gateway: busy"},
		{func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }, "which this plugin does not know"},
		{func(w http.ResponseWriter, _ *http.Request) { status(w, http.StatusForbidden, "no") }, "error: no: a cluster role with the nonResourceURLs /explain/*"},
	} {
		server := httptest.NewTLSServer(c.handler)
		code, out, complaints := kubectlBerth(t, "", to(server, "queue")...)
		server.Close()
		if code != exitError || out != "" || !strings.Contains(complaints, c.says) {
			t.Errorf("exit code %d: %s%s", code, out, complaints)
		}
	}
}

// through are the flags for a scheduler that is to be found.
func through(api *httptest.Server, args ...string) []string {
	return slices.Concat(args, []string{"--server", api.URL, "--insecure-skip-tls-verify", "--token", token})
}

func lease(holder string) *coordinationv1.Lease {
	return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}}
}

func schedulerPod(name string, change func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}, Status: v1.PodStatus{Phase: v1.PodRunning}}
	if change != nil {
		change(p)
	}
	return p
}

func onHost(p *v1.Pod) { p.Spec.NodeName, p.Spec.HostNetwork = "node_1", true }

func onHostAs(container string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		onHost(p)
		p.Spec.Containers = []v1.Container{{Name: container}}
	}
}

const (
	leasePath    = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
	ownLeasePath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/berth-scheduler"
	podPath      = "/api/v1/namespaces/kube-system/pods"
	classesPath  = "/apis/scheduling.k8s.io/v1/priorityclasses"
)

func listOf(pods ...*v1.Pod) *v1.PodList {
	list := &v1.PodList{}
	for _, p := range pods {
		list.Items = append(list.Items, *p)
	}
	return list
}

// The leader is found by its lease and spoken to through the API server, by
// websockets or, without them, by SPDY.
func TestTheLeadingScheduler(t *testing.T) {
	scheduler := newScheduler(t)
	pod := lease("sched-1_some-uuid")
	for _, c := range []struct {
		name    string
		objects map[string]any
		says    string // empty: it is found
	}{
		{"a pod of the holder's name", map[string]any{leasePath: pod, podPath + "/sched-1": schedulerPod("sched-1", nil)}, ""},
		{"a pod on the host network of the holder", map[string]any{leasePath: lease("node_1_some-uuid"), podPath: listOf(
			schedulerPod("etcd", onHostAs("etcd")), schedulerPod("proxy", func(p *v1.Pod) { p.Spec.NodeName = "node_1" }), schedulerPod("sched-2", onHostAs("berth-scheduler")))}, ""},
		{"a static pod of kubeadm", map[string]any{leasePath: lease("node_1_some-uuid"), podPath: listOf(schedulerPod("kube-scheduler-node-1", onHostAs("kube-scheduler")))}, ""},
		{"beside kube-scheduler", map[string]any{ownLeasePath: pod, leasePath: lease("node_1_u"), podPath: listOf(schedulerPod("b", onHostAs("kube-scheduler"))), podPath + "/sched-1": schedulerPod("sched-1", nil)}, ""},
		{"no longer beside kube-scheduler", map[string]any{ownLeasePath: lease("gone_u"), leasePath: pod, podPath: listOf(), podPath + "/sched-1": schedulerPod("sched-1", nil)}, ""},
		{"no lease", nil, "or say with --scheduler where it serves:\nthere is no lease kube-system/berth-scheduler\nthere is no lease kube-system/kube-scheduler\n"},
		{"no holder", map[string]any{leasePath: lease("")}, "nobody holds the lease kube-system/kube-scheduler"},
		{"no pod", map[string]any{leasePath: pod, podPath: listOf()}, `is held by "sched-1_some-uuid", and there is no running pod`},
		{"a pod that has ended", map[string]any{leasePath: pod, podPath: listOf(), podPath + "/sched-1": schedulerPod("sched-1", func(p *v1.Pod) { p.Status.Phase = v1.PodFailed })}, "no running pod"},
		{"two schedulers on the host", map[string]any{leasePath: lease("node_1_u"), podPath: listOf(
			schedulerPod("a", onHostAs("berth-scheduler")), schedulerPod("b", onHostAs("kube-scheduler")))}, "nor one scheduler on the host network"},
	} {
		for _, sockets := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, websockets %v", c.name, sockets), func(t *testing.T) {
				api := &cluster{objects: c.objects, sockets: sockets, forward: true}
				code, out, complaints := kubectlBerth(t, "", through(api.start(t), "queue", "--scheduler-port", port(t, scheduler))...)
				if c.says != "" {
					if code != exitError || len(api.dialed) > 0 || !strings.Contains(complaints, c.says) {
						t.Errorf("exit code %d: %s%s", code, out, complaints)
					}
					return
				}
				if code != exitOK || !strings.Contains(out, "Waiting: 1") {
					t.Errorf("exit code %d: %s%s", code, out, complaints)
				}
				if want := map[bool]string{true: "websocket", false: "spdy"}[sockets]; !slices.Equal(api.dialed, []string{want}) {
					t.Errorf("forwards: %v, not %s", api.dialed, want)
				}
			})
		}
	}
}

func TestAPortThatCannotBeForwarded(t *testing.T) {
	api := &cluster{objects: map[string]any{leasePath: lease("sched-1_u"), podPath + "/sched-1": schedulerPod("sched-1", nil)}}
	code, _, complaints := kubectlBerth(t, "", through(api.start(t), "queue", "--scheduler-lease", "kube-scheduler")...)
	if code != exitError || !strings.Contains(complaints, "forward a port to the scheduler's pod kube-system/sched-1: ") || !strings.Contains(complaints, "not found") {
		t.Errorf("exit code %d: %s", code, complaints)
	}
}

func TestAPodWithoutTheScheduler(t *testing.T) {
	api := &cluster{objects: map[string]any{leasePath: lease("sched-1_u"), podPath + "/sched-1": schedulerPod("sched-1", nil)}, forward: true}
	code, _, complaints := kubectlBerth(t, "", through(api.start(t), "queue", "--scheduler-port", "1")...)
	if code != exitError || !strings.Contains(complaints, "ask the scheduler at pod kube-system/sched-1, port 1: ") || !strings.Contains(complaints, "connection refused") {
		t.Errorf("exit code %d: %s", code, complaints)
	}
}

// The pods of a simulation get the priorities of the cluster's classes; those of the
// file go before them.
func TestPriorityClassesOfTheCluster(t *testing.T) {
	scheduler := newScheduler(t)
	api := &cluster{objects: map[string]any{classesPath: &schedulingv1.PriorityClassList{Items: []schedulingv1.PriorityClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "high", ResourceVersion: "7"}, Value: 1000},
		{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 10, GlobalDefault: true},
		{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Value: 5},
	}}}}
	pod := func(name, class string) string {
		return "---\n" + strings.NewReplacer("small", name, "spec: {", "spec: {priorityClassName: "+class+", ", "cpu: 1", "cpu: 1m").Replace(small)
	}
	in := pod("first", "high") + pod("second", "") + pod("third", "mine") + "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: mine}, value: 500}\n"
	args := through(api.start(t), "simulate", "-f", "-", "-o", "wide", "--scheduler", scheduler.URL, "--scheduler-insecure-skip-tls-verify")
	code, out, complaints := kubectlBerth(t, in, args...)
	if code != exitOK || complaints != "" {
		t.Errorf("exit code %d: %s", code, complaints)
	}
	var got []string
	for line := range strings.Lines(out) {
		if cells := strings.Fields(line); cells[0] == "default" {
			got = append(got, cells[1]+" "+cells[5])
		}
	}
	if want := []string{"first 1000", "third 500", "second 10"}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v in\n%s", got, want, out)
	}
}

func TestCompletionOfPods(t *testing.T) {
	api := &cluster{objects: map[string]any{"/api/v1/namespaces/shop/pods": listOf(schedulerPod("web-0", nil), schedulerPod("db-0", nil), schedulerPod("web-1", nil))}}
	args := append(through(api.start(t), "__complete"), "explain", "pod", "-n", "shop", "web")
	code, out, complaints := kubectlBerth(t, "", args...)
	if code != exitOK || !strings.HasPrefix(out, "web-0\nweb-1\n:4\n") {
		t.Errorf("exit code %d: %s%s", code, out, complaints)
	}
}
