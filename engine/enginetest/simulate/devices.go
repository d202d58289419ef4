package simulate

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/model"
)

// The devices of a history are of three kinds: cards that are given as a whole,
// networks that are shared as far as their capacity goes, and parts that draw on
// a stock that is not enough for all of them.
const (
	cardClass    = "card"
	networkClass = "network"
	partClass    = "part"
	deviceDriver = "dev"
	groupClaim   = "of-group"
)

var simDeviceClasses = []string{cardClass, networkClass, partClass}

// newDeviceWorld makes the devices and claims that there are at the beginning.
func (s *sim) newDeviceWorld() {
	f := &s.world.facts
	for _, name := range simDeviceClasses {
		f.put(newDeviceClass(name))
	}
	for i := range s.ifScarce(1, s.o.Nodes+5) {
		if s.chance(s.ifScarce(100, 90)) {
			for _, o := range s.newPool(faults.NodeName(i)) {
				f.put(o)
			}
		}
	}
	for i := range 4 + s.rng.IntN(4) {
		f.put(s.newDeviceClaim(simDeviceClaimID(i)))
	}
	f.put(s.newDeviceClaim(groupClaim))
}

func simDeviceClaimID(i int) string { return fmt.Sprintf("d%d", i) }

func newDeviceClass(name string) *model.DeviceClass {
	c := &model.DeviceClass{Name: name, Selectors: []model.DeviceSelector{{Requirements: []model.DeviceRequirement{
		{Attribute: "kind", Operator: model.CompareEqual, Values: []model.AttributeValue{{String: &name}}},
	}}}}
	if name == cardClass {
		c.Resource = cardResource
	}
	return c
}

// newPool makes the pool of a node: one slice with devices and, where some of
// them draw on a stock, one with that. Some pools can be used from a whole zone.
func (s *sim) newPool(node string) []model.Object {
	devices := &model.DeviceSlice{ID: "slice-" + node, Driver: deviceDriver, Pool: node, Generation: 1, SliceCount: 1, Node: node}
	if s.chance(20) {
		devices.Node, devices.Nodes = "", &model.NodeTerms{Terms: []model.NodeTerm{inZone(pickOf(s, simZones[1:]))}}
	}
	for i := range s.ifScarce(1, 2) + s.rng.IntN(s.ifScarce(2, 3)) {
		devices.Devices = append(devices.Devices, s.newSliceDevice(fmt.Sprint(i)))
	}
	draws := slices.ContainsFunc(devices.Devices, func(d model.SliceDevice) bool { return len(d.Consumes) > 0 })
	if !draws {
		return []model.Object{devices}
	}
	devices.SliceCount = 2
	return []model.Object{devices, &model.DeviceSlice{
		ID: "stock-" + node, Driver: deviceDriver, Pool: node, Generation: 1, SliceCount: 2, Node: devices.Node, Nodes: devices.Nodes,
		Counters: []model.CounterSet{{Name: "stock", Counters: map[string]int64{"memory": 3}}},
	}}
}

// newSliceDevice makes a device. What has the same name is of the same kind, also
// in another version of the pool.
func (s *sim) newSliceDevice(name string) model.SliceDevice {
	kind := s.deviceKind()
	d := model.SliceDevice{Name: kind + "-" + name, Attributes: map[string]model.AttributeValue{"kind": {String: &kind}}}
	switch kind {
	case networkClass:
		d.Shared = true
		d.Capacity = map[string]model.DeviceCapacity{"bandwidth": {Amount: 10, Policy: &model.CapacityPolicy{Default: newInt64(4)}}}
	case partClass:
		d.Consumes = []model.CounterUse{{Set: "stock", Counters: map[string]int64{"memory": 1 + s.rng.Int64N(2)}}}
	case cardClass:
		if s.chance(25) {
			d.BindingConditions, d.BindingFailures, d.BindsToNode = []string{"attached"}, []string{"broken"}, true
		}
	}
	if s.chance(8) {
		d.Taints = []model.Taint{{Key: "worn", Effect: model.NoSchedule}}
	}
	return d
}

// deviceKind is what a device is, or is wanted for.
func (s *sim) deviceKind() string {
	if s.o.Scarce {
		return cardClass
	}
	return pickOf(s, simDeviceClasses)
}

func newInt64(n int64) *int64 { return &n }

func (s *sim) newDeviceClaim(id string) *model.DeviceClaim {
	s.world.facts.uids++
	c := &model.DeviceClaim{ID: id, UID: fmt.Sprint(s.world.facts.uids)}
	for i := range 1 + s.rng.IntN(5)/4 {
		r := model.ClaimRequest{Name: fmt.Sprintf("r%d", i), Alternatives: []model.DeviceDemand{s.newDeviceDemand()}}
		if s.chance(25) {
			r.Alternatives, r.Prioritized = append(r.Alternatives, s.newDeviceDemand()), true
			r.Alternatives[0].Name, r.Alternatives[1].Name = "first", "second"
		}
		c.Requests = append(c.Requests, r)
	}
	return c
}

func (s *sim) newDeviceDemand() model.DeviceDemand {
	d := model.DeviceDemand{Class: s.deviceKind(), Count: 1}
	switch {
	case d.Class == networkClass && s.chance(60):
		d.Capacity = map[string]int64{"bandwidth": 1 + s.rng.Int64N(7)}
	case d.Class != networkClass && s.chance(15):
		d.Count = 2
	}
	if s.chance(15) {
		d.Tolerations = []model.Toleration{{Key: "worn", Operator: model.Exists}}
	}
	return d
}

