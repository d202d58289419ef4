package allocator_test

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

const driver = "gpu.example.com"

var node = modeltest.Node("n1").Zone("z1").Build()

func viewOf(objects ...model.Object) *extpointstest.View {
	view := extpointstest.NewView()
	view.Put(modeltest.DeviceClass("gpu"))
	view.Put(objects...)
	return view
}

func pool(name string) *modeltest.SliceBuilder {
	return modeltest.DeviceSlice(driver, name).Node("n1")
}

// allocate searches on node n1, and tells in one line what came of it.
func allocate(view *extpointstest.View, o allocator.Options, claims ...*model.DeviceClaim) ([]*model.Allocation, string) {
	list, err := allocator.New(o).Prepare(view.Devices(), claims).Allocate(node, 1)
	if err != nil {
		return nil, "error: " + err.Error()
	}
	if list == nil {
		return nil, "no"
	}
	var b strings.Builder
	for i, a := range list {
		fmt.Fprintf(&b, "%s:", claims[i].ID)
		for _, d := range a.Devices {
			fmt.Fprintf(&b, " %s=%s/%s", d.Request, d.Pool, d.Device)
		}
		b.WriteString("; ")
	}
	return list, strings.TrimSuffix(b.String(), "; ")
}

func claim() *modeltest.ClaimBuilder { return modeltest.DeviceClaim("c") }

