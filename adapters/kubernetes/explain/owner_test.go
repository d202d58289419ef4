package explain_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/model"
)

// owner is an object that has pods made of a template, each of which asks for half a CPU.
func owner(version, kind, name, spec, podSpec string) string {
	return fmt.Sprintf(`---
apiVersion: %s
kind: %s
metadata: {name: "%s"}
spec:
  %s
  template:
    metadata: {labels: {a: b}}
    spec: {%scontainers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}
`, version, kind, name, strings.ReplaceAll(spec, "; ", "\n  "), podSpec)
}

// inNamespace is the object in a namespace.
func inNamespace(namespace, object string) string {
	return strings.Replace(object, "metadata: {", "metadata: {namespace: "+namespace+", ", 1)
}

const selects = "selector: {matchLabels: {a: b}}"

// counts is what is said of the owners, in a line.
func counts(s *api.Simulation) string {
	var list []string
	for _, o := range s.Owners {
		text := fmt.Sprintf("%s/%s %d of %d", o.Kind, o.Name, o.Placed, o.Pods)
		if o.InCluster > 0 {
			text += fmt.Sprintf(" and %d", o.InCluster)
		}
		if o.Suspended {
			text += " suspended"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func TestSimulateOwners(t *testing.T) {
	for _, c := range []struct{ name, body, want, counts string }{
		{"a deployment", owner("apps/v1", "Deployment", "web", "replicas: 3; "+selects, ""),
			"web-1 large, web-2 small, web-3 large", "Deployment/web 3 of 3"},
		{"one pod by default", owner("apps/v1", "Deployment", "web", "paused: true; "+selects, ""), "web-1 large", "Deployment/web 1 of 1 suspended"},
		{"what is in the cluster is not made again", owner("apps/v1", "Deployment", "old", selects, ""), "", "Deployment/old 0 of 0 and 1"},
		{"fewer than are in the cluster", owner("apps/v1", "Deployment", "old", "replicas: 0; "+selects, ""), "", "Deployment/old 0 of 0 and 1"},
		{"what is missing in the cluster", owner("apps/v1", "Deployment", "old", "replicas: 3; "+selects, ""), "old-1 large, old-2 small", "Deployment/old 2 of 2 and 1"},
		{"a replica set", owner("apps/v1", "ReplicaSet", "old-1a2b", "replicas: 2; "+selects, ""), "old-1a2b-1 large", "ReplicaSet/old-1a2b 1 of 1 and 1"},
		{"a replication controller", owner("v1", "ReplicationController", "web", "replicas: 2", ""), "web-1 large, web-2 small", "ReplicationController/web 2 of 2"},
		{"a stateful set, of which one pod is there", owner("apps/v1", "StatefulSet", "db", "replicas: 2; "+selects, ""),
			"db-1 large, db-0 large", "StatefulSet/db 2 of 2"},
		{"its first number", owner("apps/v1", "StatefulSet", "q", "ordinals: {start: 5}; "+selects, ""), "q-5 large", "StatefulSet/q 1 of 1"},
		{"a job begins with one pod", owner("batch/v1", "Job", "crunch", "completions: 9", ""), "crunch-1 large", "Job/crunch 1 of 1"},
		{"a job's parallelism", owner("batch/v1", "Job", "crunch", "parallelism: 2; suspend: true", ""), "crunch-1 large, crunch-2 large", "Job/crunch 2 of 2 suspended"},
		{"an indexed job that has no more to do", owner("batch/v1", "Job", "crunch", "parallelism: 9; completions: 2; completionMode: Indexed", ""),
			"crunch-0-1 large, crunch-1-1 large", "Job/crunch 2 of 2"},
		{"an indexed job has one index by default", owner("batch/v1", "Job", "crunch", "completionMode: Indexed", ""), "crunch-0-1 large", "Job/crunch 1 of 1"},
		{"the indexes that do not run yet", owner("batch/v1", "Job", "runs", "parallelism: 2; completions: 2; completionMode: Indexed", ""),
			"runs-1-1 large", "Job/runs 1 of 1 and 1"},
		{"indexes that run, wherever they are among the others", owner("batch/v1", "Job", "some", "parallelism: 3; completions: 4; completionMode: Indexed", ""),
			"some-0-1 large, some-2-1 large", "Job/some 2 of 2 and 1"},
		{"a run of a cron job besides the last one", "{apiVersion: batch/v1, kind: CronJob, metadata: {name: weekly}, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: c}]}}}}}}",
			"weekly-1 small", "CronJob/weekly 1 of 1 and 1"},
		{"one run of a cron job", "{apiVersion: batch/v1, kind: CronJob, metadata: {name: nightly}, spec: {schedule: '@daily', suspend: true, jobTemplate: {spec: {parallelism: 2, " +
			"template: {spec: {containers: [{name: c, image: i, resources: {limits: {cpu: 500m}}}]}}}}}}", "nightly-1 large, nightly-2 large", "CronJob/nightly 2 of 2 suspended"},
		{"some do not fit", owner("apps/v1", "Deployment", "web", "replicas: 4; "+selects, ""),
			"web-1 large, web-2 small, web-3 large, web-4 Unplaced", "Deployment/web 3 of 4"},
		{"those of other schedulers", owner("apps/v1", "Deployment", "web", selects, "schedulerName: other, "), "web-1 NotOurs", "Deployment/web 0 of 1"},
		{"none beside a pod", owner("apps/v1", "Deployment", "web", "replicas: 0; "+selects, "") + yamlPod("x", "1m", ""), "x small", "Deployment/web 0 of 0"},
		{"the highest priority goes first, and displaces others", yamlPod("x", "500m", "") + owner("batch/v1", "Job", "urgent", "parallelism: 4", "priority: 9, "),
			"urgent-1 large, urgent-2 large, urgent-3 small, urgent-4 large -db-0, x Unplaced", "Job/urgent 4 of 4"},
		{"a job with a name of its own, whatever is in the cluster", strings.Replace(owner("batch/v1", "Job", "run-", "", ""), "{name: ", "{generateName: ", 1),
			"run-2-1 large", "Job/run-2 1 of 1"},
		{"a stateful set with a name of its own", strings.Replace(owner("apps/v1", "StatefulSet", "set-", selects, ""), "{name: ", "{generateName: ", 1),
			"set-2-0 large", "StatefulSet/set-2 1 of 1"},
		{"instead of one that is told to go", owner("apps/v1", "ReplicaSet", "leaving", selects, ""), "leaving-1 large", "ReplicaSet/leaving 1 of 1"},
		{"kinds of another group are others", owner("batch/v1", "Job", "volcano", "", ""), "volcano-1 large", "Job/volcano 1 of 1"},
		{"what another of the body controls has its pods", owner("apps/v1", "Deployment", "web", selects, "") +
			strings.Replace(owner("apps/v1", "ReplicaSet", "web-1a2b", "replicas: 1; "+selects, ""), "{name: \"web-1a2b\"",
				"{ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: x, controller: true}], name: \"web-1a2b\"", 1),
			"web-1 large", "Deployment/web 1 of 1"},
		{"lists of one kind", `{"apiVersion": "batch/v1", "kind": "JobList", "items": [{"metadata": {"generateName": "j"}, "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}]}`,
			"j1-1 small", "Job/j1 1 of 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, explain.Options{}, func(w *world) {
				w.node("small", "500m")
				w.node("large", "2")
				w.place(pod("db-0", "500m", on("large"), ownedBy("StatefulSet", "db")))
				w.place(pod("old", "500m", on("large"), priority(10), ownedBy("ReplicaSet", "old-1a2b"), func(p *v1.Pod) {
					p.Labels = map[string]string{"pod-template-hash": "1a2b"}
				}))
				w.place(pod("runs", "0", on("small"), ownedBy("Job", "runs"), index("0")))
				w.place(pod("some", "0", on("small"), ownedBy("Job", "some"), index("1")))
				w.place(pod("weekly", "0", on("large"), ownedBy("Job", "weekly-29713920")))
				w.place(pod("run-1-x", "0", on("large"), ownedBy("Job", "run-1")))
				w.place(pod("set-1-0", "0", on("large"), ownedBy("StatefulSet", "set-1")))
				w.place(pod("leaving-x", "0", on("large"), ownedBy("ReplicaSet", "leaving"), func(p *v1.Pod) {
					p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"a/b"}
				}))
				w.place(pod("volcano-x", "0", on("large"), ownedBy("Job", "volcano"), func(p *v1.Pod) {
					p.OwnerReferences[0].APIVersion = "batch.volcano.sh/v1alpha1"
				}))
				w.place(pod("other", "0", on("large"), ownedBy("Job", "weekly-other")))
				w.unchanged(func() {
					s := simulation[api.Simulation](w, c.body)
					if got := outcomes(s); got != c.want {
						t.Errorf("got  %s\nwant %s", got, c.want)
					}
					if got := counts(s); got != c.counts {
						t.Errorf("got  %s\nwant %s", got, c.counts)
					}
				})
			})
		})
	}
}

