package convert

import (
	"os"
	"testing"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func BenchmarkPod(b *testing.B) {
	plain := &v1.Pod{}
	plain.Spec.Containers = []v1.Container{{Name: "a", Image: "a", Resources: v1.ResourceRequirements{Requests: list("cpu=100m memory=200Mi")}}}
	placed := plain.DeepCopy()
	placed.Spec.NodeName = "n"
	placed.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "a", AllocatedResources: list("cpu=100m memory=200Mi"), Resources: &plain.Spec.Containers[0].Resources}}
	text, err := os.ReadFile("testdata/pod-waiting.yaml")
	if err != nil {
		b.Fatal(err)
	}
	rich := &v1.Pod{}
	if err := yaml.Unmarshal(text, rich); err != nil {
		b.Fatal(err)
	}
	for _, of := range []struct {
		name string
		pod  *v1.Pod
	}{{"plain", plain}, {"placed", placed}, {"rich", rich}} {
		b.Run(of.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Pod(of.pod); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
