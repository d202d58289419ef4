package convert

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-project/berth/model"
)

func TestDeviceAmount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quantity string
		want     int64
		problem  string
	}{
		{"0", 0, ""},
		{"1", 1000, ""},
		{"80Gi", 85899345920000, ""},
		{"100m", 100, ""},
		{"0.5", 500, ""},
		{"2e3", 2_000_000, ""},
		{"9223372036854775", 9223372036854775000, ""},
		{"9223372036854775807m", math.MaxInt64, ""},
		{"8Pi", 9007199254740992000, ""},

		{"9223372036854776", math.MaxInt64, "9223372036854776 is more than 64 bits can hold"},
		{"1E", math.MaxInt64, "1E is more than 64 bits can hold"},
		{"1500u", 2, "1500u is finer than a thousandth"},
		{"1n", 1, "1n is finer than a thousandth"},
		{"-1", 0, "-1 is less than 0"},
		{"-1u", 0, "-1u is less than 0"},
	} {
		q := resource.MustParse(c.quantity)
		got, err := DeviceAmount(q)
		if got != c.want || text(err) != c.problem {
			t.Errorf("%s: got %d, %v, want %d, %s", c.quantity, got, err, c.want, c.problem)
		}
		if back := DeviceQuantity(got); err == nil && back.Cmp(q) != 0 {
			t.Errorf("%s came back as %s", c.quantity, back.String())
		}
	}
	three := DeviceQuantity(3000)
	if n, ok := three.AsInt64(); !ok || n != 3 {
		t.Errorf("a whole number is none any more: %d, %t", n, ok)
	}
}

// TestGroupIDs: a composite pod group may be called like a pod group.
func TestGroupIDs(t *testing.T) {
	t.Parallel()
	if a, b := GroupID("ns", "x"), CompositeGroupID("ns", "x"); a != "ns/x" || b != "composite/ns/x" {
		t.Errorf("got %q and %q", a, b)
	}
}

// member is a pod of the group default/g with these claims.
func member(claims ...v1.PodResourceClaim) *v1.Pod {
	group := "g"
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: v1.PodSpec{SchedulingGroup: &v1.PodSchedulingGroup{PodGroupName: &group}, ResourceClaims: claims}}
}

// TestSharedOnlyIfTheSame: a claim is the group's only if the name of it, and what
// it is, are the same for both.
func TestSharedOnlyIfTheSame(t *testing.T) {
	t.Parallel()
	a, b := "a", "b"
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "g"}, Spec: schedulingv1beta1.PodGroupSpec{ResourceClaims: []schedulingv1beta1.PodGroupResourceClaim{
		{Name: "claim", ResourceClaimName: &a}, {Name: "template", ResourceClaimTemplateName: &a},
	}}}
	for _, c := range []struct {
		name  string
		claim v1.PodResourceClaim
		want  bool
	}{
		{"the claim", v1.PodResourceClaim{Name: "claim", ResourceClaimName: &a}, true},
		{"the template", v1.PodResourceClaim{Name: "template", ResourceClaimTemplateName: &a}, true},
		{"another claim", v1.PodResourceClaim{Name: "claim", ResourceClaimName: &b}, false},
		{"another template", v1.PodResourceClaim{Name: "template", ResourceClaimTemplateName: &b}, false},
		{"a template of the name of the claim", v1.PodResourceClaim{Name: "claim", ResourceClaimTemplateName: &a}, false},
		{"the claim by another name", v1.PodResourceClaim{Name: "other", ResourceClaimName: &a}, false},
	} {
		refs, err := DeviceClaimRefs(member(c.claim), group)
		if err != nil || len(refs) != 1 || refs[0].OfGroup != c.want {
			t.Errorf("%s: got %+v, %v, want it shared: %t", c.name, refs, err, c.want)
		}
		if w, err := Pod(member(c.claim)); err != nil || len(w.DeviceClaims) != 1 || w.DeviceClaims[0].OfGroup {
			t.Errorf("%s: without the group got %+v, %v", c.name, w.DeviceClaims, err)
		}
	}
	group.Name = "another"
	if _, err := DeviceClaimRefs(member(v1.PodResourceClaim{Name: "claim", ResourceClaimName: &a}), group); err == nil ||
		!strings.Contains(err.Error(), "Pod default/p belongs to PodGroup default/g, not PodGroup default/another") {
		t.Errorf("with another group: %v", err)
	}
}

