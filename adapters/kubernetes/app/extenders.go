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

// fenced is an extender that binds only while this process may write.
type fenced struct {
	*extender.Extender
	mayWrite func() bool
}

var _ extpoints.BindExtender = fenced{}

// Bind implements [extpoints.BindExtender].
func (x fenced) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	if !x.mayWrite() {
		return errNotLeading
	}
	return x.Extender.Bind(ctx, w, b)
}

// newExtenders makes those of the configuration. The error lists what is wrong with
// any of them.
func newExtenders(configs []extender.Config, mayWrite func() bool) ([]extpoints.Extender, error) {
	var list []extpoints.Extender
	var problems []error
	for i := range configs {
		x, err := extender.New(configs[i])
		if err != nil {
			problems = append(problems, fmt.Errorf("extenders[%d]: %w", i, err))
			continue
		}
		list = append(list, fenced{x, mayWrite})
	}
	return list, utilerrors.NewAggregate(problems)
}

// closeExtenders ends their idle connections.
func closeExtenders(list []extpoints.Extender) {
	for _, x := range list {
		x.(fenced).Close()
	}
}

// filtering reports whether any of them filters nodes.
func filtering(configs []extender.Config) bool {
	return slices.ContainsFunc(configs, func(c extender.Config) bool { return c.FilterVerb != "" })
}
