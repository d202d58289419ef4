package generate

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

const deviceClaimNames = 10

var (
	deviceDrivers = []string{"d1.x.io", "d2.x.io"}
	// The last has no object.
	deviceClasses = []string{"any", "first", "model-a", "large", "resource", "ghost"}
)

func deviceClaimName(i int) string { return fmt.Sprintf("d%d", i) }

// DeviceObjects draws everything about devices, on the nodes of the names and on
// none of them.
func (s *Source) DeviceObjects(nodes []string) []runtime.Object {
	var list []runtime.Object
	for i := range len(deviceClasses) - 1 {
		list = append(list, s.DeviceClass(i))
	}
	for _, node := range nodes {
		if s.Percent(80) {
			list = append(list, s.NodeDevices(node)...)
		}
	}
	list = append(list, s.SharedDevices()...)
	for i := range s.IntN(3) {
		list = append(list, s.DeviceTaintRule(i))
	}
	for i := range deviceClaimNames {
		if s.Percent(90) {
			list = append(list, s.DeviceClaim(i))
		}
	}
	return list
}

// DeviceClass draws the i-th class.
func (s *Source) DeviceClass(i int) *resourcev1.DeviceClass {
	c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: deviceClasses[i]}}
	selector := ""
	switch deviceClasses[i] {
	case "first":
		selector = `device.driver == "d1.x.io"`
	case "model-a":
		selector = `device.driver == "d1.x.io" && device.attributes["d1.x.io"].model == "a"`
	case "large":
		selector = `device.capacity["d1.x.io"].memory.compareTo(quantity("4Gi")) >= 0`
	case "resource":
		c.Spec.ExtendedResourceName = new(Pick(s, "example.com/gpu", "example.com/fpga"))
	}
	if selector != "" {
		c.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: selector}}}
	}
	if s.Percent(30) {
		c.Spec.Config = []resourcev1.DeviceClassConfiguration{{DeviceConfiguration: s.deviceConfig()}}
	}
	return c
}

func (s *Source) deviceConfig() resourcev1.DeviceConfiguration {
	return resourcev1.DeviceConfiguration{Opaque: &resourcev1.OpaqueDeviceConfiguration{Driver: Pick(s, deviceDrivers...),
		Parameters: runtime.RawExtension{Raw: []byte(Pick(s, `{"a":1}`, `{"b":2}`))}}}
}

// NodeDevices draws a pool of devices on the node, in one slice or in two.
func (s *Source) NodeDevices(node string) []runtime.Object {
	driver := deviceDrivers[int(node[len(node)-1])%len(deviceDrivers)]
	// A driver that publishes its devices anew says so; of slices that do not agree
	// kube-scheduler believes the one that it comes upon first, in the order of a map.
	s.generation++
	pool := resourcev1.ResourcePool{Name: node, Generation: s.generation, ResourceSliceCount: 1}
	one := func(name string) *resourcev1.ResourceSlice {
		return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{Driver: driver, Pool: pool, NodeName: &node}}
	}
	switch s.IntN(8) {
	case 0, 1, 2: // partitions of a card
		pool.ResourceSliceCount = 2
		counters, parts := one(node+"-1"), one(node+"-2")
		amount := func(text string) map[string]resourcev1.Counter {
			return map[string]resourcev1.Counter{"slices": {Value: quantity(text)}}
		}
		counters.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "card", Counters: amount("4")}}
		for i, size := range []string{"4", "2", "2", "1"} {
			d := s.device(driver, i)
			d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "card", Counters: amount(size)}}
			parts.Spec.Devices = append(parts.Spec.Devices, d)
		}
		return []runtime.Object{counters, parts}
	case 3: // some of it is not there, or is older, or a device is there twice
		slice := one(node + "-1")
		slice.Spec.Devices = s.devices(driver, 0, 2)
		slice.Spec.Pool.ResourceSliceCount = 2
		other := one(node + "-2")
		other.Spec.Pool.ResourceSliceCount, other.Spec.Pool.Generation = 2, s.generation-int64(s.IntN(2))
		other.Spec.Devices = s.devices(driver, Pick(s, 1, 2, 2), 2)
		if s.Percent(40) {
			return []runtime.Object{slice}
		}
		return []runtime.Object{slice, other}
	}
	slice := one(node + "-1")
	slice.Spec.Devices = s.devices(driver, 0, 1+s.IntN(4))
	return []runtime.Object{slice}
}

