package transcript

import (
	"context"
	"errors"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// PreBindPreFlight implements [extpoints.PreBindPlugin].
func (p *plugin) PreBindPreFlight(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) (extpoints.PreFlight, *extpoints.Status) {
	a := p.say("preflight", s, w.ID, b.Node)
	return extpoints.PreFlight{AllowParallel: a.parallel}, a.status()
}

// PreBind implements [extpoints.PreBindPlugin].
func (p *plugin) PreBind(ctx context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	var a answer
	if flight := p.script.find(p.name, "preflight", w.ID, b.Node); flight.parallel {
		// The state is shared with the neighbours: nothing may be asked of it.
		a = p.script.find(p.name, "prebind", w.ID, b.Node)
		p.script.note(sideBySide + p.name + " prebind " + w.ID + " " + b.Node + ": " + a.text)
	} else {
		a = p.say("prebind", s, w.ID, b.Node)
	}
	if err := p.script.hold(ctx, &a, p.name, w.ID); err != nil {
		return extpoints.AsStatus(err)
	}
	return a.status()
}

// sideBySide begins the note of a call that may be made at the same time as the
// one before or after it.
const sideBySide = "|| "

// Bind implements [extpoints.BindPlugin]: unless the script has an answer the
// orchestrator is asked.
func (p *plugin) Bind(ctx context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	if p.name == binder {
		return extpoints.AsStatus(p.handle.Orchestrator().Bind(ctx, w.Workload, *b))
	}
	a := p.say("bind", s, w.ID, b.Node)
	if a.text == "ok" {
		return extpoints.AsStatus(p.handle.Orchestrator().Bind(ctx, w.Workload, *b))
	}
	return a.status()
}

// PostBind implements [extpoints.PostBindPlugin].
func (p *plugin) PostBind(_ context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) {
	a := p.say("postbind", s, w.ID, b.Node)
	a.status()
}

// orchestrator answers what the script tells it.
type orchestrator struct{ script *script }

var _ extpoints.Orchestrator = orchestrator{}

// Bind implements [extpoints.Orchestrator].
func (o orchestrator) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	return o.do(ctx, "bind", w.ID, b.Node)
}

// Evict implements [extpoints.Orchestrator].
func (o orchestrator) Evict(ctx context.Context, w *model.Workload, _ string) error {
	return o.do(ctx, "evict", w.ID, "")
}

func (o orchestrator) do(ctx context.Context, what, workload, node string) error {
	a := o.script.find("orchestrator", what, workload, node)
	o.script.note(strings.TrimSpace("orchestrator "+what+" "+workload+" "+node) + ": " + a.text)
	if a.block {
		o.script.entered <- struct{}{}
		<-ctx.Done()
	}
	switch {
	case a.panics:
		panic(strings.Join(a.reasons, ", "))
	case a.code == extpoints.Success:
		return nil
	case a.block:
		return ctx.Err()
	}
	return errors.New(strings.Join(a.reasons, ", "))
}
