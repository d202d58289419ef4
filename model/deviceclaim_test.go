package model_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// a builds a device of the driver gpu.example.com for the tests of selectors.
func someDevice() *SliceDevice {
	d := &SliceDevice{Name: "d"}
	for _, change := range []func(*SliceDevice){
		modeltest.Attribute("model", "a100"), modeltest.Attribute("cores", 8), modeltest.Attribute("ecc", true),
		modeltest.Attribute("driver", modeltest.Version("1.10.0")), modeltest.Attribute("pci.example.com/root", "r1"),
		modeltest.Capacity("memory", 80, nil), modeltest.Capacity("pci.example.com/lanes", 16, nil),
	} {
		change(d)
	}
	return d
}

func TestDeviceRequirementMatches(t *testing.T) {
	is := modeltest.Require
	capacity := func(name string, op CompareOperator, amount int) DeviceRequirement {
		r := is("", op, amount)
		r.Capacity = name
		return r
	}
	ofDriver := func(op CompareOperator, names ...any) DeviceRequirement {
		r := is("", op, names...)
		r.Driver = true
		return r
	}
	tests := []struct {
		r    DeviceRequirement
		want bool
	}{
		{is("model", CompareEqual, "a100"), true},
		{is("model", CompareEqual, "t4"), false},
		{is("model", CompareNotEqual, "t4"), true},
		{is("model", CompareNotEqual, "a100"), false},
		{is("model", CompareOneOf, "t4", "a100"), true},
		{is("model", CompareOneOf, "t4", "v100"), false},
		{is("model", CompareNoneOf, "t4", "v100"), true},
		{is("model", CompareNoneOf, "t4", "a100"), false},
		{is("model", CompareExists), true},
		{is("model", CompareAbsent), false},
		{is("none", CompareExists), false},
		{is("none", CompareAbsent), true},
		{is("none", CompareNotEqual, "x"), false},
		{is("none", CompareNoneOf, "x"), false},
		{is("cores", CompareLess, 9), true},
		{is("cores", CompareLess, 8), false},
		{is("cores", CompareAtMost, 8), true},
		{is("cores", CompareAtMost, 7), false},
		{is("cores", CompareGreater, 7), true},
		{is("cores", CompareGreater, 8), false},
		{is("cores", CompareAtLeast, 8), true},
		{is("cores", CompareAtLeast, 9), false},
		{is("ecc", CompareEqual, true), true},
		{is("ecc", CompareAtLeast, true), false},
		// Another type is another value, and neither more nor less.
		{is("cores", CompareEqual, "8"), false},
		{is("cores", CompareNotEqual, "8"), true},
		{is("cores", CompareGreater, "7"), false},
		{is("driver", CompareGreater, modeltest.Version("1.9.0")), true},
		{is("driver", CompareGreater, modeltest.Version("1.9")), false},
		// Names: what has no domain is in the driver's.
		{is("gpu.example.com/model", CompareEqual, "a100"), true},
		{is("net.example.com/model", CompareExists), false},
		{is("pci.example.com/root", CompareEqual, "r1"), true},
		{is("root", CompareExists), false},
		{capacity("memory", CompareAtLeast, 80), true},
		{capacity("memory", CompareAtLeast, 81), false},
		{capacity("gpu.example.com/memory", CompareAtLeast, 80), true},
		{capacity("pci.example.com/lanes", CompareEqual, 16), true},
		{capacity("lanes", CompareExists, 0), false},
		{ofDriver(CompareEqual, "gpu.example.com"), true},
		{ofDriver(CompareNoneOf, "gpu.example.com"), false},
		{ofDriver(CompareExists), true},
		// Not valid.
		{is("model", "Like", "a100"), false},
		{is("model", CompareEqual), false},
	}
	for _, tt := range tests {
		if got := tt.r.Matches("gpu.example.com", someDevice()); got != tt.want {
			t.Errorf("%+v: %v", tt.r, got)
		}
	}
}

