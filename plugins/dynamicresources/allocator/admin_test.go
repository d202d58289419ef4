package allocator_test

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

func admin(d *model.DeviceDemand) { d.AdminAccess = true }

// Who only watches needs nothing of what there is to give, and takes nothing of it: not
// from others, not from its own workload, neither while devices are looked for nor
// afterwards. kube-scheduler lets it take until the search is over.
func TestAdminAccessTakesNothing(t *testing.T) {
	cards := []model.Object{
		modeltest.DeviceSlice(driver, "p").Node("n1").Part("p-counters", 1, 2).Counter("card", "slots", 4).Build(),
		pool("p").Part("p-0", 1, 2).Device("all", modeltest.Consumes("card", "slots", 4)).Device("half", modeltest.Consumes("card", "slots", 2)).Build(),
	}
	sharedCards := []model.Object{cards[0],
		pool("p").Part("p-0", 1, 2).Device("s", modeltest.Shared, modeltest.Consumes("card", "slots", 4)).Device("w", modeltest.Consumes("card", "slots", 4)).Build(),
	}
	shared := []model.Object{pool("p").Device("s", modeltest.Shared, modeltest.Capacity("memory", 10, nil)).Build()}
	wholes := []model.Object{pool("p").Devices(2).Build()}
	wants := func(n int64) func(*model.DeviceDemand) {
		return func(d *model.DeviceDemand) { d.Capacity = map[string]int64{"memory": n} }
	}
	named := func(name string) func(*model.DeviceDemand) {
		return modeltest.Selecting(modeltest.Require("name", model.CompareEqual, name))
	}
	for _, o := range [][]model.Object{cards, sharedCards, wholes} {
		for _, object := range o {
			for i := range object.(*model.DeviceSlice).Devices {
				d := &object.(*model.DeviceSlice).Devices[i]
				modeltest.Attribute("name", d.Name)(d)
			}
		}
	}
	watch := func(count int64, changes ...func(*model.DeviceDemand)) *model.DeviceClaim {
		return modeltest.DeviceClaim("watch").Request("r", "gpu", count, append(changes, admin)...).Build()
	}
	owner := func(count int64, changes ...func(*model.DeviceDemand)) *model.DeviceClaim {
		return modeltest.DeviceClaim("owner").Request("r", "gpu", count, changes...).Build()
	}
	tests := []struct {
		name          string
		objects       []model.Object
		first, second *model.DeviceClaim
		want          string // of both in one search
		reference     string // of both in one search, with kube-scheduler's rules
		after         string // of the second once the first, if it can, has what it was given
		referenceThen string
	}{
		{"counters, the watcher second", cards, owner(1, named("all")), watch(1, named("half")),
			"owner: r=p/all; watch: r=p/half", "no", "watch: r=p/half", "no"},
		{"counters, the watcher first", cards, watch(1, named("half")), owner(1, named("all")),
			"watch: r=p/half; owner: r=p/all", "no", "owner: r=p/all", "owner: r=p/all"},
		{"counters, watching all", cards, owner(1, named("half")), watch(0),
			"owner: r=p/half; watch: r=p/all r=p/half", "no", "watch: r=p/all r=p/half", "no"},
		{"counters, all watched first", cards, watch(0), owner(1, named("all")),
			"watch: r=p/all r=p/half; owner: r=p/all", "no", "owner: r=p/all", "no"},
		{"counters of a shared device, the watcher second", sharedCards, owner(1, named("w")), watch(1, named("s")),
			"owner: r=p/w; watch: r=p/s", "no", "watch: r=p/s", "no"},
		{"counters of a shared device, the watcher first", sharedCards, watch(1, named("s")), owner(1, named("w")),
			"watch: r=p/s; owner: r=p/w", "no", "owner: r=p/w", "owner: r=p/w"},
		{"a shared device that is watched pays its counters when it is given", sharedCards, watch(1, named("s")), owner(2),
			"no", "no", "no", "no"},
		{"capacity, the watcher second", shared, owner(1, wants(10)), watch(1, wants(10)),
			"owner: r=p/s; watch: r=p/s", "no", "watch: r=p/s", "no"},
		{"capacity, the watcher first", shared, watch(1, wants(10)), owner(1, wants(10)),
			"watch: r=p/s; owner: r=p/s", "no", "owner: r=p/s", "owner: r=p/s"},
		{"capacity, nothing said", shared, watch(1), owner(1),
			"watch: r=p/s; owner: r=p/s", "no", "owner: r=p/s", "owner: r=p/s"},
		{"capacity that the device does not have", shared, owner(1, wants(1)), watch(1, wants(11)), "no", "no", "no", "no"},
		{"whole devices, the watcher first", wholes, watch(2), owner(2),
			"watch: r=p/d0 r=p/d1; owner: r=p/d0 r=p/d1", "no", "owner: r=p/d0 r=p/d1", "owner: r=p/d0 r=p/d1"},
		{"whole devices, the watcher second", wholes, owner(0), watch(0),
			"owner: r=p/d0 r=p/d1; watch: r=p/d0 r=p/d1", "owner: r=p/d0 r=p/d1; watch: r=p/d0 r=p/d1", "watch: r=p/d0 r=p/d1", "watch: r=p/d0 r=p/d1"},
	}
	for _, tt := range tests {
		for compat, want := range map[extpoints.Compat][2]string{
			extpoints.Improved: {tt.want, tt.after}, extpoints.KubeScheduler137: {tt.reference, tt.referenceThen},
		} {
			t.Run(fmt.Sprintf("%s/%v", tt.name, compat), func(t *testing.T) {
				view, o := viewOf(tt.objects...), allocator.Options{Compat: compat}
				if _, got := allocate(view, o, tt.first, tt.second); got != want[0] {
					t.Errorf("in one search: got %s, want %s", got, want[0])
				}
				list, got := allocate(view, o, tt.first)
				if list == nil {
					if got != want[1] {
						t.Errorf("the first alone: %s", got)
					}
					return
				}
				given := *tt.first
				given.Allocation = list[0]
				view.Put(&given)
				if _, got := allocate(view, o, tt.second); got != want[1] {
					t.Errorf("afterwards: got %s, want %s", got, want[1])
				}
			})
		}
	}
}

