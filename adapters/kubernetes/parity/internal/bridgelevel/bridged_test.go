package bridgelevel

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/plugins"
)

var (
	cases = flag.Uint64("cases", 0, "how many cases of each kind to run; 0: a few")
	seed  = flag.Uint64("seed", 1, "of the cases")
)

// run runs cases until one has an unexplained difference. Each has a bridge of its own.
func run(t *testing.T, n uint64, about decisionlevel.About, names []string, own frameworkruntime.Registry) *differences.Report {
	t.Helper()
	if *cases > 0 {
		n = *cases
	}
	report, err := differences.Cases(n, func(number uint64, r *differences.Report) error {
		o := Bridged(names, own, schedulerPluginsArgs)
		o.About = about
		r.Name(fmt.Sprintf("-seed %d, case %d about %s", *seed, number, about))
		return decisionlevel.Run(*seed, number, r, o)
	})
	if err != nil {
		t.Fatal(err)
	}
	if testing.Verbose() {
		report.Print(os.Stdout)
	}
	return report
}

// differs runs a case in which the reference runs the plugins of scheduler-plugins, and the engine
// those of the other registry.
func differs(t *testing.T, number uint64, names []string, other frameworkruntime.Registry) bool {
	t.Helper()
	report, err := differences.New()
	if err != nil {
		t.Fatal(err)
	}
	o, theirs := Bridged(names, other, nil), Bridged(names, schedulerPlugins, schedulerPluginsArgs)
	o.Reference = theirs.Reference
	if err := decisionlevel.Run(*seed, number, report, o); err != nil {
		t.Fatal(err)
	}
	return report.Unexplained() > 0
}

func text(r *differences.Report) string {
	var b strings.Builder
	r.Print(&b)
	return b.String()
}

// An engine that runs kube-scheduler's own plugins decides as kube-scheduler does.
func TestBridgedInTree(t *testing.T) {
	for about, kinds := range map[decisionlevel.About][]string{
		decisionlevel.Pods:    {"(placed)", "(fits nowhere)", "(made room)"},
		decisionlevel.Storage: {"(placed)", "(fits nowhere)"},
	} {
		report := run(t, 12, about, InTree(), nil)
		if report.Unexplained() > 0 {
			t.Errorf("about %s:\n%s", about, text(report))
		}
		for _, kind := range kinds {
			if report.Counted(kind) == 0 {
				t.Errorf("about %s: %s never came up", about, kind)
			}
		}
	}
}

// mute is a plugin that has nothing against any node.
type mute struct{ fwk.Plugin }

// Filter implements [fwk.FilterPlugin].
func (mute) Filter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) *fwk.Status { return nil }

// A bridged plugin that says something else is noticed.
func TestBridgedMistakesAreNoticed(t *testing.T) {
	for _, name := range []string{plugins.NodeAffinity, plugins.NodeResourcesFit, plugins.NodePorts} {
		own := frameworkruntime.Registry{name: func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			p, err := inTreeRegistry()[name](ctx, args, h)
			return mute{p}, err
		}}
		if report := run(t, 48, decisionlevel.Pods, slices.Clone(InTree()), own); report.Unexplained() == 0 {
			t.Errorf("%s: not noticed", name)
		}
	}
}