// Versions in ascending order, as semver.org lists them, and then some.
func TestVersionsAreOrdered(t *testing.T) {
	order := []string{
		"0.0.1", "0.1.0-9", "0.1.0-10", "0.1.0-a", "0.1.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
		"1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.2.0", "1.10.0", "2.0.0", "18446744073709551615.0.0",
	}
	for i, a := range order {
		d := &SliceDevice{Attributes: map[string]AttributeValue{"v": modeltest.Version(a)}}
		for j, b := range order {
			less := modeltest.Require("v", CompareLess, modeltest.Version(b))
			most := modeltest.Require("v", CompareAtMost, modeltest.Version(b+"+build.5"))
			if less.Matches("d", d) != (i < j) || most.Matches("d", d) != (i <= j) {
				t.Errorf("%s and %s", a, b)
			}
		}
	}
	for _, wrong := range []string{"", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3-a..b", "1.2.3-ä", "1.2.3+", "v1.2.3", "1.2.x", "-1.2.3", "18446744073709551616.0.0"} {
		d := &SliceDevice{Attributes: map[string]AttributeValue{"v": modeltest.Version(wrong)}}
		r := modeltest.Require("v", CompareAtLeast, modeltest.Version("0.0.0-0"))
		if r.Matches("d", d) {
			t.Errorf("%q is taken for a version", wrong)
		}
	}
}

func TestDeviceTaints(t *testing.T) {
	taint := Taint{Key: "k", Value: "v", Effect: NoSchedule}
	tests := []struct {
		toleration Toleration
		want       bool
	}{
		{Toleration{Key: "k", Value: "v"}, true},
		{Toleration{Key: "k", Operator: Equal, Value: "v", Effect: NoSchedule}, true},
		{Toleration{Key: "k", Value: "w"}, false},
		{Toleration{Key: "l", Value: "v"}, false},
		{Toleration{Key: "k", Operator: Exists}, true},
		{Toleration{Operator: Exists}, true},
		{Toleration{Operator: Exists, Effect: NoExecute}, false},
		{Toleration{Key: "k", Operator: "Like", Value: "v"}, false},
		{Toleration{Key: "k", Operator: Gt, Value: "1"}, false},
	}
	for _, tt := range tests {
		if got := tt.toleration.Tolerates(&taint); got != tt.want {
			t.Errorf("%+v: %v", tt.toleration, got)
		}
	}
}

func TestAllocationPools(t *testing.T) {
	a := &Allocation{}
	for _, id := range []DeviceID{{"x", "p", "1"}, {"y", "p", "1"}, {"x", "p", "2"}} {
		a.Devices = append(a.Devices, AllocatedDevice{DeviceID: id})
	}
	if got := a.Pools(); !reflect.DeepEqual(got, []PoolID{{"x", "p"}, {"y", "p"}}) {
		t.Errorf("pools %v", got)
	}
}

// breaking makes a valid object and breaks it in one way.
func breaking[T any](make func() *T, change func(*T)) *T {
	o := make()
	change(o)
	return o
}

