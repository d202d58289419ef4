package allocator_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

// A driver publishes a pool anew while devices of it are given away. What these have drawn
// is what they drew when they were given; where that is not known it is what the slices
// say; and where these do not say it any more, nothing is given that draws on the pool's
// counters. kube-scheduler believes the slices as they are.
func TestPublishedAnew(t *testing.T) {
	draws := func(n int64) func(*model.SliceDevice) { return modeltest.Consumes("card", "slots", n) }
	counters := modeltest.DeviceSlice(driver, "p").Node("n1").Part("p-counters", 1, 2).Counter("card", "slots", 4).Build()
	part := func() *modeltest.SliceBuilder { return pool("p").Part("p-0", 1, 2) }
	memory := modeltest.Capacity("memory", 10, nil)
	wants := func(d *model.DeviceDemand) { d.Capacity = map[string]int64{"memory": 3} }
	first := func(changes ...func(*model.DeviceDemand)) *model.DeviceClaim {
		return modeltest.DeviceClaim("first").Request("r", "gpu", 1, changes...).Build()
	}
	tests := []struct {
		name          string
		before, after *modeltest.SliceBuilder
		first, second *model.DeviceClaim
		want          string
		unknown       string // where a report does not say what was drawn
		reference     string
	}{
		{"as it was", part().Device("half0", draws(3)).Device("half1", draws(3)), part().Device("half0", draws(3)).Device("half1", draws(3)),
			first(), claim().Request("r", "gpu", 1).Build(), "no", "no", "no"},
		{"without the device", part().Device("half0", draws(3)).Device("half1", draws(3)), part().Device("half1", draws(3)),
			first(), claim().Request("r", "gpu", 1).Build(), "no", "no", "c: r=p/half1"},
		{"without the device, where there is enough", part().Device("half0", draws(3)), part().Device("small", draws(1)),
			first(), claim().Request("r", "gpu", 1).Build(), "c: r=p/small", "no", "c: r=p/small"},
		{"without the device, and one that draws on nothing", part().Device("half0", draws(3)), part().Device("half1", draws(3)).Device("free"),
			first(), claim().Request("r", "gpu", 1).Build(), "c: r=p/free", "c: r=p/free", "c: r=p/half1"},
		{"under another name", part().Device("half0", draws(3)), part().Device("half0-b", draws(3)),
			first(), claim().Request("r", "gpu", 1).Build(), "no", "no", "c: r=p/half0-b"},
		{"drawing less", part().Device("half0", draws(3)).Device("half1", draws(3)), part().Device("half0", draws(1)).Device("half1", draws(3)),
			first(), claim().Request("r", "gpu", 1).Build(), "no", "c: r=p/half1", "c: r=p/half1"},
		{"drawing nothing", part().Device("half0", draws(3)).Device("half1", draws(3)), part().Device("half0").Device("half1", draws(3)),
			first(), claim().Request("r", "gpu", 1).Build(), "no", "c: r=p/half1", "c: r=p/half1"},
		{"drawing more", part().Device("half0", draws(1)).Device("half1", draws(3)), part().Device("half0", draws(4)).Device("half1", draws(3)),
			first(), claim().Request("r", "gpu", 1).Build(), "c: r=p/half1", "no", "no"},
		{"drawing from now on", part().Device("half0").Device("half1", draws(3)), part().Device("half0", draws(4)).Device("half1", draws(3)),
			first(), claim().Request("r", "gpu", 1).Build(), "c: r=p/half1", "no", "no"},
		{"as a whole, where parts are given", part().Device("s", modeltest.Shared), part().Device("s"),
			first(), claim().Request("r", "gpu", 1).Build(), "no", "no", "c: r=p/s"},
		{"as a whole, to watch", part().Device("s", modeltest.Shared), part().Device("s"),
			first(), claim().Request("r", "gpu", 1, admin).Build(), "c: r=p/s", "c: r=p/s", "c: r=p/s"},
		{"in parts, where the whole is given", part().Device("s"), part().Device("s", modeltest.Shared),
			first(), claim().Request("r", "gpu", 1).Build(), "no", "no", "no"},
		{"as a whole with capacity to spare", part().Device("s", modeltest.Shared, memory), part().Device("s", modeltest.Capacity("memory", 1000, nil)),
			first(wants), claim().Request("r", "gpu", 1, wants).Build(), "no", "no", "c: r=p/s"},
		{"shared, without a part's capacity", part().Device("s", modeltest.Shared, memory), part().Device("s", modeltest.Shared, modeltest.Capacity("memory", 5, nil)),
			first(wants), claim().Request("r", "gpu", 1, wants).Build(), "no", "no", "no"},
		{"shared, drawing more than is left", part().Device("s", modeltest.Shared, draws(1), memory), part().Device("s", modeltest.Shared, draws(5), memory),
			first(wants), claim().Request("r", "gpu", 1, wants).Build(), "no", "c: r=p/s", "c: r=p/s"},
		{"shared, drawing more", part().Device("s", modeltest.Shared, draws(1), memory), part().Device("s", modeltest.Shared, draws(4), memory),
			first(wants), claim().Request("r", "gpu", 1, wants).Build(), "c: r=p/s", "c: r=p/s", "c: r=p/s"},
		{"shared, drawing less", part().Device("s", modeltest.Shared, draws(3), memory), part().Device("s", modeltest.Shared, draws(1), memory).Device("half1", draws(3)),
			first(wants), claim().Request("r", "gpu", 2).Build(), "no", "no", "no"},
	}
	for _, tt := range tests {
		for way, want := range map[string]string{"known": tt.want, "unknown": tt.unknown, "reference": tt.reference} {
			t.Run(tt.name+"/"+way, func(t *testing.T) {
				o := allocator.Options{}
				if way == "reference" {
					o.Compat = extpoints.KubeScheduler137
				}
				view := viewOf(counters, tt.before.Build())
				list, got := allocate(view, o, tt.first)
				if list == nil {
					t.Fatal(got)
				}
				given := *model.CloneObject(tt.first)
				given.Allocation = list[0]
				if way == "unknown" {
					given.Allocation.Devices[0].Drawn = nil
				}
				view.Put(&given, tt.after.Build())
				if _, got := allocate(view, o, tt.second); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			})
		}
	}
}

