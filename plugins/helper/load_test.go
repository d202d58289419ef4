package helper

import (
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestFreshLoad(t *testing.T) {
	view := extpointstest.NewView()
	for name, age := range map[string]time.Duration{"new": 0, "just": time.Minute, "old": time.Minute + 1, "ahead": -time.Minute, "far ahead": -time.Hour} {
		view.Put(&model.NodeLoad{Node: name, At: extpointstest.Now.Add(-age)})
	}
	s := extpoints.NewCycle(extpoints.CycleOptions{View: view, Now: extpointstest.Now.Add(time.Hour), Present: extpointstest.Now}).State()
	for name, want := range map[string]bool{"new": true, "just": true, "old": false, "ahead": true, "far ahead": false, "missing": false} {
		if got := FreshLoad(s, name, time.Minute); (got != nil) != want {
			t.Errorf("%s: %+v", name, got)
		}
		if got := FreshLoad(s, name, 0); (got != nil) != (name != "missing") {
			t.Errorf("%s of any age: %+v", name, got)
		}
	}
}

func TestLoadAge(t *testing.T) {
	for _, c := range []struct {
		age    time.Duration
		compat extpoints.Compat
		want   time.Duration
	}{
		{0, extpoints.Improved, DefaultLoadAge}, {time.Hour, extpoints.Improved, time.Hour},
		{0, extpoints.KubeScheduler137, 0}, {time.Hour, extpoints.KubeScheduler137, 0},
	} {
		if got := LoadAge(c.age, c.compat); got != c.want {
			t.Errorf("%v, %v: %v, want %v", c.age, c.compat, got, c.want)
		}
	}
}

func TestLongestWindow(t *testing.T) {
	l := &model.NodeLoad{Resources: []model.ResourceLoad{
		{Name: model.CPU, Window: time.Minute, Average: 1}, {Name: model.CPU, Window: time.Hour, Average: 2}, {Name: model.CPU, Average: 3},
		{Name: model.Memory, Average: 4},
	}}
	if m := LongestWindow(l, model.CPU); m == nil || m.Average != 2 {
		t.Errorf("%+v", m)
	}
	if m := LongestWindow(l, model.Memory); m == nil || m.Average != 4 {
		t.Errorf("%+v", m)
	}
	if a, b := LongestWindow(l, "x"), LongestWindow(nil, model.CPU); a != nil || b != nil {
		t.Errorf("%+v, %+v", a, b)
	}
}

func TestCapacityOf(t *testing.T) {
	n := &model.Node{Allocatable: model.Resources{CPU: 3, Memory: 4}, Capacity: model.Resources{CPU: 5}}
	if cpu, memory := CapacityOf(n, model.CPU), CapacityOf(n, model.Memory); cpu != 5 || memory != 4 {
		t.Errorf("%d, %d", cpu, memory)
	}
}
