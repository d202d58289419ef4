package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/simulate"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// gauged writes down what a meter is told. Its clock goes on by a millisecond each
// time it is read, so that what runs by itself takes one.
type gauged struct {
	lines []string
	clock time.Duration
}

func (g *gauged) meter(every int) engine.Meter {
	say := func(format string, args ...any) { g.lines = append(g.lines, fmt.Sprintf(format, args...)) }
	return engine.Meter{
		Every: every,
		Clock: func() time.Duration { g.clock += time.Millisecond; return g.clock },
		PluginRan: func(e engine.PluginRanEvent) {
			say("ran %s %s/%s: %v, %v", e.Point, e.Profile, e.Plugin, e.Code, e.Took)
		},
		PluginEvaluated: func(e engine.PluginEvaluatedEvent) {
			say("evaluated %s %s/%s: %d", e.Point, e.Profile, e.Plugin, e.Times)
		},
		HintRan: func(e engine.HintRanEvent) {
			say("hint of %s for %v: %v, %v, %v", e.Plugin, e.Event, e.Hint, e.Err, e.Took)
		},
		ChangeOffered: func(e engine.ChangeOfferedEvent) { say("offered %v, %v", e.Event, e.Took) },
		RoomSought: func(e engine.RoomSoughtEvent) {
			say("sought %s/%s, group %v: %v, %v", e.Profile, e.Plugin, e.ForGroup, e.Code, e.Took)
		},
		RoomMade: func(e engine.RoomMadeEvent) {
			say("made room, group %v, failed %v, %v", e.Group != nil, e.Failed, e.Took)
		},
		PlacementsGenerated: func(e engine.PlacementsGeneratedEvent) {
			say("placements %s: %d,", e.Profile, e.Count)
		},
		PlacementTried: func(e engine.PlacementTriedEvent) { say("placement %s: %v, %v", e.Profile, e.Feasible, e.Took) },
	}
}

// take returns what was told since the last call.
func (g *gauged) take() []string {
	lines := g.lines
	g.lines = nil
	return lines
}

// small is a profile of few plugins.
func small(o extpoints.Orchestrator) engine.Config {
	set := func(names ...string) (s extpoints.PluginSet) {
		for _, name := range names {
			s.Enabled = append(s.Enabled, extpoints.PluginRef{Name: name})
		}
		return s
	}
	cfg := config(o)
	cfg.Profiles = []extpoints.Profile{{Name: "small", Plugins: extpoints.Plugins{
		QueueSort: set(plugins.PrioritySort), PreEnqueue: set(plugins.SchedulingGates),
		PreFilter: set(plugins.NodeResourcesFit), Filter: set(plugins.NodeName, plugins.NodeResourcesFit),
		Score: set(plugins.NodeResourcesFit), Bind: set(plugins.DefaultBinder),
	}}}
	return cfg
}

// What is told of one workload that is placed, one that fits nowhere, and what
// wakes it.
func TestMeterIsToldInASampledCycle(t *testing.T) {
	g := &gauged{}
	cfg := small(&world{})
	cfg.Meter = g.meter(1)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 300), node("n3", 2000)))
	require.Equal(t, []string{"offered Node/Add, 1ms", "offered Node/Add, 1ms", "offered Node/Add, 1ms"}, g.take())

	require.NoError(t, r.Apply(epoch, task("fits", 700)))
	require.Equal(t, []string{
		"ran PreEnqueue small/SchedulingGates: Success, 1ms",
		"offered UnscheduledWorkload/Add, 3ms",
	}, g.take())
	settle(r, epoch)
	require.Equal(t, []string{
		"ran PreFilter small/NodeResourcesFit: Success, 1ms",
		"evaluated PreFilter small/NodeResourcesFit: 1",
		"ran Filter small/NodeName: Success, 1ms", // one node in 16
		"ran Filter small/NodeResourcesFit: Success, 1ms",
		"evaluated Filter small/NodeName: 3",
		"evaluated Filter small/NodeResourcesFit: 3",
		"evaluated Score small/NodeResourcesFit: 2",
		"ran Bind small/DefaultBinder: Success, 1ms",
		"offered AssignedWorkload/Add, 1ms",
	}, g.take())

	require.NoError(t, r.Apply(epoch, task("too big", 4000)))
	settle(r, epoch)
	require.Equal(t, []string{
		"ran PreEnqueue small/SchedulingGates: Success, 1ms",
		"offered UnscheduledWorkload/Add, 3ms",
		"ran PreFilter small/NodeResourcesFit: Success, 1ms",
		"evaluated PreFilter small/NodeResourcesFit: 1",
		"ran Filter small/NodeName: Success, 1ms",
		"ran Filter small/NodeResourcesFit: UnschedulableAndUnresolvable, 1ms",
		"evaluated Filter small/NodeName: 3",
		"evaluated Filter small/NodeResourcesFit: 3",
	}, g.take())

	require.NoError(t, r.Apply(epoch, node("n4", 3000), node("n5", 5000)))
	require.Equal(t, []string{
		"hint of NodeResourcesFit for Node/Add: Skip, <nil>, 1ms",
		"offered Node/Add, 3ms",
		"hint of NodeResourcesFit for Node/Add: Queue, <nil>, 1ms",
		"ran PreEnqueue small/SchedulingGates: Success, 1ms",
		"offered Node/Add, 5ms",
	}, g.take())
}

