package convert

import (
	"math"
	"reflect"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/berth-project/berth/model"
)

// list reads "cpu=1 memory=1Gi".
func list(text string) v1.ResourceList {
	if text == "" {
		return nil
	}
	l := v1.ResourceList{}
	for _, pair := range strings.Fields(text) {
		name, amount, _ := strings.Cut(pair, "=")
		l[v1.ResourceName(name)] = resource.MustParse(amount)
	}
	return l
}

const mi = 1024 * 1024

func TestPodRequests(t *testing.T) {
	t.Parallel()
	always := v1.ContainerRestartPolicyAlways
	containers := func(texts ...string) []v1.Container {
		var cs []v1.Container
		for i, text := range texts {
			cs = append(cs, v1.Container{Name: string(rune('a' + i)), Resources: v1.ResourceRequirements{Requests: list(text)}})
		}
		return cs
	}
	sidecar := func(text string) v1.Container {
		c := containers(text)[0]
		c.Name, c.RestartPolicy = "s", &always
		return c
	}
	tests := []struct {
		name          string
		pod           v1.Pod
		want          model.Resources
		cpu, memoryMi int64 // the estimate
	}{
		{"nothing is not zero", v1.Pod{Spec: v1.PodSpec{Containers: containers("")}},
			model.Resources{}, 100, 200},
		{"zero is zero", v1.Pod{Spec: v1.PodSpec{Containers: containers("cpu=0 memory=0 example.com/gpu=0")}},
			model.Resources{Scalars: []model.Scalar{{Name: "example.com/gpu"}}}, 0, 0},
		{"what is missing is assumed for each container", v1.Pod{Spec: v1.PodSpec{Containers: containers("cpu=1", "memory=1Mi", "")}},
			model.Resources{CPU: 1000, Memory: mi}, 1200, 401},
		{"amounts are added first and rounded up then", v1.Pod{Spec: v1.PodSpec{Containers: containers("cpu=100u memory=100m", "cpu=100u memory=100m")}},
			model.Resources{CPU: 1, Memory: 1}, 1, 0},
		{"only some names count", v1.Pod{Spec: v1.PodSpec{Containers: containers("pods=1 storage=1 unknown=1 requests.io/x=1 hugepages-2Mi=1 x.kubernetes.io/y=2 attachable-volumes-z=3 example.com/gpu=4")}},
			model.Resources{Scalars: []model.Scalar{{Name: "attachable-volumes-z", Amount: 3}, {Name: "example.com/gpu", Amount: 4}, {Name: "hugepages-2Mi", Amount: 1}, {Name: "x.kubernetes.io/y", Amount: 2}}}, 100, 200},
		{"init containers run one after the other", v1.Pod{Spec: v1.PodSpec{Containers: containers("cpu=1 memory=1Mi", "cpu=1 memory=1Mi"), InitContainers: containers("cpu=3 memory=0", "cpu=1 memory=4Mi")}},
			model.Resources{CPU: 3000, Memory: 4 * mi}, 3000, 4},
		{"sidecars run beside what comes later", v1.Pod{Spec: v1.PodSpec{Containers: containers("cpu=1 memory=0"), InitContainers: []v1.Container{sidecar("cpu=1 memory=0"), containers("cpu=2 memory=0")[0]}}},
			model.Resources{CPU: 3000}, 3000, 0},
		{"overhead is added", v1.Pod{Spec: v1.PodSpec{Containers: containers("cpu=1"), Overhead: list("cpu=250m memory=10Mi")}},
			model.Resources{CPU: 1250, Memory: 10 * mi}, 1250, 210},
		{"the pod's own requests are instead of its containers'", v1.Pod{Spec: v1.PodSpec{Containers: containers("cpu=1 memory=1Mi example.com/gpu=1"), Resources: &v1.ResourceRequirements{Requests: list("cpu=3 memory=5Mi example.com/gpu=7")}}},
			model.Resources{CPU: 3000, Memory: 5 * mi, Scalars: []model.Scalar{{Name: "example.com/gpu", Amount: 1}}}, 3000, 5},
		{"with requests of its own, nothing is assumed of what is requested at all", v1.Pod{Spec: v1.PodSpec{Containers: containers("memory=1Mi", ""), Resources: &v1.ResourceRequirements{Requests: list("cpu=3")}}},
			model.Resources{CPU: 3000, Memory: mi}, 3000, 1},
		{"with requests of its own, the rest is assumed for each container", v1.Pod{Spec: v1.PodSpec{Containers: containers("", ""), Resources: &v1.ResourceRequirements{Requests: list("cpu=3")}}},
			model.Resources{CPU: 3000}, 3000, 400},
		{"while being resized, it needs the larger of what it has and what it is to have", v1.Pod{
			Spec: v1.PodSpec{NodeName: "n", Containers: containers("cpu=1 memory=8Mi")},
			Status: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{Name: "a", AllocatedResources: list("cpu=2 memory=4Mi"),
				Resources: &v1.ResourceRequirements{Requests: list("cpu=3 memory=4Mi")}}}}},
			model.Resources{CPU: 3000, Memory: 8 * mi}, 3000, 8},
		{"where the resize cannot be, it needs what it has", v1.Pod{
			Spec: v1.PodSpec{NodeName: "n", Containers: containers("cpu=9 memory=8Mi")},
			Status: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{Name: "a", AllocatedResources: list("cpu=2 memory=4Mi")}},
				Conditions: []v1.PodCondition{{Type: v1.PodResizePending, Reason: v1.PodReasonInfeasible}}}},
			model.Resources{CPU: 2000, Memory: 4 * mi}, 2000, 4},
		{"a pod on no node has nothing yet", v1.Pod{
			Spec:   v1.PodSpec{Containers: containers("cpu=1 memory=1Mi")},
			Status: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{Name: "a", AllocatedResources: list("cpu=2 memory=4Mi")}}}},
			model.Resources{CPU: 1000, Memory: mi}, 1000, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w, err := Pod(&test.pod)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(w.Requests, test.want) {
				t.Errorf("the requests are %+v, not %+v", w.Requests, test.want)
			}
			estimate := test.want.Clone()
			estimate.CPU, estimate.Memory = test.cpu, test.memoryMi*mi
			if test.name == "amounts are added first and rounded up then" {
				estimate.Memory = 1
			}
			if !reflect.DeepEqual(*w.Estimate, estimate) {
				t.Errorf("the estimate is %+v, not %+v", *w.Estimate, estimate)
			}
		})
	}
}

