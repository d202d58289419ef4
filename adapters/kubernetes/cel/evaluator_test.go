package cel

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

func ptr[T any](v T) *T { return &v }

// card is a device with something of everything.
var card = model.SliceDevice{
	Name: "gpu-0",
	Attributes: map[string]model.AttributeValue{
		"index":                        {Int: ptr(int64(3))},
		"mig":                          {Bool: ptr(true)},
		"model":                        {String: ptr("H100")},
		"driverVersion":                {Version: ptr("1.10.2")},
		"resource.kubernetes.io/pcie":  {String: ptr("pci0000:00")},
		"gpu.example.com/withMyDomain": {Int: ptr(int64(7))},
	},
	Capacity: map[string]model.DeviceCapacity{
		"memory":            {Amount: 80 << 30 * 1000},
		"cores":             {Amount: 2500},
		"example.com/ports": {Amount: 8000},
	},
	Shared: true,
}

const driver = "gpu.example.com"

func TestEvaluate(t *testing.T) {
	t.Parallel()
	e := New()
	for expression, want := range map[string]bool{
		`true`:                                 true,
		`false`:                                false,
		`device.driver == "gpu.example.com"`:   true,
		`device.driver == "other.example.com"`: false,
		`device.allowMultipleAllocations`:      true,
		`device.attributes["gpu.example.com"].index == 3`:                                   true,
		`device.attributes["gpu.example.com"].index > 3`:                                    false,
		`device.attributes["gpu.example.com"].mig`:                                          true,
		`device.attributes["gpu.example.com"].model == "H100"`:                              true,
		`device.attributes["gpu.example.com"].model.startsWith("A")`:                        false,
		`device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("1.9.0"))`: true, // not as text
		`device.attributes["gpu.example.com"].withMyDomain == 7`:                            true,
		`device.attributes["resource.kubernetes.io"].pcie == "pci0000:00"`:                  true,
		`"index" in device.attributes["gpu.example.com"]`:                                   true,
		`"pcie" in device.attributes["gpu.example.com"]`:                                    false,
		`has(device.attributes["nobody.example.com"].x)`:                                    false, // not an error: a domain that is not there is empty
		`device.attributes["gpu.example.com"].?missing.orValue("x") == "x"`:                 true,
		`device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) == 0`:        true,
		`device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("80Gi"))`:         false,
		`device.capacity["gpu.example.com"].cores.compareTo(quantity("2.5")) == 0`:          true, // not rounded
		`device.capacity["gpu.example.com"].cores.isInteger()`:                              false,
		`device.capacity["example.com"].ports.asInteger() == 8`:                             true,
		`has(device.capacity["nobody.example.com"].x)`:                                      false,
		`cel.bind(a, device.attributes["gpu.example.com"], a.mig && a.index == 3)`:          true,
	} {
		if got, err := e.Evaluate(expression, driver, &card); err != nil || got != want {
			t.Errorf("%s: got %t, %v, want %t", expression, got, err, want)
		}
	}
}

// TestNothing: a device without anything is no error.
func TestNothing(t *testing.T) {
	t.Parallel()
	e, none := New(), model.SliceDevice{Name: "x"}
	for expression, want := range map[string]bool{
		`device.driver == "gpu.example.com"`:            true,
		`device.allowMultipleAllocations`:               false,
		`has(device.attributes["gpu.example.com"].x)`:   false,
		`has(device.capacity["gpu.example.com"].cores)`: false,
	} {
		if got, err := e.Evaluate(expression, driver, &none); err != nil || got != want {
			t.Errorf("%s: got %t, %v, want %t", expression, got, err, want)
		}
	}
}

// TestWrong: an expression that is wrong as such is told from one that is wrong
// for a device, each time that it is asked for.
func TestWrong(t *testing.T) {
	t.Parallel()
	e := New()
	expensive := "device.driver.matches('" + strings.Repeat("(a|b)*", 20) + "')"
	for _, c := range []struct {
		name, expression string
		ofExpression     bool
		text             string
	}{
		{"is no CEL", `device.`, true, "CEL compile error: compilation failed: ERROR: <input>:1:8: Syntax error"},
		{"is not about a device", `node.name == "x"`, true, "CEL compile error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'node'"},
		{"is no condition", `"text"`, true, "CEL compile error: must evaluate to bool or the unknown type, not string"},
		{"is empty", ``, true, "CEL compile error: compilation failed"},
		{"wants what is not there", `device.attributes["gpu.example.com"].missing == 1`, false,
			"CEL runtime error: no such key: missing. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"},
		{"compares what cannot be compared", `device.attributes["gpu.example.com"].model < 3`, false, "CEL runtime error: no such overload"},
		{"comes to no condition", `device.attributes["gpu.example.com"].model`, false, "CEL runtime error: CEL result of type string could not be converted to bool"},
		{"costs too much", strings.Repeat("["+strings.Repeat("1,", 99)+"1].all(a, ", 3) + expensive + " || a == a" + strings.Repeat(")", 3), false,
			"CEL runtime error: operation cancelled: actual cost limit exceeded"},
	} {
		for range 2 {
			got, err := e.Evaluate(c.expression, driver, &card)
			if err == nil || got || !strings.HasPrefix(err.Error(), c.text) {
				t.Errorf("what %s: got %t, %v, want %s", c.name, got, err, c.text)
				continue
			}
			if of := (*allocator.ExpressionError)(nil); errors.As(err, &of) != c.ofExpression {
				t.Errorf("what %s: %T; want an error of the expression: %t", c.name, err, c.ofExpression)
			}
		}
	}
}

// TestForgets: more expressions than are kept are evaluated all the same, and no
// more are kept.
func TestForgets(t *testing.T) {
	t.Parallel()
	e := New()
	for round := range 2 {
		for i := range maxPrograms + 1 {
			e.program(fmt.Sprint("unknown", i))
			if len(e.programs) > maxPrograms {
				t.Fatalf("%d expressions are kept", len(e.programs))
			}
		}
		if got, err := e.Evaluate(`device.allowMultipleAllocations`, driver, &card); err != nil || !got {
			t.Fatalf("round %d: %t, %v", round, got, err)
		}
	}
	if first := e.program("true"); e.program("true") != first {
		t.Error("an expression is not remembered")
	}
}

// TestManyAtOnce: any number of goroutines may ask.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	e := New()
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 40 {
				expression := fmt.Sprintf(`device.attributes["gpu.example.com"].index == %d`, (g+i)%5)
				if got, err := e.Evaluate(expression, driver, &card); err != nil || got != ((g+i)%5 == 3) {
					t.Errorf("%s: %t, %v", expression, got, err)
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkEvaluate(b *testing.B) {
	e := New()
	expression := `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "H100" && device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0`
	for b.Loop() {
		if ok, err := e.Evaluate(expression, driver, &card); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}
