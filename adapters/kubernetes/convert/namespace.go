package convert

import (
	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/model"
)

// Namespace translates a namespace. The result shares the labels with the
// argument, which must not be changed any more.
func Namespace(n *v1.Namespace) *model.Namespace {
	return &model.Namespace{Name: n.Name, Labels: n.Labels}
}
