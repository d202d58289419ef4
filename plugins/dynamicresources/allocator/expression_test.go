package allocator_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

// evaluator answers by the expression, and counts how often it is asked.
type evaluator struct {
	mu    sync.Mutex
	asked map[string]int
}

func (e *evaluator) Evaluate(expression, driver string, d *model.SliceDevice) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked == nil {
		e.asked = map[string]int{}
	}
	e.asked[expression+" "+d.Name]++
	switch expression {
	case "wrong":
		return false, &allocator.ExpressionError{Err: errors.New("CEL compile error: wrong")}
	case "fails on d1":
		if d.Name == "d1" {
			return false, errors.New("CEL runtime error: fails")
		}
	}
	return expression == d.Name, nil
}

func TestExpressions(t *testing.T) {
	classed := modeltest.DeviceClass("classed")
	classed.Selectors = []model.DeviceSelector{{Expression: "d2"}, {Expression: "fails on d1"}}
	broken := modeltest.DeviceClass("broken")
	broken.Selectors = []model.DeviceSelector{{Expression: "wrong"}}
	view := viewOf(classed, broken, pool("p").Devices(3).Build())
	expressing := func(list ...string) func(*model.DeviceDemand) {
		return func(d *model.DeviceDemand) {
			for _, e := range list {
				d.Selectors = append(d.Selectors, model.DeviceSelector{Expression: e})
			}
		}
	}
	for _, tt := range []struct {
		class string
		list  []string
		want  string
	}{
		{"gpu", []string{"d1"}, "c: r=p/d1"},
		{"gpu", []string{"d1", "d2"}, "no"},
		{"gpu", []string{"fails on d1"}, "error: claim c: selector #0 on device gpu.example.com/p/d1: CEL runtime error: fails"},
		{"gpu", []string{"d0", "wrong"}, "error: claim c: selector #1: CEL compile error: wrong"},
		{"broken", nil, "error: class broken: selector #0: CEL compile error: wrong"},
		{"classed", nil, "no"},
	} {
		if _, got := allocate(view, allocator.Options{Evaluator: &evaluator{}}, claim().Request("r", tt.class, 1, expressing(tt.list...)).Build()); got != tt.want {
			t.Errorf("%s %q: got %s, want %s", tt.class, tt.list, got, tt.want)
		}
	}
	// Too few devices are found to be so only after all have been looked at.
	if _, got := allocate(view, allocator.Options{Evaluator: &evaluator{}}, claim().Request("r", "gpu", 4, expressing("fails on d1")).Build()); !strings.HasPrefix(got, "error: claim c: selector #0 on device") {
		t.Errorf("too many wanted: %s", got)
	}
	// Administrative access is not to the same device twice, so it is not looked at.
	c := claim().Request("all", "gpu", 0, func(d *model.DeviceDemand) { d.All = true })
	c.Request("admin", "gpu", 2, expressing("fails on d1"), func(d *model.DeviceDemand) { d.AdminAccess = true })
	if _, got := allocate(view, allocator.Options{Evaluator: &evaluator{}}, c.Build()); got != "no" {
		t.Errorf("what the claim has already: %s", got)
	}
}

// An expression is asked about a device once, as long as the slice is the same,
// however many claims and cycles there are.
func TestExpressionsAreRemembered(t *testing.T) {
	slice := pool("p").Devices(20).Build()
	view, e := viewOf(slice), &evaluator{}
	a := allocator.New(allocator.Options{Evaluator: e})
	for i := range 5 {
		c := modeltest.DeviceClaim(fmt.Sprint("c", i)).Request("r", "gpu", 1, func(d *model.DeviceDemand) { d.Selectors = []model.DeviceSelector{{Expression: "d19"}} }).Build()
		if fits, err := a.Prepare(view.Devices(), []*model.DeviceClaim{c}).Fits(node); !fits || err != nil {
			t.Fatal(fits, err)
		}
	}
	if len(e.asked) != 20 {
		t.Errorf("asked about %d devices", len(e.asked))
	}
	for what, times := range e.asked {
		if times != 1 {
			t.Errorf("asked %d times whether %s", times, what)
		}
	}
}