// What the search finds, where the order matters, and what it says where it
// finds nothing.
func TestAllocate(t *testing.T) {
	incomplete := pool("q").Part("q-0", 1, 2).Devices(1).Build()
	invalid := pool("q").Device("d").Device("d").Build()
	root := func(n int) func(*model.SliceDevice) { return modeltest.Attribute("root", n) }
	tests := []struct {
		name    string
		objects []model.Object
		claim   *model.DeviceClaim
		want    string
	}{
		{"the first of the pool", []model.Object{pool("p").Devices(2).Build()}, claim().Request("r", "gpu", 1).Build(), "c: r=p/d0"},
		{"pools by name", []model.Object{pool("q").Devices(1).Build(), pool("p").Devices(1).Build()}, claim().Request("r", "gpu", 1).Build(), "c: r=p/d0"},
		{"pools by driver first", []model.Object{pool("a").Devices(1).Build(), modeltest.DeviceSlice("a.example.com", "z").Node("n1").Devices(1).Build()}, claim().Request("r", "gpu", 1).Build(), "c: r=z/d0"},
		{"pools with conditions last", []model.Object{pool("p").Device("d0").Device("d1", func(d *model.SliceDevice) { d.BindingConditions = []string{"x"} }).Build(), pool("q").Devices(1).Build()}, claim().Request("r", "gpu", 2).Build(), "c: r=q/d0 r=p/d0"},
		{"slices by ID", []model.Object{pool("p").Part("b", 1, 2).Device("d0").Build(), pool("p").Part("a", 1, 2).Device("d1").Build()}, claim().Request("r", "gpu", 1).Build(), "c: r=p/d1"},
		{"nothing of a pool of which a slice is missing", []model.Object{incomplete}, claim().Request("r", "gpu", 1).Build(), "no"},
		{"another pool then", []model.Object{incomplete, pool("r").Devices(1).Build()}, claim().Request("r", "gpu", 1).Build(), "c: r=r/d0"},
		{"nothing of an old generation", []model.Object{pool("p").Part("a", 2, 1).Device("new").Build(), pool("p").Part("b", 1, 1).Device("old").Build()}, claim().Request("r", "gpu", 0).Build(), "c: r=p/new"},
		{"nothing of a pool that is replaced elsewhere", []model.Object{pool("p").Part("a", 1, 2).Device("old").Build(), modeltest.DeviceSlice(driver, "p").Node("n2").Part("b", 2, 1).Device("new").Build()}, claim().Request("r", "gpu", 1).Build(), "no"},
		{"a pool contradicts itself", []model.Object{invalid}, claim().Request("r", "gpu", 1).Build(), "error: invalid resource pools were encountered"},
		{"it goes back for the second request", []model.Object{pool("p").Device("d0", root(1)).Device("d1", root(2)).Device("d2", root(2)).Build()}, claim().Request("a", "gpu", 1).Request("b", "gpu", 1).Match(driver + "/root").Build(), "c: a=p/d1 b=p/d2"},
		{"all devices", []model.Object{pool("p").Devices(3).Build()}, claim().Request("r", "gpu", 0).Build(), "c: r=p/d0 r=p/d1 r=p/d2"},
		{"all of none", nil, claim().Request("r", "gpu", 0).Build(), "no"},
		{"all, but one is given away", []model.Object{pool("p").Devices(2).Build(), modeltest.DeviceClaim("o").Given(nil, model.AllocatedDevice{DeviceID: model.DeviceID{Driver: driver, Pool: "p", Device: "d1"}}).Build()}, claim().Request("r", "gpu", 0).Build(), "no"},
		{"all, but a pool is incomplete", []model.Object{pool("p").Devices(2).Build(), incomplete}, claim().Request("r", "gpu", 0).Build(), "error: claim c, request r: asks for all devices, but resource pool gpu.example.com/q is currently being updated"},
		{"all, but a pool is invalid", []model.Object{invalid}, claim().Request("r", "gpu", 0).Build(), "error: claim c, request r: asks for all devices, but resource pool gpu.example.com/q is currently invalid"},
		{"all, but a constraint says otherwise", []model.Object{pool("p").Device("d0", root(1)).Device("d1", root(2)).Build()}, claim().Request("r", "gpu", 0).Match(driver + "/root").Build(), "error: claim c, request r: cannot add device gpu.example.com/p/d1 because a claim constraint would not be satisfied"},
		{"as many as there can be", []model.Object{pool("p").Devices(32).Build()}, claim().Request("a", "gpu", 31).Request("b", "gpu", 1).Build(), "c:" + numbered("a", 0, 31) + numbered("b", 31, 32)},
		{"more than there can be", []model.Object{pool("p").Devices(40).Build()}, claim().Request("a", "gpu", 31).Request("b", "gpu", 2).Build(), "error: claim c, request b: adding 2 devices exceeds the claim limit of 32, with 31 already accounted for"},
		{"absurdly many", []model.Object{pool("p").Devices(1).Build()}, claim().Request("a", "gpu", 1).Request("b", "gpu", math.MaxInt64).Build(), "error: claim c, request b: adding 9223372036854775807 devices exceeds the claim limit of 32, with 1 already accounted for"},
		{"an alternative for too many", []model.Object{pool("p").Devices(40).Build()}, claim().Request("a", "gpu", 31).FirstOf("b", modeltest.Demand("two", "gpu", 2), modeltest.Demand("one", "gpu", 1)).Build(), "c:" + numbered("a", 0, 31) + " b/one=p/d31"},
		{"an alternative before too many", []model.Object{pool("p").Devices(40).Build()}, claim().FirstOf("a", modeltest.Demand("many", "gpu", 31), modeltest.Demand("few", "gpu", 1)).Request("b", "gpu", 2).Build(), "c: a/few=p/d0 b=p/d1 b=p/d2"},
		{"no class", nil, claim().Request("r", "none", 1).Build(), `error: claim c, request r: could not retrieve device class none: device class "none" not found`},
		{"no alternative", nil, claim().FirstOf("r").Build(), "error: claim c, request r: unknown request type"},
		{"an empty constraint", []model.Object{pool("p").Devices(1).Build()}, claim().Request("r", "gpu", 1).Match("").Build(), "error: claim c, constraint #0: empty constraint (unsupported constraint type?)"},
		{"no requests", nil, claim().Build(), "c:"},
		{"nodes by several terms", []model.Object{modeltest.DeviceSlice(driver, "p").With(func(s *model.DeviceSlice) { s.Nodes = &model.NodeTerms{Terms: make([]model.NodeTerm, 2)} }).AllNodes().Devices(1).Build()}, claim().Request("r", "gpu", 1).With(func(c *model.DeviceClaim) { c.Name = "mine" }).Build(), "error: create node terms for claim mine: unsupported device slice with 2 node terms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := allocate(viewOf(tt.objects...), allocator.Options{}, tt.claim); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// numbered lists the devices of p from one number up to another.
func numbered(request string, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, " %s=p/d%d", request, i)
	}
	return b.String()
}

// A claim that is too much for what is left goes without, where the next claim
// would not: the limit is each claim's.
func TestLimitIsOfOneClaim(t *testing.T) {
	view := viewOf(pool("p").Devices(40).Build())
	_, got := allocate(view, allocator.Options{}, claim().Request("a", "gpu", 20).Build(), modeltest.DeviceClaim("e").Request("a", "gpu", 20).Build())
	if want := "c:" + numbered("a", 0, 20) + "; e:" + numbered("a", 20, 40); got != want {
		t.Errorf("got %s", got)
	}
}

// From which nodes the devices can be used.
func TestAllocationNodes(t *testing.T) {
	zone := model.Requirement{Key: modeltest.ZoneKey, Operator: model.In, Values: []string{"z1", "z2"}}
	swapped := zone
	swapped.Values = []string{"z2", "z1"}
	rack := model.Requirement{Key: "rack", Operator: model.DoesNotExist}
	here := &model.NodeTerms{Terms: []model.NodeTerm{{Fields: []model.Requirement{{Key: model.FieldName, Operator: model.In, Values: []string{"n1"}}}}}}
	labels := func(list ...model.Requirement) *model.NodeTerms {
		return &model.NodeTerms{Terms: []model.NodeTerm{{Labels: list}}}
	}
	wide := func(name string) *modeltest.SliceBuilder { return modeltest.DeviceSlice(driver, name) }
	tests := []struct {
		name   string
		slices []model.Object
		want   *model.NodeTerms
	}{
		{"one node", []model.Object{pool("p").Devices(1).Build()}, here},
		{"all nodes", []model.Object{wide("p").AllNodes().Devices(1).Build()}, nil},
		{"some nodes", []model.Object{wide("p").Nodes(zone).Devices(1).Build()}, labels(zone)},
		{"some and all", []model.Object{wide("p").Nodes(zone).Devices(1).Build(), wide("q").AllNodes().Devices(1).Build()}, labels(zone)},
		{"some and others", []model.Object{wide("p").Nodes(zone).Devices(1).Build(), wide("q").Nodes(rack, swapped).Devices(1).Build()}, labels(zone, rack)},
		{"some and one", []model.Object{wide("p").Nodes(zone).Devices(1).Build(), pool("q").Devices(1).Build()}, here},
		{"by device", []model.Object{wide("p").PerDevice().Device("d", func(d *model.SliceDevice) { d.Nodes = labels(zone) }).Build()}, labels(zone)},
		{"by device, one node", []model.Object{wide("p").PerDevice().Device("e", func(d *model.SliceDevice) { d.Node = "n2" }).Device("d", func(d *model.SliceDevice) { d.Node = "n1" }).Build()}, here},
		{"bound to the node", []model.Object{wide("p").AllNodes().Device("d", func(d *model.SliceDevice) { d.BindsToNode = true }).Build()}, here},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, line := allocate(viewOf(tt.slices...), allocator.Options{}, claim().Request("r", "gpu", int64(len(tt.slices))).Build())
			if list == nil || !reflect.DeepEqual(list[0].Nodes, tt.want) {
				t.Errorf("%s: got %+v, want %+v", line, list, tt.want)
			}
		})
	}
}

