package dynamicresources

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// randomSituation is a workload with one or two claims, of which some have
// devices, in a cluster where others have some too.
func randomSituation(r *rand.Rand) *extpointstest.Situation {
	view := &extpointstest.View{}
	for i, zone := range []string{"z1", "z1", "z2"} {
		b := modeltest.Node(fmt.Sprintf("n%d", i)).Zone(zone)
		if r.IntN(3) == 0 {
			b.Resource("example.com/gpu", 2)
		}
		view.NodeInfos = append(view.NodeInfos, extpoints.NewNodeInfo(b.Build()))
	}
	view.Number()
	for _, c := range modeltest.RandomDeviceClasses() {
		if c.Name == "gpu" {
			c.Resource = "example.com/gpu"
		}
		view.Put(c)
	}
	for _, s := range modeltest.RandomDeviceSlices(r, []string{"n0", "n1", "n2"}) {
		view.Put(s)
	}
	for i := range r.IntN(4) {
		view.Put(randomClaim(r, view, fmt.Sprintf("other%d", i), true))
	}
	w := &model.Workload{ID: "w", Namespace: "ns"}
	for i := range r.IntN(3) {
		ref := model.DeviceClaimRef{Name: fmt.Sprintf("c%d", i), ID: fmt.Sprintf("own%d", i), Generated: r.IntN(2) == 0}
		if r.IntN(20) > 0 {
			c := *randomClaim(r, view, ref.ID, r.IntN(4) == 0)
			c.Deleting = r.IntN(20) == 0
			if c.Owner = "w"; r.IntN(20) == 0 {
				c.Owner = "v"
			}
			view.Put(&c)
		} else if ref.Generated && r.IntN(2) == 0 {
			ref.ID = ""
		}
		w.DeviceClaims = append(w.DeviceClaims, ref)
	}
	if r.IntN(3) == 0 {
		w.Requests.Set("example.com/gpu", int64(1+r.IntN(2)))
	}
	return &extpointstest.Situation{Workload: &extpoints.WorkloadInfo{Workload: w}, View: view}
}

// randomClaim makes a claim; given says whether it has devices, if there are any
// for it.
func randomClaim(r *rand.Rand, view *extpointstest.View, id string, given bool) *model.DeviceClaim {
	c := modeltest.RandomDeviceClaim(r, id)
	c.Namespace, c.UID = "ns", id
	if given {
		give(r, view, c)
	}
	return c
}

// give gives the claim devices, if there are any for it on some node.
func give(r *rand.Rand, view *extpointstest.View, c *model.DeviceClaim) {
	p, _ := New(Args{}, extpointstest.NewHandle())
	node := pick(r, view.NodeInfos...).Node
	list, err := p.allocator.Prepare(view.Devices(), []*model.DeviceClaim{c}).Allocate(node, r.Uint64())
	if err != nil || list == nil {
		return
	}
	c.Allocation = list[0]
	if hasConditions(c.Allocation) {
		c.Allocation.At = extpointstest.Now.Add(-pick(r, time.Second, time.Hour))
	}
	c.ReservedFor = pick(r, nil, []model.Consumer{{Workload: "w"}}, []model.Consumer{{Workload: "v"}}, []model.Consumer{{Workload: "w"}, {Workload: "v"}})
}

