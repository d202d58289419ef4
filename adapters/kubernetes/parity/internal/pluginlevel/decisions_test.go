package pluginlevel

import (
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// A short run with a fixed seed, in which each plugin of scheduler-plugins has its histories.
func TestSchedulerPluginsDecisions(t *testing.T) {
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	report, err := differences.Cases(uint64(rounds*len(inHistories)), func(number uint64, r *differences.Report) error {
		return decisionlevel.Run(1, number, r, SchedulerPluginsDecisions(number))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	for _, name := range inHistories {
		if n, least := report.Counted("decision with "+name), rounds*20; n < least {
			t.Errorf("%s: %d decisions only, want %d", name, n, least)
		}
	}
}

// That a plugin is not asked at one of its points is noticed.
func TestSilentSchedulerPluginsAreNoticed(t *testing.T) {
	for i, name := range inHistories {
		points := []extpoints.Point{"Score"}
		switch name {
		case plugins.NetworkOverhead, plugins.NodeResourceTopologyMatch:
			points = append(points, "Filter")
		}
		for _, point := range points {
			if !noticesSilence(t, uint64(i), point) {
				t.Errorf("%s: that it is not asked at %s was not noticed", name, point)
			}
		}
	}
}

// noticesSilence runs histories about the plugin of the number, which the subject does not ask at
// the point, until a difference is noticed.
func noticesSilence(t *testing.T, plugin uint64, point extpoints.Point) bool {
	t.Helper()
	report, err := differences.Cases(12, func(round uint64, r *differences.Report) error {
		number := plugin + round*uint64(len(inHistories))
		o := SchedulerPluginsDecisions(number)
		enable := o.Change
		o.Change = func(cfg *engine.Config) {
			enable(cfg)
			list := cfg.Profiles[0].Plugins
			list[len(list)-1].Except = []extpoints.Point{point}
		}
		return decisionlevel.Run(1, number, r, o)
	})
	if err != nil {
		t.Fatal(err)
	}
	return report.Unexplained() > 0
}
