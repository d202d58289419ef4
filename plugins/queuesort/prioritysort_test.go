package queuesort

import (
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

func TestLess(t *testing.T) {
	early, late := extpointstest.Now, extpointstest.Now.Add(time.Second)
	at := func(priority int32, when time.Time) *extpoints.Queued {
		return &extpoints.Queued{Priority: priority, Timestamp: when}
	}
	for _, c := range []struct {
		name string
		a, b *extpoints.Queued
		want bool
	}{
		{"higher priority, later", at(1000, late), at(0, early), true},
		{"lower priority, earlier", at(0, early), at(1000, late), false},
		{"negative priority", at(-1, early), at(-2, early), true},
		{"equal priority, earlier", at(7, early), at(7, late), true},
		{"equal priority, later", at(7, late), at(7, early), false},
		{"equal in both", at(7, early), at(7, early), false},
	} {
		if got := (&PrioritySort{}).Less(c.a, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Less goes by the timestamp of the last attempt, so a workload that was tried
// and failed goes behind its equals; AddedAt and Attempts do not matter.
func TestLessIgnoresHistory(t *testing.T) {
	old := &extpoints.Queued{Timestamp: extpointstest.Now, AddedAt: extpointstest.Now.Add(-time.Hour), Attempts: 5}
	fresh := &extpoints.Queued{Timestamp: extpointstest.Now, AddedAt: extpointstest.Now}
	if p := (&PrioritySort{}); p.Less(old, fresh) || p.Less(fresh, old) {
		t.Error("two of equal priority and timestamp are not equal")
	}
}

func BenchmarkLess(b *testing.B) {
	p := &PrioritySort{}
	x, y := &extpoints.Queued{Timestamp: extpointstest.Now}, &extpoints.Queued{Timestamp: extpointstest.Now.Add(1)}
	b.ReportAllocs()
	for b.Loop() {
		p.Less(x, y)
	}
}
