package devices

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// shortage says what a node lacks for one request. The later ones cannot be
// mended by freeing devices.
type shortage uint8

const (
	enough      shortage = iota
	occupied             // too few devices have enough left
	tooFew               // the node has too few devices that would do
	wrongModel           // it has devices of the class, but none that would do
	noneOfClass          // it has no devices of the class

	shortages
)

// demand is what a workload asks for, with the answers that nodes get prepared.
// It is not changed once made.
type demand struct {
	requests []model.DeviceRequest
	answers  [][shortages]*extpoints.Status // for each request
	// together is the answer where each request could be served alone, but
	// not all of them together: now, and ever.
	together, never *extpoints.Status
}

func newDemand(requests []model.DeviceRequest) *demand {
	d := &demand{requests: requests, answers: make([][shortages]*extpoints.Status, len(requests))}
	for i := range requests {
		r := &requests[i]
		few := "node(s) had too few " + r.Class + " devices"
		if len(r.Models) > 0 {
			few += " of the requested model"
		}
		d.answers[i] = [shortages]*extpoints.Status{
			occupied:    extpoints.NewStatus(extpoints.Unschedulable, "Insufficient "+r.Class+" devices"),
			tooFew:      extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, few),
			wrongModel:  extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "node(s) had no "+r.Class+" devices of the requested model"),
			noneOfClass: extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "node(s) had no "+r.Class+" devices"),
		}
	}
	var insufficient []string
	for _, class := range d.classes() {
		insufficient = append(insufficient, "Insufficient "+class+" devices")
	}
	d.together = extpoints.NewStatus(extpoints.Unschedulable, insufficient...)
	if len(requests) > 1 {
		d.never = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "node(s) had too few devices for all requests together")
	}
	return d
}

// classes lists the classes of the requests, each once, in their order.
func (d *demand) classes() []string {
	var classes []string
	for i := range d.requests {
		if !slices.Contains(classes, d.requests[i].Class) {
			classes = append(classes, d.requests[i].Class)
		}
	}
	return classes
}

// competitors picks the requests of others that are for the same devices.
func (d *demand) competitors(others []model.DeviceRequest) []model.DeviceRequest {
	var same []model.DeviceRequest
	for i := range others {
		if slices.ContainsFunc(d.requests, func(r model.DeviceRequest) bool { return r.Class == others[i].Class }) {
			same = append(same, others[i])
		}
	}
	return same
}

// claims lists the competing requests of workloads that are on the node without
// holding the devices that they asked for. Those that are nominated to it are,
// and those of which the orchestrator did not say what they hold. Nearly always
// there are none.
func (d *demand) claims(node *extpoints.NodeInfo) []model.DeviceRequest {
	var claims []model.DeviceRequest
	for _, w := range node.Workloads {
		if len(w.Shares) == 0 && len(w.Workload.Devices) > 0 {
			claims = append(claims, d.competitors(w.Workload.Devices)...)
		}
	}
	return claims
}

// check says whether the node can serve all requests together, beside the
// claims on it.
func (d *demand) check(node *extpoints.NodeInfo) *extpoints.Status {
	status := d.checkEach(node)
	several := len(d.requests) > 1
	if status == nil {
		claims := d.claims(node)
		if !several && len(claims) == 0 {
			return nil // a matter of counting
		}
		if solve(node.Node.Devices, node.DeviceFree, slices.Concat(d.requests, claims)) != nil {
			return nil
		}
		status = d.together
	}
	if several && status.Code() == extpoints.Unschedulable && !d.fitsEmpty(node.Node) {
		return d.never
	}
	return status
}

// checkEach says whether the node can serve each request as if it were the only
// one. The answer has the reasons of all shortages, and the hardest code.
func (d *demand) checkEach(node *extpoints.NodeInfo) *extpoints.Status {
	var status *extpoints.Status
	for i := range d.requests {
		if s := shortageOf(&d.requests[i], node.Node.Devices, node.DeviceFree); s != enough {
			status = join(status, d.answers[i][s])
		}
	}
	return status
}

// fitsEmpty reports whether the node could serve all requests if nothing were
// on it.
func (d *demand) fitsEmpty(node *model.Node) bool {
	free := slices.Repeat([]int64{model.WholeDevice}, len(node.Devices))
	for i := range d.requests {
		if shortageOf(&d.requests[i], node.Devices, free) != enough {
			return false
		}
	}
	return len(d.requests) < 2 || solve(node.Devices, free, d.requests) != nil
}

// shortageOf says whether the devices can serve the request alone.
func shortageOf(r *model.DeviceRequest, devices []model.Device, free []int64) shortage {
	var class, admitted, fitting int64
	for i := range devices {
		if devices[i].Class != r.Class {
			continue
		}
		class++
		if !r.Admits(&devices[i]) {
			continue
		}
		admitted++
		if free[i] >= r.Share {
			fitting++
		}
	}
	switch {
	case fitting >= r.Count:
		return enough
	case admitted >= r.Count:
		return occupied
	case admitted > 0:
		return tooFew
	case class > 0:
		return wrongModel
	default:
		return noneOfClass
	}
}

// join makes one answer of two: the reasons of both, each once, and the harder
// code, which is the larger one.
func join(a, b *extpoints.Status) *extpoints.Status {
	if a == nil {
		return b
	}
	code, reasons := max(a.Code(), b.Code()), a.Reasons()
	for _, reason := range b.Reasons() {
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return extpoints.NewStatus(code, reasons...)
}
