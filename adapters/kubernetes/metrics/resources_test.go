package metrics

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

func amounts(pairs ...string) v1.ResourceList {
	list := v1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[v1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func podWith(name string, requests, limits v1.ResourceList, change ...func(*v1.Pod)) *v1.Pod {
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Spec: v1.PodSpec{NodeName: "n1", SchedulerName: "default-scheduler", Containers: []v1.Container{
			{Name: "c", Resources: v1.ResourceRequirements{Requests: requests, Limits: limits}},
		}},
	}
	for _, f := range change {
		f(pod)
	}
	return pod
}

func TestResources(t *testing.T) {
	inPhase := func(phase v1.PodPhase) func(*v1.Pod) { return func(p *v1.Pod) { p.Status.Phase = phase } }
	onNoNode := func(p *v1.Pod) { p.Spec.NodeName = "" }
	cpu := amounts("cpu", "1500m")
	const own = `namespace="ns",node="n1",pod="a",priority=""`
	tests := map[string]struct {
		pod  *v1.Pod
		want []string
	}{
		"requests and limits": {podWith("a", amounts("cpu", "500m"), amounts("cpu", "2", "memory", "1Gi")), []string{
			`kube_pod_resource_limit{` + own + `,resource="cpu",scheduler="default-scheduler",unit="cores"} 2`,
			`kube_pod_resource_limit{` + own + `,resource="memory",scheduler="default-scheduler",unit="bytes"} 1.073741824e+09`,
			`kube_pod_resource_request{` + own + `,resource="cpu",scheduler="default-scheduler",unit="cores"} 0.5`,
		}},
		"every unit": {podWith("a", amounts("ephemeral-storage", "1k", "storage", "2k", "hugepages-2Mi", "2Mi",
			"attachable-volumes-aws-ebs", "3", "example.com/gpu", "4", "cpu", "0"), nil), []string{
			`kube_pod_resource_request{` + own + `,resource="attachable-volumes-aws-ebs",scheduler="default-scheduler",unit="integer"} 3`,
			`kube_pod_resource_request{` + own + `,resource="ephemeral-storage",scheduler="default-scheduler",unit="bytes"} 1000`,
			`kube_pod_resource_request{` + own + `,resource="example.com/gpu",scheduler="default-scheduler",unit=""} 4`,
			`kube_pod_resource_request{` + own + `,resource="hugepages-2Mi",scheduler="default-scheduler",unit="bytes"} 2.097152e+06`,
			`kube_pod_resource_request{` + own + `,resource="storage",scheduler="default-scheduler",unit="bytes"} 2000`,
		}},
		"init containers and overhead": {podWith("a", cpu, nil, func(p *v1.Pod) {
			p.Spec.InitContainers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: amounts("cpu", "3")}}}
			p.Spec.Overhead = amounts("cpu", "250m")
		}), []string{`kube_pod_resource_request{` + own + `,resource="cpu",scheduler="default-scheduler",unit="cores"} 3.25`}},
		"priority": {podWith("a", cpu, nil, func(p *v1.Pod) { p.Spec.Priority = new(int32(-7)) }), []string{
			`kube_pod_resource_request{namespace="ns",node="n1",pod="a",priority="-7",resource="cpu",scheduler="default-scheduler",unit="cores"} 1.5`}},
		"ended well":  {podWith("a", cpu, nil, inPhase(v1.PodSucceeded)), nil},
		"ended badly": {podWith("a", cpu, nil, inPhase(v1.PodFailed)), nil},
		"ended before it had a node": {podWith("a", cpu, nil, onNoNode, inPhase(v1.PodFailed)), []string{
			`kube_pod_resource_request{namespace="ns",node="",pod="a",priority="",resource="cpu",scheduler="default-scheduler",unit="cores"} 1.5`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := served(t, test.pod); !slices.Equal(got, test.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

func TestResourcesOfOnePodAreNotAnothers(t *testing.T) {
	got := served(t, podWith("a", amounts("cpu", "1", "memory", "1k"), nil), podWith("b", amounts("cpu", "2"), nil))
	if len(got) != 3 {
		t.Errorf("got\n  %s", strings.Join(got, "\n  "))
	}
}

// served are the series of the pods, without comments.
func served(t *testing.T, pods ...*v1.Pod) (lines []string) {
	t.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, pod := range pods {
		if err := indexer.Add(pod); err != nil {
			t.Fatal(err)
		}
	}
	answer := httptest.NewRecorder()
	ResourcesHandler(corelisters.NewPodLister(indexer)).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics/resources", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	for line := range strings.Lines(answer.Body.String()) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}
