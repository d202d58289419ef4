package customresources

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// elasticQuota is an ElasticQuota, as far as it is read (scheduling.x-k8s.io/v1alpha1).
type elasticQuota struct {
	Spec struct {
		Min v1.ResourceList `json:"min"`
		Max v1.ResourceList `json:"max"`
	} `json:"spec"`
}

// Quota is what an ElasticQuota says that the pods of its namespace can count on together, and
// the most that they may use. A number of pods is left out: upstream reads it, and goes by
// nothing of the kind.
func Quota(quota *unstructured.Unstructured) (least, most v1.ResourceList, err error) {
	q, err := decode[elasticQuota](quota)
	if err != nil {
		return nil, nil, err
	}
	delete(q.Spec.Min, v1.ResourcePods)
	delete(q.Spec.Max, v1.ResourcePods)
	return q.Spec.Min, q.Spec.Max, nil
}
