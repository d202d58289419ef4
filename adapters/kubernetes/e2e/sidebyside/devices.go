package sidebyside

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// devices are about pods that claim devices, mostly by a template, of which a
// controller makes a claim for each. Upstream has a tenth as many nodes here as
// elsewhere, and so have these. Where upstream goes on for ten seconds with ten pods
// that wait at a time, these have as many pods as go on half of the nodes' devices.
var devices = []Workload{
	{
		Name: "claims", Upstream: "dra/SchedulingWithResourceClaimTemplate",
		UpstreamCounts: Counts{Nodes: 500, Placed: 2500, Measured: 2500}, full: 5000,
		controllers: claimController, objects: together(gpus, anyDevice, template(oneDevice), taken), measured: claiming,
	},
	{
		Name: "claimselectors", Upstream: "dra/SchedulingWithResourceClaimTemplate/selector",
		UpstreamCounts: Counts{Nodes: 500, Measured: 10}, counts: onTenth(5),
		controllers: claimController, objects: together(gpus, anyDevice, template(selectedDevice)), measured: claiming,
	},
	{
		Name: "claimmatches", Upstream: "dra/SchedulingWithResourceClaimTemplate/match",
		UpstreamCounts: Counts{Nodes: 500, Measured: 10}, counts: onTenth(1),
		controllers: claimController, objects: together(gpus, anyDevice, template(fiveOfOneRoot)), measured: claiming,
	},
	{
		Name: "partitionable", Upstream: "dra/partitionabledevices/Partitionable",
		UpstreamCounts: Counts{Nodes: 500, Measured: 10}, counts: onTenth(1),
		controllers: claimController, objects: together(halves, anyDevice, template(devicesOf(2))), measured: claiming,
	},
	{
		Name: "backtracking", Upstream: "dra/partitionabledevices/PartitionableBacktracking",
		UpstreamCounts: Counts{Nodes: 500, Measured: 10}, counts: onTenth(1),
		controllers: claimController, objects: together(unequal, anyDevice, template(devicesOf(7))), measured: claiming,
	},
	{
		Name: "consumablecapacity", Upstream: "dra/consumablecapacity/ConsumableCapacity",
		UpstreamCounts: Counts{Nodes: 500, Measured: 10}, counts: onTenth(4),
		controllers: claimController, objects: together(networks, anyDevice, template(bandwidth)), measured: claiming,
	},
	{
		Name: "extendedresource", Upstream: "dra/extendedresource/ExtendedResource",
		UpstreamCounts: Counts{Nodes: 500, Placed: 2500, Measured: 2500}, full: 5000,
		objects: together(gpus, anyDevice, taken, extendedClasses), measured: extendedClaim(classes),
	},
	{
		Name: "extendedscoring", Upstream: "dra/extendedresource/scoring/ExtendedResourceScoring",
		UpstreamCounts: Counts{Nodes: 500, Measured: 5000}, full: 5000, config: scoringExtended,
		objects: together(gpus, extendedClasses), measured: extendedClaim(1),
	},
	{
		Name: "sharedclaims", Upstream: "dra/workloadresourceclaims/SharedPodGroupResourceClaim",
		UpstreamCounts: Counts{Nodes: 50, Measured: 5000}, full: 5000, multiple: sharing, groups: true,
		objects: together(shared, anyDevice), owned: groupsOf(sharing, (*st.PodGroupWrapper).BasicPolicy, withSharedClaim), measured: inGroup(sharing, sharedClaim),
	},
}

// onTenth is a tenth of the nodes, with so many pods for each.
func onTenth(pods int) func(nodes int) Counts {
	return func(nodes int) Counts {
		n := max(1, nodes/10)
		return Counts{Nodes: n, Measured: min(most, pods*n)}
	}
}

// claimController makes claims of templates.
var claimController = []string{"resourceclaim-controller"}

const (
	gpuDriver     = "gpu.example.com"
	deviceClass   = "any"
	claimTemplate = "claim"
	perNode       = 10 // devices
	pciRoot       = "resource.kubernetes.io/pciRoot"
)

// together is the objects of several functions.
func together(parts ...func(Counts) []runtime.Object) func(Counts) []runtime.Object {
	return func(n Counts) []runtime.Object {
		var objects []runtime.Object
		for _, part := range parts {
			objects = append(objects, part(n)...)
		}
		return objects
	}
}

// slicesOf makes the slices of each node.
func slicesOf(node func(name string) []runtime.Object) func(Counts) []runtime.Object {
	return func(n Counts) []runtime.Object {
		var objects []runtime.Object
		for i := range n.Nodes {
			objects = append(objects, node(nodeName(i))...)
		}
		return objects
	}
}

func deviceName(i int) string { return fmt.Sprintf("device-%d", i) }

// gpus is ten devices on each node, with as many attributes as real ones have, half
// of them on either PCI root.
var gpus = slicesOf(func(node string) []runtime.Object {
	slice := st.MakeResourceSlice(node, gpuDriver)
	for i := range perNode {
		root := fmt.Sprintf("pci0000:0%d", i%2)
		slice.Device(deviceName(i), map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"driver": {StringValue: ptr.To("xe")}, "driverVersion": {VersionValue: ptr.To("1.2.3")},
			"family": {StringValue: ptr.To("Arc")}, "model": {StringValue: ptr.To("B60")}, "health": {StringValue: ptr.To("Healthy")},
			"pciAddress": {StringValue: ptr.To(fmt.Sprintf("0000:0%d:00.0", i))}, "pciId": {StringValue: ptr.To("0xe211")},
			"sriov": {BoolValue: ptr.To(true)}, "type": {StringValue: ptr.To("gpu")}, pciRoot: {StringValue: &root},
		}, map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
			"memory": {Value: resource.MustParse("24480Mi")}, "millicores": {Value: resource.MustParse("1k")},
		})
	}
	return []runtime.Object{slice.Obj()}
})

