package convert

import (
	"bytes"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// translateStorage writes what happens to an object of storage; it reports
// whether the kind is one of those.
func translateStorage(t *testing.T, out *bytes.Buffer, kind string, document []byte) bool {
	switch kind {
	case "PersistentVolumeClaim":
		c, err := VolumeClaim(parse(t, document, &v1.PersistentVolumeClaim{}))
		write(t, out, "volume claim", c, err)
	case "PersistentVolume":
		v, err := Volume(parse(t, document, &v1.PersistentVolume{}))
		write(t, out, "volume", v, err)
	case "StorageClass":
		c, err := StorageClass(parse(t, document, &storagev1.StorageClass{}))
		write(t, out, "storage class", c, err)
	case "CSIDriver":
		d, err := StorageDriver(parse(t, document, &storagev1.CSIDriver{}))
		write(t, out, "storage driver", d, err)
	case "CSINode":
		n, err := NodeStorage(parse(t, document, &storagev1.CSINode{}))
		write(t, out, "node storage", n, err)
	case "CSIStorageCapacity":
		c, err := StorageCapacity(parse(t, document, &storagev1.CSIStorageCapacity{}))
		write(t, out, "storage capacity", c, err)
	case "VolumeAttachment":
		a, err := VolumeAttachment(parse(t, document, &storagev1.VolumeAttachment{}))
		write(t, out, "volume attachment", a, err)
	default:
		return false
	}
	return true
}
