//go:build !berth_invariants

package invariants

import (
	"testing"
	"unsafe"
)

func TestOffCostsNothing(t *testing.T) {
	if Enabled {
		t.Error("enabled without the tag")
	}
	f := NewFrozen()
	if size := unsafe.Sizeof(f); size != 0 {
		t.Errorf("a Frozen takes %d bytes", size)
	}
	x := &struct{ n int }{1}
	f.Remember("x", "x", x)
	x.n = 2
	if n := testing.AllocsPerRun(100, func() { f.Remember("x", "x", x); f.Check(x); f.CheckSome() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	f.CheckAll()
}
