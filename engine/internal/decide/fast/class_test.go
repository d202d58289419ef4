package fast

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
)

// What has not changed is not asked about again, and only what a search comes to is.
func TestAsksOnce(t *testing.T) {
	f := &fleet{size: 200, blocks: make([]*snapshot.Block, 4)}
	for i := range f.blocks {
		f.blocks[i] = &snapshot.Block{}
	}
	for i := range f.size {
		f = f.change(i, node(fmt.Sprint(i), 0, 1, 0))
	}
	var cache Cache
	a := &asked{}
	ask := func(f *fleet, want int) (filtered, scored int) {
		*a = asked{}
		remembered(t, cache.Of(nil, nil, 200, true), f, 0, want, a)
		return a.filtered, a.scored
	}
	for i, c := range []struct {
		f                *fleet
		want             int
		filtered, scored int
	}{
		{f, 10, 64, 10}, // the rest of the block is looked at, but not scored
		{f, 10, 0, 0},
		{f, 300, 136, 190},
		{f.change(3, node("new", 0, 1, 0)), 300, 1, 1},
		{f, 300, 1, 1}, // the class has seen the other version since
		{f.change(3, node("full", 1, 1, 0)), 300, 1, 0},
	} {
		if filtered, scored := ask(c.f, c.want); filtered != c.filtered || scored != c.scored {
			t.Errorf("%d: %d filtered and %d scored, want %d and %d", i, filtered, scored, c.filtered, c.scored)
		}
	}
}

// A class asks again when the first of the reports that it knows of is too old, and not before.
func TestAsksAgainWhenReportsAreOld(t *testing.T) {
	f := &fleet{size: 2, blocks: []*snapshot.Block{{}}}
	for i, at := range []int64{1000, 1020} {
		n := node(fmt.Sprint(i), 0, 4, 0)
		n.Node.Allocatable.EphemeralStorage = at
		f = f.change(i, n)
	}
	var cache Cache
	for i, c := range []struct{ present, filtered, total int64 }{
		{1010, 2, 4}, {1050, 0, 4}, // the score is less from an age of 50 on
		{1051, 2, 4}, {1070, 0, 4}, {1071, 2, 2}, {1100, 0, 2},
		{1051, 2, 4}, // a time before
	} {
		a := &asked{cycle: extpoints.NewCycle(extpoints.CycleOptions{Now: time.Unix(0, c.present)})}
		o := remembered(t, cache.Of(nil, nil, 2, true), f, 0, 2, a)
		if int64(a.filtered) != c.filtered || o.total != c.total+2*100 {
			t.Errorf("%d: %d filtered, and the best total is %d", i, a.filtered, o.total)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	var c Cache
	of := func(i, nodes int) *Class { return c.Of(nil, fmt.Append(nil, i), nodes, false) }
	if of(0, 10) != nil || of(0, 10) == nil {
		t.Error("a class is remembered from the second time on")
	}
	for i := range 3 * MaxClasses {
		of(i, 10)
		of(i, 10)
	}
	if len(c.classes) != MaxClasses || c.nodes != 10*MaxClasses {
		t.Errorf("%d classes of %d nodes in all", len(c.classes), c.nodes)
	}
	if of(3*MaxClasses-1, 10) == nil || of(0, 10) != nil {
		t.Error("those that were used last are kept")
	}
	for i := range 5 {
		of(i, MaxNodes/2)
		of(i, MaxNodes/2)
	}
	if c.nodes > MaxNodes || of(4, MaxNodes/2) == nil {
		t.Errorf("%d nodes in all", c.nodes)
	}
	of(9, 2*MaxNodes)
	if of(9, 2*MaxNodes) == nil || len(c.classes) != 1 || c.nodes != 2*MaxNodes {
		t.Errorf("one that is too large is kept alone: %d classes of %d nodes", len(c.classes), c.nodes)
	}
}

// What is said by slot may be another thing the next time, so a diagnosis with it is not shared.
func TestDiagnosisBySlotIsNotShared(t *testing.T) {
	f := &fleet{size: 1, blocks: []*snapshot.Block{{}}}
	f = f.change(0, node("full", 1, 1, 0))
	var cache Cache
	for _, count := range []int64{0, 1, 0} {
		a := &asked{counts: []int64{count}}
		got, is := remembered(t, cache.Of(nil, nil, 1, true), f, 0, 1, a), twin(f, 0, 1, a)
		if got != is {
			t.Errorf("with %d: got %+v\nwant %+v", count, got, is)
		}
	}
}

// A part has other nodes than all of them, so its diagnosis is not shared.
func TestDiagnosisOfAPartIsNotShared(t *testing.T) {
	f := &fleet{size: 2, blocks: []*snapshot.Block{{}}}
	f = f.change(0, node("full", 1, 1, 0)).change(1, node("tainted", 2, 1, 0))
	var cache Cache
	for _, part := range [][]uint64{{1}, nil, {1}, {3}} {
		a := &asked{part: part}
		got, is := remembered(t, cache.Of(nil, nil, 2, true), f, 0, 1, a), twin(f, 0, 1, a)
		if got != is {
			t.Errorf("%v: got %+v\nwant %+v", part, got, is)
		}
	}
}