// halves is two devices on each node that each take half of its four counters.
var halves = slicesOf(func(node string) []runtime.Object {
	one := resourcev1.Counter{Value: resource.MustParse("1")}
	return partitions(node, []resourcev1.CounterSet{
		{Name: "set", Counters: map[string]resourcev1.Counter{"c0": one, "c1": one, "c2": one, "c3": one}},
	}, []resourcev1.Device{
		{Name: deviceName(0), ConsumesCounters: consume("set", map[string]resourcev1.Counter{"c0": one, "c1": one})},
		{Name: deviceName(1), ConsumesCounters: consume("set", map[string]resourcev1.Counter{"c2": one, "c3": one})},
	})
})

// unequal is eight devices on each node, of which the first takes so much memory
// that seven are to be had only without it: who takes it must go back.
var unequal = slicesOf(func(node string) []runtime.Object {
	one := resourcev1.Counter{Value: resource.MustParse("1")}
	cpus := map[string]resourcev1.Counter{}
	var devices []resourcev1.Device
	for i := range 8 {
		cpu, memory := fmt.Sprintf("cpu%d", i), "10Gi"
		if i == 0 {
			memory = "20Gi"
		}
		cpus[cpu] = one
		devices = append(devices, resourcev1.Device{Name: deviceName(i), ConsumesCounters: append(
			consume("cpus", map[string]resourcev1.Counter{cpu: one}),
			consume("memory", map[string]resourcev1.Counter{"bytes": {Value: resource.MustParse(memory)}})...)})
	}
	return partitions(node, []resourcev1.CounterSet{
		{Name: "cpus", Counters: cpus},
		{Name: "memory", Counters: map[string]resourcev1.Counter{"bytes": {Value: resource.MustParse("70Gi")}}},
	}, devices)
})

func consume(set string, counters map[string]resourcev1.Counter) []resourcev1.DeviceCounterConsumption {
	return []resourcev1.DeviceCounterConsumption{{CounterSet: set, Counters: counters}}
}

// partitions is the two slices of a pool: one of counters, one of devices.
func partitions(node string, sets []resourcev1.CounterSet, devices []resourcev1.Device) []runtime.Object {
	counters, parts := st.MakeResourceSlice(node, gpuDriver).ResourceSliceCount(2).Obj(), st.MakeResourceSlice(node, gpuDriver).ResourceSliceCount(2).Obj()
	counters.Name += "-counters"
	counters.Spec.SharedCounters = sets
	parts.Spec.Devices = devices
	return []runtime.Object{counters, parts}
}

// networks is four devices on each node that claims share by bandwidth.
var networks = slicesOf(func(node string) []runtime.Object {
	slice := st.MakeResourceSlice(node, gpuDriver)
	for i := range 4 {
		slice.Device(deviceName(i), map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"index": {IntValue: ptr.To(int64(i))}},
			map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"bandwidth": {
				Value: resource.MustParse("10G"),
				RequestPolicy: &resourcev1.CapacityRequestPolicy{
					Default: ptr.To(resource.MustParse("1M")), ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: ptr.To(resource.MustParse("1M"))},
				},
			}})
		slice.Spec.Devices[i].AllowMultipleAllocations = ptr.To(true)
	}
	return []runtime.Object{slice.Obj()}
})

// shared is a device for each group of pods, which all nodes can use.
func shared(n Counts) []runtime.Object {
	slice := st.MakeResourceSliceWithAllNodes("everywhere", gpuDriver)
	for i := range n.Measured / sharing {
		slice.Devices(deviceName(i))
	}
	return []runtime.Object{slice.Obj()}
}

// anyDevice is the class of all devices.
func anyDevice(Counts) []runtime.Object { return []runtime.Object{newClass(deviceClass)} }

func newClass(name string) *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       resourcev1.DeviceClassSpec{Selectors: selectors(`device.driver == "gpu.example.com"`)},
	}
}

func selectors(expression string) []resourcev1.DeviceSelector {
	return []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}}
}

// classes is how many classes there are with extended resources of their own.
const classes = 25

func extendedDevice(class int) string { return fmt.Sprintf("example.com/gpu-%d", class) }

func extendedClasses(Counts) []runtime.Object {
	var objects []runtime.Object
	for i := range classes {
		class := newClass(fmt.Sprintf("class-%d", i))
		class.Spec.ExtendedResourceName = ptr.To(extendedDevice(i))
		objects = append(objects, class)
	}
	return objects
}

// extendedClaim makes pods that ask for a device of one of so many classes as they
// would for any other resource of a node.
func extendedClaim(classes int) maker {
	return func(p *st.PodWrapper, i int) *st.PodWrapper {
		return p.Res(cluster.Resources{corev1.ResourceName(extendedDevice(i % classes)): "1"})
	}
}

// scoringExtended is a scheduler that looks at how many of the devices are left.
const scoringExtended = `profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: LeastAllocated
        resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}, {name: example.com/gpu-0, weight: 1}]
`
