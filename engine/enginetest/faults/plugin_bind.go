package faults

import (
	"context"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// PreBindPreFlight implements [extpoints.PreBindPlugin].
func (p *plugin) PreBindPreFlight(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) (extpoints.PreFlight, *extpoints.Status) {
	f, ok := p.in(s, "PreBindPreFlight", w.ID)
	if !ok {
		return extpoints.PreFlight{}, nil
	}
	if f.pick(2) == 0 {
		return extpoints.PreFlight{AllowParallel: true}, nil
	}
	return extpoints.PreFlight{}, f.status()
}

// PreBind implements [extpoints.PreBindPlugin].
func (p *plugin) PreBind(_ context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) *extpoints.Status {
	return p.strike(s, "PreBind", w.ID)
}

// Bind implements [extpoints.BindPlugin]. It never binds: it leaves that to the
// next plugin, or fails.
func (p *plugin) Bind(_ context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) *extpoints.Status {
	if f, ok := p.in(s, "Bind", w.ID); ok {
		return f.status()
	}
	return extpoints.NewStatus(extpoints.Skip)
}

// PostBind implements [extpoints.PostBindPlugin].
func (p *plugin) PostBind(_ context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) {
	p.strike(s, "PostBind", w.ID)
}
