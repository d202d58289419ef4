package explain_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1"
	groupslisters "k8s.io/client-go/listers/scheduling/v1beta1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// yamlPod is a pod as in a file: what the API server would fill in is missing.
func yamlPod(name, cpu, more string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Pod
metadata: {name: "%s"}
spec:
  containers: [{name: c, image: i, resources: {requests: {cpu: %s}}}]
%s
`, name, cpu, more)
}

const group = `---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: gang}
spec: {schedulingPolicy: {gang: {minCount: %d}}, %s}
`

// outcomes is what happened to all pods, in a line.
func outcomes(s *api.Simulation) string {
	var list []string
	for _, p := range s.Pods {
		text := p.Name + " "
		switch {
		case p.Node != "":
			text += p.Node
		default:
			text += string(p.Outcome)
		}
		for _, v := range p.Preempts {
			text += " -" + v.Name
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func TestSimulate(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       string
		fits       bool
	}{
		{"pods go where there is room, one after the other",
			yamlPod("x", "1", "") + yamlPod("y", "500m", "") + yamlPod("z", "1", ""), "x large, y small, z Unplaced", false},
		{"the highest priority goes first",
			yamlPod("x", "1", "") + yamlPod("y", "1", "  priority: 7"), "y large, x Unplaced", false},
		{"what would be preempted is gone then",
			yamlPod("x", "2", "  priority: 200") + yamlPod("y", "500m", ""), "x large -old, y small", true},
		{"nobody is preempted for equals", yamlPod("x", "2", ""), "x Unplaced", false},
		{"gates do not count", yamlPod("x", "1", "  schedulingGates: [{name: later}]"), "x large", true},
		{"names are made up", strings.ReplaceAll(yamlPod("web-", "100m", "")+yamlPod("web-", "100m", ""), `{name: "web-"}`, "{generateName: web-}"),
			"web-1 small, web-2 small", true},
		{"a member waits for its group", yamlPod("x", "1", "  schedulingGroup: {podGroupName: gang}"), "x Unplaced", false},
		{"a gang goes as a whole",
			fmt.Sprintf(group, 2, "") + yamlPod("x", "1", "  schedulingGroup: {podGroupName: gang}") + yamlPod("y", "500m", "  schedulingGroup: {podGroupName: gang}"),
			"x large, y small", true},
		{"or not at all",
			yamlPod("y", "1", "  schedulingGroup: {podGroupName: gang}") + yamlPod("x", "1", "  schedulingGroup: {podGroupName: gang}") + fmt.Sprintf(group, 2, ""),
			"y Unplaced, x Unplaced", false},
		{"requests are at least the limits", strings.ReplaceAll(yamlPod("x", "2", ""), "requests", "limits"), "x Unplaced", false},
		{"ports of the host",
			strings.ReplaceAll(yamlPod("x", "1m", "  hostNetwork: true")+yamlPod("y", "1m", "  hostNetwork: true")+yamlPod("z", "1m", "  hostNetwork: true"),
				"image: i,", "image: i, ports: [{containerPort: 80}],"), "x small, y large, z Unplaced", false},
		{"those of other schedulers are left out, and the others go on",
			yamlPod("x", "2", "  schedulerName: other\n  priority: 9") + yamlPod("y", "1", ""), "y large, x NotOurs", false},
		{"what is there stays there", yamlPod("old", "1", "") + yamlPod("y", "1", ""), "y large, old large", true},
		{"also alone", yamlPod("old", "1", ""), "old large", true},
		{"unless it is displaced", yamlPod("old", "1", "") + yamlPod("y", "2", "  priority: 200"), "y large -old, old Unplaced", false},
		{"a generated name is that of no other", strings.Replace(yamlPod("old", "1", ""), `name: "old"`, "generateName: ol", 1), "ol1 large", true},
		{"also if there are none", yamlPod("x", "1", "  schedulerName: other"), "x NotOurs", false},
		{"classes of the body", yamlPod("x", "2", "  priorityClassName: high") +
			"---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 300}", "x large -old", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, explain.Options{}, func(w *world) {
				w.node("small", "500m")
				w.node("large", "2")
				w.place(pod("old", "1", priority(100), func(p *v1.Pod) { p.Spec.NodeName = "large" }))
				w.unchanged(func() {
					s := simulation[api.Simulation](w, c.body)
					if got := outcomes(s); got != c.want {
						t.Errorf("got  %s\nwant %s", got, c.want)
					}
					if s.Fits != c.fits {
						t.Errorf("fits is %v", s.Fits)
					}
				})
			})
		})
	}
}

// unchanged expects that f changes nothing that the engine knows.
func (w *world) unchanged(f func()) {
	w.t.Helper()
	index, counts := w.engine.View().Index(), w.engine.QueueCounts()
	f()
	if now := w.engine.View().Index(); now != index {
		w.t.Errorf("the record has changed: it was at %d and is at %d", index, now)
	}
	if now := w.engine.QueueCounts(); now != counts {
		w.t.Errorf("the queue has changed: it was %+v and is %+v", counts, now)
	}
}

// The whole answer, for pods of both kinds of lists, and with a group.
func TestSimulationsAnswer(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("small", "500m")
		w.node("large", "2")
		w.place(pod("old", "1", func(p *v1.Pod) { p.Spec.NodeName = "large" }))
		body := `{"apiVersion": "v1", "kind": "List", "items": [
			{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "huge", "namespace": "own"}, "spec": {"priority": 1, "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1500m"}}}]}},
			{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "gated"}, "spec": {"schedulingGates": [{"name": "later"}], "containers": [{"name": "c", "image": "i"}]}},
			{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "member"}, "spec": {"schedulingGroup": {"podGroupName": "gang"}, "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]}},
			{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "gang"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}}
		]}`
		w.golden("simulation.json", w.ask(http.MethodPost, "/explain/simulate?namespace=team", "application/json", body))
	})
}

// Members that wait in the cluster are placed with those of the request, and a group
// may preempt.
func TestSimulateTheRestOfAGroup(t *testing.T) {
	run(t, explain.Options{}, func(w *world) {
		w.node("a", "2")
		w.node("b", "2")
		member := func(p *v1.Pod) {
			name := "gang"
			p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
		}
		w.apply(engine.PutGroup(&model.Group{ID: "default/gang", Namespace: "default", Name: "gang", Policy: model.Gang, MinCount: 2, Priority: 9}))
		w.place(pod("there", "1500m", priority(9), member))
		w.unchanged(func() {
			s := simulation[api.Simulation](w, yamlPod("new", "1500m", "  priority: 9\n  schedulingGroup: {podGroupName: gang}"))
			if len(s.Pods) != 2 || !s.Fits || s.Pods[0].Name != "new" || !s.Pods[1].InCluster || s.Pods[1].Name != "there" || s.Pods[0].Node == s.Pods[1].Node {
				t.Errorf("%+v", s)
			}
		})
		w.place(pod("low", "1", func(p *v1.Pod) { p.Spec.NodeName = "a" }))
		w.unchanged(func() {
			s := simulation[api.Simulation](w, yamlPod("new", "1500m", "  priority: 9\n  schedulingGroup: {podGroupName: gang}"))
			if !s.Fits || len(s.Groups) != 1 || !s.Groups[0].Placed || len(s.Groups[0].Preempts) != 1 || s.Groups[0].Preempts[0].Name != "low" {
				t.Errorf("%+v", s)
			}
		})
	})
}

// What the adapter knows besides counts: priority classes, pod groups and owners.
func TestSimulateWithWhatTheAdapterKnows(t *testing.T) {
	indexer := func(objects ...any) cache.Indexer {
		i := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		for _, o := range objects {
			if err := i.Add(o); err != nil {
				t.Fatal(err)
			}
		}
		return i
	}
	never := v1.PreemptNever
	asked, translated := 0, []string{}
	run(t, explain.Options{
		Translated: func(made, object any) {
			if w, p := made.(*model.Workload), object.(*v1.Pod); w.Name == p.Name {
				translated = append(translated, p.Name)
			}
		},
		PriorityClasses: schedulinglisters.NewPriorityClassLister(indexer(
			&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 5, GlobalDefault: true},
			&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "polite"}, Value: 50, PreemptionPolicy: &never},
		)),
		Groups: groupslisters.NewPodGroupLister(indexer(&schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gang"}})),
		OwnerSelector: func(p *v1.Pod) *model.Selector {
			asked++
			return nil
		},
	}, func(w *world) {
		w.node("a", "1")
		w.submit(pod("old", "1", func(p *v1.Pod) { p.Spec.NodeName = "a" }))
		s := simulation[api.Simulation](w, yamlPod("x", "1", "")+yamlPod("y", "1", "  priorityClassName: polite")+yamlPod("z", "1", "  priority: 4"))
		if got := outcomes(s); got != "y Unplaced, x a -old, z Unplaced" {
			t.Error(got)
		}
		if got := []int32{s.Pods[0].Priority, s.Pods[1].Priority, s.Pods[2].Priority}; !slices.Equal(got, []int32{50, 5, 4}) {
			t.Errorf("priorities are %v", got)
		}
		if asked != 3 {
			t.Errorf("the owners of %d pods were asked for", asked)
		}
		if got := strings.Join(translated, " "); got != "x y z" {
			t.Errorf("the pods %s were told of", got)
		}
	})
}

func TestSimulationsThatAreRefused(t *testing.T) {
	const yaml = "application/yaml"
	w := newWorld(t, explain.Options{})
	for _, c := range []struct {
		name, contentType, body string
		code                    int
		says                    []string
	}{
		{"no type", "", "{}", 415, []string{`the Content-Type is ""`}},
		{"another type", "text/plain", "{}", 415, []string{"it must be application/json or application/yaml"}},
		{"nothing", yaml, "# nothing\n---\n", 422, []string{"objects: there is no pod among them, and none that they would have"}},
		{"no object", yaml, "a: b", 422, []string{"objects[0]: Object 'Kind' is missing"}},
		{"no YAML", yaml, "a: b: c", 422, []string{"objects[0]: "}},
		{"too long", yaml, "# " + strings.Repeat("x", 3<<20), 413, []string{"limit is 1048576 bytes"}},
		{"too many", yaml, strings.Repeat(yamlPod("x", "1", ""), 1001), 413, []string{"there are more than 1000 objects"}},
		{"too many in a list", "application/json", `{"apiVersion":"v1","kind":"PodList","items":[{}` + strings.Repeat(",{}", 1000) + "]}", 413, []string{"more than 1000"}},
		{"another kind", yaml, "{apiVersion: v1, kind: Service, metadata: {name: web}}", 422, []string{"service/web: is a Service of v1: known are Pod and ReplicationController of v1, "}},
		{"another version", yaml, "{apiVersion: apps/v1beta1, kind: Deployment}", 422, []string{"objects[0]: is a Deployment of apps/v1beta1: known are "}},
		{"a list in a list", yaml, "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List}]}", 422, []string{"objects[0]: is a list in a list"}},
		{"all problems at once", yaml,
			yamlPod("x", "1", "  nodeNmae: a\n  hostNetwork: true\n  hostNetwork: true") + yamlPod("y", "lots", ""), 422,
			[]string{`pod/x: unknown field "spec.nodeNmae"`, `key "hostNetwork" already set`, "pod/y: quantities must match"}},
		{"problems of the objects", yaml,
			yamlPod("x", "1", "  nodeName: a") + yamlPod("x", "1", "  priorityClassName: none") +
				yamlPod("", "1", "") + fmt.Sprintf(group, 0, "priorityClassName: none"), 422,
			[]string{
				`pod/x (objects[0]): spec.nodeName: is "a"`,
				`pod/x (objects[1]): metadata.name: "x" is listed twice`, `pod/x (objects[1]): spec.priorityClassName: there is no priority class "none"`,
				`objects[2]: metadata.name: is missing`, `podgroup/gang: spec.schedulingPolicy.gang.minCount: `, `podgroup/gang: spec.priorityClassName: `,
			}},
		{"what the engine refuses", yaml,
			"{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: c}, spec: {schedulingPolicy: {basic: {}}, parentCompositePodGroupName: d}}\n" +
				"---\n{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: d}, spec: {schedulingPolicy: {basic: {}}, parentCompositePodGroupName: c}}\n" +
				yamlPod("x", "1", "  schedulingGroup: {podGroupName: g}"), 422, []string{"compositepodgroup/d: group "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.unchanged(func() {
				status := w.refuses(http.MethodPost, "/explain/simulate", c.contentType, c.body, c.code, c.says[0])
				for _, says := range c.says {
					if !strings.Contains(status.Message, says) {
						t.Errorf("it says\n%s\nand not\n%s", status.Message, says)
					}
				}
				if c.code == http.StatusUnprocessableEntity && (status.Details == nil || len(status.Details.Causes) == 0) {
					t.Error("there are no causes")
				}
			})
		})
	}
}
