package queuelevel

import (
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
)

// run runs cases until one has an unexplained difference.
func run(t *testing.T, cases uint64, o Options) *differences.Report {
	t.Helper()
	report, err := differences.Cases(cases, func(number uint64, r *differences.Report) error { return Run(1, number, r, o) })
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// A short run with a fixed seed, in which everything happens that may happen.
func TestQueues(t *testing.T) {
	cases := uint64(80)
	if testing.Short() {
		cases = 24
	}
	report := run(t, cases, Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if n := report.Counted("(" + s.name + ")"); n < int(cases) {
			t.Errorf("%s: %d times only", s.name, n)
		}
	}
	for place := queue.None; place <= queue.InFlight; place++ {
		if n := report.Counted("(" + place.String() + ")"); n < 50*int(cases) {
			t.Errorf("%s: %d times only", place, n)
		}
	}
}

// hints makes a mistake in the hints of a bare queue.
func hints(change func([]queue.PluginHints) []queue.PluginHints) Options {
	return Options{Change: func(c *Queue) {
		for profile := range c.Hints {
			c.Hints[profile] = change(c.Hints[profile])
		}
	}}
}

// Whatever the queue gets wrong is noticed: each line makes one mistake.
func TestMistakesAreNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode leaves out the mistakes made on purpose; CI runs them")
	}
	mistakes := map[string]Options{
		"backoff begins longer": {Change: func(c *Queue) {
			c.InitialBackoff += time.Second
			c.MaxBackoff = max(c.MaxBackoff, c.InitialBackoff)
		}},
		"backoff grows longer": {Change: func(c *Queue) {
			if c.MaxBackoff != queue.NoBackoff {
				c.MaxBackoff *= 2
			}
		}},
		"backoff is not cut to seconds":   {Change: func(c *Queue) { c.OrderingWindow = time.Millisecond }},
		"the timeout is a second longer":  {Change: func(c *Queue) { c.MaxInUnschedulable += time.Second }},
		"the timeout is a moment shorter": {Change: func(c *Queue) { c.MaxInUnschedulable-- }},
		"the timeout is checked rarely":   {Change: func(c *Queue) { c.UnschedulableFlushInterval = time.Minute }},
		"backing off may be cut short":    {Change: func(c *Queue) { c.NoPopFromBackoff = !c.NoPopFromBackoff }},
		"gates are not asked":             {Change: func(c *Queue) { c.PreEnqueue = nil }},
		"the order is another": {Change: func(c *Queue) {
			if less := c.Less; less != nil {
				c.Less = func(a, b *extpoints.Queued) bool { return less(b, a) }
			}
		}},
		"hints are not asked": hints(func(list []queue.PluginHints) []queue.PluginHints {
			list = slices.Clone(list)
			for i := range list {
				list[i].Events = slices.Clone(list[i].Events)
				for j := range list[i].Events {
					list[i].Events[j].Hint = nil
				}
			}
			return list
		}),
		"pods are changed behind its back":   {Deaf: func(c engine.Change) bool { return c.Verb() == "update" }},
		"nodes are removed behind its back":  {Deaf: func(c engine.Change) bool { return c.Verb() == "remove node" }},
		"pods are adopted behind its back":   {Deaf: func(c engine.Change) bool { return c.Verb() == "adopt" }},
		"pods are confirmed behind its back": {Deaf: func(c engine.Change) bool { return c.Verb() == "confirm" }},
	}
	for _, plugin := range judges {
		mistakes["the hints of the "+plugin+" are missing"] = hints(func(list []queue.PluginHints) []queue.PluginHints {
			return slices.DeleteFunc(slices.Clone(list), func(p queue.PluginHints) bool { return p.Plugin == plugin })
		})
	}
	for name, o := range mistakes {
		if report := run(t, 200, o); report.Unexplained() == 0 {
			t.Errorf("not noticed: %s", name)
		}
	}
}
