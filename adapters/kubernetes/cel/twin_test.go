package cel

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
)

var seedFlag = flag.Uint64("seed", 1, "seed of the random tests")

// expressions have gaps for an attribute or a capacity, and for a value.
var expressions = []string{
	`device.attributes["d.example.com"].%s == %s`,
	`device.attributes["other.example.com"].%s == %s`,
	`has(device.attributes["d.example.com"].%s) || %s == 1`,
	`device.attributes["d.example.com"].%s.isLessThan(semver("%s.0.0"))`,
	`device.attributes["d.example.com"].%s.startsWith("%s")`,
	`device.attributes["d.example.com"].%s && %s > 0`,
	`device.capacity["d.example.com"].%s.compareTo(quantity("%s")) >= 0`,
	`device.capacity["d.example.com"].%s.compareTo(quantity("%sm")) > 0`,
	`device.capacity["other.example.com"].%s.asApproximateFloat() < %s.0`,
	`device.capacity["d.example.com"].%s.isInteger() && device.capacity["d.example.com"].a.asInteger() == %s`,
	`device.allowMultipleAllocations || device.driver == "%s%s"`,
	`%s%s`,
}

// TestAsTheSchedulerDoes: what is said of a device of the model is what the
// library says of the device of Kubernetes that it was made of, errors included.
func TestAsTheSchedulerDoes(t *testing.T) {
	t.Parallel()
	t.Logf("-seed %d", *seedFlag)
	r := rand.New(rand.NewPCG(*seedFlag, 0))
	e, cache := New(), dracel.NewCache(100, dracel.Features{EnableConsumableCapacity: true})
	said := map[bool]int{}
	for range 3000 {
		device := randomDevice(r)
		slice, err := convert.DeviceSlice(&resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: "s"},
			Spec: resourcev1.ResourceSliceSpec{
				Driver: "d.example.com", Pool: resourcev1.ResourcePool{Name: "p", ResourceSliceCount: 1}, AllNodes: ptr(true), Devices: []resourcev1.Device{device},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		expression := fmt.Sprintf(expressions[r.IntN(len(expressions))], pick(r, "a", "b", "c"), pick(r, "0", "1", "2"))

		got, gotErr := e.Evaluate(expression, "d.example.com", &slice.Devices[0])
		want, wantErr := scheduler(t, cache, expression, device)
		if got != want || text(gotErr) != wantErr {
			t.Fatalf("%s of %+v: got %t, %v; the scheduler says %t, %s", expression, device, got, gotErr, want, wantErr)
		}
		if gotErr == nil {
			said[got]++
		}
	}
	if said[true] < 300 || said[false] < 300 {
		t.Errorf("the test is not worth much: %v", said)
	}
}

// scheduler is what kube-scheduler does with an expression.
func scheduler(t *testing.T, cache *dracel.Cache, expression string, d resourcev1.Device) (bool, string) {
	compiled := cache.GetOrCompile(expression)
	if compiled.Error != nil {
		return false, "CEL compile error: " + compiled.Error.Error()
	}
	matches, _, err := compiled.DeviceMatches(t.Context(), dracel.Device{
		Driver: "d.example.com", AllowMultipleAllocations: d.AllowMultipleAllocations, Attributes: d.Attributes, Capacity: d.Capacity,
	})
	if err != nil {
		return false, "CEL runtime error: " + dracel.EnhanceRuntimeError(err).Error()
	}
	return matches, ""
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func randomDevice(r *rand.Rand) resourcev1.Device {
	d := resourcev1.Device{
		Name:                     "x",
		Attributes:               map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{},
		Capacity:                 map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{},
		AllowMultipleAllocations: pick(r, nil, ptr(false), ptr(true)),
	}
	names := []resourcev1.QualifiedName{"a", "b", "d.example.com/c", "other.example.com/a", "other.example.com/b"}
	for _, name := range names {
		switch r.IntN(6) {
		case 0:
			d.Attributes[name] = resourcev1.DeviceAttribute{IntValue: ptr(int64(r.IntN(3)))}
		case 1:
			d.Attributes[name] = resourcev1.DeviceAttribute{BoolValue: ptr(r.IntN(2) == 0)}
		case 2:
			d.Attributes[name] = resourcev1.DeviceAttribute{StringValue: ptr(pick(r, "0", "1", "12"))}
		case 3:
			d.Attributes[name] = resourcev1.DeviceAttribute{VersionValue: ptr(pick(r, "0.1.0", "1.10.0", "2.0.0-beta"))}
		}
		if r.IntN(3) > 0 {
			d.Capacity[name] = resourcev1.DeviceCapacity{Value: resource.MustParse(pick(r, "0", "1", "2", "1500m", "0.001", "1m", "1Ki", "80Gi", "2e3"))}
		}
	}
	return d
}
