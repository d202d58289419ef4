package kubernetes_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-project/berth/model"
)

// extended is the decision that a claim is made for the pod's extended resources.
func extended() *model.DeviceClaim {
	request := func(name string, count int64) model.ClaimRequest {
		return model.ClaimRequest{Name: name, Alternatives: []model.DeviceDemand{{Class: "gpu", Count: count}}}
	}
	return &model.DeviceClaim{
		ID: model.ResourceClaimID(podUID), Namespace: space, Name: podName + "-extended-resources", Owner: podUID, ForResources: true,
		Requests: []model.ClaimRequest{request("container-0-request-0", 1), request("container-1-request-0", 2)},
		Uses: []model.ResourceUse{
			{Container: "init", Resource: "example.com/gpu", Request: "container-0-request-0"},
			{Container: "main", Resource: "example.com/gpu", Request: "container-1-request-0"},
		},
		ReservedFor: []model.Consumer{byPod},
		Allocation: &model.Allocation{Devices: []model.AllocatedDevice{
			{Request: "container-0-request-0", DeviceID: model.DeviceID{Driver: "d", Pool: "p", Device: "x"}},
		}},
	}
}

func exactly(count int64) *resourcev1.ExactDeviceRequest {
	return &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}
}

// extendedName is what the claim is called.
const extendedName = podName + "-extended-resources-1e90f02ea6"

// specials are the claims for extended resources that there are.
func (l *library) specials(t *testing.T) []resourcev1.ResourceClaim {
	t.Helper()
	all, err := l.ResourceV1().ResourceClaims(space).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return all.Items
}

const (
	create   = "create resourceclaims " + extendedName
	finalize = "update resourceclaims " + extendedName
	allocate = "update resourceclaims/status " + extendedName
	tell     = "patch pods/status " + podName
	remove   = "delete resourceclaims " + extendedName
)

func TestClaimForExtendedResources(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		decided := model.Binding{Node: nodeName, Decided: model.Objects{extended()}}
		expect(t, s.adapter.BindDevices(t.Context(), probe(), decided), "")
		s.expectWrites(create, finalize, allocate, tell)
		all := s.specials(t)
		if len(all) != 1 {
			t.Fatalf("there are %d claims", len(all))
		}
		yes := true
		want := resourcev1.ResourceClaim{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: space, Name: extendedName, UID: all[0].UID, ResourceVersion: all[0].ResourceVersion,
				Annotations:     map[string]string{"resource.kubernetes.io/extended-resource-claim": "true"},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: podName, UID: podUID, Controller: &yes}},
				Finalizers:      []string{resourcev1.Finalizer},
			},
			Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
				{Name: "container-0-request-0", Exactly: exactly(1)}, {Name: "container-1-request-0", Exactly: exactly(2)},
			}}},
			Status: all[0].Status,
		}
		if !reflect.DeepEqual(all[0], want) {
			t.Errorf("got %+v, want %+v", all[0], want)
		}
		if got, want := outline(&all[0]), held+onPod; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		told := &v1.PodExtendedResourceClaimStatus{ResourceClaimName: extendedName, RequestMappings: []v1.ContainerExtendedResourceRequest{
			{ContainerName: "init", ResourceName: "example.com/gpu", RequestName: "container-0-request-0"},
			{ContainerName: "main", ResourceName: "example.com/gpu", RequestName: "container-1-request-0"},
		}}
		if got := get[*v1.Pod](s.library, space, podName).Status.ExtendedResourceClaimStatus; !reflect.DeepEqual(got, told) {
			t.Errorf("got %+v, want %+v", got, told)
		}

		synctest.Wait()
		s.writes = nil
		expect(t, s.adapter.BindDevices(t.Context(), probe(), decided), "")
		s.expectWrites(create) // which finds that it is there
	})
}

