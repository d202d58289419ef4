package framework

import (
	"fmt"
	"unicode/utf8"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Extender is an extender as the engine asks it: its failures say whose they are.
type Extender struct{ extpoints.Extender }

// NewExtenders returns the extenders in the order in which they are asked: those
// that are not ignorable first, else as they are given. (kube-scheduler
// scheduler.go buildExtenders, 1.37.1.)
func NewExtenders(list []extpoints.Extender) []*Extender {
	var first, ignorable []*Extender
	for _, outside := range list {
		if outside.Ignorable {
			ignorable = append(ignorable, &Extender{outside})
		} else {
			first = append(first, &Extender{outside})
		}
	}
	return append(first, ignorable...)
}

// CheckExtenders lists what is wrong with extenders as a configuration. The
// rules are kube-scheduler's (pkg/scheduler/apis/config/validation/
// validation.go validateExtenders, 1.37.1), and that names are unique.
func CheckExtenders(list []extpoints.Extender) []error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	seen := map[string]bool{}
	var binders []string
	for i := range list {
		x := &list[i]
		switch {
		case x.Name == "":
			problem("Extenders[%d].Name: is empty", i)
		case !utf8.ValidString(x.Name):
			problem("Extenders[%d].Name: %q is not valid UTF-8, and no record could tell whose answers are its", i, x.Name)
		case seen[x.Name]:
			problem("Extenders[%d].Name: %q is listed twice", i, x.Name)
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

// Wants asks the extender whether it wants to be asked.
func (x *Extender) Wants(w *model.Workload) (interested bool, err error) {
	if x.Interested == nil {
		return true, nil
	}
	err = Guard(func() error {
		interested = x.Interested(w)
		return nil
	})
	return interested, x.Failed("interested", w, err)
}

// Guard calls an extender; a panic is an error, and an error is one that can be read.
func Guard(call func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return extpoints.AsStatus(call()).AsError()
}

// Failed puts to an error of the extender whose it is and what it is about; nil
// stays nil.
func (x *Extender) Failed(verb string, w *model.Workload, err error) error {
	if err == nil {
		return nil
	}
	return &extpoints.ExtenderError{Extender: x.Name, Verb: verb, Workload: w.ID, DisplayName: w.DisplayName(), Err: err}
}
