package framework

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/decided"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Reserve runs the Reserve plugins in order, up to the first that does not say
// success. The caller then calls Unreserve.
func (f *Framework) Reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	for _, p := range f.reserve {
		workload, node, already := b.Workload, b.Node, len(b.Decided)
		st := f.call(s, "Reserve", p.Name(), func() *extpoints.Status { return p.Reserve(s, w, b) })
		if b.Workload != workload || b.Node != node {
			b.Workload, b.Node = workload, node
			st = extpoints.AsStatus(errors.New("changed the workload or the node of the binding"))
		}
		undecidable := func(o model.Object) bool { return !decided.Can(o) }
		if i := slices.IndexFunc(b.Decided, undecidable); i >= 0 {
			st = extpoints.AsStatus(fmt.Errorf("decided about something that cannot be decided about: %v", b.Decided[i]))
			b.Decided = slices.DeleteFunc(b.Decided, undecidable)
		}
		if len(b.Devices) > 0 {
			if err := b.Validate(); err != nil {
				st = extpoints.AsStatus(err)
				b.Devices = nil
			}
		}
		if len(b.Decided) > already {
			f.current(s).noteDecided(p.Name(), b.Decided[already:])
		}
		switch {
		case st.IsSuccess():
		case st.IsRejected():
			return st.WithPlugin(p.Name())
		default:
			return failed("Reserve", p.Name(), bound(b), st)
		}
	}
	return nil
}

// ReserveOnCopy is Reserve with the state that copied returns, a copy of a cycle's. What plugins keep
// there may fail to be cloned.
func (f *Framework) ReserveOnCopy(copied func() *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	var s *extpoints.CycleState
	if st := guard("Reserve", "CycleState.Clone", func() *extpoints.Status { s = copied(); return nil }); st != nil {
		return st
	}
	return f.Reserve(s, w, b)
}

// OwnBinding is a copy of the binding for somebody who only reads it; what was
// decided about is shared.
func OwnBinding(b *model.Binding) model.Binding {
	c := *b
	c.Devices = slices.Clone(b.Devices)
	c.Decided = slices.Clone(b.Decided)
	return c
}

// own is OwnBinding for a plugin.
func own(b *model.Binding) *model.Binding {
	c := OwnBinding(b)
	return &c
}

// Unreserve runs all Reserve plugins' Unreserve in reverse order. Panics do
// not stop it; they are returned.
func (f *Framework) Unreserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) []error {
	var errs []error
	for i := len(f.reserve) - 1; i >= 0; i-- {
		p := f.reserve[i]
		st := f.call(s, "Unreserve", p.Name(), func() *extpoints.Status { p.Unreserve(s, w, own(b)); return nil })
		if st != nil {
			errs = append(errs, failed("Unreserve", p.Name(), bound(b), st).AsError())
		}
	}
	return errs
}

// PermitWait is a plugin that wants the workload to wait, and for how long.
type PermitWait struct {
	Plugin  string
	Timeout time.Duration
	Asked   time.Duration // what it wanted; Timeout is no longer than the longest there is
}

// AskPermit gets the answer of a Permit plugin: from ask, which asks the plugin, or
// from elsewhere.
type AskPermit func(plugin string, ask func() (*extpoints.Status, time.Duration)) (*extpoints.Status, time.Duration)

// Permit runs the Permit plugins, which get is to ask. With status Wait the list says
// who wants to wait, in order of the profile.
func (f *Framework) Permit(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding, get AskPermit) ([]PermitWait, *extpoints.Status) {
	var waits []PermitWait
	for _, p := range f.permit {
		st, timeout := get(p.Name(), func() (_ *extpoints.Status, timeout time.Duration) {
			return f.call(s, "Permit", p.Name(), func() (st *extpoints.Status) {
				st, timeout = p.Permit(s, w, own(b))
				return st
			}), timeout
		})
		switch {
		case st.IsSuccess():
		case st.IsRejected():
			return nil, st.WithPlugin(p.Name())
		case st.Code() == extpoints.Wait:
			waits = append(waits, PermitWait{p.Name(), min(timeout, extpoints.MaxPermitTimeout), timeout})
		default:
			return nil, failed("Permit", p.Name(), bound(b), st)
		}
	}
	if len(waits) > 0 {
		return waits, extpoints.NewStatus(extpoints.Wait, "one or more plugins asked to wait and no plugin rejected the workload")
	}
	return nil, nil
}

// PermitTimeout is the rejection of a workload that waited too long.
func PermitTimeout(w PermitWait) *extpoints.Status {
	return extpoints.NewStatus(extpoints.Unschedulable,
		fmt.Sprintf("rejected due to timeout after waiting %v at plugin %v", w.Timeout, w.Plugin)).WithPlugin(w.Plugin)
}
