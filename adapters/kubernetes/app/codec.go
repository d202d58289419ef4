package app

import (
	"encoding/json"

	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// codec sends extenders pods and nodes as they are in the API server, with all that
// the engine knows nothing of, such as annotations: kube-scheduler does so
// (pkg/scheduler/extender.go, 1.37.1). What is not there any more is sent as the
// engine knows it.
type codec struct {
	extender.Neutral
	pods  corelisters.PodLister
	nodes corelisters.NodeLister
}

var _ extender.Codec = codec{}

// Pod implements [extender.Codec]. A pod that has been given a node and is not bound
// to it yet is sent with that node.
func (c codec) Pod(w *extpoints.WorkloadInfo, node string) (json.RawMessage, error) {
	p, err := c.pods.Pods(w.Namespace).Get(w.Name)
	if err != nil || convert.ID(p) != w.ID {
		return c.Neutral.Pod(w, node)
	}
	if p.Spec.NodeName != node {
		placed := *p
		placed.Spec.NodeName = node
		p = &placed
	}
	return json.Marshal(p)
}

// Node implements [extender.Codec].
func (c codec) Node(n *model.Node) (json.RawMessage, error) {
	node, err := c.nodes.Get(n.Name)
	if err != nil {
		return c.Neutral.Node(n)
	}
	return json.Marshal(node)
}