// The whole answer, with owners of which one has to displace a pod.
func TestSimulationsAnswerWithOwners(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("small", "500m")
		w.node("large", "2")
		w.place(pod("batch", "1", on("large")))
		w.place(pod("web-1a2b-x", "500m", on("large"), priority(9), ownedBy("ReplicaSet", "web-1a2b"), func(p *v1.Pod) {
			p.Labels = map[string]string{"pod-template-hash": "1a2b"}
		}))
		body := owner("apps/v1", "Deployment", "web", "replicas: 4; "+selects, "priority: 9, ") + owner("apps/v1", "StatefulSet", "db", "replicas: 2; "+selects, "")
		w.golden("owners.json", w.ask(http.MethodPost, "/explain/simulate", "application/yaml", body))
	})
}

func ownedBy(kind, name string) func(*v1.Pod) {
	controller := true
	return func(p *v1.Pod) {
		version := map[string]string{"Job": "batch/v1", "ReplicationController": "v1"}[kind]
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: cmp.Or(version, "apps/v1"), Kind: kind, Name: name, Controller: &controller}}
	}
}

// index makes the pod that of an index of a job.
func index(number string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": number}
	}
}

// What the adapter and its plugins read of pods is there as if controllers had made them.
func TestPodsOfOwners(t *testing.T) {
	for _, c := range []struct {
		body, owner, labels, selector string
	}{
		{owner("apps/v1", "Deployment", "web", selects, ""), "ReplicaSet web-new", "a:b pod-template-hash:new", "s In [t], a In [b], pod-template-hash In [new]"},
		{owner("apps/v1", "ReplicaSet", "web", selects, ""), "ReplicaSet web", "a:b", "s In [t], a In [b]"},
		{owner("v1", "ReplicationController", "web", "", ""), "ReplicationController web", "a:b", "s In [t], a In [b]"},
		{owner("apps/v1", "StatefulSet", "web", selects+"; volumeClaimTemplates: [{metadata: {name: data}}]", "volumes: [{name: data, emptyDir: {}}, {name: tmp, emptyDir: {}}], "),
			"StatefulSet web", "a:b apps.kubernetes.io/pod-index:0 statefulset.kubernetes.io/pod-name:web-0", "s In [t], a In [b]"},
		{owner("batch/v1", "Job", "web", "completions: 1; completionMode: Indexed", ""), "Job web",
			"a:b batch.kubernetes.io/job-completion-index:0 batch.kubernetes.io/job-name:web job-name:web", "s In [t]"},
	} {
		var p *v1.Pod
		var m *model.Workload
		w := newWorld(t, explain.Options{
			OwnerSelector: func(*v1.Pod) *model.Selector { return model.SelectLabels(map[string]string{"s": "t"}) },
			Translated:    func(made, object any) { m, p = made.(*model.Workload), object.(*v1.Pod) },
		})
		simulation[api.Simulation](w, c.body)
		o := metav1.GetControllerOf(p)
		if got := o.Kind + " " + o.Name; got != c.owner {
			t.Errorf("the owner is %s, not %s", got, c.owner)
		}
		if got := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(p.Labels), "map["), "]"); got != c.labels {
			t.Errorf("%s: the labels are %s, not %s", c.owner, got, c.labels)
		}
		if got := selectorText(m.OwnerSelector); got != c.selector {
			t.Errorf("%s: the owner's selector is %s, not %s", c.owner, got, c.selector)
		}
		if o.Kind == "StatefulSet" && (len(p.Spec.Volumes) != 2 || p.Spec.Volumes[0].PersistentVolumeClaim.ClaimName != "data-web-0" || p.Spec.Volumes[1].Name != "tmp") {
			t.Errorf("the volumes are %+v", p.Spec.Volumes)
		}
	}
}