// What drivers are told: the configuration of classes, once each, and that of
// the claim as far as it is about what was chosen.
func TestAllocationConfig(t *testing.T) {
	class := func(name string, drivers ...string) *model.DeviceClass {
		c := modeltest.DeviceClass(name)
		for _, d := range drivers {
			c.Config = append(c.Config, model.DeviceConfig{Driver: d, Parameters: []byte(name)})
		}
		return c
	}
	c := claim().Request("a", "x", 1).Request("b", "y", 1).
		FirstOf("c", modeltest.Demand("many", "y", 9), modeltest.Demand("one", "x", 1)).Build()
	c.Config = []model.DeviceConfig{
		{Driver: "all"}, {Driver: "a", Requests: []string{"a"}}, {Driver: "many", Requests: []string{"c/many"}}, {Driver: "one", Requests: []string{"c/one", "b"}},
		{Driver: "each", Requests: []string{"b", "c", "a"}},
	}
	list, line := allocate(viewOf(class("x", "x1", "x2"), class("y", "y1"), pool("p").Devices(4).Build()), allocator.Options{}, c)
	if list == nil {
		t.Fatal(line)
	}
	want := []model.AllocatedConfig{
		{FromClass: true, DeviceConfig: model.DeviceConfig{Driver: "x1", Parameters: []byte("x"), Requests: []string{"a", "c/one"}}},
		{FromClass: true, DeviceConfig: model.DeviceConfig{Driver: "x2", Parameters: []byte("x"), Requests: []string{"a", "c/one"}}},
		{FromClass: true, DeviceConfig: model.DeviceConfig{Driver: "y1", Parameters: []byte("y"), Requests: []string{"b"}}},
		{DeviceConfig: model.DeviceConfig{Driver: "all"}},
		{DeviceConfig: model.DeviceConfig{Driver: "a", Requests: []string{"a"}}},
		{DeviceConfig: model.DeviceConfig{Driver: "one", Requests: []string{"c/one", "b"}}},
		{DeviceConfig: model.DeviceConfig{Driver: "each"}},
	}
	if !reflect.DeepEqual(list[0].Config, want) {
		t.Errorf("got  %+v\nwant %+v", list[0].Config, want)
	}
	only, _ := allocate(viewOf(class("x", "x1"), pool("p").Devices(1).Build()), allocator.Options{}, claim().Request("a", "x", 1).Build())
	if got := only[0].Config; len(got) != 1 || got[0].Requests != nil {
		t.Errorf("for all requests: %+v", got)
	}
}

