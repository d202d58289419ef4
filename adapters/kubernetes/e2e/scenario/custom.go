package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// custom is about the plugins of other projects that go by custom resources, whose definitions
// are installed, or by measurements.
var custom = []Scenario{
	{Name: "custom/a quota that is borrowed is taken back", Run: quotaTakenBack, Berth: true},
	{Name: "custom/a gang by the label of its group", Run: labelledGang, Berth: true},
	{Name: "custom/a pod goes where one NUMA zone has room for it", Run: numaZone, Berth: true},
	{Name: "custom/what depends on a pod goes near it", Run: networkCosts, Berth: true},
	{Name: "custom/pods go by measured load", Run: measuredLoad, Berth: true},
	{Name: "custom/pods are placed where measurements fail, and where they lie", Run: badMeasurements, Berth: true},
}

func quotaTakenBack(t *testing.T, e *Env) {
	e.define(t, "Namespaced", schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "ElasticQuota"})
	const lender = "lender"
	e.Create(t, smallNode("n", "4").Obj(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: lender}})
	for _, namespace := range []string{cluster.Namespace, lender} {
		e.createText(t, `
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: ElasticQuota
metadata: {name: q, namespace: `+namespace+`}
spec: {min: {cpu: 2}, max: {cpu: 4}}`)
	}
	e.Schedule(t, `profiles: [{plugins: {multiPoint: {enabled: [{name: CapacityScheduling}]}}}]`)
	for i := range 4 {
		e.Create(t, labelled(fmt.Sprint("borrows", i), "borrower", "1").Obj())
	}
	e.AllBound(t, "borrower", 4)
	for i := range 3 {
		e.Create(t, labelled(fmt.Sprint("lends", i), "lender", "1").Namespace(lender).Obj())
	}
	bound := func() (n int) {
		for i := range 3 {
			if p, err := e.PodIn(lender, fmt.Sprint("lends", i)); err == nil && p.Spec.NodeName != "" {
				n++
			}
		}
		return n
	}
	e.Await(t, "the namespace that has lent gets its minimum back", func() error {
		if n := bound(); n != 2 {
			return fmt.Errorf("%d of its pods have a node", n)
		}
		return nil
	})
	left := 0
	for i := range 4 {
		if p, err := e.PodIn(cluster.Namespace, fmt.Sprint("borrows", i)); err == nil && p.DeletionTimestamp == nil {
			left++
		}
	}
	if left != 2 || bound() != 2 {
		t.Errorf("the one that has borrowed has %d pods, and the other %d: each is entitled to 2", left, bound())
	}
}