func TestAmountsThatAreNone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		allocatable string
		want        model.Resources
		problem     string
	}{
		{"cpu=9223372036854775807m memory=9223372036854775807", model.Resources{CPU: math.MaxInt64, Memory: math.MaxInt64}, ""},
		{"cpu=9223372036854775808m", model.Resources{CPU: math.MaxInt64}, `status.allocatable[cpu]: 9223372036854775808m is more than 64 bits can hold`},
		{"memory=100Ei", model.Resources{Memory: math.MaxInt64}, ""}, // it is read as that
		{"memory=9223372036854775806500m", model.Resources{Memory: math.MaxInt64}, ""},
		{"memory=-1", model.Resources{}, `status.allocatable[memory]: -1 is less than 0`},
		{"example.com/gpu=-1m", model.Resources{Scalars: []model.Scalar{{Name: "example.com/gpu"}}}, `status.allocatable[example.com/gpu]: -1m is less than 0`},
		{"pods=-3", model.Resources{}, `status.allocatable[pods]: -3 is less than 0`},
		{"storage=-3", model.Resources{}, ""}, // does not count
	}
	for _, test := range tests {
		n, err := Node(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: v1.NodeStatus{Allocatable: list(test.allocatable)}})
		if !reflect.DeepEqual(n.Allocatable, test.want) {
			t.Errorf("%s: became %+v, not %+v", test.allocatable, n.Allocatable, test.want)
		}
		want := ""
		if test.problem != "" {
			want = `node "n": ` + test.problem
		}
		if text(err) != want {
			t.Errorf("%s: the error is %v, not %s", test.allocatable, err, want)
		}
	}
}

