package convert

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

// Amount is a quantity of the resource in the model's unit: thousandths of a CPU, else
// ones. The error is a field error at the path, for a resource that the scheduler does not
// count, and for a quantity that is negative or too large.
func Amount(at *field.Path, name v1.ResourceName, q resource.Quantity) (int64, *field.Error) {
	scale := resource.Scale(0)
	switch name {
	case v1.ResourceCPU:
		scale = resource.Milli
	case v1.ResourceMemory, v1.ResourceEphemeralStorage:
	default:
		if !isScalar(string(name)) {
			return 0, field.Invalid(at, string(name), "is not a resource that the scheduler counts")
		}
	}
	n, problem := amount(q, scale)
	if problem != "" {
		return 0, field.Invalid(at, q.String(), "is "+problem)
	}
	return n, nil
}

// Quantity is an amount in the model's unit as Kubernetes writes it; see [Amount].
func Quantity(name string, n int64) resource.Quantity {
	switch {
	case name == model.CPU:
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	case name == model.Memory, name == model.EphemeralStorage, strings.HasPrefix(name, v1.ResourceHugePagesPrefix):
		return *resource.NewQuantity(n, resource.BinarySI)
	}
	return *resource.NewQuantity(n, resource.DecimalSI)
}

// LabelSelector translates a label selector. Nil selects nothing, one without requirements
// everything. The error is a [*model.ValidationError] with all that cannot be read.
func LabelSelector(at *field.Path, s *metav1.LabelSelector) (*model.Selector, error) {
	var p problems
	m, _ := p.selector(at, s)
	return m, p.err("selector", at.String())
}
