package devicepacking

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// supply is where Rollout finds devices and requests for them: in the fields for devices of a
// class, or in the amounts of a resource; see Args.Resource.
//
// Of a resource nobody knows which device a unit is of. A node is held to have used its
// devices up one after the other, so that at most one is in part.
type supply struct {
	class    string
	resource string // empty: the fields for devices
	units    int64
	label    string
}

func newSupply(a Args) *supply {
	return &supply{class: a.Class, resource: a.Resource, units: a.Units, label: a.ModelLabel}
}

func (s *supply) ofResource() bool { return s.resource != "" }

// mostOfResource is how many devices of a resource are looked at on a node: an amount may be
// anything.
const mostOfResource = 64

// pool is what is left on the node.
func (s *supply) pool(b *buffer, node *extpoints.NodeInfo) pool {
	if !s.ofResource() {
		return newPool(b, s.class, node)
	}
	p := pool{cpu: cpuLeft(node), free: b[:0], uniform: true}
	p.devices = slices.Repeat([]model.Device{{Class: s.resource, Model: node.Node.Labels[s.label]}}, s.count(node.Node))
	p.free = append(p.free, make([]int64, len(p.devices))...)
	s.fill(&p, s.unitsLeft(node))
	return p
}

// unitsLeft is what is left of the resource.
func (s *supply) unitsLeft(node *extpoints.NodeInfo) int64 {
	return max(0, node.Node.Allocatable.Scalar(s.resource)-node.Requested.Scalar(s.resource))
}

// idle is what is left of all devices of the node, in thousandths.
func (s *supply) idle(node *extpoints.NodeInfo) int64 {
	if s.ofResource() {
		return s.sum(s.unitsLeft(node))
	}
	b := base{class: s.class}
	return b.idle(node)
}

// fill makes the pool one with so many units left.
func (s *supply) fill(p *pool, units int64) {
	for i := range p.free {
		left := min(max(units, 0), s.units)
		p.free[i] = s.thousandths(left)
		units -= left
	}
}

// thousandths is a part of one device.
func (s *supply) thousandths(units int64) int64 {
	return int64(float64(units) / float64(s.units) * float64(model.WholeDevice))
}

// sum is so many units in thousandths of a device.
func (s *supply) sum(units int64) int64 {
	units = min(units, mostOfResource*s.units)
	return units/s.units*model.WholeDevice + s.thousandths(units%s.units)
}

// count is how many devices the node has.
func (s *supply) count(n *model.Node) int {
	if s.ofResource() {
		return int(min((n.Allocatable.Scalar(s.resource)+s.units-1)/s.units, mostOfResource))
	}
	count := 0
	for i := range n.Devices {
		if n.Devices[i].Class == s.class {
			count++
		}
	}
	return count
}

// requests are those of the workload for the devices. Those for a resource are for whole
// devices and a share of one more.
func (s *supply) requests(w *model.Workload) []model.DeviceRequest {
	if !s.ofResource() {
		if !slices.ContainsFunc(w.Devices, func(r model.DeviceRequest) bool { return r.Class != s.class }) {
			return w.Devices
		}
		var list []model.DeviceRequest
		for i := range w.Devices {
			if w.Devices[i].Class == s.class {
				list = append(list, w.Devices[i])
			}
		}
		return list
	}
	amount := w.Requests.Scalar(s.resource)
	r := model.DeviceRequest{Class: s.resource, Count: 1, Models: s.modelsOf(w)}
	var list []model.DeviceRequest
	if whole := amount / s.units; whole > 0 {
		list = append(list, r)
		list[0].Count, list[0].Share = min(whole, mostOfResource), model.WholeDevice
	}
	if share := s.thousandths(amount % s.units); share > 0 {
		r.Share = share
		list = append(list, r)
	}
	return list
}

// modelsOf are the values of the label that the workload requires of its node: by its node
// selector, or by each term of its required node affinity. Other ways to choose a model
// are not seen.
func (s *supply) modelsOf(w *model.Workload) []string {
	if s.label == "" {
		return nil
	}
	if name, ok := w.NodeSelector[s.label]; ok {
		return []string{name}
	}
	if w.NodeAffinity == nil || w.NodeAffinity.Required == nil {
		return nil
	}
	var models []string
	for _, term := range w.NodeAffinity.Required.Terms {
		i := slices.IndexFunc(term.Labels, func(r model.Requirement) bool { return r.Key == s.label && r.Operator == model.In })
		if i < 0 {
			return nil
		}
		models = append(models, term.Labels[i].Values...)
	}
	slices.Sort(models)
	return slices.Compact(models)
}
