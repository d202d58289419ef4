//go:build patched

package pluginlevel

import (
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/extpoints/extpointstest"
)

// RunPatched runs one case about those plugins of kubernetes-sigs/scheduler-plugins that are linked
// with a patch; see the folder patches.
func RunPatched(seed, number uint64, report *differences.Report, mutation Mutation) error {
	source := generate.New(seed, number, generate.Mood{Nodes: 8, Custom: true, Unrelated: true, Tame: number%2 == 1})
	t, err := twin.New(source, nowhere(), subject.Config{})
	if err != nil {
		return err
	}
	defer t.Close()
	c := &comparison{beside: beside{Twin: t}, report: report, handle: extpointstest.NewHandle()}
	if err := c.compareOrders(mutation); err != nil {
		return err
	}
	return runQuotas(seed, number, report, mutation)
}
