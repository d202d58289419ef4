package devices

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "Devices"

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*Devices, error) {
	return &Devices{}, nil
}

// Devices is the plugin. It has no state of its own.
type Devices struct{}

var (
	_ extpoints.PreFilterPlugin   = (*Devices)(nil)
	_ extpoints.FilterPlugin      = (*Devices)(nil)
	_ extpoints.ReservePlugin     = (*Devices)(nil)
	_ extpoints.EnqueueExtensions = (*Devices)(nil)
	_ extpoints.NodeLocalPlugin   = (*Devices)(nil)
	_ extpoints.SignPlugin        = (*Devices)(nil)
)

// Name returns the plugin's name.
func (*Devices) Name() string { return Name }

var (
	stateKey   = extpoints.NewStateKey[*demand](Name)
	skipStatus = extpoints.NewStatus(extpoints.Skip)
)

// demandOf returns the demand that PreFilter left, or where it did not run a
// new one.
func demandOf(s *extpoints.CycleState, w *extpoints.WorkloadInfo) *demand {
	if d, ok := stateKey.Get(s); ok {
		return d
	}
	return newDemand(w.Workload.Devices)
}

// PreFilter skips workloads without requests.
func (*Devices) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	if len(w.Workload.Devices) == 0 {
		return nil, skipStatus
	}
	stateKey.Set(s, newDemand(w.Workload.Devices))
	return nil, nil
}

// Filter lets the node pass where its devices can serve all requests, and the
// claims of others on them.
func (*Devices) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	return demandOf(s, w).check(node)
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads the requests for devices.
func (*Devices) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return append(key, helper.DevicesFragment(w.Workload).Value...), true
}

// Sign signs the requests: nothing else of the workload matters.
func (*Devices) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{helper.DevicesFragment(w)}, nil
}
