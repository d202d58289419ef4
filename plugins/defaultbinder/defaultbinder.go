package defaultbinder

import (
	"context"
	"errors"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Name is the plugin's name.
const Name = "DefaultBinder"

// DefaultBinder is the plugin.
//
// Rule: kube-scheduler plugins/defaultbinder/default_binder.go, 1.37.1.
type DefaultBinder struct {
	handle extpoints.Handle
}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, h extpoints.Handle) (*DefaultBinder, error) {
	if h == nil {
		return nil, errors.New("plugin " + Name + ": a handle is needed")
	}
	return &DefaultBinder{handle: h}, nil
}

// Name returns the plugin's name.
func (*DefaultBinder) Name() string { return Name }

// Bind hands the binding to the orchestrator. It never says Skip; the
// orchestrator's error is passed on as it is.
func (b *DefaultBinder) Bind(ctx context.Context, _ *extpoints.CycleState, w *extpoints.WorkloadInfo, binding *model.Binding) *extpoints.Status {
	return extpoints.AsStatus(b.handle.Orchestrator().Bind(ctx, w.Workload, *binding))
}

var _ extpoints.BindPlugin = (*DefaultBinder)(nil)