// decided is a claim that the scheduler has given a device, and its object.
func decided() (*resourcev1.ResourceClaim, *model.DeviceClaim) {
	r := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c", UID: "uid-c"}}
	r.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "other", UID: "uid-other"}}
	r.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: "d", Pool: "p", Device: "x"}}
	return r, &model.DeviceClaim{
		ID: "default/c", Namespace: "default", Name: "c", UID: "uid-c",
		Allocation:  &model.Allocation{Devices: []model.AllocatedDevice{{DeviceID: model.DeviceID{Driver: "d", Pool: "p", Device: "x"}, Request: "r"}}},
		ReservedFor: []model.Consumer{{Workload: "uid-p"}, {Group: "default/g"}},
	}
}

func TestDeviceClaimStatus(t *testing.T) {
	t.Parallel()
	now := time.Unix(5000, 0).UTC()
	r, d := decided()
	status, err := DeviceClaimStatus(r, d, whoever, now)
	if err != nil {
		t.Fatal(err)
	}
	want := &resourcev1.ResourceClaimStatus{
		Allocation: &resourcev1.AllocationResult{
			Devices:             resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: "d", Pool: "p", Device: "x"}}},
			AllocationTimestamp: &metav1.Time{Time: now},
		},
		ReservedFor: []resourcev1.ResourceClaimConsumerReference{
			{Resource: "pods", Name: "other", UID: "uid-other"},
			{Resource: "pods", Name: "name of uid-p", UID: "uid-p"},
			{APIGroup: "scheduling.k8s.io", Resource: "podgroups", Name: "g", UID: "uid of default/g"},
		},
		Devices: r.Status.Devices,
	}
	if !reflect.DeepEqual(status, want) {
		t.Errorf("got %s, want %s", show(status), show(want))
	}
	if r.Status.Allocation != nil || len(r.Status.ReservedFor) != 1 {
		t.Error("the claim itself was changed")
	}

	r.Status = *status
	if again, err := DeviceClaimStatus(r, d, whoever, now.Add(time.Hour)); err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("the second time: %s, %v", show(again), err)
	}
}

// TestNoDeviceClaimStatus: what is not as it was when it was decided about is not
// written.
func TestNoDeviceClaimStatus(t *testing.T) {
	t.Parallel()
	share := types.UID("s")
	allocated := func(r resourcev1.DeviceRequestAllocationResult) *resourcev1.AllocationResult {
		return &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{r}}}
	}
	for want, change := range map[string]func(r *resourcev1.ResourceClaim, d *model.DeviceClaim){
		"claim default/c is not the one that was decided about": func(r *resourcev1.ResourceClaim, _ *model.DeviceClaim) { r.UID = "uid-of-the-next" },
		"claim other/c is not the one that was decided about":   func(r *resourcev1.ResourceClaim, _ *model.DeviceClaim) { r.Namespace = "other" },
		"claim default/c got deleted in the meantime":           func(r *resourcev1.ResourceClaim, _ *model.DeviceClaim) { r.DeletionTimestamp = &metav1.Time{} },
		"claim default/c was not given anything":                func(_ *resourcev1.ResourceClaim, d *model.DeviceClaim) { d.Allocation = nil },
	} {
		r, d := decided()
		change(r, d)
		if status, err := DeviceClaimStatus(r, d, whoever, time.Time{}); status != nil || text(err) != want {
			t.Errorf("got %v, %v, want %s", status, err, want)
		}
	}
	for _, other := range []resourcev1.DeviceRequestAllocationResult{
		{Request: "s", Driver: "d", Pool: "p", Device: "x"},
		{Request: "r", Driver: "e", Pool: "p", Device: "x"},
		{Request: "r", Driver: "d", Pool: "q", Device: "x"},
		{Request: "r", Driver: "d", Pool: "p", Device: "y"},
		{Request: "r", Driver: "d", Pool: "p", Device: "x", ShareID: &share},
	} {
		r, d := decided()
		r.Status.Allocation = allocated(other)
		if _, err := DeviceClaimStatus(r, d, whoever, time.Time{}); text(err) != "claim default/c got allocated elsewhere in the meantime" {
			t.Errorf("%s: %v", show(other), err)
		}
	}
}

