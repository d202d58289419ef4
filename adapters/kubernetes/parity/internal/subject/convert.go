package subject

import (
	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Workload translates a pod for an engine that knows the owners.
func Workload(p *v1.Pod, owners convert.Owners, gates convert.Gates) (*model.Workload, error) {
	w, err := gates.Pod(p)
	if w != nil {
		w.OwnerSelector = convert.OwnerSelector(p, owners)
	}
	return w, err
}

// Found are the changes that say that a pod is there: waiting, or on a node.
func Found(p *v1.Pod, w *model.Workload) []engine.Change {
	status := convert.Status(p)
	if status.Node == "" {
		return []engine.Change{engine.Submit(w)}
	}
	changes := []engine.Change{engine.Adopt(w, model.Binding{Node: status.Node, Since: status.StartedAt})}
	if status.Terminating {
		changes = append(changes, engine.Terminate(w.ID))
	}
	return changes
}
