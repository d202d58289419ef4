package allocator_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// seeded returns a generator that makes the same things every time.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(modeltest.Seed(t), 0))
}

// world is a random cluster with some claims that have devices.
type world struct {
	view  *extpointstest.View
	nodes []*model.Node
	given []*model.DeviceClaim
	// lacks, where set, says whether it is not said what a claim has drawn.
	lacks func() bool
}

func randomWorld(r *rand.Rand) *world {
	w := &world{view: extpointstest.NewView()}
	for i, zone := range []string{"z1", "z1", "z2"} {
		w.nodes = append(w.nodes, modeltest.Node(fmt.Sprintf("n%d", i)).Zone(zone).Build())
	}
	for _, c := range modeltest.RandomDeviceClasses() {
		w.view.Put(c)
	}
	for _, s := range modeltest.RandomDeviceSlices(r, []string{"n0", "n1", "n2"}) {
		w.view.Put(s)
	}
	return w
}

// change changes a slice, a node or a class, or leaves all as it is.
func (w *world) change(r *rand.Rand) {
	slices := w.view.Devices().Slices().List
	s := *slices[r.IntN(len(slices))]
	switch r.IntN(10) {
	case 8, 9:
		w.publishAnew(r)
	case 0:
		w.view.Drop(model.DeviceSliceKind, s.ID)
		if len(slices) == 1 {
			w.view.Put(&s)
		}
	case 1:
		s.Generation++
		w.view.Put(&s)
	case 2:
		other := modeltest.RandomDeviceSlices(r, []string{"n0", "n1", "n2"})[0]
		w.view.Put(other)
	case 3:
		i := r.IntN(len(w.nodes))
		w.nodes[i] = modeltest.Node(w.nodes[i].Name).Zone([]string{"z1", "z2"}[r.IntN(2)]).Build()
	case 4:
		w.view.Put(modeltest.DeviceClass("any", modeltest.Require("kind", model.CompareEqual, "nic")))
	}
}

// publishAnew changes devices where they are: drivers may do so at any time, also with
// devices that are given away.
func (w *world) publishAnew(r *rand.Rand) {
	list := w.view.Devices().Slices().List
	s := model.CloneObject(list[r.IntN(len(list))])
	if len(s.Devices) == 0 {
		return
	}
	i := r.IntN(len(s.Devices))
	d := &s.Devices[i]
	switch r.IntN(6) {
	case 0, 1:
		s.Devices = append(s.Devices[:i], s.Devices[i+1:]...)
	case 2:
		d.Shared = !d.Shared
		for name, c := range d.Capacity {
			c.Policy = nil
			d.Capacity[name] = c
		}
	case 3:
		d.Consumes = nil
	case 4:
		for j := range d.Consumes {
			for name := range d.Consumes[j].Counters {
				d.Consumes[j].Counters[name] = int64(r.IntN(4))
			}
		}
	case 5: // as another device has it
		d.Consumes = s.Devices[r.IntN(len(s.Devices))].Consumes
	}
	for i := range s.Devices {
		s.Devices[i].Taints = nil // those of rules would come again
	}
	w.view.Put(s)
}

// put gives the claim what it was allocated.
func (w *world) put(c *model.DeviceClaim, a *model.Allocation) {
	given := *c
	given.Allocation = a
	if w.lacks != nil && w.lacks() {
		given = *model.CloneObject(&given)
		for i := range given.Allocation.Devices {
			given.Allocation.Devices[i].Drawn = nil
		}
	}
	w.given = append(w.given, &given)
	w.view.Put(&given)
}

func (w *world) twin(n *model.Node) *twin {
	return &twin{node: n, slices: w.view.Devices().Slices().List, given: w.given, class: w.view.Devices().Class}
}

// frozen is a view of devices of which nothing is given away, and that answers
// without allocating.
type frozen struct {
	extpoints.Devices
	slices *extpoints.DeviceSlices
}

func (f frozen) Slices() *extpoints.DeviceSlices     { return f.slices }
func (f frozen) Use(model.PoolID) *extpoints.PoolUse { return nil }
