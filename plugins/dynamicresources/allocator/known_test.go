package allocator_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

// TestKnownDeviceShares: what Koordinator's DeviceShare gives (scheduler/plugins/deviceshare, commit a7a1b76b), as claims. Devices
// of several types under one PCIe switch (device-joint-allocate, SamePCIe) are requests with an attribute in common; a
// row of a partition table is a device that draws on the counters of its GPUs; virtual functions are devices that draw on their card's;
// a share of a GPU is a device that can be given to several, with a capacity.
func TestKnownDeviceShares(t *testing.T) {
	classes := []model.Object{}
	for _, kind := range []string{"card", "nic", "pair", "four"} {
		classes = append(classes, modeltest.DeviceClass(kind, modeltest.Require("kind", model.CompareEqual, kind)))
	}
	device := func(kind string, pcie int, changes ...func(*model.SliceDevice)) func(*model.SliceDevice) {
		return func(d *model.SliceDevice) {
			for _, change := range append(changes, modeltest.Attribute("kind", kind), modeltest.Attribute("pcie", pcie)) {
				change(d)
			}
		}
	}
	// Two switches with two GPUs and a NIC each.
	switches := pool("p").Device("g0", device("card", 0)).Device("g1", device("card", 0)).Device("g2", device("card", 1)).Device("g3", device("card", 1)).
		Device("n0", device("nic", 0)).Device("n1", device("nic", 1)).Build()
	// Four GPUs that are given alone, in pairs of neighbours, or together.
	stock, slots := pool("p").Part("stock", 1, 2), pool("p").Part("slots", 1, 2)
	for i := range 4 {
		stock.Counter(fmt.Sprint("slot", i), "gpu", 1)
	}
	partition := func(name, kind string, gpus ...int) {
		d := []func(*model.SliceDevice){device(kind, 0)}
		for _, i := range gpus {
			d = append(d, modeltest.Consumes(fmt.Sprint("slot", i), "gpu", 1))
		}
		slots.Device(name, d...)
	}
	for i := range 4 {
		partition(fmt.Sprint("g", i), "card", i)
	}
	partition("g01", "pair", 0, 1)
	partition("g23", "pair", 2, 3)
	partition("g0123", "four", 0, 1, 2, 3)
	// A NIC, as a whole or in two functions.
	ports, functions := pool("p").Part("ports", 1, 2).Counter("n0", "function", 2).Build(), pool("p").Part("functions", 1, 2).Device("n0", device("card", 0, modeltest.Consumes("n0", "function", 2))).
		Device("vf0", device("nic", 0, modeltest.Consumes("n0", "function", 1))).Device("vf1", device("nic", 0, modeltest.Consumes("n0", "function", 1))).Build()
	shared := pool("p").Device("g0", device("card", 0), modeltest.Shared, modeltest.Capacity("ratio", 100, nil)).Build()

	ask := func(id string) *modeltest.ClaimBuilder { return modeltest.DeviceClaim(id) }
	percent := func(n int64) func(*model.DeviceDemand) {
		return func(d *model.DeviceDemand) { d.Capacity = map[string]int64{"ratio": n} }
	}
	of := func(list ...model.Object) []model.Object { return list }
	const pcie = driver + "/pcie"
	for _, c := range []struct {
		name   string
		pool   []model.Object
		claims []*model.DeviceClaim
		want   string
	}{
		{"a GPU and a NIC of one switch", of(switches), []*model.DeviceClaim{ask("a").Request("g", "card", 1).Request("n", "nic", 1).Match(pcie).Build()}, "a: g=p/g0 n=p/n0"},
		{"and the next", of(switches), []*model.DeviceClaim{
			ask("a").Request("g", "card", 1).Request("n", "nic", 1).Match(pcie).Build(), ask("b").Request("g", "card", 1).Request("n", "nic", 1).Match(pcie).Build(),
		}, "a: g=p/g0 n=p/n0; b: g=p/g2 n=p/n1"},
		{"two GPUs and a NIC of one switch, where one is taken", of(switches), []*model.DeviceClaim{
			ask("a").Request("g", "card", 1).Build(), ask("b").Request("g", "card", 2).Request("n", "nic", 1).Match(pcie).Build(),
		}, "a: g=p/g0; b: g=p/g2 g=p/g3 n=p/n1"},
		{"a NIC for each of two switches", of(switches), []*model.DeviceClaim{
			ask("a").Request("g0", "card", 1).Request("n0", "nic", 1).Request("g1", "card", 1).Request("n1", "nic", 1).
				Match(pcie, "g0", "n0").Match(pcie, "g1", "n1").Build(),
		}, "a: g0=p/g0 n0=p/n0 g1=p/g2 n1=p/n1"},
		{"three GPUs of one switch", of(switches), []*model.DeviceClaim{ask("a").Request("g", "card", 3).Match(pcie).Build()}, "no"},

		{"a pair", of(stock.Build(), slots.Build()), []*model.DeviceClaim{ask("a").Request("r", "pair", 1).Build()}, "a: r=p/g01"},
		{"a pair beside one", of(stock.Build(), slots.Build()), []*model.DeviceClaim{ask("a").Request("r", "card", 1).Build(), ask("b").Request("r", "pair", 1).Build()}, "a: r=p/g0; b: r=p/g23"},
		{"two that are no pair", of(stock.Build(), slots.Build()), []*model.DeviceClaim{
			ask("a").Request("r", "card", 1).Build(), ask("b").Request("r", "pair", 1).Build(), ask("c").Request("r", "pair", 1).Build(),
		}, "no"},
		{"all four beside one", of(stock.Build(), slots.Build()), []*model.DeviceClaim{ask("a").Request("r", "card", 1).Build(), ask("b").Request("r", "four", 1).Build()}, "no"},
		{"a pair or, where there is none, one", of(stock.Build(), slots.Build()), []*model.DeviceClaim{
			ask("a").Request("r", "pair", 1).Build(), ask("b").Request("r", "card", 1).Build(),
			ask("c").FirstOf("r", modeltest.Demand("pair", "pair", 1), modeltest.Demand("one", "card", 1)).Build(),
		}, "a: r=p/g01; b: r=p/g2; c: r/one=p/g3"},

		{"two functions", of(ports, functions), []*model.DeviceClaim{ask("a").Request("r", "nic", 1).Build(), ask("b").Request("r", "nic", 1).Build()}, "a: r=p/vf0; b: r=p/vf1"},
		{"the whole of one of which a function is given", of(ports, functions), []*model.DeviceClaim{ask("a").Request("r", "nic", 1).Build(), ask("b").Request("r", "card", 1).Build()}, "no"},

		{"two halves", of(shared), []*model.DeviceClaim{ask("a").Request("r", "card", 1, percent(50)).Build(), ask("b").Request("r", "card", 1, percent(50)).Build()}, "a: r=p/g0; b: r=p/g0"},
		{"a half and more", of(shared), []*model.DeviceClaim{ask("a").Request("r", "card", 1, percent(50)).Build(), ask("b").Request("r", "card", 1, percent(51)).Build()}, "no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, got := allocate(viewOf(slices.Concat(classes, c.pool)...), allocator.Options{}, c.claims...); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
