package bridgelevel

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"sigs.k8s.io/scheduler-plugins/apis/config"
	"sigs.k8s.io/scheduler-plugins/pkg/noderesources"
	"sigs.k8s.io/scheduler-plugins/pkg/podstate"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
)

// schedulerPlugins are those of kubernetes-sigs/scheduler-plugins that need no objects of their
// own.
var schedulerPlugins = frameworkruntime.Registry{
	noderesources.AllocatableName: noderesources.NewAllocatable,
	podstate.Name:                 podstate.New,
}

var schedulerPluginsArgs = map[string]runtime.Object{
	noderesources.AllocatableName: &config.NodeResourcesAllocatableArgs{
		Mode: config.Least, Resources: []schedulerconfig.ResourceSpec{{Name: "cpu", Weight: 1 << 20}, {Name: "memory", Weight: 1}},
	},
}

// An engine with plugins of kubernetes-sigs/scheduler-plugins decides as kube-scheduler does with
// them.
func TestBridgedSchedulerPlugins(t *testing.T) {
	names := []string{noderesources.AllocatableName, podstate.Name}
	for _, all := range [][]string{names, append(InTree(), names...)} {
		if report := run(t, 12, decisionlevel.Pods, all, schedulerPlugins); report.Unexplained() > 0 {
			t.Error(text(report))
		}
	}
}

// indifferent finds all nodes equally good.
type indifferent struct{ name string }

// Name implements [fwk.Plugin].
func (p indifferent) Name() string { return p.name }

// Score implements [fwk.ScorePlugin].
func (indifferent) Score(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) (int64, *fwk.Status) {
	return 0, nil
}

// ScoreExtensions implements [fwk.ScorePlugin].
func (indifferent) ScoreExtensions() fwk.ScoreExtensions { return nil }

// That one of them has no say on one side is noticed.
func TestLeftOutSchedulerPluginsAreNoticed(t *testing.T) {
	for name := range schedulerPlugins {
		silent := frameworkruntime.Registry{name: func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
			return indifferent{name}, nil
		}}
		noticed := false
		for number := uint64(0); number < 48 && !noticed; number++ {
			noticed = differs(t, number, []string{name}, silent)
		}
		if !noticed {
			t.Errorf("%s: not noticed", name)
		}
	}
}
