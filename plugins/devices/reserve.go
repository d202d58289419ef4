package devices

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Reserve chooses the devices and adds them to the binding, in the order of the
// requests.
func (*Devices) Reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	if len(w.Workload.Devices) == 0 {
		return nil
	}
	node := s.View().Nodes().Get(b.Node)
	if node == nil {
		return extpoints.AsStatus(fmt.Errorf("reserve devices: no node %q", b.Node))
	}
	p := newPick(s, w, node)
	if p == nil {
		return demandOf(s, w).check(node)
	}
	for i := range w.Workload.Devices {
		devices, err := p.next(i)
		if err != nil {
			return extpoints.AsStatus(err)
		}
		for _, d := range devices {
			b.Devices = append(b.Devices, model.DeviceShare{Device: d, Share: w.Workload.Devices[i].Share})
		}
	}
	return nil
}

// Unreserve empties the binding: the devices are held by nothing else yet.
func (*Devices) Unreserve(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, b *model.Binding) {
	b.Devices = nil
}

// pick chooses devices for one request after the other. It always has a plan
// that serves the rest, and follows a wish only if there is a plan after it; so
// a node that Filter let pass is never refused in the middle.
type pick struct {
	state   *extpoints.CycleState
	w       *extpoints.WorkloadInfo
	node    *extpoints.NodeInfo
	chooser helper.DeviceChooser // nil: none
	free    []int64              // less what was picked
	rest    []model.DeviceRequest
	plan    [][]int // devices for each of rest
}

// newPick returns nil where the node cannot serve the workload.
func newPick(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *pick {
	p := &pick{state: s, w: w, node: node, free: slices.Clone(node.DeviceFree)}
	p.chooser, _ = helper.DeviceChooserKey.Get(s)
	d := demandOf(s, w)
	// Room is left for those who are nominated to the node and may not be
	// displaced. Filter has seen to it that there is; where it has not, w goes
	// first.
	claimed := slices.Concat(d.requests, d.claims(node))
	for _, rest := range [][]model.DeviceRequest{slices.Concat(claimed, d.nominated(s, w, node)), claimed} {
		if plan := solve(node.Node.Devices, p.free, rest); plan != nil {
			p.rest, p.plan = rest, plan
			return p
		}
	}
	return nil
}

// nominated lists the competing requests of the workloads that wait for room on
// the node and that w may not displace.
func (d *demand) nominated(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) []model.DeviceRequest {
	var requests []model.DeviceRequest
	for _, n := range s.View().Nominated(node.Node.Name) {
		if n.ID != w.ID && n.Priority >= w.Priority {
			requests = append(requests, d.competitors(n.Workload.Devices)...)
		}
	}
	return requests
}

// next picks the devices of the request of the given index; they are called in
// order. In order of preference: what the chooser wishes, the tightest devices,
// what was planned.
func (p *pick) next(request int) ([]int, error) {
	r := &p.w.Workload.Devices[request]
	if p.chooser != nil {
		wish := p.chooser.ChooseDevices(p.state, p.w, p.node, request, p.free)
		if wish != nil && !p.fits(r, wish) {
			return nil, fmt.Errorf("reserve devices on node %q: request %d of workload %q was given the devices %v, which do not serve it",
				p.node.Node.Name, request, p.w.ID, wish)
		}
		if wish != nil && p.take(r, wish) {
			return wish, nil
		}
	}
	if tightest, ok := helper.TightestDevices(nil, p.node.Node.Devices, p.free, r); ok && p.take(r, tightest) {
		return tightest, nil
	}
	planned := p.plan[0]
	p.spend(r, planned, 1)
	p.rest, p.plan = p.rest[1:], p.plan[1:]
	return planned, nil
}

// fits reports whether the devices serve the request.
func (p *pick) fits(r *model.DeviceRequest, devices []int) bool {
	if int64(len(devices)) != r.Count {
		return false
	}
	for i, d := range devices {
		if d < 0 || d >= len(p.free) || p.free[d] < r.Share || !r.Admits(&p.node.Node.Devices[d]) ||
			slices.Contains(devices[:i], d) {
			return false
		}
	}
	return true
}

// take gives the first of the rest these devices if the others can still be
// served, with a plan how.
func (p *pick) take(r *model.DeviceRequest, devices []int) bool {
	p.spend(r, devices, 1)
	plan := solve(p.node.Node.Devices, p.free, p.rest[1:])
	if plan == nil {
		p.spend(r, devices, -1)
		return false
	}
	p.rest, p.plan = p.rest[1:], plan
	return true
}

func (p *pick) spend(r *model.DeviceRequest, devices []int, sign int64) {
	for _, d := range devices {
		p.free[d] -= sign * r.Share
	}
}