// What is watched of a shared device is told apart, and takes none of its capacity.
func TestAdminAccessConsumesNothing(t *testing.T) {
	view := viewOf(pool("p").Device("s", modeltest.Shared, modeltest.Capacity("memory", 10, nil)).Build())
	list, _ := allocate(view, allocator.Options{}, claim().Request("r", "gpu", 1, admin).Build())
	if d := list[0].Devices[0]; d.Share == "" || d.Consumed != nil {
		t.Errorf("share %q, consumes %v", d.Share, d.Consumed)
	}
}

// No claim has a device twice, also not once to use and once to watch.
func TestAdminAccessInOneClaim(t *testing.T) {
	view := viewOf(pool("p").Devices(2).Build())
	for _, c := range []*model.DeviceClaim{
		claim().Request("a", "gpu", 1, admin).Request("b", "gpu", 1).Build(),
		claim().Request("a", "gpu", 1).Request("b", "gpu", 1, admin).Build(),
	} {
		if _, got := allocate(view, allocator.Options{}, c); got != "c: a=p/d0 b=p/d1" {
			t.Error(got)
		}
	}
	if _, got := allocate(view, allocator.Options{}, claim().Request("a", "gpu", 2, admin).Request("b", "gpu", 1).Build()); got != "no" {
		t.Error(got)
	}
}

// Whatever a workload watches besides, it gets the same devices as without.
func TestWatchersDoNotMatter(t *testing.T) {
	r := seeded(t)
	compared := 0
	for round := range 1500 {
		w, a := randomWorld(r), allocator.New(allocator.Options{})
		for turn := range 6 {
			w.change(r)
			c := modeltest.RandomDeviceClaim(r, fmt.Sprintf("c%d", turn))
			watch := modeltest.DeviceClaim(fmt.Sprintf("w%d", turn)).Request("r", "any", int64(1+r.IntN(2)), admin).Build()
			n := w.nodes[r.IntN(len(w.nodes))]
			seen, err := a.Prepare(w.view.Devices(), []*model.DeviceClaim{watch}).Allocate(n, 7)
			if err != nil || seen == nil {
				continue
			}
			alone, err := a.Prepare(w.view.Devices(), []*model.DeviceClaim{c}).Allocate(n, 7)
			if err != nil {
				continue
			}
			for _, both := range [][]*model.DeviceClaim{{watch, c}, {c, watch}} {
				list, err := a.Prepare(w.view.Devices(), both).Allocate(n, 7)
				if err != nil || (list == nil) != (alone == nil) {
					t.Fatalf("round %d: with a watcher %v, %v, without %v", round, list != nil, err, alone != nil)
				}
				compared++
			}
			if alone != nil {
				w.put(c, alone[0])
			}
			w.put(watch, seen[0])
		}
	}
	if compared < 2000 {
		t.Errorf("only %d were compared", compared)
	}
}
