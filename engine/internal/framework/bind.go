package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/parallel"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// PreBindPreFlight asks the PreBind plugins whether they will have work to do.
// It reports whether any will.
func (f *Framework) PreBindPreFlight(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) (work bool, failure *extpoints.Status) {
	r := f.current(s)
	r.skipPreBind = make([]bool, len(f.preBind))
	r.parallel = make([]bool, len(f.preBind))
	r.preBindTimeouts = make([]time.Duration, len(f.preBind))
	for i, p := range f.preBind {
		var flight extpoints.PreFlight
		st := f.call(s, "PreBindPreFlight", p.Name(), func() (st *extpoints.Status) {
			flight, st = p.PreBindPreFlight(s, w, own(b))
			return st
		})
		r.parallel[i], r.preBindTimeouts[i] = flight.AllowParallel, max(flight.Timeout, 0)
		switch {
		case st.IsSuccess():
			work = true
		case st.Code() == extpoints.Skip:
			r.skipPreBind[i] = true
		default:
			return false, failed("PreBindPreFlight", p.Name(), bound(b), st)
		}
	}
	return work, nil
}

// Limiter limits a call of PreBind, whose plugin has a timeout of its own, or 0.
type Limiter func(ctx context.Context, own time.Duration) (context.Context, context.CancelFunc)

// errOtherPreBind is why the neighbours of a failed parallel PreBind end.
var (
	errOtherPreBind   = errors.New("some other PreBind operation failed")
	errEndedGoroutine = errors.New("it has ended its goroutine")
)

// PreBind runs the PreBind plugins in order; neighbours that allow it run in
// parallel, and the first failure ends the others. The lowest plugin's failure
// is the one returned, unless it only ended because of another's. limit is for each
// plugin's call, with the plugin's own timeout; there is none in kube-scheduler.
func (f *Framework) PreBind(ctx context.Context, limit Limiter, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	r := f.current(s)
	for from := 0; from < len(f.preBind); {
		to := from + 1
		for r.parallel[from] && to < len(f.preBind) && r.parallel[to] {
			to++
		}
		if st := f.preBindGroup(ctx, limit, r, s, w, b, from, to); st != nil {
			return st
		}
		from = to
	}
	return nil
}

// preBindGroup runs the plugins [from, to) side by side.
func (f *Framework) preBindGroup(ctx context.Context, limit Limiter, r *run, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding, from, to int) *extpoints.Status {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	statuses := make([]*extpoints.Status, to-from)
	var active []int
	for i := from; i < to; i++ {
		if !r.skipPreBind[i] {
			active = append(active, i)
		}
	}
	call := func(i int) {
		statuses[i-from] = failed("PreBind", f.preBind[i].Name(), about(w), extpoints.AsStatus(errEndedGoroutine))
		ctx := ctx
		if f.env.Compat != extpoints.KubeScheduler137 {
			limited, end := limit(ctx, r.preBindTimeouts[i])
			defer end()
			ctx = limited
		}
		statuses[i-from] = f.preBindOne(ctx, r, f.preBind[i], s, w, b)
		if statuses[i-from] != nil {
			cancel(errOtherPreBind)
		}
	}
	parallel.Together(active, call)
	return firstFailure(statuses)
}

// firstFailure is the lowest status that is a failure of its own, else the
// lowest failure.
func firstFailure(statuses []*extpoints.Status) *extpoints.Status {
	var first *extpoints.Status
	for _, st := range statuses {
		if st == nil {
			continue
		}
		if !errors.Is(st.AsError(), errOtherPreBind) {
			return st
		}
		if first == nil {
			first = st
		}
	}
	return first
}

func (f *Framework) preBindOne(ctx context.Context, r *run, p extpoints.PreBindPlugin, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	kinds := f.toWrite(r, p.Name(), b.Decided)
	r.asked.ask(kinds)
	st := f.call(s, "PreBind", p.Name(), func() *extpoints.Status { return p.PreBind(ctx, s, w, own(b)) })
	r.asked.answer(kinds, st)
	return bindingFailure(ctx, "PreBind", p.Name(), bound(b), st)
}