func TestValidateDeviceSlice(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	valid := func() *DeviceSlice {
		return modeltest.DeviceSlice("drv", "p").Node("n").
			Device("a", modeltest.Attribute("x", 1), modeltest.Consumes("s", "c", 1)).
			Device("b", modeltest.Shared, modeltest.Capacity("m", 10, &CapacityPolicy{Default: n(5), Min: n(5), Max: n(10), Step: n(5)})).Build()
	}
	checkProblems(t, valid())
	policy := func(p CapacityPolicy) func(*DeviceSlice) {
		return func(s *DeviceSlice) { s.Devices[1].Capacity["m"] = DeviceCapacity{10, &p} }
	}
	tests := []struct {
		change func(*DeviceSlice)
		want   string
	}{
		{func(s *DeviceSlice) { s.ID, s.Driver, s.Pool = "", "", "" }, "id: must not be empty\ndriver: must not be empty\npool: must not be empty"},
		{func(s *DeviceSlice) { s.Generation, s.SliceCount = -1, 0 }, "generation: -1 is less than 0\nsliceCount: 0 is less than 1"},
		{func(s *DeviceSlice) { s.Node = "" }, "node: of the fields that say which nodes have access exactly one must be set, not 0"},
		{func(s *DeviceSlice) { s.AllNodes = true }, "node: of the fields that say which nodes have access exactly one must be set, not 2"},
		{func(s *DeviceSlice) { s.Node, s.Nodes = "", &NodeTerms{} }, "nodes.terms: must be exactly one term, not 0"},
		{func(s *DeviceSlice) {
			s.Node, s.Nodes = "", &NodeTerms{Terms: []NodeTerm{{Labels: []Requirement{{Key: "k", Operator: In}}}}}
		}, "nodes.terms[0].labels[0].values: In wants at least one value"},
		{func(s *DeviceSlice) { s.Counters = []CounterSet{{Name: "s"}} }, "counters: must be in a slice of their own, without devices"},
		{func(s *DeviceSlice) {
			s.Devices = nil
			s.Counters = []CounterSet{{Name: "s", Counters: map[string]int64{"": 1, "c": -1}}, {Name: "s"}, {}}
		}, "counters[0].counters: has an empty name\ncounters[0].counters: \"c\": -1 is less than 0\ncounters[1]: has the same name as [0]\ncounters[2].name: must not be empty"},
		{func(s *DeviceSlice) { s.Devices[1].Name = "a" }, "devices[1]: has the same name as [0]"},
		{func(s *DeviceSlice) { s.Devices[0].Name = "" }, "devices[0].name: must not be empty"},
		{func(s *DeviceSlice) { s.Devices[0].Attributes["x"] = AttributeValue{} }, `devices[0].attributes: "x" must have a value of exactly one type`},
		{func(s *DeviceSlice) { s.Devices[0].Attributes[""] = modeltest.Value(1) }, "devices[0].attributes: has an empty name"},
		{func(s *DeviceSlice) { s.Devices[0].Consumes[0].Set = "" }, "devices[0].consumes[0].set: must not be empty"},
		{func(s *DeviceSlice) { s.Devices[0].Consumes = append(s.Devices[0].Consumes, CounterUse{Set: "s"}) }, "devices[0].consumes[1]: has the same set as [0]"},
		{func(s *DeviceSlice) { s.Devices[0].Consumes[0].Counters = map[string]int64{"c": -2} }, `devices[0].consumes[0].counters: "c": -2 is less than 0`},
		{func(s *DeviceSlice) { s.Devices[0].Taints = []Taint{{}} }, "devices[0].taints[0].key: must not be empty\ndevices[0].taints[0].effect: \"\" is not one of None, NoSchedule, NoExecute"},
		{func(s *DeviceSlice) { s.Devices[0].Node = "n" }, "devices[0].node: says which nodes have access, which is for slices with perDevice"},
		{func(s *DeviceSlice) { s.Node, s.PerDevice, s.Devices = "", true, s.Devices[:1] }, "devices[0].node: of the fields that say which nodes have access exactly one must be set, not 0"},
		{func(s *DeviceSlice) { s.Devices[0].BindingConditions = []string{""} }, "devices[0].bindingConditions[0]: must not be empty"},
		{func(s *DeviceSlice) { s.Devices[0].BindingFailures = []string{""} }, "devices[0].bindingFailures[0]: must not be empty"},
		{func(s *DeviceSlice) { s.Devices[1].Capacity = map[string]DeviceCapacity{"m": {Amount: -1}, "": {}} }, "devices[1].capacity: has an empty name\ndevices[1].capacity: \"m\": -1 is less than 0"},
		{func(s *DeviceSlice) { s.Devices[1].Shared = false }, `devices[1].capacity: "m": has a policy, which is for shared devices`},
		{policy(CapacityPolicy{Default: n(99)}), ""},
		{policy(CapacityPolicy{Default: n(-1)}), `devices[1].capacity: "m": -1 is less than 0`},
		{policy(CapacityPolicy{Values: []int64{1}}), `devices[1].capacity: "m": has values or a range, but no default`},
		{policy(CapacityPolicy{Default: n(1), Values: []int64{2, 1}}), `devices[1].capacity: "m": the values are not in ascending order`},
		{policy(CapacityPolicy{Default: n(1), Values: []int64{1, 11}}), `devices[1].capacity: "m": 11 is not between 0 and 10`},
		{policy(CapacityPolicy{Default: n(1), Values: []int64{1}, Min: n(1)}), `devices[1].capacity: "m": has both values and a range`},
		{policy(CapacityPolicy{Default: n(1), Step: n(1)}), `devices[1].capacity: "m": has a range without its least amount`},
		{policy(CapacityPolicy{Default: n(1), Min: n(1), Step: n(0)}), `devices[1].capacity: "m": the step 0 is less than 1`},
		{policy(CapacityPolicy{Default: n(1), Min: n(-1), Max: n(12)}), "devices[1].capacity: \"m\": -1 is not between 0 and 10\ndevices[1].capacity: \"m\": 12 is not between 0 and 10"},
	}
	for _, tt := range tests {
		checkProblems(t, breaking(valid, tt.change), lines(tt.want)...)
	}
}