// claimDevices lets the workload use devices.
func (s *sim) claimDevices(w *model.Workload) {
	switch {
	case s.chance(15):
		w.Requests.Set(cardResource, 1)
	case s.chance(s.ifScarce(90, 45)):
		w.DeviceClaims = []model.DeviceClaimRef{{Name: "own", ID: w.ID + "-dev", Generated: true}}
	default:
		w.DeviceClaims = []model.DeviceClaimRef{{Name: "shared", ID: simDeviceClaimID(s.rng.IntN(7))}}
	}
	if w.Group == "g2" && s.chance(60) {
		w.DeviceClaims = append(w.DeviceClaims, model.DeviceClaimRef{Name: "group", ID: groupClaim, OfGroup: true})
	}
}

// inputDevices changes something about devices and claims to them.
func inputDevices(s *sim) string {
	if !s.devices {
		return ""
	}
	f := &s.world.facts
	switch s.rng.IntN(8) {
	case 0, 1, 2:
		id := pickOf(s, []string{groupClaim, simDeviceClaimID(s.rng.IntN(7))})
		c := factOf[*model.DeviceClaim](f, id)
		if c == nil {
			c = s.newDeviceClaim(id)
			return "device claim " + id + s.change(c)
		}
		if len(c.ReservedFor) > 0 {
			going := *c
			going.Deleting = true
			return "delete device claim " + id + s.change(&going)
		}
		return "no device claim " + id + s.remove(refTo(c))
	case 3, 4:
		node := faults.NodeName(s.rng.IntN(s.ifScarce(1, s.o.Nodes+5)))
		what := "pool of " + node
		for _, ref := range []model.ObjectRef{{Kind: model.DeviceSliceKind, ID: "slice-" + node}, {Kind: model.DeviceSliceKind, ID: "stock-" + node}} {
			if f.now[ref] != nil {
				what += s.remove(ref)
			}
		}
		if s.chance(90) {
			for _, o := range s.newPool(node) {
				what += " " + describe(o) + s.change(o)
			}
		}
		return what
	case 5:
		c := newDeviceClass(pickOf(s, simDeviceClasses))
		if s.chance(10) {
			return "no device class " + c.Name + s.remove(refTo(c))
		}
		return "device class " + c.Name + s.change(c)
	}
	if s.chance(50) {
		return ""
	}
	return s.changeTaintRule()
}

func (s *sim) changeTaintRule() string {
	r := &model.DeviceTaintRule{ID: fmt.Sprintf("t%d", s.rng.IntN(2)), Driver: deviceDriver, Pool: faults.NodeName(s.rng.IntN(s.o.Nodes)), Taint: model.Taint{Key: "worn", Effect: model.NoSchedule}}
	if s.world.facts.now[refTo(r)] != nil && s.chance(70) {
		return "no taint " + r.ID + s.remove(refTo(r))
	}
	return "taint " + r.ID + " on " + r.Pool + s.change(r)
}

// tendDevices makes the claims that are made for workloads, and takes back what
// those had that have gone.
func (s *sim) tendDevices() (what string) {
	if !s.devices {
		return ""
	}
	f := &s.world.facts
	for _, w := range s.sortedBook() {
		for _, ref := range w.DeviceClaims {
			if ref.Generated && factOf[*model.DeviceClaim](f, ref.ID) == nil && !s.world.book[w.ID].ended {
				c := s.newDeviceClaim(ref.ID)
				c.Owner, c.Namespace = w.ID, w.Namespace
				what += " made " + c.ID + s.change(c)
			}
		}
	}
	for _, c := range factsOf[*model.DeviceClaim](f) {
		left := *c
		left.ReservedFor = slices.DeleteFunc(slices.Clone(c.ReservedFor), s.isGone)
		if len(left.ReservedFor) == 0 && len(c.ReservedFor) > 0 {
			left.Allocation, left.Conditions = nil, nil
		}
		owned := c.Owner != "" && s.isGone(model.Consumer{Workload: c.Owner})
		switch {
		case len(left.ReservedFor) == 0 && (owned || c.Deleting):
			what += " no device claim " + c.ID + s.remove(refTo(c))
		case len(left.ReservedFor) < len(c.ReservedFor):
			what += " device claim " + describe(&left) + s.change(&left)
		}
	}
	return what
}

// isGone reports whether a consumer needs nothing any more.
func (s *sim) isGone(by model.Consumer) bool {
	if by.Workload != "" {
		e := s.world.book[by.Workload]
		return e == nil || e.ended
	}
	for _, e := range s.world.book {
		if e.spec.Group == by.Group && !e.ended {
			return false
		}
	}
	return true
}

// deviceFacts are the slices and claims of the world, with the claim in place of
// the one of its ID.
func (w *simWorld) deviceFacts(claim *model.DeviceClaim) ([]*model.DeviceSlice, []*model.DeviceClaim) {
	claims := slices.DeleteFunc(factsOf[*model.DeviceClaim](&w.facts), func(c *model.DeviceClaim) bool { return c.ID == claim.ID })
	return factsOf[*model.DeviceSlice](&w.facts), append(claims, claim)
}

// holders describes the claims that have devices.
func holders(claims []*model.DeviceClaim) (has []string) {
	for _, c := range claims {
		if c.Allocation != nil {
			has = append(has, describe(c))
		}
	}
	return has
}
