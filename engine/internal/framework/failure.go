package framework

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// subject is what a plugin is asked about, as its failures name it.
type subject struct {
	workload string // ID; empty for a group
	node     string // name; empty where it is about no single node
}

// about is the lone workload.
func about(w *extpoints.WorkloadInfo) subject { return subject{workload: w.ID} }

// on is the workload on a node.
func on(w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) subject {
	return subject{w.ID, node.Node.Name}
}

// bound is the workload on its node.
func bound(b *model.Binding) subject { return subject{b.Workload, b.Node} }

// panicked makes the status of a plugin that panicked.
func panicked(point, plugin string, cause any) *extpoints.Status {
	return pluginFailure(point, plugin, subject{}, fmt.Errorf("panic: %v", cause))
}

// failed makes the status of a plugin that gave an error or a code that its
// point does not allow.
func failed(point, plugin string, s subject, st *extpoints.Status) *extpoints.Status {
	err := st.AsError()
	var known *extpoints.PluginError
	if errors.As(err, &known) && known.Point == point && known.Plugin == plugin {
		err = known.Err // a panic
	} else if st.Code() != extpoints.Error {
		err = fmt.Errorf("returned %v, which %s does not allow", st, point)
	}
	return pluginFailure(point, plugin, s, err)
}

func pluginFailure(point, plugin string, s subject, err error) *extpoints.Status {
	failure := &extpoints.PluginError{Point: point, Plugin: plugin, Workload: s.workload, Node: s.node, Err: err}
	return extpoints.AsStatus(failure).WithPlugin(plugin)
}
