package subject

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Object translates an object of storage or devices.
func Object(object runtime.Object) (model.Object, error) {
	switch o := object.(type) {
	case *v1.PersistentVolumeClaim:
		return asObject(convert.VolumeClaim(o))
	case *v1.PersistentVolume:
		return asObject(convert.Volume(o))
	case *storagev1.StorageClass:
		return asObject(convert.StorageClass(o))
	case *storagev1.CSIDriver:
		return asObject(convert.StorageDriver(o))
	case *storagev1.CSINode:
		return asObject(convert.NodeStorage(o))
	case *storagev1.CSIStorageCapacity:
		return asObject(convert.StorageCapacity(o))
	case *storagev1.VolumeAttachment:
		return asObject(convert.VolumeAttachment(o))
	case *resourcev1.ResourceSlice:
		return asObject(convert.DeviceSlice(o))
	case *resourcev1.ResourceClaim:
		return asObject(convert.DeviceClaim(o))
	case *resourcev1.DeviceClass:
		return asObject(convert.DeviceClass(o))
	case *resourcev1.DeviceTaintRule:
		return asObject(convert.DeviceTaintRule(o))
	}
	panic(fmt.Sprintf("subject: not an object of storage or devices: %T", object))
}

func asObject[T model.Object](o T, err error) (model.Object, error) { return o, err }

// Put says that an object of storage, devices or groups is there. Gates
// say what groups mean.
func Put(object runtime.Object, gates convert.Gates) (engine.Change, error) {
	switch o := object.(type) {
	case *schedulingv1beta1.PodGroup:
		g, err := convert.Group(o, gates)
		return engine.PutGroup(g), err
	case *schedulingv1alpha3.CompositePodGroup:
		g, err := convert.CompositeGroup(o, gates)
		return engine.PutGroup(g), err
	}
	o, err := Object(object)
	return engine.PutObject(o), err
}

// Gone says that an object of storage, devices or groups is no more.
func Gone(object runtime.Object) (engine.Change, error) {
	change, err := Put(object, convert.Gates{})
	if o, ok := change.Value().(model.Object); ok {
		return engine.RemoveObject(model.RefOf(o)), err
	}
	return engine.RemoveGroup(change.ID()), err
}

// Decided says in words what was decided about storage and devices, in those of
// the reference: what it asks of the API server.
func Decided(objects model.Objects) []string {
	var words []string
	for _, object := range objects {
		switch o := object.(type) {
		case *model.Volume:
			words = append(words, fmt.Sprintf("volume %s for claim %s", o.Name, o.Claim.ID))
		case *model.VolumeClaim:
			if o.SelectedNode != "" && o.Volume == "" {
				words = append(words, fmt.Sprintf("volume for claim %s on %s", o.ID, o.SelectedNode))
			}
		case *model.DeviceClaim:
			name := "claim " + o.ID
			if o.ForResources {
				name = "resources"
			}
			words = append(words, "devices for "+name+": "+DescribeClaim(o))
		}
	}
	slices.Sort(words)
	return words
}

// DescribeClaim says in words what a device claim has been given and who uses
// it. Of a device that is shared it does not say which part: that is a random
// name. The words are those of reference.DescribeClaim.
func DescribeClaim(c *model.DeviceClaim) string {
	if c == nil {
		return "none"
	}
	return DescribeAllocation(c.Allocation) + ", for " + consumers(c.ReservedFor)
}

// DescribeAllocation is the first part of DescribeClaim.
func DescribeAllocation(a *model.Allocation) string {
	if a == nil {
		return "nothing"
	}
	var words []string
	for i := range a.Devices {
		words = append(words, describeDevice(&a.Devices[i]))
	}
	for _, c := range a.Config {
		words = append(words, fmt.Sprint("config ", c.Requests, " from class ", c.FromClass, " ", c.Driver, " ", string(c.Parameters)))
	}
	return strings.Join(words, ", ") + ", on " + describeTerms(a.Nodes)
}

func describeDevice(d *model.AllocatedDevice) string {
	text := fmt.Sprintf("%s %s/%s/%s", d.Request, d.Driver, d.Pool, d.Device)
	if d.AdminAccess {
		text += " to watch"
	}
	for _, t := range d.Tolerations {
		text += fmt.Sprintf(" tolerating %q %s %q %q", t.Key, t.Operator, t.Value, t.Effect)
	}
	if d.Share != "" {
		text += " in part"
	}
	for _, name := range slices.Sorted(maps.Keys(d.Consumed)) {
		amount := convert.DeviceQuantity(d.Consumed[name])
		text += fmt.Sprintf(" %s=%d", name, amount.Value())
	}
	if len(d.BindingConditions)+len(d.BindingFailures) > 0 {
		text += fmt.Sprint(" awaiting ", d.BindingConditions, " and not ", d.BindingFailures)
	}
	return text
}

func consumers(list []model.Consumer) string {
	names := []string{}
	for _, c := range list {
		if c.Group != "" {
			names = append(names, "podgroups "+c.Group[strings.LastIndex(c.Group, "/")+1:])
		} else {
			names = append(names, "pods "+c.Workload)
		}
	}
	slices.Sort(names)
	return fmt.Sprint(names)
}

func describeTerms(t *model.NodeTerms) string {
	if t == nil {
		return "all nodes"
	}
	var terms []string
	for _, term := range t.Terms {
		var words []string
		for _, r := range term.Fields {
			words = append(words, fmt.Sprint("metadata.name ", r.Operator, " ", r.Values))
		}
		for _, r := range term.Labels {
			words = append(words, fmt.Sprint(r.Key, " ", r.Operator, " ", r.Values))
		}
		slices.Sort(words)
		terms = append(terms, strings.Join(words, " and "))
	}
	return "nodes with " + strings.Join(terms, " or ")
}

// cutComposite is the namespace and name in the ID of a group, and whether its
// members are groups.
func cutComposite(id string) (name string, composite bool) {
	return strings.CutPrefix(id, convert.CompositeGroupID("", "")[:len(convert.CompositeGroupID("", ""))-len("/")])
}