// Shares have IDs that are different for each, and the same whenever the same
// decision is made again.
func TestShares(t *testing.T) {
	view := viewOf(pool("p").Device("d", modeltest.Shared, modeltest.Capacity("memory", 80, nil)).Build())
	wants := func(d *model.DeviceDemand) { d.Capacity = map[string]int64{"memory": 10} }
	claims := []*model.DeviceClaim{claim().Request("a", "gpu", 1, wants).Request("b", "gpu", 1, wants).Build(), modeltest.DeviceClaim("e").Request("a", "gpu", 1, wants).Build()}
	a, search := allocator.New(allocator.Options{}), map[string]bool{}
	for seed := range uint64(3) {
		list, err := a.Prepare(view.Devices(), claims).Allocate(node, seed)
		again, _ := a.Prepare(view.Devices(), claims).Allocate(node, seed)
		if err != nil || !reflect.DeepEqual(list, again) {
			t.Fatalf("seed %d: %v, %+v and then %+v", seed, err, list, again)
		}
		for _, d := range append(list[0].Devices, list[1].Devices...) {
			if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(d.Share) {
				t.Errorf("%q is no UUID", d.Share)
			}
			if !reflect.DeepEqual(d.Consumed, map[string]int64{"memory": 10}) {
				t.Errorf("takes %v", d.Consumed)
			}
			search[d.Share] = true
		}
	}
	if len(search) != 9 {
		t.Errorf("%d different IDs, want 9", len(search))
	}
}