func TestClaimForExtendedResourcesFails(t *testing.T) {
	t.Parallel()
	left := func(changes ...func(*resourcev1.ResourceClaim)) []runtime.Object {
		yes := true
		c := request("card", append([]func(*resourcev1.ResourceClaim){func(c *resourcev1.ResourceClaim) {
			c.Name = extendedName
			c.Annotations = map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: podName, UID: podUID, Controller: &yes}}
			c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "container-0-request-0", Exactly: exactly(1)}, {Name: "container-1-request-0", Exactly: exactly(2)}}
		}}, changes...)...)
		return []runtime.Object{c}
	}
	for _, c := range []struct {
		name    string
		objects []runtime.Object
		before  func(*library, string) error
		after   func(*library, string) error
		err     string
		left    int // claims
		writes  []string
	}{
		{name: "the answer is lost", left: 1, writes: []string{create, create, finalize, allocate, tell}, after: func(l *library, write string) error {
			if write == create && len(l.writes) == 1 {
				return errLost
			}
			return nil
		}},
		{name: "it cannot be made", err: "create claim for extended resources lab/" + extendedName + ": forbidden", writes: []string{create}, before: func(*library, string) error { return errRefused }},
		{name: "one of an earlier attempt is there", objects: left(func(c *resourcev1.ResourceClaim) { c.Spec.Devices.Requests[0].Exactly.Count = 4 }), left: 1, err: "already exists", writes: []string{create}},
		{name: "the one that is there goes", objects: left(func(c *resourcev1.ResourceClaim) {
			c.DeletionTimestamp, c.Finalizers = &metav1.Time{Time: time.Now()}, []string{"f"}
		}), left: 1, err: "already exists", writes: []string{create}},
		{name: "somebody else's is there", objects: left(func(c *resourcev1.ResourceClaim) { c.OwnerReferences[0].UID = "other" }), left: 1, err: "already exists", writes: []string{create}},
		{name: "it cannot be given devices", err: "add allocation and reservation to claim: forbidden", writes: []string{create, finalize, allocate, remove, finalize, remove}, before: func(_ *library, write string) error {
			if write == allocate {
				return errRefused
			}
			return nil
		}},
		{name: "the pod cannot be told", err: "update pod lab/probe ExtendedResourceClaimStatus: forbidden", writes: []string{create, finalize, allocate, tell, finalize, remove}, before: func(_ *library, write string) error {
			if write == tell {
				return errRefused
			}
			return nil
		}},
		{name: "the pod is gone", err: "pod does not exist any more", writes: []string{create, finalize, allocate, finalize, remove}, before: func(l *library, write string) error {
			if write == create {
				drop[*v1.Pod](l, space, podName)
				time.Sleep(time.Millisecond) // until the informers have heard of it
			}
			return nil
		}},
		{name: "it has gone by itself", err: "not found", writes: []string{create, finalize, remove}, after: func(l *library, write string) error {
			if write == create {
				drop[*resourcev1.ResourceClaim](l, space, extendedName)
			}
			return nil
		}},
		{name: "another takes its place", err: "forbidden", left: 1, writes: []string{create, finalize, allocate, tell, finalize}, before: func(l *library, write string) error {
			if write != tell {
				return nil
			}
			change(l, space, extendedName, func(c *resourcev1.ResourceClaim) { c.UID = "new" })
			return errRefused
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, c.objects...)
				if c.before != nil {
					s.before = func(write string) error { return c.before(s.library, write) }
				}
				if c.after != nil {
					s.after = func(write string) error { return c.after(s.library, write) }
				}
				expect(t, s.adapter.BindDevices(t.Context(), probe(), model.Binding{Node: nodeName, Decided: model.Objects{extended()}}), c.err)
				s.expectWrites(c.writes...)
				if all := s.specials(t); len(all) != c.left {
					t.Errorf("%d claims are left, want %d: %s", len(all), c.left, outline(&all[0]))
				}
			})
		})
	}
}

// The names of claims are as long as the API server's, whatever the pod is called, and
// different for pods that are called the same.
func TestNamesOfClaims(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("long-", 40) + "name"
		s := newScene(t)
		s.before = func(string) error { return errRefused }
		for _, id := range []string{"uid-1", "uid-2"} {
			w := &model.Workload{ID: id, Namespace: space, Name: long}
			err := s.adapter.BindDevices(t.Context(), w, model.Binding{Node: nodeName, Decided: model.Objects{extended()}})
			expect(t, err, "forbidden")
		}
		var names []string
		for _, write := range s.writes {
			name := strings.TrimPrefix(write, "create resourceclaims ")
			names = append(names, name)
			if len(name) > 63 || !strings.HasPrefix(name, "long-long-") {
				t.Errorf("a claim is called %s", name)
			}
		}
		if len(names) != 2 || names[0] == names[1] {
			t.Errorf("the claims are called %q", names)
		}
	})
}
