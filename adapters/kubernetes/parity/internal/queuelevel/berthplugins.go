package queuelevel

import (
	"context"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

func berthStatus(c extpoints.Code, reason string) *extpoints.Status {
	if c == extpoints.Success {
		return nil
	}
	return extpoints.NewStatus(c, reason)
}

// berthJudge is a scripted plugin of Berth that may reject.
type berthJudge struct {
	name   string
	script *script
}

// Name implements [extpoints.Plugin].
func (p *berthJudge) Name() string { return p.name }

// PreFilter implements [extpoints.PreFilterPlugin].
func (p *berthJudge) PreFilter(*extpoints.CycleState, *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	return nil, berthStatus(p.script.preFilter[p.name], p.name+" rejects the pod")
}

// Filter implements [extpoints.FilterPlugin].
func (p *berthJudge) Filter(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
	return berthStatus(p.script.onNode(p.name, n.Node.Name), p.name+" rejects the node")
}

// Permit implements [extpoints.PermitPlugin].
func (p *berthJudge) Permit(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (*extpoints.Status, time.Duration) {
	return berthStatus(p.script.permit[p.name], p.name+" does not permit it"), extpoints.MaxPermitTimeout
}

// berthHinted is one that has hints.
type berthHinted struct{ berthJudge }

// EventsToRegister implements [extpoints.EnqueueExtensions].
func (p *berthHinted) EventsToRegister() ([]extpoints.EventHint, error) {
	var events []extpoints.EventHint
	for _, r := range registrations[p.name] {
		e := extpoints.EventHint{Event: r.berth}
		if r.hinted {
			e.Hint = p.hint
		}
		events = append(events, e)
	}
	return events, nil
}

func (p *berthHinted) hint(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := "", ""
	if c.OldNode != nil {
		before = textOfNode(c.OldNode)
	}
	if c.NewNode != nil {
		after = textOfNode(c.NewNode)
	}
	if c.OldWorkload != nil {
		before = textOfPod(c.OldWorkload.Workload)
	}
	if c.NewWorkload != nil {
		after = textOfPod(c.NewWorkload.Workload)
	}
	return p.script.hint(p.name, textOfPod(w), before, after)
}

// berthGatekeeper is one that has a PreEnqueue too.
type berthGatekeeper struct{ berthHinted }

// PreEnqueue implements [extpoints.PreEnqueuePlugin].
func (p *berthGatekeeper) PreEnqueue(w *model.Workload) *extpoints.Status {
	if _, ok := w.Labels[held]; ok {
		return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "held")
	}
	return nil
}

// berthNominator nominates what the script says.
type berthNominator struct{ script *script }

// Name implements [extpoints.Plugin].
func (p *berthNominator) Name() string { return nominator }

// PostFilter implements [extpoints.PostFilterPlugin].
func (p *berthNominator) PostFilter(*extpoints.CycleState, *extpoints.WorkloadInfo, extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	n := p.script.nominating
	return &n, nil
}

// berthBinder answers what the history has told it to.
type berthBinder struct{ outcome *extpoints.Status }

// Name implements [extpoints.Plugin].
func (p *berthBinder) Name() string { return binder }

// Bind implements [extpoints.BindPlugin].
func (p *berthBinder) Bind(context.Context, *extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) *extpoints.Status {
	return p.outcome
}

// berthPlugins are the scripted plugins. The handle of the binder is what the history
// allows, rejects and activates through.
func berthPlugins(s *script, b *berthBinder, h *extpoints.Handle) map[string]extpoints.Factory {
	factory := func(p extpoints.Plugin) extpoints.Factory {
		return func(any, extpoints.Handle) (extpoints.Plugin, error) { return p, nil }
	}
	return map[string]extpoints.Factory{
		gatekeeper: factory(&berthGatekeeper{berthHinted{berthJudge{gatekeeper, s}}}),
		guard:      factory(&berthHinted{berthJudge{guard, s}}),
		stranger:   factory(&berthJudge{stranger, s}),
		nominator:  factory(&berthNominator{s}),
		binder: func(_ any, handle extpoints.Handle) (extpoints.Plugin, error) {
			*h = handle
			return b, nil
		},
	}
}
