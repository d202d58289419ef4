package convert

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-project/berth/model"
)

// amounts is a list of CPU and memory; an empty one is left out.
func amounts(cpu, memory string) v1.ResourceList {
	list := v1.ResourceList{}
	if cpu != "" {
		list[v1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		list[v1.ResourceMemory] = resource.MustParse(memory)
	}
	return list
}

func TestQoS(t *testing.T) {
	type container struct{ cpu, memory, maxCPU, maxMemory string }
	made := func(list ...container) (all []v1.Container) {
		for _, c := range list {
			all = append(all, v1.Container{Resources: v1.ResourceRequirements{Requests: amounts(c.cpu, c.memory), Limits: amounts(c.maxCPU, c.maxMemory)}})
		}
		return all
	}
	full := container{"1", "1Gi", "1", "1Gi"}
	for _, c := range []struct {
		name string
		pod  v1.Pod
		want model.QoSClass
	}{
		{"nothing", v1.Pod{Spec: v1.PodSpec{Containers: made(container{})}}, model.BestEffort},
		{"requests of 0", v1.Pod{Spec: v1.PodSpec{Containers: made(container{"0", "0", "", ""})}}, model.BestEffort},
		{"limits that are the requests", v1.Pod{Spec: v1.PodSpec{Containers: made(full, full)}}, model.Guaranteed},
		{"the same amount in other words", v1.Pod{Spec: v1.PodSpec{Containers: made(container{"1000m", "1024Mi", "1", "1Gi"})}}, model.Guaranteed},
		{"a limit above the request", v1.Pod{Spec: v1.PodSpec{Containers: made(container{"1", "1Gi", "2", "1Gi"})}}, model.Burstable},
		{"a limit of one only", v1.Pod{Spec: v1.PodSpec{Containers: made(container{"1", "", "1", ""})}}, model.Burstable},
		{"a limit and no request", v1.Pod{Spec: v1.PodSpec{Containers: made(container{"", "", "1", "1Gi"})}}, model.Burstable},
		{"a request and no limit", v1.Pod{Spec: v1.PodSpec{Containers: made(container{"1", "", "", ""})}}, model.Burstable},
		{"one container without", v1.Pod{Spec: v1.PodSpec{Containers: made(full, container{})}}, model.Burstable},
		{"an init container without", v1.Pod{Spec: v1.PodSpec{Containers: made(full), InitContainers: made(container{})}}, model.Burstable},
		{"an init container with", v1.Pod{Spec: v1.PodSpec{Containers: made(full), InitContainers: made(full)}}, model.Guaranteed},
		{"the pod as a whole", v1.Pod{Spec: v1.PodSpec{
			Containers: made(container{}), Resources: &v1.ResourceRequirements{Requests: amounts("1", "1Gi"), Limits: amounts("1", "1Gi")},
		}}, model.Guaranteed},
		{"the pod as a whole, without limits", v1.Pod{Spec: v1.PodSpec{
			Containers: made(full), Resources: &v1.ResourceRequirements{Requests: amounts("1", "1Gi")},
		}}, model.Burstable},
		{"the pod as a whole, of which nothing is said", v1.Pod{Spec: v1.PodSpec{
			Containers: made(full), Resources: &v1.ResourceRequirements{},
		}}, model.Guaranteed},
		{"the pod as a whole, of which only devices are said", v1.Pod{Spec: v1.PodSpec{
			Containers: made(full), Resources: &v1.ResourceRequirements{Requests: v1.ResourceList{"example.com/gpu": resource.MustParse("1")}},
		}}, model.Guaranteed},
		{"as the API server says", v1.Pod{Spec: v1.PodSpec{Containers: made(full)}, Status: v1.PodStatus{QOSClass: v1.PodQOSBestEffort}}, model.BestEffort},
	} {
		w, err := Pod(&c.pod)
		if w.QoS != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.name, w.QoS, c.want, err)
		}
	}
}