func labelledGang(t *testing.T, e *Env) {
	e.define(t, "Namespaced", schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"})
	e.createText(t, `
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: gang, namespace: `+cluster.Namespace+`}
spec: {minMember: 3}`)
	e.Create(t, smallNode("a", "2").Obj())
	e.Schedule(t, `
profiles:
- plugins:
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}
    multiPoint: {enabled: [{name: Coscheduling}]}
`)
	for i := range 3 {
		e.Create(t, labelled(fmt.Sprint("p", i), "gang", "1").Label("scheduling.x-k8s.io/pod-group", "gang").Obj())
	}
	e.awaitUnschedulable(t, "p2", "")
	for i := range 3 {
		e.NotBound(t, fmt.Sprint("p", i))
	}
	e.Create(t, smallNode("b", "2").Obj())
	e.AllBound(t, "gang", 3)
}

func numaZone(t *testing.T, e *Env) {
	e.define(t, "Cluster", schema.GroupVersionKind{Group: "topology.node.k8s.io", Version: "v1alpha2", Kind: "NodeResourceTopology"})
	for node, cpus := range map[string]int{"small-zones": 4, "large-zones": 8} {
		e.Create(t, smallNode(node, fmt.Sprint(2*cpus)).Obj())
		e.createText(t, fmt.Sprintf(`
apiVersion: topology.node.k8s.io/v1alpha2
kind: NodeResourceTopology
metadata: {name: %s}
attributes: [{name: topologyManagerPolicy, value: single-numa-node}]
zones:
- {name: node-0, type: Node, resources: [{name: cpu, capacity: %[2]d, allocatable: %[2]d, available: %[2]d}]}
- {name: node-1, type: Node, resources: [{name: cpu, capacity: %[2]d, allocatable: %[2]d, available: %[2]d}]}`, node, cpus))
	}
	e.Schedule(t, `profiles: [{plugins: {multiPoint: {enabled: [{name: NodeResourceTopologyMatch}]}}}]`)
	pod := func(name, cpus string) *corev1.Pod {
		return cluster.Pod(name).Res(cluster.Resources{corev1.ResourceCPU: cpus, corev1.ResourceMemory: "1Gi"}).Obj()
	}
	e.Create(t, pod("first", "6"))
	e.BoundTo(t, "first", "large-zones")
	// Until the node reports again the first may be in either zone.
	e.Create(t, pod("second", "6"))
	e.awaitUnschedulable(t, "second", "2 cannot align container")
	e.Create(t, pod("fits", "2"))
	e.Bound(t, "fits")
}

func networkCosts(t *testing.T, e *Env) {
	e.define(t, "Namespaced", schema.GroupVersionKind{Group: "appgroup.diktyo.x-k8s.io", Version: "v1alpha1", Kind: "AppGroup"})
	e.define(t, "Namespaced", schema.GroupVersionKind{Group: "networktopology.diktyo.x-k8s.io", Version: "v1alpha1", Kind: "NetworkTopology"})
	e.createText(t, `
apiVersion: appgroup.diktyo.x-k8s.io/v1alpha1
kind: AppGroup
metadata: {name: shop, namespace: `+cluster.Namespace+`}
spec:
  numMembers: 2
  workloads:
  - {workload: {selector: web}, dependencies: [{workload: {selector: db}, maxNetworkCost: 3}]}
  - {workload: {selector: db}}
status: {topologyOrder: [{workload: {selector: db}, index: 1}, {workload: {selector: web}, index: 2}]}`)
	e.createText(t, `
apiVersion: networktopology.diktyo.x-k8s.io/v1alpha1
kind: NetworkTopology
metadata: {name: nt, namespace: `+cluster.Namespace+`}
spec:
  weights:
  - name: UserDefined
    topologyList:
    - topologyKey: topology.kubernetes.io/zone
      originList:
      - {origin: near, costList: [{destination: far, networkCost: 5}]}
      - {origin: far, costList: [{destination: near, networkCost: 5}]}`)
	e.Create(t, cluster.ZonedNode("a", "near").Obj(), cluster.ZonedNode("b", "near").Obj(), cluster.ZonedNode("c", "far").Obj())
	e.Schedule(t, `
profiles:
- plugins: {multiPoint: {enabled: [{name: NetworkOverhead}]}}
  pluginConfig: [{name: NetworkOverhead, args: {namespaces: [`+cluster.Namespace+`], weightsName: UserDefined, networkTopologyName: nt}}]
`)
	part := func(name, selector string) *st.PodWrapper {
		return cluster.Pod(name).Label("appgroup.diktyo.x-k8s.io", "shop").Label("appgroup.diktyo.x-k8s.io.workload", selector)
	}
	e.Create(t, on("a", part("db", "db").Req(cluster.CPU("1")).Obj()))
	e.Create(t, on("b", cluster.Pod("other").Req(cluster.CPU("1")).Obj())) // by room alone it would be c
	for i := range 3 {
		name := fmt.Sprint("web", i)
		e.Create(t, part(name, "web").Obj())
		if node := e.Bound(t, name); node == "c" {
			t.Errorf("%s is on node %s, whose costs are too high", name, node)
		}
	}
	e.Create(t, part("far", "web").NodeSelector(map[string]string{cluster.Zone: "far"}).Obj())
	e.awaitUnschedulable(t, "far", "")
}

// byLoad is a profile that goes by the loads that the service at the address measures.
func byLoad(address string) string {
	return `
profiles:
- plugins:
    score: {disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]}
    multiPoint: {enabled: [{name: TargetLoadPacking, weight: 5}]}
  pluginConfig: [{name: TargetLoadPacking, args: {watcherAddress: "` + address + `"}}]
`
}

// measures is a load-watcher service that answers with the text, in which %d is the time now.
func measures(t *testing.T, code int, text string) string {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = fmt.Fprint(w, strings.ReplaceAll(text, "%d", fmt.Sprint(time.Now().Unix())))
	}))
	t.Cleanup(service.Close)
	return service.URL
}

func measuredLoad(t *testing.T, e *Env) {
	e.Create(t, smallNode("busy", "16").Obj(), smallNode("idle", "16").Obj())
	e.Schedule(t, byLoad(measures(t, http.StatusOK, `{"window": {"duration": "15m", "end": %d}, "data": {"NodeMetricsMap": {
		"busy": {"metrics": [{"type": "CPU", "operator": "AVG", "value": 90}]},
		"idle": {"metrics": [{"type": "CPU", "operator": "AVG", "value": 20}]}}}}`)))
	for i := 0; ; i++ { // the measurements are there a moment after the scheduler
		name := fmt.Sprint("probe", i)
		e.Create(t, cluster.Pod(name).Res(cluster.CPU("10m")).Obj())
		if e.Bound(t, name) == "idle" && i > 0 {
			break
		}
		if i == 50 {
			t.Fatal("no pod goes where there is less load")
		}
	}
	for i := range 10 {
		name := fmt.Sprint("p", i)
		e.Create(t, cluster.Pod(name).Res(cluster.CPU("10m")).Obj())
		e.BoundTo(t, name, "idle")
	}
}

