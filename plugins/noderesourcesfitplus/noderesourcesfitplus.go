package noderesourcesfitplus

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// NodeResourcesFitPlus is the plugin. It has no state.
type NodeResourcesFitPlus struct{ resources []Resource }

// New makes the plugin. The error lists everything that is wrong with the arguments.
func New(a Args, _ extpoints.Handle) (*NodeResourcesFitPlus, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return &NodeResourcesFitPlus{a.Resources}, nil
}

// Name returns the plugin's name.
func (*NodeResourcesFitPlus) Name() string { return Name }

// Score is the weighted mean over the resources that the workload asks for, rounded down. It is
// the highest score where it asks for none.
func (p *NodeResourcesFitPlus) Score(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	load := w.EstimatedLoad()
	var sum, weights int64
	for i := range p.resources {
		r := &p.resources[i]
		asked := w.Requests.Get(r.Name)
		if asked <= 0 {
			continue
		}
		used := node.Requested.Get(r.Name)
		switch r.Name {
		case model.CPU:
			used, asked = node.EstimatedCPU, load.CPU
		case model.Memory:
			used, asked = node.EstimatedMemory, load.Memory
		}
		sum += r.Weight * r.score(used, asked, node.Node.Allocatable.Get(r.Name))
		weights += r.Weight
	}
	if weights == 0 {
		return extpoints.MaxScore, nil
	}
	return sum / weights, nil
}

// score is that of a node which has so much of the resource, with the workload on it.
func (r *Resource) score(used, asked, capacity int64) int64 {
	if capacity <= 0 {
		return extpoints.MinScore
	}
	left := max(capacity-used, 0)
	left -= min(asked, left)
	if r.Strategy == MostAllocated {
		return helper.Stretch(capacity-left, 0, capacity, extpoints.MaxScore)
	}
	return helper.Stretch(left, 0, capacity, extpoints.MaxScore)
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads the requests and the estimated load.
func (*NodeResourcesFitPlus) NodeLocal(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return helper.AppendRequests(key, w.Workload), true
}

// Sign signs the requests and the estimated load.
func (*NodeResourcesFitPlus) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return helper.RequestsFragments(w), nil
}

var (
	_ extpoints.ScorePlugin     = (*NodeResourcesFitPlus)(nil)
	_ extpoints.NodeLocalPlugin = (*NodeResourcesFitPlus)(nil)
	_ extpoints.SignPlugin      = (*NodeResourcesFitPlus)(nil)
)
