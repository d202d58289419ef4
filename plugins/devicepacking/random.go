package devicepacking

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// random gives the best score to one feasible node, all being equally likely,
// and a share the device that is drawn from those that fit.
//
// The draws are a function of the seed of the cycle, so that a decision can be
// replayed. They cannot be signed: alike workloads are to go different ways.
type random struct{ base }

var drawnKey = extpoints.NewStateKey[string](Name + "/drawn") // the node's name

var unsigned = extpoints.NewStatus(extpoints.Unschedulable, "the score is drawn by lot")

// Sign says that the workload cannot be signed.
func (*random) Sign(*model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return nil, unsigned
}

// PreFilter makes the plugin choose the devices.
func (p *random) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	return p.makeChoice(s, w, p)
}

// PreScore draws the node.
func (p *random) PreScore(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) *extpoints.Status {
	if len(nodes) > 0 {
		drawnKey.Set(s, nodes[helper.Draw(s.Seed(), nodeStream, len(nodes))].Node.Name)
	}
	return nil
}

// Score is 100 for the node that was drawn and 0 for the others.
func (p *random) Score(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	if name, ok := drawnKey.Get(s); ok && name == node.Node.Name {
		return extpoints.MaxScore, nil
	}
	return extpoints.MinScore, nil
}

// ChooseDevices draws the device of a share.
func (p *random) ChooseDevices(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo, request int, free []int64) []int {
	r := &w.Workload.Devices[request]
	if r.Class != p.class || r.IsWhole() {
		return nil
	}
	var fitting []int
	for d := range node.Node.Devices {
		if free[d] >= r.Share && r.Admits(&node.Node.Devices[d]) {
			fitting = append(fitting, d)
		}
	}
	if len(fitting) == 0 {
		return nil
	}
	d := helper.Draw(s.Seed(), deviceStream+uint64(request), len(fitting))
	return fitting[d : d+1]
}

// The streams of draws of a cycle: one for the node, and one for each request.
const (
	nodeStream uint64 = iota
	deviceStream
)