// Pods that a Deployment lacks are like those that it has in the cluster: they are spread with them.
func TestPodsOfADeploymentAreSpreadWithThoseThatItHas(t *testing.T) {
	var selector string
	run(t, explain.Options{Translated: func(made, _ any) { selector = selectorText(made.(*model.Workload).OwnerSelector) }}, func(w *world) {
		for i, hash := range []string{"1a2b", "3c4d", "1a2b"} {
			w.submit(pod(fmt.Sprint("web-", i), "1", on("a"), ownedBy("ReplicaSet", "web-"+hash), func(p *v1.Pod) {
				p.Labels = map[string]string{"pod-template-hash": hash}
				p.CreationTimestamp = metav1.Unix(int64(10-(i-1)*(i-1)), 0)
			}))
		}
		simulation[api.Simulation](w, owner("apps/v1", "Deployment", "web", "replicas: 4; "+selects, ""))
		if selector != "a In [b], pod-template-hash In [3c4d]" {
			t.Error(selector)
		}
	})
}

// selectorText are the requirements of the selector.
func selectorText(s *model.Selector) string {
	var list []string
	for _, r := range s.Requirements {
		list = append(list, fmt.Sprintf("%s %s %v", r.Key, r.Operator, r.Values))
	}
	return strings.Join(list, ", ")
}