// toWrite lists the kinds of objects that the plugin's PreBind may have written: those
// that it has decided about, and those of plugins that have no PreBind of their own.
func (f *Framework) toWrite(r *run, plugin string, decided model.Objects) (kinds []model.ObjectKind) {
	for _, o := range decided {
		kind := model.RefOf(o).Kind
		others := false // see to it
		for _, p := range f.preBind {
			others = others || p.Name() != plugin && slices.Contains(r.decides[p.Name()], kind)
		}
		if slices.Contains(r.decides[plugin], kind) || !others {
			kinds = with(kinds, kind)
		}
	}
	return kinds
}

// Written lists the kinds of objects that may have been written in the cycle, as was
// decided: their plugin's PreBind was called, and did not say ErrNotWritten.
func (f *Framework) Written(s *extpoints.CycleState) []model.ObjectKind {
	return f.current(s).asked.list()
}

// WouldWrite is Written of a cycle of which nobody has run PreBind, as if everybody had.
func (f *Framework) WouldWrite(s *extpoints.CycleState, b *model.Binding) (kinds []model.ObjectKind) {
	r := f.current(s)
	for i, p := range f.preBind {
		if i < len(r.skipPreBind) && r.skipPreBind[i] {
			continue
		}
		for _, kind := range f.toWrite(r, p.Name(), b.Decided) {
			kinds = with(kinds, kind)
		}
	}
	return kinds
}

// bindingFailure is nil for success, the rejection with the plugin's name, or
// the error; a cancellation is told by its cause.
func bindingFailure(ctx context.Context, point, plugin string, s subject, st *extpoints.Status) *extpoints.Status {
	switch {
	case st.IsSuccess():
		return nil
	case st.IsRejected():
		return st.WithPlugin(plugin)
	}
	if err := st.AsError(); cutShort(ctx, err) {
		st = extpoints.AsStatus(withCause(ctx, err))
	}
	return failed(point, plugin, s, st)
}

// Bind has the extender that binds do it, where it is interested; else it asks
// the Bind plugins in order until one does not skip. Ignored is the failure of
// an extender that did not matter.
func (f *Framework) Bind(ctx context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) (st *extpoints.Status, ignored []error) {
	bound, err := f.bindOutside(ctx, w, b)
	switch {
	case bound:
		return extpoints.AsStatus(err), nil
	case err != nil:
		ignored = append(ignored, err)
	}
	return f.bindInside(ctx, s, w, b), ignored
}

func (f *Framework) bindInside(ctx context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	for _, p := range f.bind {
		st := f.call(s, "Bind", p.Name(), func() *extpoints.Status { return p.Bind(ctx, s, w, own(b)) })
		if st.Code() == extpoints.Skip {
			continue
		}
		return bindingFailure(ctx, "Bind", p.Name(), bound(b), st)
	}
	return extpoints.AsStatus(fmt.Errorf("no Bind plugin of profile %q binds workload %q", f.name, w.ID))
}

// PostBind tells the PostBind plugins. Panics do not stop it; they are
// returned.
func (f *Framework) PostBind(ctx context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) []error {
	var errs []error
	for _, p := range f.postBind {
		st := f.call(s, "PostBind", p.Name(), func() *extpoints.Status { p.PostBind(ctx, s, w, own(b)); return nil })
		if st != nil {
			errs = append(errs, failed("PostBind", p.Name(), bound(b), st).AsError())
		}
	}
	return errs
}

// bindOutside asks the extender that binds, if there is one that is interested.
// It reports whether the outcome is its: where it fails and is ignorable it is
// not, unless nobody wants the workload bound any more. (kube-scheduler
// schedule_one.go extendersBinding, 1.37.1.)
func (f *Framework) bindOutside(ctx context.Context, w *extpoints.WorkloadInfo, b *model.Binding) (bound bool, err error) {
	for _, x := range f.env.Extenders {
		if x.Bind == nil {
			continue
		}
		interested, err := x.Wants(w.Workload)
		if err == nil && !interested {
			continue
		}
		if err == nil {
			err = Guard(func() error { return x.Bind(ctx, w.Workload, *own(b)) })
			err = x.Failed("bind", w.Workload, withCause(ctx, err))
		}
		return err == nil || !x.Ignorable || ctx.Err() != nil, err
	}
	return false, nil
}

// cutShort reports whether the error says that ctx has ended, and not why.
func cutShort(ctx context.Context, err error) bool {
	cause := context.Cause(ctx)
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	return ended && cause != nil && !errors.Is(err, cause)
}

// withCause puts to an error why ctx has ended, where that is what it is about.
func withCause(ctx context.Context, err error) error {
	if cutShort(ctx, err) {
		return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	return err
}
