package extpointstest

import (
	"context"
	"errors"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// tryBinding tries Permit and what comes after it, once with an orchestrator
// that takes everything and once with one that refuses.
func tryBinding(tr *trial) {
	refusal := errors.New("refused")
	for _, refuse := range []bool{false, true} {
		handle := tr.suite.Handle()
		if h, ok := handle.(*Handle); ok && refuse {
			h.World = &Orchestrator{Refuse: func(*model.Workload) error { return refusal }}
		}
		plugin, err := tr.suite.Factory(tr.suite.Args, handle)
		if err != nil {
			tr.failf(nil, "making another plugin: %v", err)
			return
		}
		tr.each(func(s *Situation) {
			v := judge(plugin, s)
			if nodes := v.feasible(s); len(nodes) > 0 {
				tr.bind(plugin, s, v.state, pick(tr.random, nodes).Node.Name)
			}
		})
	}
}

func (tr *trial) bind(plugin extpoints.Plugin, s *Situation, state *extpoints.CycleState, node string) {
	ctx := context.Background()
	b := &model.Binding{Workload: s.Workload.ID, Node: node}
	if p, ok := plugin.(extpoints.ReservePlugin); ok && !p.Reserve(state, s.Workload, b).IsSuccess() {
		return
	}
	before := fingerprint(b)
	if p, ok := plugin.(extpoints.PermitPlugin); ok {
		status, timeout := p.Permit(state, s.Workload, b)
		tr.allowed(s, "Permit", status, orRejected(extpoints.Success, extpoints.Wait)...)
		if status.Code() == extpoints.Wait && timeout <= 0 {
			tr.failf(s, "Permit says Wait, but no longer than %v", timeout)
		}
		if timeout > extpoints.MaxPermitTimeout {
			tr.failf(s, "Permit says Wait for %v, which the engine cuts to %v", timeout, extpoints.MaxPermitTimeout)
		}
	}
	if p, ok := plugin.(extpoints.PreBindPlugin); ok {
		_, status := p.PreBindPreFlight(state, s.Workload, b)
		tr.allowed(s, "PreBindPreFlight", status, extpoints.Success, extpoints.Skip)
		if status.IsSuccess() {
			tr.allowed(s, "PreBind", p.PreBind(ctx, state, s.Workload, b), orRejected(extpoints.Success, extpoints.Error)...)
		}
	}
	if p, ok := plugin.(extpoints.BindPlugin); ok {
		tr.allowed(s, "Bind", p.Bind(ctx, state, s.Workload, b), orRejected(extpoints.Success, extpoints.Skip, extpoints.Error)...)
	}
	if p, ok := plugin.(extpoints.PostBindPlugin); ok {
		p.PostBind(ctx, state, s.Workload, b)
	}
	if fingerprint(b) != before {
		tr.failf(s, "the binding was changed after Reserve")
	}
}
