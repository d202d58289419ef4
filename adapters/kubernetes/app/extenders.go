package app

import (
	"context"
	"fmt"
	"slices"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// fence makes the extender bind only while this process may write.
func fence(x *extender.Extender, mayWrite func() bool) {
	bind := x.Bind
	if bind == nil {
		return
	}
	x.Bind = func(ctx context.Context, w *model.Workload, b model.Binding) error {
		if !mayWrite() {
			return errNotLeading
		}
		return bind(ctx, w, b)
	}
}

// newExtenders makes those of the configuration. The error lists what is wrong with
// any of them.
func newExtenders(configs []extender.Config, mayWrite func() bool) ([]*extender.Extender, error) {
	var list []*extender.Extender
	var problems []error
	for i := range configs {
		x, err := extender.New(configs[i])
		if err != nil {
			problems = append(problems, fmt.Errorf("extenders[%d]: %w", i, err))
			continue
		}
		fence(x, mayWrite)
		list = append(list, x)
	}
	return list, utilerrors.NewAggregate(problems)
}

// asked are the extenders as the engine gets them.
func asked(list []*extender.Extender) []extpoints.Extender {
	var out []extpoints.Extender
	for _, x := range list {
		out = append(out, x.Extender)
	}
	return out
}

// filtering reports whether any of them filters nodes.
func filtering(configs []extender.Config) bool {
	return slices.ContainsFunc(configs, func(c extender.Config) bool { return c.FilterVerb != "" })
}
