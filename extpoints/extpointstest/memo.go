package extpointstest

import (
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// deviceMemo remembers what must be the same pointer when it is asked for again.
// Views that are copies of each other share it.
type deviceMemo struct {
	slices atomic.Pointer[slicesMemo]
	use    atomic.Pointer[useMemo]
}

// slicesMemo is the answer to the last question for the slices, and of what it
// was made.
type slicesMemo struct {
	list  []*model.DeviceSlice
	rules []*model.DeviceTaintRule
	made  extpoints.DeviceSlices
}

// useMemo is the answer to the last question for the use of a pool, and of what
// it was made.
type useMemo struct {
	claims []*model.DeviceClaim
	use    map[model.PoolID]*extpoints.PoolUse
}