// In a cycle that is not sampled only what costs nothing is told, and the clock is
// not read.
func TestMeterIsToldInAnyCycle(t *testing.T) {
	g := &gauged{}
	cfg := small(&world{})
	cfg.Meter = g.meter(1 << 40)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 300), task("w", 700)))
	g.take()
	before := g.clock
	require.True(t, r.Schedule(epoch))
	require.Equal(t, []string{
		"evaluated PreFilter small/NodeResourcesFit: 1",
		"evaluated Filter small/NodeName: 2",
		"evaluated Filter small/NodeResourcesFit: 2",
	}, g.take())
	require.Equal(t, before, g.clock)
}

// Room that is made for a workload, and that a group fits in.
func TestMeterIsToldOfRoomAndPlacements(t *testing.T) {
	g := &gauged{}
	cfg := config(&world{})
	m := g.meter(1 << 40)
	m.PluginRan, m.PluginEvaluated, m.HintRan, m.ChangeOffered = nil, nil, nil, nil
	cfg.Meter = m
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("victim", 700)))
	settle(r, epoch)
	require.NoError(t, r.Apply(epoch, urgent("urgent", 700)))
	settle(r, epoch)
	require.Equal(t, []string{
		"sought " + plugins.DefaultProfileName + "/DynamicResources, group false: Unschedulable",
		"sought " + plugins.DefaultProfileName + "/DefaultPreemption, group false: Success",
		"made room, group false, failed false",
	}, withoutTimes(g.take()))

	member := func(id string) engine.Change {
		return engine.Change{Submit: &model.Workload{ID: id, Group: "g", Requests: model.Resources{CPU: 4000}}}
	}
	gang := engine.Change{PutGroup: &model.Group{ID: "g", Policy: model.Gang, MinCount: 2, TopologyKey: "zone"}}
	require.NoError(t, r.Apply(epoch, gang, inZone("a1", "a"), inZone("b1", "b"), inZone("b2", "b"), member("m1"), member("m2")))
	settle(r, epoch)
	require.Equal(t, []string{
		"placements " + plugins.DefaultProfileName + ": 2",
		"placement " + plugins.DefaultProfileName + ": false",
		"placement " + plugins.DefaultProfileName + ": true",
	}, withoutTimes(g.take()))
}

// withoutTimes leaves out how long things took: what happens meanwhile reads the
// clock, too.
func withoutTimes(lines []string) []string {
	for i, line := range lines {
		lines[i] = line[:strings.LastIndex(line, ",")]
	}
	return lines
}

func inZone(name, zone string) engine.Change {
	c := node(name, 4000)
	c.PutNode.Labels = map[string]string{"zone": zone}
	return c
}

