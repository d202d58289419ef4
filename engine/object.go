package engine

import (
	"errors"

	"github.com/berth-project/berth/model"
)

// errStrange is what is wrong with an object of somebody else's making: it could
// be neither used nor recorded.
var errStrange = errors.New("it is no object that the engine knows")

// checkObject lists everything that is wrong with an object.
func checkObject(o model.Object) error {
	if _, known := objectOf(o); !known {
		return errStrange
	}
	return o.Validate()
}

// isNothing reports whether there is no object, not even behind a pointer.
func isNothing(o model.Object) bool {
	if o == nil {
		return true
	}
	same, known := objectOf(o)
	return known && same == nil
}

// objectOf returns a copy of an object of the model's kinds, nil for a nil
// pointer to one; false for an object that is of none of them.
func objectOf(o model.Object) (same model.Object, known bool) {
	switch o := o.(type) {
	case *model.VolumeClaim:
		return copied(o), true
	case *model.Volume:
		return copied(o), true
	case *model.StorageClass:
		return copied(o), true
	case *model.StorageDriver:
		return copied(o), true
	case *model.NodeStorage:
		return copied(o), true
	case *model.StorageCapacity:
		return copied(o), true
	case *model.VolumeAttachment:
		return copied(o), true
	case *model.DeviceSlice:
		return copied(o), true
	case *model.DeviceClass:
		return copied(o), true
	case *model.DeviceClaim:
		return copied(o), true
	case *model.DeviceTaintRule:
		return copied(o), true
	}
	return nil, false
}

func copied[T any, P interface {
	*T
	model.Object
}](o P) model.Object {
	if o == nil {
		return nil
	}
	same := *o
	return P(&same)
}