func TestOwnersThatAreRefused(t *testing.T) {
	w := newWorld(t, explain.Options{})
	for body, says := range map[string][]string{
		owner("apps/v1", "Deployment", "web", "replicas: -1", "nodeName: a, priorityClassName: none, "): {
			"deployment/web: spec.selector: is missing", "deployment/web: spec.replicas: is -1: it must not be negative",
			`deployment/web: spec.template.spec.nodeName: is "a"`, `deployment/web: spec.template.spec.priorityClassName: there is no priority class "none"`,
		},
		owner("apps/v1", "ReplicaSet", "web", "replicas: 999; selector: {matchLabels: {other: label}}", "") + yamlPod("p", "1", "") + yamlPod("q", "1", ""): {
			"replicaset/web: spec.selector: does not select the pods of the template",
			"replicaset/web: spec.replicas: makes it 999 pods: a simulation has at most 1000, and the others leave room for 998",
		},
		owner("apps/v1", "StatefulSet", "", selects, "") + owner("apps/v1", "StatefulSet", "db", selects, "") + owner("apps/v1", "StatefulSet", "db", selects, ""): {
			"objects[0]: metadata.name: is missing", `statefulset/db (objects[2]): metadata.name: "db" is listed twice`,
			`statefulset/db (objects[2]): metadata.name: gives a pod the name "db-0", which is listed, too`,
		},
		strings.ReplaceAll(yamlPod("x", "1", "")+yamlPod("x", "1", ""), `{name: "x"}`, `{name: "x", generateName: "x-"}`): { // as kubectl prints them
			`pod/x (objects[1]): metadata.name: "x" is listed twice`,
		},
		owner("batch/v1", "Job", "v1.2", "completions: 2; completionMode: Indexed; parallelism: 1", "") + owner("batch/v1", "Job", "w1.2", "", ""): {
			`job/v1.2: metadata.name: must not contain dots: its last pod would be the host "v1.2-1"`,
		},
		inNamespace("shop", owner("apps/v1", "Deployment", "web", "replicas: -1; "+selects, "")) + inNamespace("lab", owner("apps/v1", "Deployment", "web", "replicas: -2; "+selects, "")): {
			"deployment/web in namespace shop: spec.replicas: is -1", "deployment/web in namespace lab: spec.replicas: is -2",
		},
		inNamespace("shop", owner("apps/v1", "Deployment", "web", "replicsa: 1", "")) + inNamespace("shop", owner("apps/v1", "Deployment", "web", "replicsa: 1", "")): {
			`deployment/web in namespace shop (objects[0]): unknown field "spec.replicsa"`, `deployment/web in namespace shop (objects[1]): unknown field`,
		},
		inNamespace("No_1", owner("apps/v1", "Deployment", "Web.x_y", selects, "")): {
			"deployment/Web.x_y in namespace No_1: metadata.name: a lowercase RFC 1123 subdomain", "deployment/Web.x_y in namespace No_1: metadata.namespace: a lowercase RFC 1123 label",
		},
		owner("apps/v1", "StatefulSet", "web.x", selects, "") + strings.ReplaceAll(yamlPod("-x", "1m", ""), "name: \"", "generateName: \""): {
			"statefulset/web.x: metadata.name: must not contain dots", "objects[1]: metadata.generateName: a lowercase RFC 1123 subdomain",
		},
		owner("batch/v1", "Job", strings.Repeat("y", 64), "", "") + owner("apps/v1", "StatefulSet", strings.Repeat("z", 61), "replicas: 11; "+selects, "") +
			owner("batch/v1", "Job", strings.Repeat("w", 62), "completions: 2; completionMode: Indexed; parallelism: 1", ""): {
			"yyy: metadata.name: must be no more than 63 characters", "zzz: metadata.name: is too long: its last pod would be", "www: metadata.name: is too long: its last pod would be",
		},
		"{apiVersion: batch/v1, kind: CronJob, metadata: {name: " + strings.Repeat("x", 53) + "}, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: c}]}}}}}}": {
			"xxx: metadata.name: must be no more than 52 characters",
		},
		"{apiVersion: batch/v1, kind: CronJob, metadata: {generateName: " + strings.Repeat("x", 48) + "}, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: c}]}}}}}}": {
			"objects[0]: metadata.generateName: must be no more than 47 characters: the API server adds 5",
		},
		owner("apps/v1", "StatefulSet", "db", selects+"; ordinals: {start: -5}; volumeClaimTemplates: [{}, {metadata: {name: A}}, {metadata: {name: data}, spec: {accessModes: [Some]}}]", ""): {
			"statefulset/db: spec.ordinals.start: is -5: it must not be negative", "statefulset/db: spec.volumeClaimTemplates[0].metadata.name: is missing",
			"statefulset/db: spec.volumeClaimTemplates[1].metadata.name: a lowercase RFC 1123 label",
			`statefulset/db: spec.volumeClaimTemplates[2].spec.accessModes[0]: "Some" is not an access mode`,
		},
		owner("v1", "ReplicationController", "web", "selector: {other: label}", ""): {"replicationcontroller/web: spec.selector: does not select the pods of the template"},
		owner("batch/v1", "Job", "j", "completions: -1; parallelism: 3", "nodeName: a, "): {
			"job/j: spec.completions: is -1", `job/j: spec.template.spec.nodeName: is "a"`,
		},
		owner("apps/v1", "Deployment", "fat", "replicas: 1000; "+selects, "nodeSelector: {x: "+strings.Repeat("z", 1<<16)+"}, "): {
			"deployment/fat: spec.replicas: makes it 1000 pods of 65",
		},
		owner("apps/v1", "DaemonSet", "agent", selects, ""):             {"daemonset/agent: is a DaemonSet: "},
		owner("batch/v1", "Job", "typo", "completionMode: indexed", ""): {`job/typo: spec.completionMode: is "indexed": it is "NonIndexed" or "Indexed"`},
		owner("batch/v1", "Job", "j", "completionMode: Indexed; parallelism: 2; managedBy: example.com/x; scheduling: {}", ""): {
			"job/j: spec.completions: is missing", `job/j: spec.managedBy: is "example.com/x"`, "job/j: spec.scheduling: is not simulated",
		},
		"{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {jobTemplate: {spec: {completions: -1}}}}": {
			"cronjob/c: spec.jobTemplate.spec.completions: is -1",
		},
		"{apiVersion: v1, kind: ReplicationController, metadata: {name: c}}": {"replicationcontroller/c: spec.template: is missing"},
		owner("apps/v1", "Deployment", "web", "replicsa: 3", "nodeNmae: a, "): {
			`deployment/web: unknown field "spec.replicsa"`, `deployment/web: unknown field "spec.template.spec.nodeNmae"`,
		},
		owner("apps/v1", "Deployment", "web", "replicas: 0; "+selects, ""): {"objects: there is no pod among them, and none that they would have"},
	} {
		status := w.refuses(http.MethodPost, "/explain/simulate", "application/yaml", body, http.StatusUnprocessableEntity, says[0])
		if len(status.Details.Causes) != len(says) {
			t.Errorf("there are %d problems, not %d: %s", len(status.Details.Causes), len(says), status.Message)
		}
		for _, text := range says {
			if !strings.Contains(status.Message, text) {
				t.Errorf("it says\n%s\nand not\n%s", status.Message, text)
			}
		}
	}
}

// Names that are made up step aside for those that the body gives, wherever these stand.
func TestNamesThatAreGivenComeFirst(t *testing.T) {
	deployment := owner("apps/v1", "Deployment", "web", "replicas: 3; "+selects, "")
	set := owner("apps/v1", "StatefulSet", "web", "replicas: 2; "+selects, "")
	made := strings.Replace(set, `name: "web"`, `generateName: "web-"`, 1)
	for _, c := range []struct{ body, want string }{
		{deployment + set, "web-2 web-3 web-4 web-0 web-1"},
		{set + deployment, "web-0 web-1 web-2 web-3 web-4"},
		{deployment + yamlPod("web-1", "1m", ""), "web-2 web-3 web-4 web-1"},
		{made + owner("apps/v1", "StatefulSet", "web-1", selects, ""), "web-2-0 web-2-1 web-1-0"},
		{deployment + inNamespace("other", set), "web-1 web-2 web-3 web-0 web-1"},
		{owner("apps/v1", "Deployment", strings.Repeat("x", 99), selects, ""), strings.Repeat("x", 58) + "1"},
	} {
		w := newWorld(t, explain.Options{})
		w.node("a", "9")
		var names []string
		for _, p := range simulation[api.Simulation](w, c.body).Pods {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
