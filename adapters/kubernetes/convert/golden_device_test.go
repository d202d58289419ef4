package convert

import (
	"bytes"
	"path"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-project/berth/model"
)

// translateDevices writes what happens to an object of groups or of devices; it
// reports whether the kind is one of those.
func translateDevices(t *testing.T, out *bytes.Buffer, kind string, document []byte) bool {
	switch kind {
	case "CompositePodGroup":
		g, err := CompositeGroup(parse(t, document, &schedulingv1alpha3.CompositePodGroup{}), Gates{PodGroupPreemptionPolicy: true})
		write(t, out, "composite group", g, err)
	case "ResourceSlice":
		s, err := DeviceSlice(parse(t, document, &resourcev1.ResourceSlice{}))
		write(t, out, "device slice", s, err)
	case "DeviceClass":
		c, err := DeviceClass(parse(t, document, &resourcev1.DeviceClass{}))
		write(t, out, "device class", c, err)
	case "DeviceTaintRule":
		r, err := DeviceTaintRule(parse(t, document, &resourcev1.DeviceTaintRule{}))
		write(t, out, "device taint rule", r, err)
	case "ResourceClaim":
		r := parse(t, document, &resourcev1.ResourceClaim{})
		c, err := DeviceClaim(r)
		write(t, out, "device claim", c, err)
		if c.Allocation != nil {
			r.Status = resourcev1.ResourceClaimStatus{}
			status, err := DeviceClaimStatus(r, c, whoever, time.Unix(5000, 0).UTC())
			write(t, out, "status of the claim as it is written", status, err)
		}
	default:
		return false
	}
	return true
}

// whoever gives every consumer a name and a UID that fit its ID.
func whoever(c model.Consumer) (string, types.UID) {
	if c.Group != "" {
		return path.Base(c.Group), types.UID("uid of " + c.Group)
	}
	return "name of " + c.Workload, types.UID(c.Workload)
}