func TestValidateDeviceClass(t *testing.T) {
	valid := func() *DeviceClass { return modeltest.DeviceClass("c", modeltest.Require("a", CompareEqual, 1)) }
	checkProblems(t, valid())
	with := func(r DeviceRequirement) func(*DeviceClass) {
		return func(c *DeviceClass) { c.Selectors[0].Requirements[0] = r }
	}
	one := []AttributeValue{modeltest.Value(1)}
	tests := []struct {
		change func(*DeviceClass)
		want   string
	}{
		{func(c *DeviceClass) { c.Name = "" }, "name: must not be empty"},
		{func(c *DeviceClass) { c.Resource = "cpu" }, `resource: "cpu" is no scalar`},
		{func(c *DeviceClass) { c.Resource = DeviceClassResource + "x" }, `resource: "deviceclass.resource.kubernetes.io/x" stands for the class that it names`},
		{func(c *DeviceClass) { c.Config = []DeviceConfig{{}, {Requests: []string{"r"}}} }, "config[1].requests: must be empty; a class knows of no requests"},
		{func(c *DeviceClass) { c.Selectors = []DeviceSelector{{Expression: "x"}, {}} }, "selectors[1]: says nothing"},
		{with(DeviceRequirement{Operator: CompareExists}), "selectors[0].requirements[0].attribute: exactly one of attribute, capacity and driver must be set, not 0"},
		{with(DeviceRequirement{Attribute: "a", Driver: true, Operator: CompareExists}), "selectors[0].requirements[0].attribute: exactly one of attribute, capacity and driver must be set, not 2"},
		{with(DeviceRequirement{Attribute: "a", Operator: "Like", Values: one}), `selectors[0].requirements[0].operator: "Like" is not one of Equal, NotEqual, Less, AtMost, Greater, AtLeast, OneOf, NoneOf, Exists, Absent`},
		{with(DeviceRequirement{Attribute: "a", Operator: CompareAbsent, Values: one}), "selectors[0].requirements[0].values: Absent wants no values"},
		{with(DeviceRequirement{Attribute: "a", Operator: CompareNoneOf}), "selectors[0].requirements[0].values: NoneOf wants at least one value"},
		{with(DeviceRequirement{Attribute: "a", Operator: CompareLess}), "selectors[0].requirements[0].values: Less wants exactly one value, not 0"},
		{with(DeviceRequirement{Attribute: "a", Operator: CompareEqual, Values: []AttributeValue{{}}}), "selectors[0].requirements[0].values[0]: must have a value of exactly one type"},
		{with(modeltest.Require("a", CompareAtLeast, true)), "selectors[0].requirements[0].values[0]: booleans have no order"},
		{with(modeltest.Require("a", CompareEqual, modeltest.Version("1.2"))), `selectors[0].requirements[0].values[0].version: "1.2" is no semantic version`},
		{with(DeviceRequirement{Capacity: "m", Operator: CompareEqual, Values: []AttributeValue{modeltest.Value("1")}}), "selectors[0].requirements[0].values[0]: a capacity is compared with an Int"},
		{with(DeviceRequirement{Driver: true, Operator: CompareEqual, Values: one}), "selectors[0].requirements[0].values[0]: the driver is compared with a String"},
	}
	for _, tt := range tests {
		checkProblems(t, breaking(valid, tt.change), lines(tt.want)...)
	}
}