// What a request gets of a capacity, and how many such requests a device serves.
func TestCapacityPolicies(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	tests := []struct {
		name   string
		policy *model.CapacityPolicy
		want   int64 // -1: nothing said
		gets   int64
		serves int
	}{
		{"all, where nothing is said", nil, -1, 100, 1},
		{"what is wanted", nil, 30, 30, 3},
		{"nothing at all", nil, 0, 0, 40},
		{"more than there is", nil, 101, 0, 0},
		{"the default", &model.CapacityPolicy{Default: n(20)}, -1, 20, 5},
		{"any amount beside a default", &model.CapacityPolicy{Default: n(20)}, 33, 33, 3},
		{"the next value", &model.CapacityPolicy{Default: n(10), Values: []int64{10, 25, 50}}, 11, 25, 4},
		{"the value", &model.CapacityPolicy{Default: n(10), Values: []int64{10, 25, 50}}, 25, 25, 4},
		{"above the values", &model.CapacityPolicy{Default: n(10), Values: []int64{10, 25, 50}}, 51, 0, 0},
		{"below the range", &model.CapacityPolicy{Default: n(20), Min: n(20), Max: n(60)}, 5, 20, 5},
		{"within the range", &model.CapacityPolicy{Default: n(20), Min: n(20), Max: n(60)}, 33, 33, 3},
		{"above the range", &model.CapacityPolicy{Default: n(20), Min: n(20), Max: n(60)}, 61, 0, 0},
		{"the next step", &model.CapacityPolicy{Default: n(5), Min: n(5), Step: n(10)}, 16, 25, 4},
		{"on a step", &model.CapacityPolicy{Default: n(5), Min: n(5), Step: n(10)}, 15, 15, 6},
		{"a step above the range", &model.CapacityPolicy{Default: n(5), Min: n(5), Max: n(30), Step: n(10)}, 26, 0, 0},
		{"a default beside the policy", &model.CapacityPolicy{Default: n(7), Values: []int64{10}}, -1, 7, 14},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			view := viewOf(pool("p").Device("d", modeltest.Shared, modeltest.Capacity("memory", 100, tt.policy)).Build())
			wants := func(d *model.DeviceDemand) {
				if tt.want >= 0 {
					d.Capacity = map[string]int64{"memory": tt.want}
				}
			}
			served := 0
			for ; served < 40; served++ {
				c := modeltest.DeviceClaim(fmt.Sprint("c", served)).Request("r", "gpu", 1, wants).Build()
				list, line := allocate(view, allocator.Options{}, c)
				if list == nil {
					if line != "no" {
						t.Error(line)
					}
					break
				}
				if got := list[0].Devices[0].Consumed["memory"]; got != tt.gets {
					t.Errorf("gets %d, want %d", got, tt.gets)
				}
				c.Allocation = list[0]
				view.Put(c)
			}
			if served != tt.serves {
				t.Errorf("serves %d, want %d", served, tt.serves)
			}
		})
	}
}

func TestCapacityOfWholeDevices(t *testing.T) {
	view := viewOf(pool("p").Device("d0", modeltest.Capacity("memory", 40, nil)).Device("d1").Device("d2", modeltest.Capacity("memory", 80, nil)).Build())
	wants := func(d *model.DeviceDemand) { d.Capacity = map[string]int64{"memory": 50} }
	list, line := allocate(view, allocator.Options{}, claim().Request("r", "gpu", 1, wants).Build())
	if line != "c: r=p/d2" || list[0].Devices[0].Consumed != nil || list[0].Devices[0].Share != "" {
		t.Errorf("%s, %+v", line, list)
	}
	if _, line = allocate(view, allocator.Options{}, claim().Request("r", "gpu", 0, wants).Build()); line != "c: r=p/d2" {
		t.Errorf("all: %s", line)
	}
	// It was shared until a moment ago: what is in use is not given again.
	part := model.AllocatedDevice{DeviceID: model.DeviceID{Driver: driver, Pool: "p", Device: "d0"}, Share: "s", Consumed: map[string]int64{"memory": 1}}
	view.Put(modeltest.DeviceClaim("o").Given(nil, part).Build())
	if _, line = allocate(view, allocator.Options{}, claim().Request("r", "gpu", 1).Build()); line != "c: r=p/d1" {
		t.Errorf("no longer shared: %s", line)
	}
}

