package extpoints

import (
	"math"
	"reflect"
	"testing"

	"github.com/berth-project/berth/model"
)

// What claims are given of a pool adds up, and what they give back is as if it
// had never been given; uses that were there stay as they are.
func TestPoolUse(t *testing.T) {
	here, other := model.PoolID{Driver: "d", Pool: "p"}, model.PoolID{Driver: "e", Pool: "p"}
	device := func(name, share string, amount int64) model.AllocatedDevice {
		d := model.AllocatedDevice{DeviceID: model.DeviceID{Driver: "d", Pool: "p", Device: name}, Share: share}
		if share != "" {
			d.Consumed = map[string]int64{"m": amount}
		}
		return d
	}
	admin, foreign := device("c", "", 0), device("b", "", 0)
	admin.AdminAccess = true
	foreign.Driver = "e"
	first := &model.Allocation{Devices: []model.AllocatedDevice{device("a", "", 0), device("s", "1", 3), admin, foreign}}
	second := &model.Allocation{Devices: []model.AllocatedDevice{device("s", "2", 4), device("s", "3", 5)}}

	var none *PoolUse
	one := none.With(here, first)
	both := one.With(here, second)
	wantOne := map[string]DeviceUse{"a": {Whole: 1}, "s": {Shares: 1, Consumed: map[string]int64{"m": 3}}}
	wantBoth := map[string]DeviceUse{"a": {Whole: 1}, "s": {Shares: 3, Consumed: map[string]int64{"m": 12}}}
	if !reflect.DeepEqual(both.Devices, wantBoth) || !reflect.DeepEqual(one.Devices, wantOne) {
		t.Errorf("one %+v, both %+v", one.Devices, both.Devices)
	}
	if got := both.Without(here, second); !reflect.DeepEqual(got.Devices, wantOne) {
		t.Errorf("one less: %+v", got.Devices)
	}
	if got := both.Without(here, second).Without(here, first); got != nil {
		t.Errorf("all given back: %+v", got)
	}
	if got := none.With(other, second); got != nil {
		t.Errorf("nothing of the pool: %+v", got)
	}
	if got := none.With(other, first); !reflect.DeepEqual(got.Devices, map[string]DeviceUse{"b": {Whole: 1}}) {
		t.Errorf("of the other pool: %+v", got.Devices)
	}
	// Given twice by mistake, it takes two to give it back.
	twice := one.With(here, first)
	if got := twice.Without(here, first); !reflect.DeepEqual(got.Devices, wantOne) || twice.Devices["a"].Whole != 2 {
		t.Errorf("given twice: %+v, once less: %+v", twice.Devices, got.Devices)
	}
}

// Sums of what is taken of a shared device stop at the largest amount, and what is given
// back is as if it had never been given there, too.
func TestPoolUseNearTheLimit(t *testing.T) {
	pool := model.PoolID{Driver: "d", Pool: "p"}
	part := func(share string, amount int64) *model.Allocation {
		return &model.Allocation{Devices: []model.AllocatedDevice{{
			DeviceID: model.DeviceID{Driver: "d", Pool: "p", Device: "s"}, Share: share, Consumed: map[string]int64{"m": amount, "n": 1},
		}}}
	}
	parts := []*model.Allocation{part("1", 5), part("2", math.MaxInt64), part("3", math.MaxInt64), part("4", 2), part("5", math.MaxInt64-9)}
	consumed := func(u *PoolUse) int64 { return u.Devices["s"].Consumed["m"] }
	var use *PoolUse
	for i, p := range parts {
		use = use.With(pool, p)
		if want := addSaturated(5, int64(min(i, 1))*math.MaxInt64); consumed(use) != want {
			t.Errorf("with %d: %d, want %d", i+1, consumed(use), want)
		}
	}
	// A copy of what was given does as well.
	for _, back := range []struct {
		part *model.Allocation
		want int64
	}{{part("2", math.MaxInt64), math.MaxInt64}, {parts[2], math.MaxInt64 - 2}, {part("5", math.MaxInt64-9), 7}, {parts[3], 5}} {
		use = use.Without(pool, back.part)
		if consumed(use) != back.want {
			t.Errorf("without %s: %d, want %d", back.part.Devices[0].Share, consumed(use), back.want)
		}
	}
	if n := use.Devices["s"].Consumed["n"]; n != 1 {
		t.Errorf("of the other capacity %d, want 1", n)
	}
	if list := use.Given("s"); len(list) != 1 || list[0].Share != "1" {
		t.Errorf("given: %+v", list)
	}
	if use = use.Without(pool, parts[0]); use != nil {
		t.Errorf("all given back: %+v", use)
	}
}