// SharedDevices draws devices that several nodes can use.
func (s *Source) SharedDevices() []runtime.Object {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Spec: resourcev1.ResourceSliceSpec{Driver: deviceDrivers[0],
		Pool: resourcev1.ResourcePool{Name: "shared", ResourceSliceCount: 1}}}
	slice.Spec.Devices = s.devices(slice.Spec.Driver, 0, 1+s.IntN(3))
	switch s.IntN(4) {
	case 0:
		return nil
	case 1:
		slice.Spec.AllNodes = new(true)
	case 2:
		slice.Spec.NodeSelector = s.oneTerm()
	case 3:
		slice.Spec.PerDeviceNodeSelection = new(true)
		for i := range slice.Spec.Devices {
			d := &slice.Spec.Devices[i]
			switch s.IntN(3) {
			case 0:
				d.NodeName = new(NodeName(s.IntN(s.Nodes)))
			case 1:
				d.NodeSelector = s.oneTerm()
			default:
				d.AllNodes = new(true)
			}
		}
	}
	return []runtime.Object{slice}
}

func (s *Source) oneTerm() *v1.NodeSelector {
	return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{
		{Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpIn, Values: []string{"z0", Pick(s, "z1", "z2")}}}}}}
}

func (s *Source) devices(driver string, from, n int) []resourcev1.Device {
	var list []resourcev1.Device
	for i := range n {
		list = append(list, s.device(driver, from+i))
	}
	return list
}

func (s *Source) device(driver string, i int) resourcev1.Device {
	d := resourcev1.Device{Name: fmt.Sprintf("dev%d", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}}
	own := func(name string) resourcev1.QualifiedName {
		if s.Percent(30) {
			return resourcev1.QualifiedName(driver + "/" + name)
		}
		return resourcev1.QualifiedName(name)
	}
	if s.Percent(90) {
		d.Attributes[own("model")] = resourcev1.DeviceAttribute{StringValue: new(Pick(s, "a", "b"))}
	}
	if s.Percent(80) {
		d.Attributes[own("index")] = resourcev1.DeviceAttribute{IntValue: new(int64(i))}
	}
	if s.Percent(60) {
		d.Attributes[own("fast")] = resourcev1.DeviceAttribute{BoolValue: new(s.Percent(50))}
	}
	if s.Percent(60) {
		d.Attributes[own("version")] = resourcev1.DeviceAttribute{VersionValue: new(Pick(s, "1.0.0", "1.2.0", "2.0.0-rc1"))}
	}
	if s.Percent(70) {
		d.Attributes["x.io/root"] = resourcev1.DeviceAttribute{StringValue: new(Pick(s, "r0", "r1"))}
	}
	if s.Percent(80) {
		d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{own("memory"): {Value: s.quantities("1Gi", "4Gi", "8Gi")}}
		if s.Percent(35) {
			d.AllowMultipleAllocations = new(true)
			for name, c := range d.Capacity {
				c.Value = s.quantities("4Gi", "8Gi") // no policy offers more
				c.RequestPolicy = s.requestPolicy()
				d.Capacity[name] = c
			}
		}
	}
	if s.Percent(10) {
		d.Taints = []resourcev1.DeviceTaint{s.deviceTaint()}
	}
	return d
}

func (s *Source) requestPolicy() *resourcev1.CapacityRequestPolicy {
	p := &resourcev1.CapacityRequestPolicy{Default: resource.NewQuantity(1<<30, resource.BinarySI)}
	switch s.IntN(3) {
	case 0:
		return nil
	case 1:
		p.ValidValues = []resource.Quantity{quantity("512Mi"), quantity("1Gi"), quantity("3Gi")}
	case 2:
		p.ValidRange = &resourcev1.CapacityRequestPolicyRange{Min: new(quantity("512Mi"))}
		if s.Percent(50) {
			p.ValidRange.Step = new(quantity("512Mi"))
		}
		if s.Percent(50) {
			p.ValidRange.Max = new(quantity("2Gi"))
		}
	}
	return p
}

func (s *Source) deviceTaint() resourcev1.DeviceTaint {
	return resourcev1.DeviceTaint{Key: Pick(s, "broken.io/x", "busy.io/y"), Value: Pick(s, "", "v"), Effect: Pick(s, resourcev1.DeviceTaintEffectNoSchedule,
		resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNone), TimeAdded: &metav1.Time{}}
}

// DeviceTaintRule draws the i-th rule.
func (s *Source) DeviceTaintRule(i int) *resourcev1.DeviceTaintRule {
	r := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("rule%d", i), UID: types.UID(fmt.Sprintf("rule%d", i))}}
	r.Spec.Taint = s.deviceTaint()
	r.Spec.DeviceSelector = &resourcev1.DeviceTaintSelector{}
	if s.Percent(60) {
		r.Spec.DeviceSelector.Driver = new(Pick(s, deviceDrivers...))
	}
	if s.Percent(60) {
		r.Spec.DeviceSelector.Pool = new(NodeName(s.IntN(s.Nodes)))
	}
	if s.Percent(40) {
		r.Spec.DeviceSelector.Device = new(fmt.Sprintf("dev%d", s.IntN(4)))
	}
	return r
}
