package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// history is an engine that is driven by hand, and its metrics. The engine's time
// moves when the test says so; the clock of the metrics goes on by a millisecond
// each time it is read.
type history struct {
	*engine.Raw
	t        *testing.T
	metrics  *Metrics
	now      time.Time
	clock    time.Time
	measured time.Duration // the engine's clock, which goes on in the same way
	bind     error         // what the orchestrator says to Bind and Evict
	evict    error
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newHistory(t *testing.T, change ...func(*engine.Config)) *history {
	t.Helper()
	h := &history{t: t, now: epoch, clock: epoch}
	config := engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: h,
	}
	for _, f := range change {
		f(&config)
	}
	h.metrics = New(Options{Profiles: config.Profiles, Groups: true, Now: func() time.Time {
		h.clock = h.clock.Add(time.Millisecond)
		return h.clock
	}})
	config.Listener, config.SampleEvery = h.metrics.Listener(), 1
	config.Clock = func() time.Duration { // one of its own, so that the two do not disturb each other
		h.measured += time.Millisecond
		return h.measured
	}
	var err error
	if h.Raw, err = engine.NewRaw(config); err != nil {
		t.Fatal(err)
	}
	h.metrics.Sample(h.Raw)
	return h
}

// Bind implements [extpoints.Orchestrator].
func (h *history) Bind(context.Context, *model.Workload, model.Binding) error { return h.bind }

// Evict implements [extpoints.Orchestrator].
func (h *history) Evict(context.Context, *model.Workload, string) error { return h.evict }

func (h *history) apply(changes ...engine.Change) {
	h.t.Helper()
	if err := h.Apply(h.now, changes...); err != nil {
		h.t.Fatal(err)
	}
}

// later lets time pass.
func (h *history) later(d time.Duration) {
	h.now = h.now.Add(d)
	h.Tick(h.now)
}

// decide schedules all that can be, and returns the tasks without running them.
func (h *history) decide() (tasks []*engine.Task) {
	for h.Schedule(h.now) {
	}
	for task := h.NextTask(); task != nil; task = h.NextTask() {
		tasks = append(tasks, task)
	}
	return tasks
}

func (h *history) finish(task *engine.Task) {
	task.Run(context.Background())
	h.Finish(h.now, task)
}

// settle schedules, binds and evicts all that can be.
func (h *history) settle() {
	for tasks := h.decide(); len(tasks) > 0; tasks = h.decide() {
		for _, task := range tasks {
			h.finish(task)
		}
	}
}

// expect compares the series of the names that want mentions, without help; a name
// alone in a line means that it has no series.
func (h *history) expect(want string) {
	h.t.Helper()
	var names, lines []string
	for line := range strings.Lines(want) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name := line[:strings.IndexAny(line+" ", " {")]
		if strings.Contains(line, " ") {
			lines = append(lines, line)
		}
		for _, suffix := range []string{"_sum", "_count"} {
			name = strings.TrimSuffix(name, suffix)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(lines)
	if got := series(h.t, h.metrics, names); !slices.Equal(got, lines) {
		h.t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(lines, "\n  "))
	}
}

// series lists the series of the metrics, one line each: buckets are left out, and
// sums of seconds are rounded to milliseconds.
func series(t *testing.T, m *Metrics, names []string) (lines []string) {
	t.Helper()
	families, err := m.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if !slices.Contains(names, family.GetName()) {
			continue
		}
		for _, one := range family.Metric {
			var labels []string
			for _, l := range one.Label {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			set := ""
			if len(labels) > 0 {
				set = "{" + strings.Join(labels, ",") + "}"
			}
			switch {
			case one.Histogram != nil:
				if one.Histogram.GetSampleCount() == 0 {
					continue
				}
				lines = append(lines,
					fmt.Sprintf("%s_count%s %d", family.GetName(), set, one.Histogram.GetSampleCount()),
					fmt.Sprintf("%s_sum%s %.4g", family.GetName(), set, one.Histogram.GetSampleSum()))
			case one.Counter != nil && one.Counter.GetValue() != 0:
				lines = append(lines, fmt.Sprintf("%s%s %v", family.GetName(), set, one.Counter.GetValue()))
			case one.Gauge != nil && one.Gauge.GetValue() != 0:
				lines = append(lines, fmt.Sprintf("%s%s %v", family.GetName(), set, one.Gauge.GetValue()))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

var errRefused = errors.New("refused")

func node(name string, cpu int64) engine.Change {
	return engine.PutNode(&model.Node{Name: name, Allocatable: model.Resources{CPU: cpu, Memory: 8 << 30}, MaxWorkloads: 110})
}

func submit(id string, cpu int64, change ...func(*model.Workload)) engine.Change {
	return engine.Submit(spec(id, cpu, change...))
}

func spec(id string, cpu int64, change ...func(*model.Workload)) *model.Workload {
	w := &model.Workload{ID: id, Profile: plugins.DefaultProfileName, Requests: model.Resources{CPU: cpu}, CreatedAt: epoch}
	for _, f := range change {
		f(w)
	}
	return w
}
