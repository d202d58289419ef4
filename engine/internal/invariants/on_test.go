//go:build berth_invariants

package invariants

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type thing struct {
	Name   string
	Next   *thing
	Labels map[string]string
	List   []int
	At     time.Time
	Any    any
	Err    error
	on     bool
	f      float64
	n      uint8
	a      [2]int
	fn     func()
}

func full() *thing {
	return &thing{
		Name: "a", Next: &thing{Name: "b"}, Labels: map[string]string{"x": "1", "y": "2"},
		List: []int{1, 2}, At: time.Unix(1, 0), Any: 3, Err: errors.New("a"),
	}
}

func TestHashSeesEveryField(t *testing.T) {
	require.Equal(t, Hash(full()), Hash(full()))
	for i, change := range []func(*thing){
		func(x *thing) { x.Name = "b" },
		func(x *thing) { x.Next = nil },
		func(x *thing) { x.Next.Name = "a" },
		func(x *thing) { x.Labels["x"] = "2" },
		func(x *thing) { x.Labels["x"], x.Labels["y"] = "2", "1" },
		func(x *thing) { delete(x.Labels, "x") },
		func(x *thing) { x.List[1] = 1 },
		func(x *thing) { x.List = append(x.List, 0) },
		func(x *thing) { x.At = time.Unix(2, 0) },
		func(x *thing) { x.Err = errors.New("b") },
		func(x *thing) { x.on = true },
		func(x *thing) { x.f = 1 },
		func(x *thing) { x.n = 1 },
		func(x *thing) { x.a[1] = 1 },
	} {
		x := full()
		change(x)
		require.NotEqual(t, Hash(full()), Hash(x), i)
	}
	opaque := full()
	opaque.Any = "3"
	require.Equal(t, Hash(full()), Hash(opaque), "an interface without methods is not looked into")
	local := full()
	local.At = local.At.In(time.FixedZone("here", 3600))
	require.Equal(t, Hash(full()), Hash(local), "a moment is a moment")
}

func TestFrozen(t *testing.T) {
	require.True(t, Enabled)
	f := NewFrozen()
	x := full()
	f.Remember("thing", "x", x)
	f.Check(x)
	f.Check(full()) // not known
	f.Check(nil)
	f.CheckAll()
	x.Labels["x"] = "3"
	want := `invariants: thing "x" was changed in place after it was stored`
	require.PanicsWithValue(t, want, func() { f.Check(x) })
	require.PanicsWithValue(t, want, f.CheckSome)
	require.PanicsWithValue(t, want, f.CheckAll)
}

func TestFrozenIsBounded(t *testing.T) {
	f := NewFrozen()
	for i := range maxObjects + 100 {
		f.Remember("n", fmt.Sprint(i), new(i))
	}
	require.Len(t, f.known.objects, maxObjects)
}