// A meter changes nothing, not even one that does nothing but panic.
func TestMeasuringChangesNothing(t *testing.T) {
	t.Parallel()
	run := func(m engine.Meter) (events []string, record []byte) {
		var log bytes.Buffer
		cfg := config(&world{})
		cfg.Workers, cfg.TieBreak = 4, engine.TieBreakRandom
		cfg.Listener, cfg.Recorder, cfg.Meter = simulate.EventLines(&events), engine.NewRecorder(&log), m
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		changes := []engine.Change{{PutGroup: &model.Group{ID: "g", Policy: model.Gang, MinCount: 3, TopologyKey: "zone"}}}
		for i := range 200 {
			changes = append(changes, inZone(fmt.Sprintf("n%03d", i), fmt.Sprint(i%3)))
		}
		for i := range 3 {
			changes = append(changes, engine.Change{Submit: &model.Workload{ID: fmt.Sprint("m", i), Group: "g", Requests: model.Resources{CPU: 3000}}})
		}
		changes = append(changes, tasks(250, 2500)...)
		require.NoError(t, r.Apply(epoch, changes...))
		settle(r, epoch)
		require.NoError(t, r.Apply(epoch, urgent("urgent", 3000), engine.Change{Remove: "t001"}, node("n000", 8000)))
		settle(r, epoch)
		later := epoch.Add(time.Hour)
		r.Tick(later)
		settle(r, later)
		return events, log.Bytes()
	}
	var told counter
	wantEvents, wantRecord := run(engine.Meter{})
	for name, m := range map[string]engine.Meter{"quiet": told.meter(1), "sampling": told.meter(0), "panicking": panicking()} {
		events, record := run(m)
		requireSameLines(t, wantEvents, events, "%s", name)
		requireSameLog(t, wantRecord, record, "%s", name)
	}
	require.Greater(t, told.n, 1000)
}

// counter counts what it is told, by several goroutines.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) meter(every int) engine.Meter {
	return meterOf(every, func() { c.mu.Lock(); defer c.mu.Unlock(); c.n++ })
}

func panicking() engine.Meter { return meterOf(1, func() { panic("no meter") }) }

func meterOf(every int, f func()) engine.Meter {
	return engine.Meter{
		Every: every, Clock: func() time.Duration { f(); return 0 },
		PluginRan: func(engine.PluginRanEvent) { f() }, PluginEvaluated: func(engine.PluginEvaluatedEvent) { f() },
		HintRan: func(engine.HintRanEvent) { f() }, ChangeOffered: func(engine.ChangeOfferedEvent) { f() },
		RoomSought: func(engine.RoomSoughtEvent) { f() }, RoomMade: func(engine.RoomMadeEvent) { f() },
		PlacementsGenerated: func(engine.PlacementsGeneratedEvent) { f() },
		PlacementTried:      func(engine.PlacementTriedEvent) { f() },
	}
}

// A plugin that panics is an error, and told as one, in a sampled cycle as in any.
func TestMeterIsToldOfPanics(t *testing.T) {
	g := &gauged{}
	cfg := small(&world{})
	cfg.Meter = g.meter(1)
	require.NoError(t, cfg.Registry.Register("Bomb", func(any, extpoints.Handle) (extpoints.Plugin, error) { return bomb{}, nil }))
	cfg.Profiles[0].Plugins.Filter.Enabled = []extpoints.PluginRef{{Name: "Bomb"}}
	var failure error
	cfg.Listener.Rejected = func(e engine.RejectedEvent) { failure = e.Err }
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("w", 1)))
	require.True(t, r.Schedule(epoch))
	require.ErrorContains(t, failure, `running "Bomb" filter plugin: panic: boom`)
	require.Contains(t, g.take(), "ran Filter small/Bomb: Error, 1ms")
}

type bomb struct{}

func (bomb) Name() string { return "Bomb" }
func (bomb) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	panic("boom")
}

func TestAMeterNeedsAClock(t *testing.T) {
	cfg := config(&world{})
	cfg.Meter = engine.Meter{Every: -1, HintRan: func(engine.HintRanEvent) {}}
	_, err := engine.NewRaw(cfg)
	require.ErrorContains(t, err, "Meter.Every: -1 is negative")
	require.ErrorContains(t, err, "Meter.Clock: is missing")
}