func badMeasurements(t *testing.T, e *Env) {
	e.Create(t, smallNode("a", "16").Obj(), smallNode("b", "16").Obj())
	value := func(text string) string {
		return `{"window": {"duration": "15m", "end": %d}, "data": {"NodeMetricsMap": {
			"a": {"metrics": [{"type": "CPU", "operator": "AVG", "value": ` + text + `}]}, "gone": {"metrics": [{"type": "CPU", "operator": "AVG", "value": 1}]}}}}`
	}
	for name, address := range map[string]string{
		"nobody":   "http://127.0.0.1:9",
		"failing":  measures(t, http.StatusInternalServerError, "no"),
		"text":     measures(t, http.StatusOK, "<html>"),
		"empty":    measures(t, http.StatusOK, "{}"),
		"negative": measures(t, http.StatusOK, value("-5")),
		"huge":     measures(t, http.StatusOK, value("1e300")),
		"old":      measures(t, http.StatusOK, strings.ReplaceAll(value("50"), "%d", "1")),
		"future":   measures(t, http.StatusOK, strings.ReplaceAll(value("50"), "%d", "99999999999")),
	} {
		s := e.Schedule(t, byLoad(address))
		for i := range 4 {
			e.Create(t, labelled(fmt.Sprint(name, i), name, "100m").Obj())
		}
		e.AllBound(t, name, 4)
		s.Kill()
	}
}

// labelled is a pod with the label app and CPUs.
func labelled(name, app, cpus string) *st.PodWrapper {
	return cluster.Pod(name).Label("app", app).Req(cluster.CPU(cpus))
}

// awaitUnschedulable waits until the pod says that it fits nowhere, for the reason among others.
func (e *Env) awaitUnschedulable(t *testing.T, name, reason string) {
	t.Helper()
	e.AwaitPod(t, name, "fits nowhere", func(p *corev1.Pod) error {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable && strings.Contains(c.Message, reason) {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %+v", p.Status.Conditions)
	})
	e.NotBound(t, name)
}

// createText creates the object that the text describes.
func (e *Env) createText(t *testing.T, text string) {
	t.Helper()
	o := &unstructured.Unstructured{}
	must(t, yaml.Unmarshal([]byte(text), &o.Object))
	e.Create(t, o)
}

// define installs the definition of a custom resource of the scope, Namespaced or Cluster, until
// the end of the test, and lets the scheduler's user read it.
func (e *Env) define(t *testing.T, scope string, kind schema.GroupVersionKind) {
	t.Helper()
	plural, singular := meta.UnsafeGuessKindToResource(kind)
	name := plural.Resource + "." + kind.Group
	e.createText(t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s, annotations: {api-approved.kubernetes.io: "unapproved, for a test"}}
spec:
  group: %s
  scope: %s
  names: {plural: %s, singular: %s, kind: %s}
  versions:
  - {name: %s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`,
		name, kind.Group, scope, plural.Resource, singular.Resource, kind.Kind, kind.Version))
	rule := rbacv1.PolicyRule{APIGroups: []string{kind.Group}, Resources: []string{plural.Resource}, Verbs: []string{"list", "watch"}}
	role := metav1.ObjectMeta{Name: "read:" + name}
	e.Create(t, &rbacv1.ClusterRole{ObjectMeta: role, Rules: []rbacv1.PolicyRule{rule}}, &rbacv1.ClusterRoleBinding{
		ObjectMeta: role,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: controlplane.SchedulerUser}},
	})
	t.Cleanup(func() {
		e.kubectl(t, "delete", "customresourcedefinition", name)
		rbac := e.Client.RbacV1()
		err := rbac.ClusterRoleBindings().Delete(context.Background(), role.Name, metav1.DeleteOptions{})
		must(t, errors.Join(err, rbac.ClusterRoles().Delete(context.Background(), role.Name, metav1.DeleteOptions{})))
	})
	e.allowed(t, rule, controlplane.SchedulerUser)
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, cluster.Patience, true, func(context.Context) (bool, error) {
		list, err := e.Client.Discovery().ServerResourcesForGroupVersion(kind.GroupVersion().String())
		return err == nil && len(list.APIResources) > 0, nil
	}))
}