// randomChange makes a change about devices.
func randomChange(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
	after := &extpointstest.Situation{Workload: s.Workload, View: &extpointstest.View{NodeInfos: s.View.NodeInfos}}
	after.View.Put(s.View.Objects...)
	old := s.View.Objects[r.IntN(len(s.View.Objects))]
	change := extpoints.Event{OldObject: old, ClusterEvent: extpoints.ClusterEvent{Resource: model.RefOf(old).Kind, Action: extpoints.Update}}
	switch o := old.(type) {
	case *model.DeviceClaim:
		c := *o
		switch r.IntN(4) {
		case 0:
			after.View.Drop(model.RefOf(o).Kind, o.ID)
			change.ClusterEvent.Action = extpoints.Delete
			return &extpointstest.Changed{What: "claim " + o.ID + " is deleted", After: after, Changes: []extpoints.Event{change}}
		case 1:
			c.Allocation, c.ReservedFor = nil, nil
		case 2: // what it has it keeps until it is given up
			if c.Allocation == nil {
				give(r, after.View, &c)
			}
		case 3:
			c.ReservedFor = slices.Clone(c.ReservedFor[:r.IntN(len(c.ReservedFor)+1)])
		}
		change.NewObject = &c
	case *model.DeviceSlice:
		c := *o
		c.Devices = slices.Clone(o.Devices)
		for i := range c.Devices {
			c.Devices[i].Taints = nil
			c.Devices[i].Attributes = map[string]model.AttributeValue{"kind": modeltest.Value("gpu"), "model": modeltest.Value("t4")}
		}
		if r.IntN(2) == 0 {
			c.SliceCount = 1
		}
		change.NewObject = &c
	case *model.DeviceClass:
		c := *o
		c.Selectors = nil
		change.NewObject = &c
	}
	after.View.Put(change.NewObject)
	return &extpointstest.Changed{What: fmt.Sprintf("%s %s changes", model.RefOf(old).Kind, model.RefOf(old).ID), After: after, Changes: []extpoints.Event{change}}
}

// The rest makes situations by hand.

const driver = "gpu.example.com"

// slice is a pool of n devices on the node, named after it.
func slice(node string, n int, changes ...func(*model.SliceDevice)) *model.DeviceSlice {
	return modeltest.DeviceSlice(driver, node).Node(node).Devices(n, changes...).Build()
}

func device(node, name string) model.AllocatedDevice {
	return model.AllocatedDevice{DeviceID: model.DeviceID{Driver: driver, Pool: node, Device: name}, Request: "r"}
}

// onNode is where a claim can be used that has a device of the node.
func onNode(node string) *model.NodeTerms {
	return &model.NodeTerms{Terms: []model.NodeTerm{{Fields: []model.Requirement{{Key: model.FieldName, Operator: model.In, Values: []string{node}}}}}}
}

// one is a claim for one device, with changes made to it.
func one(id string, changes ...func(*model.DeviceClaim)) *model.DeviceClaim {
	b := modeltest.DeviceClaim(id).Request("r", "gpu", 1).With(func(c *model.DeviceClaim) { c.Namespace = "ns" })
	for _, change := range changes {
		b.With(change)
	}
	return b.Build()
}

func given(node, name string) func(*model.DeviceClaim) {
	return func(c *model.DeviceClaim) {
		c.Allocation = &model.Allocation{Nodes: onNode(node), Devices: []model.AllocatedDevice{device(node, name)}}
	}
}

func reserved(workloads ...string) func(*model.DeviceClaim) {
	return func(c *model.DeviceClaim) {
		for _, w := range workloads {
			c.ReservedFor = append(c.ReservedFor, model.Consumer{Workload: w})
		}
	}
}

// using is a workload of the claims.
func using(claims ...string) *model.Workload {
	w := &model.Workload{ID: "w", Namespace: "ns"}
	for _, c := range claims {
		w.DeviceClaims = append(w.DeviceClaims, model.DeviceClaimRef{Name: c, ID: c})
	}
	return w
}

// situation is a workload among nodes n1 and n2, with class gpu and the objects.
func situation(w *model.Workload, objects ...model.Object) *extpointstest.Situation {
	s := extpointstest.NewSituation(w, extpointstest.NodeWith(modeltest.Node("n1").Build()), extpointstest.NodeWith(modeltest.Node("n2").Build()))
	s.View.Put(modeltest.DeviceClass("gpu"))
	s.View.Put(objects...)
	return s
}

func newPlugin(t testing.TB, args any, view extpoints.ClusterView) *DynamicResources {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Cluster = view
	p, err := extpoints.FactoryOf(New)(args, h)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*DynamicResources)
}