func TestValidateDeviceClaim(t *testing.T) {
	valid := func() *DeviceClaim {
		c := modeltest.DeviceClaim("c").Request("r", "gpu", 1).
			FirstOf("f", modeltest.Demand("a", "gpu", 2), modeltest.Demand("b", "gpu", 0)).
			Match("m", "r", "f/a").Distinct("d", "f").Given(nil, AllocatedDevice{DeviceID: DeviceID{"drv", "p", "d"}, Request: "r"}).Build()
		c.Config = []DeviceConfig{{Requests: []string{"f/b"}}, {}}
		c.ReservedFor = []Consumer{{Workload: "w"}, {Group: "w"}}
		return c
	}
	checkProblems(t, valid())
	tests := []struct {
		change func(*DeviceClaim)
		want   string
	}{
		{func(c *DeviceClaim) { c.ID = "" }, "id: must not be empty"},
		{func(c *DeviceClaim) { c.Owner, c.OwnerGroup = "w", "g" }, "ownerGroup: must be empty where owner is set"},
		{func(c *DeviceClaim) { c.Requests[1].Name = "r"; c.Config, c.Constraints = nil, nil }, "requests[1]: has the same name as [0]"},
		{func(c *DeviceClaim) { c.Requests[0].Name = "a/b"; c.Config, c.Constraints = nil, nil }, `requests[0].name: "a/b" has a slash, which comes between a request and its alternative`},
		{func(c *DeviceClaim) { c.Requests[0].Alternatives = nil }, "requests[0].alternatives: must be exactly one, not 0, unless prioritized"},
		{func(c *DeviceClaim) { c.Requests[0].Alternatives[0].Name = "x" }, "requests[0].alternatives[0].name: must be empty unless prioritized"},
		{func(c *DeviceClaim) { c.Requests[1].Alternatives[1].Name = "a"; c.Config = nil }, "requests[1].alternatives[1]: has the same name as [0]"},
		{func(c *DeviceClaim) {
			for i := range 7 {
				c.Requests[1].Alternatives = append(c.Requests[1].Alternatives, modeltest.Demand(fmt.Sprint(i), "gpu", 1))
			}
		}, "requests[1].alternatives: 9 is not between 1 and 8"},
		{func(c *DeviceClaim) { c.Requests[1].Alternatives[0].AdminAccess = true }, "requests[1].alternatives[0].adminAccess: must not be set where there are alternatives"},
		{func(c *DeviceClaim) { c.Requests[0].Alternatives[0].AdminAccess = true }, ""},
		{func(c *DeviceClaim) { c.Requests[0].Alternatives[0].Class = "" }, "requests[0].alternatives[0].class: must not be empty"},
		{func(c *DeviceClaim) { c.Requests[0].Alternatives[0].Count = 0 }, "requests[0].alternatives[0].count: 0 is less than 1"},
		{func(c *DeviceClaim) { c.Requests[1].Alternatives[1].Count = 2 }, "requests[1].alternatives[1].count: 2 is not 0, and all are wanted"},
		{func(c *DeviceClaim) { c.Requests[0].Alternatives[0].Capacity = map[string]int64{"m": -1} }, `requests[0].alternatives[0].capacity: "m": -1 is less than 0`},
		{func(c *DeviceClaim) { c.Requests[0].Alternatives[0].Selectors = []DeviceSelector{{}} }, "requests[0].alternatives[0].selectors[0]: says nothing"},
		{func(c *DeviceClaim) {
			c.Requests[0].Alternatives[0].Tolerations = []Toleration{{Operator: Gt, Key: "k", Value: "1", Effect: "Later"}, {}, {Operator: Exists, Value: "v"}}
		}, "requests[0].alternatives[0].tolerations[0].operator: \"Gt\" is not one of Equal, Exists\n" +
			"requests[0].alternatives[0].tolerations[0].effect: \"Later\" is not one of None, NoSchedule, NoExecute\n" +
			"requests[0].alternatives[0].tolerations[1].key: may only be empty, for every key, where operator is Exists\n" +
			"requests[0].alternatives[0].tolerations[2].value: must be empty where operator is Exists"},
		{func(c *DeviceClaim) { c.Constraints[0].Distinct = "x" }, "constraints[0].match: exactly one of match and distinct must be set"},
		{func(c *DeviceClaim) { c.Constraints[1].Distinct = "" }, "constraints[1].match: exactly one of match and distinct must be set"},
		{func(c *DeviceClaim) { c.Constraints[0].Requests = []string{"r", "x", "r/a", "f/c"} }, "constraints[0].requests[1]: \"x\" is no request of the claim\nconstraints[0].requests[2]: \"r/a\" is no request of the claim\nconstraints[0].requests[3]: \"f/c\" is no request of the claim"},
		{func(c *DeviceClaim) { c.Config[0].Requests = []string{"x"} }, `config[0].requests[0]: "x" is no request of the claim`},
		{func(c *DeviceClaim) { c.ReservedFor = []Consumer{{}, {"w", "g"}} }, "reservedFor[0].workload: exactly one of workload and group must be set\nreservedFor[1].workload: exactly one of workload and group must be set"},
		{func(c *DeviceClaim) { c.ReservedFor[1] = c.ReservedFor[0] }, "reservedFor[1]: has the same consumer as [0]"},
		{func(c *DeviceClaim) { c.Allocation = nil }, "reservedFor: must be empty where nothing is allocated"},
		{func(c *DeviceClaim) {
			for i := range MaxClaimConsumers {
				c.ReservedFor = append(c.ReservedFor, Consumer{Workload: fmt.Sprint(i)})
			}
		}, "reservedFor: there are 258, more than 256"},
		{func(c *DeviceClaim) {
			c.Allocation.Devices[0].Drawn = &Drawn{Counters: []CounterUse{{Set: "s", Counters: map[string]int64{"n": 1}}, {Set: "s", Counters: map[string]int64{"": 1, "n": -1}}, {}}}
		}, "allocation.devices[0].drawn.counters[1].counters: has an empty name\nallocation.devices[0].drawn.counters[1].counters: \"n\": -1 is less than 0\nallocation.devices[0].drawn.counters[1]: has the same set as [0]\nallocation.devices[0].drawn.counters[2].set: must not be empty"},
		{func(c *DeviceClaim) {
			c.Allocation.Devices[0].AdminAccess, c.Allocation.Devices[0].Drawn = true, &Drawn{}
		}, "allocation.devices[0].drawn: administrative access draws nothing"},
		{func(c *DeviceClaim) { c.Allocation.Devices[0] = AllocatedDevice{Consumed: map[string]int64{"m": -1}} }, "allocation.devices[0].driver: must not be empty\nallocation.devices[0].pool: must not be empty\nallocation.devices[0].device: must not be empty\nallocation.devices[0].consumed: \"m\": -1 is less than 0\nallocation.devices[0].consumed: is for shares of a device"},
		{func(c *DeviceClaim) { c.Allocation.Nodes = &NodeTerms{} }, "allocation.nodes.terms: must be exactly one term, not 0"},
	}
	for _, tt := range tests {
		checkProblems(t, breaking(valid, tt.change), lines(tt.want)...)
	}
}

