package devicepacking

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name, whatever the policy.
const Name = "DevicePacking"

// base is what the policies have in common.
type base struct {
	class         string
	largestCPU    int64
	largestShares int64
}

// Name returns the plugin's name.
func (*base) Name() string { return Name }

// total is what the workload asks of all its devices of the class together, in
// thousandths.
func (b *base) total(w *extpoints.WorkloadInfo) int64 {
	var total int64
	for i := range w.Workload.Devices {
		if r := &w.Workload.Devices[i]; r.Class == b.class {
			total += r.Total()
		}
	}
	return total
}

// sharesOne reports whether the workload asks for a part of one device of the
// class: only then there is a choice that the policies differ in.
func (b *base) sharesOne(w *extpoints.WorkloadInfo) bool {
	for i := range w.Workload.Devices {
		if r := &w.Workload.Devices[i]; r.Class == b.class && !r.IsWhole() {
			return true
		}
	}
	return false
}

// idle is what is left of all devices of the class together, in thousandths.
func (b *base) idle(node *extpoints.NodeInfo) int64 {
	var idle int64
	for d := range node.Node.Devices {
		if node.Node.Devices[d].Class == b.class {
			idle += node.DeviceFree[d]
		}
	}
	return idle
}

// cpuLeft is the milli-CPU left on the node.
func cpuLeft(node *extpoints.NodeInfo) int64 {
	return node.Node.Allocatable.CPU - node.Requested.CPU
}

// percent truncates a fraction to a score. The formulas keep to the range by
// themselves unless a node is larger than the largest, or overcommitted.
func percent(x float64) int64 {
	return int64(float64(extpoints.MaxScore) * min(max(x, 0), 1))
}

// normalize spreads scores over 0 to 100, truncating; equal ones all become 0.
func normalize(scores []int64) {
	if len(scores) == 0 {
		return
	}
	lowest, highest := slices.Min(scores), slices.Max(scores)
	spread := max(highest-lowest, 1)
	for i := range scores {
		scores[i] = (scores[i] - lowest) * extpoints.MaxScore / spread
	}
}

func inRange(score int64) int64 {
	return min(max(score, extpoints.MinScore), extpoints.MaxScore)
}

// deterministic are the policies that look at nothing but the node and the
// requests.
type deterministic struct{ base }

// Sign signs the CPU and device requests.
func (*deterministic) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return append(helper.RequestsFragments(w), helper.DevicesFragment(w)), nil
}

// leaveChoice and makeChoice are the PreFilter of policies that choose devices.
var leaveChoice = extpoints.NewStatus(extpoints.Skip)

func (b *base) makeChoice(s *extpoints.CycleState, w *extpoints.WorkloadInfo, c helper.DeviceChooser) (*extpoints.PreFilterResult, *extpoints.Status) {
	if !b.sharesOne(w) {
		return nil, leaveChoice
	}
	helper.DeviceChooserKey.Set(s, c)
	return nil, nil
}

// stackDevices is how many devices of a node are handled without allocating.
const stackDevices = 16
