package explain

import (
	"context"
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	groupslisters "k8s.io/client-go/listers/scheduling/v1beta1"
	"k8s.io/client-go/tools/cache"
)

func amounts(list ...string) v1.ResourceList {
	var r v1.ResourceList
	for i := 0; i < len(list); i += 2 {
		if r == nil {
			r = v1.ResourceList{}
		}
		r[v1.ResourceName(list[i])] = resource.MustParse(list[i+1])
	}
	return r
}

// Pods that say something of what they take as a whole get the rest from their
// containers, as the API server gives it to them.
func TestDefaultsOfRequests(t *testing.T) {
	for name, c := range map[string]struct {
		requests, limits           v1.ResourceList // of each of two containers
		podRequests, podLimits     v1.ResourceList
		wantRequests               v1.ResourceList // of each container
		wantPodRequests, wantPodLs v1.ResourceList
	}{
		"limits are requests": {
			requests: amounts("cpu", "1"), limits: amounts("cpu", "2", "memory", "1Gi", "example.com/gpu", "1"),
			wantRequests: amounts("cpu", "1", "memory", "1Gi", "example.com/gpu", "1"),
		},
		"what the containers request": {
			requests: amounts("cpu", "1"), podLimits: amounts("cpu", "4", "memory", "2Gi"),
			wantRequests:    amounts("cpu", "1"),
			wantPodRequests: amounts("cpu", "2", "memory", "2Gi"), wantPodLs: amounts("cpu", "4", "memory", "2Gi"),
		},
		"requests alone stay": {
			requests: amounts("cpu", "1"), podRequests: amounts("memory", "2Gi"),
			wantRequests: amounts("cpu", "1"), wantPodRequests: amounts("memory", "2Gi"),
		},
		"huge pages": {
			limits: amounts("hugepages-2Mi", "4Mi"), podRequests: amounts("cpu", "1"),
			wantRequests:    amounts("hugepages-2Mi", "4Mi"),
			wantPodRequests: amounts("cpu", "1", "hugepages-2Mi", "8Mi"), wantPodLs: amounts("hugepages-2Mi", "8Mi"),
		},
	} {
		p := &v1.Pod{}
		for range 2 {
			p.Spec.Containers = append(p.Spec.Containers, v1.Container{Resources: v1.ResourceRequirements{Requests: c.requests.DeepCopy(), Limits: c.limits}})
		}
		if c.podRequests != nil || c.podLimits != nil {
			p.Spec.Resources = &v1.ResourceRequirements{Requests: c.podRequests, Limits: c.podLimits}
		}
		setDefaults(p)
		for i := range p.Spec.Containers {
			if got := p.Spec.Containers[i].Resources.Requests; !apiequality.Semantic.DeepEqual(got, c.wantRequests) {
				t.Errorf("%s: container %d requests %v, not %v", name, i, got, c.wantRequests)
			}
		}
		whole := v1.ResourceRequirements{}
		if p.Spec.Resources != nil {
			whole = *p.Spec.Resources
		}
		if !apiequality.Semantic.DeepEqual(whole.Requests, c.wantPodRequests) || !apiequality.Semantic.DeepEqual(whole.Limits, c.wantPodLs) {
			t.Errorf("%s: the pod has %v", name, whole)
		}
		if p.Spec.SchedulerName != v1.DefaultSchedulerName {
			t.Errorf("%s: the scheduler is %q", name, p.Spec.SchedulerName)
		}
	}
}

// Nothing more is made for a question that nobody waits for.
func TestTranslationEndsWithTheQuestion(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	made := 0
	h := &handler{o: Options{
		Profiles: []string{v1.DefaultSchedulerName}, OwnerSelector: noOwners,
		Pods: corelisters.NewPodLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})),
		Translated: func(any, any) {
			made++
			cancel()
		},
	}}
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"}}
	j.Spec.Parallelism = new(int32(9))
	if _, err := h.translate(ctx, []object{{kind: "Job", object: j}}, nil, "default", time.Now()); !errors.Is(err, context.Canceled) || made != 1 {
		t.Errorf("%v; %d pods", err, made)
	}
}

// Claims that the members of a group share are the group's, whether the group is in the
// request or in the cluster.
func TestClaimsOfTheGroup(t *testing.T) {
	claim := "the-claim"
	group := func(name string) *schedulingv1beta1.PodGroup {
		g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		g.Spec.SchedulingPolicy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
		g.Spec.ResourceClaims = []schedulingv1beta1.PodGroupResourceClaim{{Name: "c", ResourceClaimName: &claim}}
		return g
	}
	known := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if err := known.Add(group("known")); err != nil {
		t.Fatal(err)
	}
	h := &handler{o: Options{
		Profiles: []string{v1.DefaultSchedulerName}, Groups: groupslisters.NewPodGroupLister(known),
		OwnerSelector: noOwners, Pods: corelisters.NewPodLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})),
	}}
	for name, want := range map[string]bool{"known": true, "new": true, "none": false} {
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
		p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "c", ResourceClaimName: &claim}}
		asked, err := h.translate(t.Context(), []object{{object: p}, {object: group("new")}}, nil, "default", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if refs := asked.pods[0].DeviceClaims; len(refs) != 1 || refs[0].OfGroup != want {
			t.Errorf("member of %s: %+v", name, refs)
		}
	}
}