// TestDeviceClaimsComeBack: a claim that was given something is written as it was
// read, and read as it was written.
func TestDeviceClaimsComeBack(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, false)
	for i := range rounds() {
		before := g.resourceClaim(i)
		if before.Status.Allocation == nil {
			continue
		}
		m, err := DeviceClaim(before)
		mustBeValid(t, before, m, err)
		claim := before.DeepCopy()
		claim.Status = resourcev1.ResourceClaimStatus{}
		who := func(c model.Consumer) (string, types.UID) {
			for i := range before.Status.ReservedFor {
				if r := &before.Status.ReservedFor[i]; Consumer("default", r) == c {
					return r.Name, r.UID
				}
			}
			t.Fatalf("%+v has not reserved %s", c, show(before))
			return "", ""
		}
		status, err := DeviceClaimStatus(claim, m, who, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if !equality.Semantic.DeepEqual(status.Allocation, before.Status.Allocation) {
			t.Fatalf("the allocation came back as %s, of %s", show(status.Allocation), show(before))
		}
		claim.Status = *status
		again, err := DeviceClaim(claim)
		mustBeValid(t, claim, again, err)
		if !reflect.DeepEqual(again, m) {
			t.Fatalf("got %s, want %s", show(again), show(m))
		}
	}
}

// deviceObjects are what happens to one random object of each kind.
func (g *generator) deviceObjects(t *testing.T, i int, check func(t *testing.T, from any, to validator, err error)) {
	slice, class, claim, rule, group, composite, pod := g.resourceSlice(i), g.deviceClass(), g.resourceClaim(i), g.deviceTaintRule(), g.podGroup(i), g.compositePodGroup(i), g.pod(i)
	checkIfThere := func(from any, to validator, there bool, err error) {
		if there {
			check(t, from, to, err)
		} else if err == nil || !g.wild {
			t.Fatalf("nothing is left, %v, of %s", err, show(from))
		}
	}
	s, err := DeviceSlice(slice)
	checkIfThere(slice, s, s != nil, err)
	c, err := DeviceClass(class)
	checkIfThere(class, c, c != nil, err)
	m, err := DeviceClaim(claim)
	checkIfThere(claim, m, m != nil, err)
	if m == nil && claim.Name != "" {
		t.Fatalf("nothing is left of %s, though it has a name", show(claim))
	}
	if m != nil && m.Allocation == nil && claim.Status.Allocation != nil {
		t.Fatalf("what %s has been given is forgotten", show(claim))
	}
	if r, err := DeviceTaintRule(rule); r != nil || err != nil {
		checkIfThere(rule, r, r != nil, err)
	}
	a, err := Group(group, Gates{PodGroupPreemptionPolicy: true})
	check(t, group, a, err)
	a, err = CompositeGroup(composite, Gates{PodGroupPreemptionPolicy: true})
	check(t, composite, a, err)
	of := g.claims(pod)
	w, err := Pod(pod)
	if err == nil {
		w.DeviceClaims, err = DeviceClaimRefs(pod, of)
	}
	check(t, pod, w, err)
}

// TestDevicesAreTranslated: whatever the API server lets in becomes a valid
// object of the model, without complaint.
func TestDevicesAreTranslated(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, false)
	for i := range rounds() {
		g.deviceObjects(t, i, mustBeValid)
	}
}

// TestWhatIsLeftOfDevicesIsValid: of an object that nobody should let in, every
// problem is named, and what is left is valid.
func TestWhatIsLeftOfDevicesIsValid(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, true)
	for i := range rounds() {
		g.deviceObjects(t, i, mustBeExplained)
	}
}

// TestWhoseClaim: a claim is made for the pod or the pod group that controls it,
// and for nobody else. One that the scheduler has made itself is found by the pod.
func TestWhoseClaim(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		apiVersion, kind      string
		controller, made      bool
		id, owner, ownerGroup string
	}{
		{"v1", "Pod", true, false, "default/c", "uid-o", ""},
		{"v1", "Pod", true, true, "uid-o-extended-resources", "uid-o", ""},
		{"v1", "Pod", false, true, "default/c", "", ""},
		{"example.com/v1", "Pod", true, true, "default/c", "", ""},
		{"scheduling.k8s.io/v1beta1", "PodGroup", true, false, "default/c", "", "default/o"},
		{"scheduling.k8s.io/v2", "PodGroup", true, true, "default/c", "", "default/o"},
		{"scheduling.example.com/v1", "PodGroup", true, false, "default/c", "", ""},
	} {
		r, _ := decided()
		r.Status = resourcev1.ResourceClaimStatus{}
		r.OwnerReferences = []metav1.OwnerReference{{APIVersion: c.apiVersion, Kind: c.kind, Name: "o", UID: "uid-o", Controller: &c.controller}}
		if c.made {
			r.Annotations = map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}
		}
		m, err := DeviceClaim(r)
		if err != nil || m.ID != c.id || m.Owner != c.owner || m.OwnerGroup != c.ownerGroup || m.ForResources != c.made {
			t.Errorf("%+v: got %+v, %v", c, m, err)
		}
	}
}

