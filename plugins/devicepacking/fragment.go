package devicepacking

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// pool is what is left on a node: of its CPU, and of its devices of one class.
type pool struct {
	cpu     int64
	devices []model.Device
	free    []int64 // thousandths, for each of devices
	// index is the place of each of devices on the node; nil: the same.
	index   []int
	uniform bool // all devices are of the same model
}

// buffer is where the caller of newPool lets it keep what is left of devices.
type buffer [stackDevices]int64

// newPool returns what is left on the node. It allocates only where the node
// has devices of other classes, or more than fit the buffer.
func newPool(b *buffer, class string, node *extpoints.NodeInfo) pool {
	p := pool{cpu: cpuLeft(node), free: b[:0], uniform: true}
	p.devices, p.index = ofClass(class, node.Node.Devices)
	for i := range p.devices {
		p.uniform = p.uniform && p.devices[i].Model == p.devices[0].Model
		p.free = append(p.free, node.DeviceFree[p.indexOf(i)])
	}
	return p
}

// ofClass picks the devices of the class, and tells their index in all; nil
// where they are all.
func ofClass(class string, all []model.Device) (devices []model.Device, index []int) {
	if !slices.ContainsFunc(all, func(d model.Device) bool { return d.Class != class }) {
		return all, nil
	}
	index = []int{}
	for i := range all {
		if all[i].Class == class {
			devices = append(devices, all[i])
			index = append(index, i)
		}
	}
	return devices, index
}

// indexOf is the place on the node of the i-th device of the pool.
func (p *pool) indexOf(i int) int {
	if p.index == nil {
		return i
	}
	return p.index[i]
}

// sameBefore reports whether a device before d has the same model and as much
// left. What a node is worth is a function of how many such devices there are, so the
// score would be the same, and the first one wins.
func (p *pool) sameBefore(d int) bool {
	for e := range d {
		if p.free[e] == p.free[d] && p.devices[e] == p.devices[d] {
			return true
		}
	}
	return false
}

// load sets what is left of the devices, given by their place on the node.
func (p *pool) load(free []int64) {
	for i := range p.free {
		p.free[i] = free[p.indexOf(i)]
	}
}

// fragments measures how much of the idle devices of a node typical workloads
// could not use: F of the paper (section 3.2), in thousandths of a device.
//
// For each typical workload t, all that is idle counts as lost where t needs no
// device, is not served by the model, or does not fit; else what is left of the
// devices that cannot serve it. F is the sum over t of weight times loss.
//
// Scores compare differences of almost equal sums, so the last digit decides:
// the losses are added by cause, in the order of the typical workloads, and then
// the causes in theirs. Another order is as right and gives other placements.
type fragments struct {
	typical []typical
	shares  []int64 // each share that a typical workload asks for, once, ascending
}

type typical struct {
	cpu    int64
	count  int64
	share  int // index into shares; no meaning where count is 0
	models []string
	weight float64
}

// cause is why idle devices are lost for a typical workload.
type cause int

const (
	lackBoth   cause = iota
	lackDevice       // and the unusable rest where it fits
	lackCPU
	needsNone        // it needs no device
	needsNoneLackCPU // and does not even fit
	noAccess         // no device is of a model that will do

	causes
)

func newFragments(list []Typical) fragments {
	var f fragments
	for _, t := range list {
		f.shares = append(f.shares, t.Share)
	}
	slices.Sort(f.shares)
	f.shares = slices.Compact(f.shares)
	for _, t := range list {
		share, _ := slices.BinarySearch(f.shares, t.Share)
		f.typical = append(f.typical, typical{t.CPU, t.Count, share, slices.Clone(t.Models), t.Weight})
	}
	return f
}

// of is F of the pool.
//
// The devices are counted once for each share that is asked for, not for each
// typical workload: there are many more of these, and this is called for every
// node and every device that is tried.
func (f *fragments) of(p *pool) float64 {
	var buffer [stackShares]tally
	tallies := p.tally(buffer[:0], f.shares)
	var idle int64
	for _, g := range p.free {
		idle += g
	}
	var lost [causes]float64
	for i := range f.typical {
		t := &f.typical[i]
		why, amount := t.lost(p, idle, tallies[t.share], f.shares[t.share])
		// The conversion keeps the compiler from fusing the two operations,
		// which rounds differently on the processors that can.
		lost[why] += float64(float64(amount) * t.weight)
	}
	var sum float64
	for _, amount := range lost {
		sum += amount
	}
	return sum
}

// tally counts the devices that can give a share, and what is left of them.
type tally struct{ fitting, usable int64 }

// stackShares is how many different shares are handled without allocating.
const stackShares = 64

// tally appends to dst the tally of each share over all models. The shares are
// ascending, so one pass over the devices in the order of what is left serves
// them all.
func (p *pool) tally(dst []tally, shares []int64) []tally {
	var b buffer
	ascending := append(b[:0], p.free...)
	slices.Sort(ascending)
	var t tally
	for _, g := range ascending {
		t.fitting++
		t.usable += g
	}
	for _, share := range shares {
		for len(ascending) > 0 && ascending[0] < share {
			t.fitting--
			t.usable -= ascending[0]
			ascending = ascending[1:]
		}
		dst = append(dst, t)
	}
	return dst
}

// lost is how much of what is idle the typical workload cannot use, and why.
// fit is the tally of its share over all models.
func (t *typical) lost(p *pool, idle int64, fit tally, share int64) (cause, int64) {
	enoughCPU := p.cpu >= t.cpu
	if t.count == 0 {
		if enoughCPU {
			return needsNone, idle
		}
		return needsNoneLackCPU, idle
	}
	if len(t.models) > 0 {
		var access bool
		if fit, access = t.among(p, fit, share); !access {
			return noAccess, idle
		}
	}
	switch {
	case fit.fitting >= t.count && enoughCPU:
		return lackDevice, idle - fit.usable
	case fit.fitting >= t.count:
		return lackCPU, idle
	case enoughCPU:
		return lackDevice, idle
	default:
		return lackBoth, idle
	}
}

// among narrows the tally to the models that will do, and reports whether there
// are devices of them.
func (t *typical) among(p *pool, all tally, share int64) (fit tally, access bool) {
	if p.uniform && len(p.devices) > 0 {
		return all, slices.Contains(t.models, p.devices[0].Model)
	}
	for i := range p.devices {
		if !slices.Contains(t.models, p.devices[i].Model) {
			continue
		}
		access = true
		if g := p.free[i]; g >= share {
			fit.fitting++
			fit.usable += g
		}
	}
	return fit, access
}
