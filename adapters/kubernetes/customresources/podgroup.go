package customresources

import (
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/model"
)

// PodGroupLabel is the label by which a pod names the PodGroup of its namespace that it belongs
// to.
const PodGroupLabel = "scheduling.x-k8s.io/pod-group"

// podGroup is a PodGroup, as far as it is read (scheduling.x-k8s.io/v1alpha1).
type podGroup struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		MinMember    int32           `json:"minMember"`
		MinResources v1.ResourceList `json:"minResources"`
		Timeout      int32           `json:"scheduleTimeoutSeconds"`
	} `json:"spec"`
}

// PodGroupID is the identity of such a PodGroup as a group. It is not that of Kubernetes' own
// PodGroup of the name.
func PodGroupID(namespace, name string) string { return "coscheduling/" + namespace + "/" + name }

// PodGroup is the group of a PodGroup: a gang of minMember, which is tried when all nodes together
// have minResources left, and whose pods wait scheduleTimeoutSeconds for each other, if that is not 0.
// A number of pods among the resources is left out, as minMember is it. The error says all that
// is wrong.
func PodGroup(o *unstructured.Unstructured) (*model.Group, error) {
	g, err := decode[podGroup](o)
	if err != nil {
		return nil, err
	}
	spec := field.NewPath("spec")
	m := &model.Group{
		ID: PodGroupID(g.Namespace, g.Name), Namespace: g.Namespace, Name: g.Name,
		Policy: model.Gang, MinCount: g.Spec.MinMember, CreatedAt: g.CreationTimestamp.Time,
	}
	var problems field.ErrorList
	if m.MinCount < 1 {
		problems = append(problems, field.Invalid(spec.Child("minMember"), m.MinCount, "must be at least 1"))
	}
	if m.PermitTimeout = time.Duration(g.Spec.Timeout) * time.Second; m.PermitTimeout < 0 {
		problems = append(problems, field.Invalid(spec.Child("scheduleTimeoutSeconds"), g.Spec.Timeout, "must not be negative"))
	}
	delete(g.Spec.MinResources, v1.ResourcePods)
	for _, name := range slices.Sorted(maps.Keys(g.Spec.MinResources)) {
		n, err := convert.Amount(spec.Child("minResources").Key(string(name)), name, g.Spec.MinResources[name])
		if err != nil {
			problems = append(problems, err)
			continue
		}
		m.MinResources = m.MinResources.With(string(name), n)
	}
	if err := problems.ToAggregate(); err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("as a group: %w", err)
	}
	return m, nil
}
