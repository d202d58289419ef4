package convert

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/node/topology"

	"github.com/berth-project/berth/model"
)

var (
	allocatablePath  = field.NewPath("status", "allocatable")
	nodeCapacityPath = field.NewPath("status", "capacity")
	taintsPath       = field.NewPath("spec", "taints")
	imagesPath       = field.NewPath("status", "images")
	featuresPath     = field.NewPath("status", "declaredFeatures")
)

// Node translates a node. The result shares maps and slices with the argument,
// which must not be changed any more.
//
// The error, a [*model.ValidationError], lists all fields that cannot be
// translated, by their names in Kubernetes' API. The node is there even so, and
// valid, without those fields; it is nil only where it would have no name. A
// node that says nothing of the number of pods takes none.
//
// Rules: kube-scheduler pkg/scheduler/framework/types.go (SetNode, NewResource)
// and component-helpers node/topology/helpers.go, 1.37.1.
func Node(n *v1.Node) (*model.Node, error) {
	var c problems
	m := &model.Node{
		Name:          c.text(namePath, n.Name),
		Labels:        c.labels(labelsPath, n.Labels),
		Zone:          c.text(labelsPath, topology.GetZoneKey(n)),
		Allocatable:   c.resources(allocatablePath, n.Status.Allocatable),
		Capacity:      c.resources(nodeCapacityPath, n.Status.Capacity),
		MaxWorkloads:  model.NoWorkloads,
		Taints:        c.taints(n.Spec.Taints),
		Unschedulable: n.Spec.Unschedulable,
		Images:        c.nodeImages(n.Status.Images),
		Features:      c.names(featuresPath, n.Status.DeclaredFeatures),
	}
	if pods := c.amount(allocatablePath, n.Status.Allocatable, v1.ResourcePods, 0); pods > 0 {
		m.MaxWorkloads = pods
	}
	if n.Name == "" {
		c.report(namePath, "must not be empty")
		m = nil
	}
	return m, c.err("node", n.Name)
}

func (p *problems) taints(taints []v1.Taint) []model.Taint {
	var list []model.Taint
	for i := range taints {
		t := &taints[i]
		at, before := taintsPath.Index(i), len(p.list)
		m := model.Taint{Key: p.text(at.Child("key"), t.Key), Value: p.text(at.Child("value"), t.Value), Effect: model.TaintEffect(t.Effect)}
		if t.Key == "" {
			p.report(at.Child("key"), "must not be empty")
		}
		if !isTaintEffect(t.Effect) {
			p.report(at.Child("effect"), "%q is not an effect of a taint", t.Effect)
		}
		if slices.ContainsFunc(list, func(earlier model.Taint) bool { return earlier.Key == m.Key && earlier.Effect == m.Effect }) {
			p.report(at, "has the same key and effect as an earlier one")
		}
		if len(p.list) == before {
			list = append(list, m)
		}
	}
	return list
}

func (p *problems) nodeImages(images []v1.ContainerImage) []model.NodeImage {
	var list []model.NodeImage
	for i := range images {
		if images[i].SizeBytes < 0 {
			p.report(imagesPath.Index(i).Child("sizeBytes"), "%d is less than 0", images[i].SizeBytes)
			continue
		}
		list = append(list, model.NodeImage{Names: p.names(imagesPath.Index(i).Child("names"), images[i].Names), Size: images[i].SizeBytes})
	}
	return list
}