// card is a small world in which all that matters is counters and parts.
type card struct {
	world
	// drew is what each allocation drew when it was made.
	drew map[string]map[string]map[string]int64 // by claim, device and counter
}

func newCard() *card {
	c := &card{world: world{view: extpointstest.NewView(), nodes: []*model.Node{node}}, drew: map[string]map[string]map[string]int64{}}
	c.view.Put(modeltest.DeviceClass("any"))
	c.view.Put(modeltest.DeviceSlice(driver, "p").Node("n1").Part("p-counters", 1, 2).Counter("card", "slots", 6).Counter("card", "fans", 6).Build())
	return c
}

// publish publishes the devices of the pool, in any state.
func (c *card) publish(r *rand.Rand) {
	b := pool("p").Part("p-0", 1, 2)
	for i := range 5 {
		if r.IntN(4) == 0 {
			continue
		}
		var changes []func(*model.SliceDevice)
		if r.IntN(2) == 0 {
			changes = append(changes, modeltest.Shared)
		}
		if r.IntN(2) == 0 {
			changes = append(changes, modeltest.Capacity("memory", 10, nil))
		}
		if r.IntN(4) > 0 {
			changes = append(changes, func(d *model.SliceDevice) {
				d.Consumes = []model.CounterUse{{Set: "card", Counters: map[string]int64{"slots": int64(r.IntN(5))}}}
				if r.IntN(2) == 0 {
					d.Consumes[0].Counters["fans"] = int64(r.IntN(4))
				}
			})
		}
		b.Device(fmt.Sprint("d", i), changes...)
	}
	c.view.Put(b.Build())
}

