package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Extender is an extender with what it has a say in; nil where it has none. What
// never changes was asked for once.
type Extender struct {
	Name      string
	Ignorable bool
	Weight    int64 // of its points; 0 where it gives none

	Filter     extpoints.FilterExtender
	Prioritize extpoints.PrioritizeExtender
	Preempt    extpoints.PreemptExtender
	Bind       extpoints.BindExtender

	outside extpoints.Extender
}

// NewExtenders returns the extenders in the order in which they are asked: those
// that are not ignorable first, else as they are given. (kube-scheduler
// scheduler.go buildExtenders, 1.37.1.)
func NewExtenders(list []extpoints.Extender) []*Extender {
	var first, ignorable []*Extender
	for _, outside := range list {
		if x := newExtender(outside); x.Ignorable {
			ignorable = append(ignorable, x)
		} else {
			first = append(first, x)
		}
	}
	return append(first, ignorable...)
}

func newExtender(outside extpoints.Extender) *Extender {
	x := &Extender{Name: outside.Name(), Ignorable: outside.Ignorable(), outside: outside}
	x.Filter, _ = outside.(extpoints.FilterExtender)
	x.Prioritize, _ = outside.(extpoints.PrioritizeExtender)
	x.Preempt, _ = outside.(extpoints.PreemptExtender)
	x.Bind, _ = outside.(extpoints.BindExtender)
	if selective, ok := outside.(extpoints.SelectiveExtender); ok {
		x.keep(selective.Verbs())
	}
	if x.Prioritize != nil {
		x.Weight = x.Prioritize.Weight()
	}
	return x
}

// keep drops what the extender is not to be asked.
func (x *Extender) keep(verbs extpoints.ExtenderVerbs) {
	if verbs&extpoints.ExtenderFilters == 0 {
		x.Filter = nil
	}
	if verbs&extpoints.ExtenderPrioritizes == 0 {
		x.Prioritize = nil
	}
	if verbs&extpoints.ExtenderPreempts == 0 {
		x.Preempt = nil
	}
	if verbs&extpoints.ExtenderBinds == 0 {
		x.Bind = nil
	}
}

// CheckExtenders lists what is wrong with extenders as a configuration. The
// rules are kube-scheduler's (pkg/scheduler/apis/config/validation/
// validation.go validateExtenders, 1.37.1), and that names are unique.
func CheckExtenders(list []extpoints.Extender) []error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	seen := map[string]bool{}
	var binders []string
	for i, outside := range list {
		if outside == nil {
			problem("Extenders[%d]: is nil", i)
			continue
		}
		var x *Extender
		if err := Guard(func() error { x = newExtender(outside); return nil }); err != nil {
			problem("Extenders[%d]: %w", i, err) // above all a nil pointer
			continue
		}
		switch {
		case x.Name == "":
			problem("Extenders[%d].Name: is empty", i)
		case !utf8.ValidString(x.Name):
			problem("Extenders[%d].Name: %q is not valid UTF-8, and no record could tell whose answers are its", i, x.Name)
		case seen[x.Name]:
			problem("Extenders[%d].Name: %q is there twice", i, x.Name)
		}
		seen[x.Name] = true
		if x.Prioritize != nil && x.Weight <= 0 {
			problem("Extenders[%d].Weight: extender %q prioritizes with a weight of %d; it must be positive", i, x.Name, x.Weight)
		}
		if x.Bind != nil {
			binders = append(binders, x.Name)
		}
	}
	if len(binders) > 1 {
		problem("Extenders: only one may bind, got %q", binders)
	}
	return problems
}

// Interested asks the extender whether it wants to be asked.
func (x *Extender) Interested(w *model.Workload) (interested bool, err error) {
	err = Guard(func() error {
		interested = x.outside.Interested(w)
		return nil
	})
	return interested, x.Failed("interested", w, err)
}

// Guard calls an extender; a panic is an error.
func Guard(call func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return call()
}

// Failed puts to an error of the extender whose it is and what it is about; nil
// stays nil.
func (x *Extender) Failed(verb string, w *model.Workload, err error) error {
	if err == nil {
		return nil
	}
	return &ExtenderError{Extender: x.Name, Verb: verb, Workload: w.ID, Err: err, name: w.DisplayName()}
}

// ExtenderError says which extender failed, at what, and about which workload.
type ExtenderError struct {
	Extender string // its name
	Verb     string // filter, prioritize, preempt, bind, interested
	Workload string // ID
	Err      error

	name string // of the workload, for people
}

// Error says it in one line.
func (e *ExtenderError) Error() string {
	return fmt.Sprintf("extender %q: %s workload %q: %v", e.Extender, e.Verb, e.name, e.Err)
}

// Unwrap returns the cause.
func (e *ExtenderError) Unwrap() error { return e.Err }

// Extenders are the engine's, in the order in which they are asked.
func (f *Framework) Extenders() []*Extender { return f.env.Extenders }

// ExtendersFilter reports whether some extender filters, whoever it is
// interested in.
func (f *Framework) ExtendersFilter() bool {
	return slices.ContainsFunc(f.env.Extenders, func(x *Extender) bool { return x.Filter != nil })
}

// ExtendersPrioritize reports whether some extender gives points, whoever it is
// interested in.
func (f *Framework) ExtendersPrioritize() bool {
	return slices.ContainsFunc(f.env.Extenders, func(x *Extender) bool { return x.Prioritize != nil })
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
		interested, err := x.Interested(w.Workload)
		if err == nil && !interested {
			continue
		}
		if err == nil {
			err = Guard(func() error { return x.Bind.Bind(ctx, w.Workload, *own(b)) })
			err = x.Failed("bind", w.Workload, withCause(ctx, err))
		}
		return err == nil || !x.Ignorable || ctx.Err() != nil, err
	}
	return false, nil
}

// cutShort reports whether the error says that ctx has ended, and not why.
func cutShort(ctx context.Context, err error) bool {
	cause := context.Cause(ctx)
	return errors.Is(err, context.Canceled) && cause != nil && !errors.Is(err, cause)
}

// withCause puts to an error why ctx has ended, where that is what it is about.
func withCause(ctx context.Context, err error) error {
	if cutShort(ctx, err) {
		return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	return err
}
