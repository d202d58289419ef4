package qossort

import (
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

// Known answers of the upstream plugin: priority, class and second of the timestamp of two
// workloads, and which goes first.
func TestLess(t *testing.T) {
	type queued struct {
		priority int32
		class    model.QoSClass
		second   int
	}
	for _, c := range []struct {
		name string
		a, b queued
		want bool // a goes before b
		back bool // b goes before a
	}{
		{"the higher priority", queued{10, model.Guaranteed, 0}, queued{0, model.Guaranteed, 0}, true, false},
		{"the higher priority, whatever the class", queued{10, model.BestEffort, 9}, queued{0, model.Guaranteed, 0}, true, false},
		{"a negative priority", queued{-1, model.BestEffort, 0}, queued{-2, model.Guaranteed, 0}, true, false},
		{"Guaranteed before Burstable", queued{0, model.Guaranteed, 9}, queued{0, model.Burstable, 0}, true, false},
		{"Guaranteed before BestEffort", queued{0, model.Guaranteed, 9}, queued{0, model.BestEffort, 0}, true, false},
		{"Burstable before BestEffort", queued{0, model.Burstable, 9}, queued{0, model.BestEffort, 0}, true, false},
		{"both Guaranteed: the earlier", queued{0, model.Guaranteed, 1}, queued{0, model.Guaranteed, 2}, true, false},
		{"both Burstable: the earlier", queued{0, model.Burstable, 1}, queued{0, model.Burstable, 2}, true, false},
		{"both BestEffort: the earlier", queued{0, model.BestEffort, 1}, queued{0, model.BestEffort, 2}, true, false},
		{"equal in all", queued{0, model.Burstable, 1}, queued{0, model.Burstable, 1}, false, false},
	} {
		made := func(q queued) *extpoints.Queued {
			return &extpoints.Queued{
				Workload: &model.Workload{QoS: q.class}, Priority: q.priority,
				Timestamp: extpointstest.Now.Add(time.Duration(q.second) * time.Second),
			}
		}
		p, a, b := &QOSSort{}, made(c.a), made(c.b)
		if p.Less(a, b) != c.want || p.Less(b, a) != c.back {
			t.Errorf("%s: %v and %v", c.name, p.Less(a, b), p.Less(b, a))
		}
	}
}

func BenchmarkLess(b *testing.B) {
	p := &QOSSort{}
	x := &extpoints.Queued{Workload: &model.Workload{QoS: model.Burstable}, Timestamp: extpointstest.Now}
	y := &extpoints.Queued{Workload: &model.Workload{QoS: model.Burstable}, Timestamp: extpointstest.Now.Add(1)}
	b.ReportAllocs()
	for b.Loop() {
		p.Less(x, y)
	}
}