func TestValidateDeviceTaintRule(t *testing.T) {
	checkProblems(t, &DeviceTaintRule{ID: "r", Taint: Taint{Key: "k", Effect: NoEffect}})
	checkProblems(t, &DeviceTaintRule{}, lines("id: must not be empty\ntaint.key: must not be empty\ntaint.effect: \"\" is not one of None, NoSchedule, NoExecute")...)
}

func TestValidateDeviceClaimRefs(t *testing.T) {
	refs := []DeviceClaimRef{{Name: "a", ID: "c"}, {Name: "b", Generated: true}, {Name: "c", ID: "g", OfGroup: true}}
	checkProblems(t, &Workload{ID: "w", Group: "g", DeviceClaims: refs})
	checkProblems(t, &Group{ID: "g", DeviceClaims: refs})
	wrong := []DeviceClaimRef{{ID: "c"}, {Name: "b"}, {Name: "b", Generated: true}}
	want := []string{"deviceClaims[0].name: must not be empty", "deviceClaims[1].id: may only be empty where the claim is generated", "deviceClaims[2]: has the same name as [1]"}
	checkProblems(t, &Workload{ID: "w", DeviceClaims: wrong}, want...)
	checkProblems(t, &Group{ID: "g", DeviceClaims: wrong}, want...)
	checkProblems(t, &Workload{ID: "w", DeviceClaims: refs[2:]}, "deviceClaims[0].ofGroup: the workload is in no group")
	checkProblems(t, &Workload{ID: "w", Containers: []Container{{}, {Requests: Resources{CPU: -1}}}}, "containers[1].requests.cpu: -1 is less than 0")
}

func TestRandomDevicesAreValid(t *testing.T) {
	r := seeded(t)
	kinds := map[string]int{}
	for range 500 {
		for _, s := range modeltest.RandomDeviceSlices(r, []string{"n1", "n2"}) {
			checkProblems(t, s)
			for _, d := range s.Devices {
				kinds["shared"] += count(d.Shared)
				kinds["partitions"] += count(len(d.Consumes) > 0)
				kinds["per device"] += count(s.PerDevice)
				kinds["conditions"] += count(len(d.BindingConditions) > 0)
			}
		}
		c := modeltest.RandomDeviceClaim(r, "c")
		checkProblems(t, c)
		for _, req := range c.Requests {
			kinds["alternatives"] += count(req.Prioritized)
			kinds["all"] += count(req.Alternatives[0].All)
		}
		kinds["constraints"] += len(c.Constraints)
	}
	for _, c := range modeltest.RandomDeviceClasses() {
		checkProblems(t, c)
	}
	for _, kind := range strings.Fields("shared partitions conditions alternatives all constraints") {
		if kinds[kind] < 50 {
			t.Errorf("only %d of %s", kinds[kind], kind)
		}
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
