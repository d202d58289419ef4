package adaptertest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// DeviceHarness is a [Harness] of an adapter that binds devices; see
// [extpoints.DeviceBinder]. Where a harness is none, the kit asks nothing about devices.
type DeviceHarness interface {
	Harness
	// AddDevice lets the node have a device. The kit calls it once in a world: there is
	// no other.
	AddDevice(node string) error
	// SubmitForDevice is Submit of a workload that uses the device by a claim of its own.
	// When the workload is not wanted any more, what the claim was given is to be taken
	// back, in the way of your world.
	SubmitForDevice(w *model.Workload) error
	// Holders lists the workloads whose claims have the device at this moment: as it is
	// in your world, and not as the engine was told.
	Holders() []string
}

// withDevices adds the plugin for devices.
func withDevices(cfg *engine.Config) {
	p := &cfg.Profiles[0]
	p.Plugins = append([]extpoints.Entry{{Name: plugins.DynamicResources, New: plugins.Default()[plugins.DynamicResources]}}, p.Plugins...)
}

// checkDevices: the binds of one of two workloads fail when its claim has been written.
// However the two come by the device one after the other, their claims never have it both.
func checkDevices(w *world) {
	h, ok := w.h.(DeviceHarness)
	if !ok {
		return
	}
	var mu sync.Mutex
	var twice []string
	look := func() {
		if holders := h.Holders(); len(holders) > 1 {
			mu.Lock()
			defer mu.Unlock()
			twice = append(twice, strings.Join(holders, " and "))
		}
	}
	w.node("n1", 4)
	w.must("add a device", h.AddDevice("n1"))
	names := []string{"first", "second"}
	for _, name := range names {
		w.must("submit workload "+name+" for a device", h.SubmitForDevice(newWorkload(name)))
	}
	var tried once
	w.start(func(ctx context.Context, o extpoints.Orchestrator, wl *model.Workload, b model.Binding) error {
		look()
		if tried.nth(wl.Name) <= 3 {
			return errByTheKit
		}
		return o.Bind(ctx, wl, b)
	}, withDevices)
	var runs string
	w.until("one of the two runs and is confirmed", func(v *engine.View, on map[string][]string) bool {
		for _, name := range names {
			if r, ok := workload(v, name); ok && r.Phase == model.Confirmed && len(on[name]) > 0 {
				runs = name
			}
		}
		return runs != ""
	})
	look()
	w.must("finish workload "+runs, h.Finish(runs))
	for _, name := range names {
		if name != runs {
			w.running(name)
		}
	}
	look()
	w.once(names...)
	mu.Lock()
	defer mu.Unlock()
	if len(twice) > 0 {
		w.tb.Errorf("the one device was given twice: %s", fmt.Sprint(twice))
	}
}
