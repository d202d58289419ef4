package dynamicresources

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// ErrBindingTimeout is in the error of PreBind where the orchestrator did not
// come to an end within Args.BindingTimeout.
var ErrBindingTimeout = errors.New("device binding timeout")

// PreBindPreFlight skips PreBind where nothing is decided about claims, or the
// orchestrator does not want to know.
func (p *DynamicResources) PreBindPreFlight(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, b *model.Binding) (extpoints.PreFlight, *extpoints.Status) {
	flight := extpoints.PreFlight{AllowParallel: true, Timeout: p.timeout}
	if _, wants := p.binder(); !wants || !slices.ContainsFunc(b.Decided, isClaim) {
		return flight, skip
	}
	return flight, nil
}

func (p *DynamicResources) binder() (extpoints.DeviceBinder, bool) {
	if p.handle == nil {
		return nil, false
	}
	binder, ok := p.handle.Orchestrator().(extpoints.DeviceBinder)
	return binder, ok
}

// PreBind has the orchestrator make true what is decided about the claims.
func (p *DynamicResources) PreBind(ctx context.Context, _ *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	binder, wants := p.binder()
	if !wants || !slices.ContainsFunc(b.Decided, isClaim) {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	err := binder.BindDevices(limited, w.Workload, *b)
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", ErrBindingTimeout, err)
	}
	return extpoints.AsStatus(err)
}