func TestSumsThatAreNone(t *testing.T) {
	t.Parallel()
	c := v1.Container{Resources: v1.ResourceRequirements{Requests: list("memory=7Ei cpu=1")}}
	w, err := Pod(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: v1.PodSpec{Containers: []v1.Container{c, c}}})
	if want := `pod "default/p": spec.containers[*].resources.requests[memory]: 14Ei is more than 64 bits can hold`; text(err) != want {
		t.Errorf("the error is %v, not %s", err, want)
	}
	if w.Requests.Memory != math.MaxInt64 || w.Estimate.Memory != math.MaxInt64 {
		t.Errorf("the memory is %d, the estimate %d", w.Requests.Memory, w.Estimate.Memory)
	}
}

func TestNumberOfPods(t *testing.T) {
	t.Parallel()
	for allocatable, want := range map[string]int64{"": model.NoWorkloads, "pods=0": model.NoWorkloads, "pods=110": 110, "pods=1500m": 2} {
		n, err := Node(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: v1.NodeStatus{Allocatable: list(allocatable)}})
		if err != nil || n.MaxWorkloads != want {
			t.Errorf("%q: at most %d workloads, not %d (%v)", allocatable, n.MaxWorkloads, want, err)
		}
	}
}

// TestRequestsTwin compares with component-helpers, asked as kube-scheduler
// does: with the resources in the status of a pod that is on a node.
func TestRequestsTwin(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, false)
	for i := range rounds() {
		p := g.pod(i)
		before := p.DeepCopy()
		w, err := Pod(p)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(before, p) {
			t.Fatalf("the pod has been changed: it is %s and was %s", show(p), show(before))
		}
		placed := p.Spec.NodeName != ""
		options := resourcehelper.PodResourcesOptions{UseStatusResources: placed, InPlacePodLevelResourcesVerticalScalingEnabled: placed}
		want := resourcehelper.PodRequests(p.DeepCopy(), options)
		same := func(kind string, got int64, want int64) {
			if got != want {
				t.Fatalf("%s is %d, not %d, of %s", kind, got, want, show(p))
			}
		}
		same("cpu", w.Requests.CPU, want.Cpu().MilliValue())
		same("memory", w.Requests.Memory, want.Memory().Value())
		same("storage", w.Requests.EphemeralStorage, want.StorageEphemeral().Value())
		scalars := 0
		for name, q := range want {
			if isScalar(string(name)) {
				scalars++
				same(string(name), w.Requests.Scalar(string(name)), q.Value())
			}
		}
		same("the number of scalars", int64(len(w.Requests.Scalars)), int64(scalars))
		if !placed && p.Spec.Resources == nil {
			load := dumbSum(p)
			same("estimated cpu", w.Estimate.CPU, load.Cpu().MilliValue())
			same("estimated memory", w.Estimate.Memory, load.Memory().Value())
		}
	}
}

// dumbSum is the estimated load of a pod that is on no node and has no requests
// of its own, written down the long way.
func dumbSum(p *v1.Pod) v1.ResourceList {
	load := v1.ResourceList{}
	for name, missing := range list("cpu=100m memory=200Mi") {
		of := func(c *v1.Container) resource.Quantity {
			if q, ok := c.Resources.Requests[name]; ok {
				return q.DeepCopy()
			}
			return missing.DeepCopy()
		}
		var beside, peak resource.Quantity // sidecars so far; the most while starting
		for i := range p.Spec.InitContainers {
			c := &p.Spec.InitContainers[i]
			now := of(c)
			now.Add(beside)
			if isSidecar(c) {
				beside = now.DeepCopy()
			}
			if now.Cmp(peak) > 0 {
				peak = now
			}
		}
		sum := beside.DeepCopy()
		for i := range p.Spec.Containers {
			sum.Add(of(&p.Spec.Containers[i]))
		}
		if peak.Cmp(sum) > 0 {
			sum = peak
		}
		sum.Add(p.Spec.Overhead[name])
		load[name] = sum
	}
	return load
}