func TestAbsurdCapacity(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	view := viewOf(pool("p").Device("d", modeltest.Shared, modeltest.Capacity("memory", 100, &model.CapacityPolicy{Default: n(4), Min: n(4), Step: n(10)})).Build())
	wants := func(d *model.DeviceDemand) { d.Capacity = map[string]int64{"memory": math.MaxInt64} }
	const why = `capacity "memory": capacity request cannot be represented in the device's range arithmetic: rounding request 9223372036854775807 up to the next step passes MaxInt64`
	for count, device := range map[int64]string{1: driver + "/p/d", 0: "d"} {
		want := "error: claim c, request r: checking capacity for device " + device + ": " + why
		if _, got := allocate(view, allocator.Options{}, claim().Request("r", "gpu", count, wants).Build()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// Devices that draw on one stock are given as long as it lasts.
func TestCounters(t *testing.T) {
	counters := modeltest.DeviceSlice(driver, "p").Node("n1").Part("p-counters", 1, 2).Counter("card", "slots", 4).Build()
	devices := pool("p").Part("p-0", 1, 2).Device("half0", modeltest.Consumes("card", "slots", 2)).Device("half1", modeltest.Consumes("card", "slots", 2)).
		Device("whole", modeltest.Consumes("card", "slots", 4)).Device("free").Build()
	view := viewOf(counters, devices)
	taken := modeltest.DeviceClaim("o").Given(nil, model.AllocatedDevice{DeviceID: model.DeviceID{Driver: driver, Pool: "p", Device: "half1"}}).Build()
	for _, tt := range []struct {
		count  int64
		others []model.Object
		want   string
	}{
		{2, nil, "c: r=p/half0 r=p/half1"},
		{3, nil, "c: r=p/half0 r=p/half1 r=p/free"},
		{4, nil, "no"},
		{2, []model.Object{taken}, "c: r=p/half0 r=p/free"},
		{3, []model.Object{taken}, "no"},
	} {
		view.Drop(model.DeviceClaimKind, "o")
		view.Put(tt.others...)
		if _, got := allocate(view, allocator.Options{}, claim().Request("r", "gpu", tt.count).Build()); got != tt.want {
			t.Errorf("%d: got %s, want %s", tt.count, got, tt.want)
		}
	}
	// Where more is in use than there is of one counter, no device is given that
	// draws on any.
	shrunk := modeltest.DeviceSlice(driver, "p").Node("n1").Part("p-counters", 1, 2).Counter("card", "slots", 1).Counter("card", "fans", 9).Build()
	fans := pool("p").Part("p-0", 1, 2).Device("fan", modeltest.Consumes("card", "fans", 1)).Device("half1", modeltest.Consumes("card", "slots", 2)).Device("free").Build()
	for _, tt := range []struct {
		others []model.Object
		want   string
	}{{nil, "c: r=p/fan"}, {[]model.Object{taken}, "c: r=p/free"}} {
		few := viewOf(shrunk, fans)
		few.Put(tt.others...)
		if _, got := allocate(few, allocator.Options{}, claim().Request("r", "gpu", 1).Build()); got != tt.want {
			t.Errorf("overdrawn by %d: got %s, want %s", len(tt.others), got, tt.want)
		}
	}
	// Without the counters the pool is incomplete, with a device that draws on
	// others it is invalid.
	view = viewOf(devices)
	if _, got := allocate(view, allocator.Options{}, claim().Request("r", "gpu", 1).Build()); got != "no" {
		t.Errorf("incomplete: %s", got)
	}
	view.Put(modeltest.DeviceSlice(driver, "p").Node("n1").Part("p-counters", 1, 2).Counter("other", "slots", 4).Build())
	if _, got := allocate(view, allocator.Options{}, claim().Request("r", "gpu", 1).Build()); got != "error: invalid resource pools were encountered" {
		t.Errorf("unknown set: %s", got)
	}
}

func TestTaints(t *testing.T) {
	tainted := func(effect model.TaintEffect) func(*model.SliceDevice) {
		return func(d *model.SliceDevice) { d.Taints = []model.Taint{{Key: "k", Effect: effect}} }
	}
	view := viewOf(pool("p").Device("d0", tainted(model.NoSchedule)).Device("d1", tainted(model.NoEffect)).Device("d2").Build())
	tolerating := func(d *model.DeviceDemand) {
		d.Tolerations = []model.Toleration{{Key: "other"}, {Key: "k", Operator: model.Exists}}
	}
	if _, got := allocate(view, allocator.Options{}, claim().Request("r", "gpu", 2).Build()); got != "c: r=p/d1 r=p/d2" {
		t.Error(got)
	}
	list, got := allocate(view, allocator.Options{}, claim().Request("r", "gpu", 1, tolerating).Build())
	if got != "c: r=p/d0" || len(list[0].Devices[0].Tolerations) != 2 {
		t.Error(got, list)
	}
	view.Put(&model.DeviceTaintRule{ID: "x", Pool: "p", Device: "d2", Taint: model.Taint{Key: "x", Effect: model.NoExecute}})
	if _, got := allocate(view, allocator.Options{}, claim().Request("r", "gpu", 2).Build()); got != "no" {
		t.Errorf("with a rule: %s", got)
	}
}

// Who only watches takes nothing away, and may watch what others have.
func TestAdminAccess(t *testing.T) {
	view := viewOf(pool("p").Devices(1).Build(), modeltest.DeviceClaim("o").Given(nil, model.AllocatedDevice{DeviceID: model.DeviceID{Driver: driver, Pool: "p", Device: "d0"}}).Build())
	admin := func(d *model.DeviceDemand) { d.AdminAccess = true }
	watcher := claim().Request("r", "gpu", 1, admin).Build()
	list, got := allocate(view, allocator.Options{}, watcher)
	if got != "c: r=p/d0" || !list[0].Devices[0].AdminAccess {
		t.Fatal(got)
	}
	view.Drop(model.DeviceClaimKind, "o")
	watcher.Allocation = list[0]
	view.Put(watcher)
	if _, got := allocate(view, allocator.Options{}, modeltest.DeviceClaim("e").Request("r", "gpu", 1).Build()); got != "e: r=p/d0" {
		t.Errorf("beside a watcher: %s", got)
	}
	if _, got := allocate(view, allocator.Options{}, claim().Request("a", "gpu", 1, admin).Request("b", "gpu", 1, admin).Build()); got != "no" {
		t.Errorf("watched twice by one claim: %s", got)
	}
}

// One allocator tells selectors apart, also where there are more of them than it
// remembers.
func TestSelectorsAreToldApart(t *testing.T) {
	view := viewOf(pool("p").Device("d0", modeltest.Attribute("n", 0)).Device("d1", modeltest.Attribute("n", 1)).Device("d2", modeltest.Attribute("s", "1"), modeltest.Capacity("n", 1, nil)).Build())
	a := allocator.New(allocator.Options{})
	capacity := model.DeviceRequirement{Capacity: "n", Operator: model.CompareEqual, Values: []model.AttributeValue{modeltest.Value(1)}}
	ofDriver := model.DeviceRequirement{Driver: true, Operator: model.CompareExists}
	ask := func(want string, requirements ...model.DeviceRequirement) {
		t.Helper()
		c := claim().Request("r", "gpu", 1, modeltest.Selecting(requirements...)).Build()
		list, err := a.Prepare(view.Devices(), []*model.DeviceClaim{c}).Allocate(node, 1)
		got := "none"
		if list != nil {
			got = list[0].Devices[0].Device
		}
		if err != nil || got != want {
			t.Errorf("%+v: %s, %v, want %s", requirements, got, err, want)
		}
	}
	for range 2 {
		ask("d1", modeltest.Require("n", model.CompareEqual, 1))
		ask("d0", modeltest.Require("n", model.CompareNotEqual, 1))
		ask("none", modeltest.Require("n", model.CompareEqual, "1"))
		ask("d2", modeltest.Require("s", model.CompareEqual, "1"))
		ask("none", modeltest.Require("s", model.CompareEqual, modeltest.Version("1")))
		ask("d2", capacity)
		ask("d0", ofDriver)
		ask("none", modeltest.Require("n", model.CompareEqual, true))
		ask("d0", modeltest.Require("n", model.CompareOneOf, 5, 0))
		ask("d1", modeltest.Require("n", model.CompareOneOf, 5, 1))
		ask("none", modeltest.Require("n", model.CompareExists), capacity)
		for i := range 600 {
			want := "none"
			if i == 77 {
				want = "d0"
			}
			ask(want, modeltest.Require("n", model.CompareEqual, i-77), modeltest.Require("n", model.CompareNotEqual, 1))
		}
	}
}

// One search is asked about nodes by many at once, while others come and slices
// change. (For the race detector.)
func TestSearchesAtOnce(t *testing.T) {
	var objects []model.Object
	var nodes []*model.Node
	for i := range 8 {
		n := fmt.Sprint("n", i)
		nodes = append(nodes, modeltest.Node(n).Build())
		objects = append(objects, modeltest.DeviceSlice(driver, n).Node(n).Devices(i, modeltest.Attribute("root", 1)).Build())
	}
	objects = append(objects, modeltest.DeviceSlice(driver, "wide").AllNodes().Devices(1, modeltest.Attribute("root", 1)).Build())
	view := viewOf(objects...)
	other := viewOf(objects[1:]...)
	a := allocator.New(allocator.Options{})
	c := claim().Request("a", "gpu", 2, modeltest.Selecting(modeltest.Require("root", model.CompareExists))).Request("b", "gpu", 1).Match("gpu.example.com/root").Build()
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			of := view
			if g%4 == 3 {
				of = other
			}
			search := a.Prepare(of.Devices(), []*model.DeviceClaim{c})
			for round := range 200 {
				i := 1 + (g+round)%7
				if fits, err := search.Fits(nodes[i]); err != nil || fits != (i >= 2) {
					t.Errorf("n%d: %v, %v", i, fits, err)
				}
			}
		})
	}
	wait.Wait()
}

// Whether there is room is found out without allocating.
func TestFitsAllocatesNothing(t *testing.T) {
	view := viewOf(pool("p").Devices(8, modeltest.Attribute("root", 1)).Build())
	c := claim().Request("a", "gpu", 2).FirstOf("b", modeltest.Demand("many", "gpu", 9), modeltest.Demand("one", "gpu", 1)).Match("gpu.example.com/root").Build()
	devices := frozen{view.Devices(), view.Devices().Slices()}
	search := allocator.New(allocator.Options{}).Prepare(devices, []*model.DeviceClaim{c})
	// The least of many: the memory of a search that is handed on may get lost.
	least := math.Inf(1)
	for range 50 {
		least = min(least, testing.AllocsPerRun(1, func() {
			if fits, err := search.Fits(node); !fits || err != nil {
				t.Error(fits, err)
			}
		}))
	}
	if least > 0 {
		t.Errorf("%v allocations", least)
	}
}
