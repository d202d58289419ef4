package convert

import (
	"math"
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/model"
)

// TestUsageLimits: a pod has a limit of what each of its containers has one of.
func TestUsageLimits(t *testing.T) {
	always := v1.ContainerRestartPolicyAlways
	limit := func(text string) v1.Container {
		return v1.Container{Resources: v1.ResourceRequirements{Limits: list(text)}}
	}
	sidecar := func(text string) v1.Container {
		c := limit(text)
		c.RestartPolicy = &always
		return c
	}
	for _, test := range []struct {
		name string
		spec v1.PodSpec
		want model.Resources
	}{
		{"none", v1.PodSpec{Containers: []v1.Container{{}}}, model.Resources{}},
		{"the sum", v1.PodSpec{Containers: []v1.Container{limit("cpu=1 memory=1Mi"), limit("cpu=500m memory=2Mi")}},
			model.Resources{CPU: 1500, Memory: model.MiB(3)}},
		{"not of what one has no limit of", v1.PodSpec{Containers: []v1.Container{limit("cpu=1 memory=1Mi"), limit("cpu=1"), limit("cpu=1 memory=0")}},
			model.Resources{CPU: 3000}},
		{"with sidecars", v1.PodSpec{InitContainers: []v1.Container{sidecar("cpu=1")}, Containers: []v1.Container{limit("cpu=1 memory=1Mi")}},
			model.Resources{CPU: 2000}},
		{"the largest that comes before", v1.PodSpec{InitContainers: []v1.Container{limit("cpu=5"), {}}, Containers: []v1.Container{limit("cpu=1")}},
			model.Resources{CPU: 5000}},
		{"with overhead", v1.PodSpec{Overhead: list("cpu=100m memory=1Mi"), Containers: []v1.Container{limit("cpu=1")}},
			model.Resources{CPU: 1100}},
		{"of the pod as a whole", v1.PodSpec{Resources: &v1.ResourceRequirements{Limits: list("cpu=3")}, Overhead: list("cpu=100m"), Containers: []v1.Container{limit("memory=1Mi")}},
			model.Resources{CPU: 3100, Memory: model.MiB(1)}},
		{"the nearest in range, of what is out of it", v1.PodSpec{Containers: []v1.Container{limit("cpu=2 memory=15Ei"), limit("cpu=2 memory=1Ei")}},
			model.Resources{CPU: 4000, Memory: math.MaxInt64}},
		{"scalars", v1.PodSpec{Containers: []v1.Container{limit("example.com/x=2")}},
			model.Resources{Scalars: []model.Scalar{{Name: "example.com/x", Amount: 2}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := &v1.Pod{Spec: test.spec}
			pod.Name, pod.UID = "p", "u"
			before := pod.DeepCopy()
			w, err := Pod(pod)
			if err != nil || !reflect.DeepEqual(w.UsageLimits, test.want) {
				t.Errorf("%+v, %v, want %+v", w.UsageLimits, err, test.want)
			}
			if !reflect.DeepEqual(pod, before) {
				t.Errorf("the pod was changed")
			}
		})
	}
}
