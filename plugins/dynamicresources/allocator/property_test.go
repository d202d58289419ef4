package allocator_test

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

// However a cluster fills up, no device is given twice, no capacity and no
// counter is overdrawn, and no claim gets a device that it may not have.
func TestNothingIsGivenTwice(t *testing.T) {
	r := seeded(t)
	given := 0
	for round := range 2500 {
		w, a := randomWorld(r), allocator.New(allocator.Options{})
		for turn := range 12 {
			c := modeltest.RandomDeviceClaim(r, fmt.Sprintf("c%d", turn))
			n := w.nodes[r.IntN(len(w.nodes))]
			list, err := a.Prepare(w.view.Devices(), []*model.DeviceClaim{c}).Allocate(n, r.Uint64())
			if err != nil || list == nil {
				continue
			}
			w.put(c, list[0])
			given += len(list[0].Devices)
			if problem := w.wrong(n, c, list[0]); problem != "" {
				t.Fatalf("round %d, turn %d: %s", round, turn, problem)
			}
		}
	}
	if given < 5000 {
		t.Errorf("only %d devices were given", given)
	}
}

// wrong looks at all that is given away, and at what the claim was given last.
func (w *world) wrong(n *model.Node, c *model.DeviceClaim, a *model.Allocation) string {
	if !a.Nodes.Matches(n) {
		return "the devices cannot be used from where they were given"
	}
	for _, d := range a.Devices {
		if s, device := w.find(d.DeviceID); device == nil {
			return fmt.Sprintf("%v is not there", d.DeviceID)
		} else if s.PerDevice && !reach(n, device.Node, device.AllNodes, device.Nodes) || !s.PerDevice && !reach(n, s.Node, s.AllNodes, s.Nodes) {
			return fmt.Sprintf("%v is not for the node", d.DeviceID)
		}
	}
	if len(a.Devices) > allocator.MaxResults || len(a.Devices) < len(c.Requests) {
		return fmt.Sprintf("%d devices", len(a.Devices))
	}
	whole, consumed, shares := map[model.DeviceID]int{}, map[string]int64{}, map[string]bool{}
	for _, c := range w.given {
		for _, d := range c.Allocation.Devices {
			if d.AdminAccess {
				continue
			}
			if d.Share == "" {
				if whole[d.DeviceID]++; whole[d.DeviceID] > 1 {
					return fmt.Sprintf("%v is given twice", d.DeviceID)
				}
				continue
			}
			if shares[d.Share] {
				return "two shares have one ID"
			}
			shares[d.Share] = true
			_, device := w.find(d.DeviceID)
			for name, amount := range d.Consumed {
				key := fmt.Sprint(d.DeviceID, name)
				if consumed[key] += amount; consumed[key] > device.Capacity[name].Amount {
					return fmt.Sprintf("%v is overfull", d.DeviceID)
				}
			}
		}
	}
	return w.overdrawn()
}

// find returns the device and its slice.
func (w *world) find(id model.DeviceID) (*model.DeviceSlice, *model.SliceDevice) {
	for _, s := range w.view.Devices().Slices().List {
		for i := range s.Devices {
			if s.Driver == id.Driver && s.Pool == id.Pool && s.Devices[i].Name == id.Device {
				return s, &s.Devices[i]
			}
		}
	}
	return nil, nil
}

// overdrawn adds up what the devices in use draw on counters, each device once.
func (w *world) overdrawn() string {
	left, used := map[string]int64{}, map[model.DeviceID]bool{}
	for _, s := range w.view.Devices().Slices().List {
		for _, set := range s.Counters {
			for name, amount := range set.Counters {
				left[s.Pool+set.Name+name] += amount
			}
		}
	}
	for _, c := range w.given {
		for _, d := range c.Allocation.Devices {
			if used[d.DeviceID] || d.AdminAccess {
				continue
			}
			used[d.DeviceID] = true
			_, device := w.find(d.DeviceID)
			for _, use := range device.Consumes {
				for name, amount := range use.Counters {
					key := d.Pool + use.Set + name
					if left[key] -= amount; left[key] < 0 {
						return fmt.Sprintf("counter %s is overdrawn", name)
					}
				}
			}
		}
	}
	return ""
}