// TestTooManyUsers: of more users than there may be those that are too many are
// named, and do not count.
func TestTooManyUsers(t *testing.T) {
	t.Parallel()
	r, _ := decided()
	r.Status = resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{}}
	for i := range model.MaxClaimConsumers + 1 {
		r.Status.ReservedFor = append(r.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", UID: types.UID(fmt.Sprint(i))})
	}
	m, err := DeviceClaim(r)
	if len(m.ReservedFor) != 256 || text(err) != `resource claim "default/c": status.reservedFor[256]: is one more than 256` {
		t.Errorf("%d users, %v", len(m.ReservedFor), err)
	}
}

// TestContainersOnlyWhereTheyMatter: the containers are there if one of them
// requests what devices may serve.
func TestContainersOnlyWhereTheyMatter(t *testing.T) {
	t.Parallel()
	for name, want := range map[v1.ResourceName]int{
		"example.com/gpu":                      2,
		"deviceclass.resource.kubernetes.io/x": 2,
		"cpu":                                  0,
		"hugepages-2Mi":                        0,
		"attachable-volumes-x":                 0,
		"kubernetes.io/x":                      0,
		"requests.example.com/":                0,
	} {
		p := &v1.Pod{Spec: v1.PodSpec{InitContainers: []v1.Container{{Name: "i"}}, Containers: []v1.Container{{Name: "c"}}}}
		p.Spec.Containers[0].Resources.Requests = v1.ResourceList{name: resource.MustParse("1")}
		if w, err := Pod(p); err != nil || len(w.Containers) != want {
			t.Errorf("%s: %+v, %v, want %d", name, w.Containers, err, want)
		}
	}
}

// TestContainersOfGuaranteedPods: the containers are there where there are several, or the pod has an overhead or
// resources of its own, since the node may place each of them by itself.
func TestContainersOfGuaranteedPods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		containers int
		limits     string
		pod        v1.PodSpec
		want       int
	}{
		{1, "cpu=1 memory=1Gi", v1.PodSpec{}, 0},
		{2, "cpu=1 memory=1Gi", v1.PodSpec{}, 2},
		{2, "cpu=1", v1.PodSpec{}, 0},
		{1, "cpu=1 memory=1Gi", v1.PodSpec{Overhead: list("cpu=250m")}, 1},
		{1, "cpu=1", v1.PodSpec{Overhead: list("cpu=250m")}, 0},
		{1, "", v1.PodSpec{Resources: &v1.ResourceRequirements{Requests: list("cpu=2 memory=1Gi"), Limits: list("cpu=2 memory=1Gi")}}, 1},
	} {
		p := &v1.Pod{Spec: c.pod}
		for i := range c.containers {
			p.Spec.Containers = append(p.Spec.Containers, v1.Container{
				Name: string(rune('a' + i)), Resources: v1.ResourceRequirements{Requests: list("cpu=1 memory=1Gi"), Limits: list(c.limits)},
			})
		}
		if w, err := Pod(p); err != nil || len(w.Containers) != c.want || c.want > 0 && w.Containers[c.want-1].Requests.CPU != 1000 {
			t.Errorf("%+v: %+v, %v", c, w.Containers, err)
		}
	}
}

// TestNodesOfASlice: a value that is no number is a problem here, unlike in the
// affinity of a pod, for the scheduler gives up on it.
func TestNodesOfASlice(t *testing.T) {
	t.Parallel()
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "d", Pool: resourcev1.ResourcePool{Name: "p", ResourceSliceCount: 1},
		NodeSelector: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{
			{Key: "racks", Operator: v1.NodeSelectorOpGt, Values: []string{"many"}},
		}}}},
	}}
	m, err := DeviceSlice(s)
	if err == nil || !strings.Contains(err.Error(), "spec.nodeSelector.nodeSelectorTerms[0].matchExpressions[0].values[0]") {
		t.Errorf("got %v", err)
	}
	if m == nil || m.Nodes.Matches(&model.Node{Name: "n", Labels: map[string]string{"racks": "8", v1.LabelHostname: "n"}}) {
		t.Errorf("the slice can be used: %+v", m)
	}
}
