package allocator_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

// What is drawn of counters is compared as it is, however near it is to the largest
// amount: in one search, beside what others have, or in any mixture.
func TestCountersNearTheLimit(t *testing.T) {
	for _, amount := range []int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64/2 + 1, 1 << 62, math.MaxInt64/3 + 1} {
		for _, devices := range []int{2, 3, 4, 5, 6} {
			t.Run(fmt.Sprintf("%d of %d", devices, amount), func(t *testing.T) {
				slice := pool("p").Part("p-0", 1, 2).Devices(devices, modeltest.Consumes("card", "slots", amount))
				view := viewOf(modeltest.DeviceSlice(driver, "p").Node("n1").Part("p-counters", 1, 2).Counter("card", "slots", math.MaxInt64).Build(), slice.Build())
				fit := min(devices, int(math.MaxInt64/amount))
				for _, taken := range []int{0, 1, 2, 3, devices} {
					for i := range devices {
						view.Drop(model.DeviceClaimKind, fmt.Sprint("o", i))
					}
					for i := range min(taken, devices) {
						d := model.AllocatedDevice{DeviceID: model.DeviceID{Driver: driver, Pool: "p", Device: fmt.Sprint("d", devices-1-i)}}
						view.Put(modeltest.DeviceClaim(fmt.Sprint("o", i)).Given(nil, d).Build())
					}
					for n := 1; n <= devices; n++ {
						list, got := allocate(view, allocator.Options{}, claim().Request("r", "gpu", int64(n)).Build())
						if want := n+taken <= fit; (list != nil) != want {
							t.Errorf("%d beside %d: %s", n, taken, got)
						}
					}
				}
			})
		}
	}
}

// So are the amounts that parts of a shared device take.
func TestCapacityNearTheLimit(t *testing.T) {
	for _, amount := range []int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64/2 + 1, 1 << 62} {
		wants := func(d *model.DeviceDemand) { d.Capacity = map[string]int64{"memory": amount} }
		view := viewOf(pool("p").Device("s", modeltest.Shared, modeltest.Capacity("memory", math.MaxInt64, nil)).Build())
		for i := range 4 { // more than there is, as others report it
			if _, got := allocate(view, allocator.Options{}, claim().Request("a", "gpu", 1, wants).Request("b", "gpu", 1, wants).Build()); got != "no" {
				t.Errorf("two of %d beside %d: %s", amount, i, got)
			}
			if _, got := allocate(view, allocator.Options{}, claim().Request("a", "gpu", 1, wants).Build()); (got != "no") != (i == 0) {
				t.Errorf("one of %d beside %d: %s", amount, i, got)
			}
			part := model.AllocatedDevice{DeviceID: model.DeviceID{Driver: driver, Pool: "p", Device: "s"}, Share: fmt.Sprint(i), Consumed: map[string]int64{"memory": amount}}
			view.Put(modeltest.DeviceClaim(fmt.Sprint("o", i)).Given(nil, part).Build())
		}
	}
}
