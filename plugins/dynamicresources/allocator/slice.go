package allocator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-project/berth/model"
)

// slice is a device slice with what is remembered about it.
type slice struct {
	*model.DeviceSlice
	pool    model.PoolID
	devices []*device
	// verdicts says which of the devices selectors select.
	verdicts verdicts
}

// device is a device of a slice.
type device struct {
	*model.SliceDevice
	slice *slice
	index int // in the slice
	id    model.DeviceID
	// capacities are those of the device by name.
	capacities []capacity
	// limited: some capacity has a policy.
	limited bool
	// drawn is what it draws on counters, for claims to keep.
	drawn *model.Drawn
}

func newSlice(m *model.DeviceSlice) *slice {
	s := &slice{DeviceSlice: m, pool: model.PoolID{Driver: m.Driver, Pool: m.Pool}}
	s.devices = make([]*device, len(m.Devices))
	for i := range m.Devices {
		d := &device{SliceDevice: &m.Devices[i], slice: s, index: i}
		d.id = model.DeviceID{Driver: m.Driver, Pool: m.Pool, Device: d.Name}
		d.capacities, d.limited = capacitiesOf(d.SliceDevice)
		d.drawn = &model.Drawn{Counters: d.Consumes}
		s.devices[i] = d
	}
	return s
}

// amounts puts amounts by name in the order of the capacities.
func (d *device) amounts(by map[string]int64) []int64 {
	list := make([]int64, len(d.capacities))
	for i := range d.capacities {
		list[i] = by[d.capacities[i].name]
	}
	return list
}

// consumed appends what a request for these amounts takes of the device's
// capacities, in their order. It is not ok where the device has no such
// capacity, or does not give such an amount. An error means that the amount
// cannot be worked out.
func (d *device) consumed(list []int64, want map[string]int64) (_ []int64, ok bool, err error) {
	for name := range want {
		if _, found := d.Capacity[name]; !found {
			return list, false, nil
		}
	}
	ok = true
	for i := range d.capacities {
		c := &d.capacities[i]
		amount, allowed := c.byDefault, c.allowed
		if wanted, found := want[c.name]; found {
			if amount, err = c.roundUp(wanted); err != nil {
				return list, false, fmt.Errorf("capacity %q: %w", c.name, err)
			}
			allowed = c.allows(amount)
		}
		ok = ok && allowed
		list = append(list, amount)
	}
	return list, ok, nil
}

// relevant reports whether the slice, or one of its devices, can be used from
// the node.
func (s *slice) relevant(node *model.Node) bool {
	if !s.PerDevice {
		return reaches(node, s.Node, s.AllNodes, s.Nodes)
	}
	return slices.ContainsFunc(s.devices, func(d *device) bool { return d.here(node) })
}

// here reports whether a device of a slice with PerDevice can be used from the
// node.
func (d *device) here(node *model.Node) bool { return reaches(node, d.Node, d.AllNodes, d.Nodes) }

// reaches says from where something can be used. (NodeMatches.)
func reaches(node *model.Node, name string, all bool, terms *model.NodeTerms) bool {
	if name != "" {
		return node.Name == name
	}
	return all || terms != nil && terms.Matches(node)
}

// name is how messages call a device.
func name(id model.DeviceID) string {
	return strings.Join([]string{id.Driver, id.Pool, id.Device}, "/")
}
