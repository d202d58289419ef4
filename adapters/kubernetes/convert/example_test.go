package convert_test

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
)

// A pod as a workload.
func ExamplePod() {
	w, err := convert.Pod(&v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1", UID: "8f1c"},
		Spec: v1.PodSpec{
			SchedulerName: "default-scheduler",
			Containers: []v1.Container{{
				Name:      "web",
				Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("500m")}},
			}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(w.ID, w.Name, w.Profile, w.Requests.CPU)
	// Output: 8f1c web-1 default-scheduler 500
}