// drop gives back what a claim has.
func (c *card) drop(i int) {
	c.view.Drop(model.DeviceClaimKind, c.given[i].ID)
	delete(c.drew, c.given[i].ID)
	c.given = append(c.given[:i:i], c.given[i+1:]...)
}

// note notes what the claim has drawn, by the slices as they are now.
func (c *card) note(id string, a *model.Allocation) (draws bool) {
	c.drew[id] = map[string]map[string]int64{}
	for _, d := range a.Devices {
		_, device := c.find(d.DeviceID)
		if d.AdminAccess {
			continue
		}
		c.drew[id][d.Device] = map[string]int64{}
		counters(c.drew[id][d.Device], device.Consumes, true)
		draws = draws || len(device.Consumes) > 0
	}
	return draws
}

// over says which counter more is drawn on than there is.
func (c *card) over() string {
	devices := map[string]map[string]int64{}
	for _, drew := range c.drew {
		for device, by := range drew {
			if devices[device] == nil {
				devices[device] = map[string]int64{}
			}
			for key, n := range by {
				devices[device][key] = max(devices[device][key], n)
			}
		}
	}
	sum := map[string]int64{}
	for _, by := range devices {
		for key, n := range by {
			if sum[key] += n; sum[key] > 6 {
				return key
			}
		}
	}
	return ""
}

// However a driver publishes its devices while claims come and go, what a claim is given is
// what the twin gives it; and where it is known what was drawn, no counter is drawn on
// beyond what there is, and nothing of which parts are given is given as a whole.
func TestPublishedAnewAtRandom(t *testing.T) {
	r := seeded(t)
	served, refused := 0, 0
	for round := range 3000 {
		c, a := newCard(), allocator.New(allocator.Options{})
		if round%2 == 1 {
			c.lacks = func() bool { return r.IntN(2) == 0 }
		}
		for turn := range 12 {
			if turn == 0 || r.IntN(2) == 0 {
				c.publish(r)
			}
			if len(c.given) > 0 && r.IntN(3) == 0 {
				c.drop(r.IntN(len(c.given)))
			}
			wish := modeltest.DeviceClaim(fmt.Sprint("c", turn)).Request("r", "any", int64(1+r.IntN(2)), func(d *model.DeviceDemand) {
				d.AdminAccess = r.IntN(6) == 0
				if r.IntN(2) == 0 {
					d.Capacity = map[string]int64{"memory": int64(r.IntN(8))}
				}
			}).Build()
			claims := []*model.DeviceClaim{wish}
			list, err := a.Prepare(c.view.Devices(), claims).Allocate(node, r.Uint64())
			tw := c.world.twin(node)
			want, failure := tw.solve(claims)
			if err != nil || failure != nil {
				t.Fatal(err, failure)
			}
			if problem := tw.differ(list, want, claims); problem != "" {
				t.Fatalf("round %d, turn %d: %s", round, turn, problem)
			}
			if list == nil {
				refused++
				continue
			}
			served++
			for _, d := range list[0].Devices {
				whole, parts := tw.others(d.DeviceID)
				if !d.AdminAccess && (len(whole) > 0 || len(parts) > 0 && d.Share == "") {
					t.Fatalf("round %d, turn %d: %s is given, of which others have something", round, turn, d.Device)
				}
			}
			c.put(wish, list[0])
			if draws := c.note(wish.ID, list[0]); draws && c.lacks == nil {
				if key := c.over(); key != "" {
					t.Fatalf("round %d, turn %d: more is drawn on %s than there is", round, turn, key)
				}
			}
		}
	}
	if served < 3000 || refused < 3000 {
		t.Errorf("%d served, %d refused", served, refused)
	}
}
