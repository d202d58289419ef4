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
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/nodename"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/queuesort"
	"github.com/berth-project/berth/plugins/schedulinggates"
)

// gauged writes down what is measured. Its clock goes on by a millisecond each
// time it is read, so that what runs by itself takes one.
type gauged struct {
	lines []string
	clock time.Duration
}

// listen has cfg measure one cycle in every.
func (g *gauged) listen(cfg *engine.Config, every int) {
	say := func(format string, args ...any) { g.lines = append(g.lines, fmt.Sprintf(format, args...)) }
	cfg.SampleEvery = every
	cfg.Clock = func() time.Duration { g.clock += time.Millisecond; return g.clock }
	cfg.Listener = engine.Listener{
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
		PreemptionTried: func(e engine.PluginRanEvent) {
			say("preemption tried %s/%s, group %v: %v, %v", e.Profile, e.Plugin, e.Point == "GroupPostFilter", e.Code, e.Took)
		},
		PreemptionEnded: func(e engine.PreemptionEndedEvent) {
			say("preemption ended, group %v, failed %v, %v", e.Group != nil, e.Failed, e.Took)
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
	p := extpoints.Profile{Name: "small"}
	extpoints.Use(&p, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&p, schedulinggates.New, extpoints.NoArgs{}, extpoints.Only("PreEnqueue"))
	extpoints.Use(&p, nodename.New, extpoints.NoArgs{}, extpoints.Only("Filter"))
	extpoints.Use(&p, noderesources.NewFit, noderesources.FitArgs{}, extpoints.Only("PreFilter", "Filter", "Score"))
	extpoints.Use(&p, defaultbinder.New, extpoints.NoArgs{})
	cfg := config(o)
	cfg.Profiles = []extpoints.Profile{p}
	return cfg
}

// What is told of one workload that is placed, one that fits nowhere, and what
// wakes it.
func TestMeasuredInASampledCycle(t *testing.T) {
	g := &gauged{}
	cfg := small(&world{})
	g.listen(&cfg, 1)
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
		"ran Filter small/NodeName: Success, 1ms", // one call in 16
		"ran Filter small/NodeResourcesFit: Success, 1ms",
		"evaluated Filter small/NodeName: 3",
		"evaluated Filter small/NodeResourcesFit: 3",
		"ran Score small/NodeResourcesFit: Success, 1ms",
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
func TestMeasuredInAnyCycle(t *testing.T) {
	g := &gauged{}
	cfg := small(&world{})
	g.listen(&cfg, 1<<40)
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

// The node that a workload is nominated to is filtered twice where a workload of the same
// priority is nominated to it as well: with that one and without. Both times count.
func TestMeasuredOnANominatedNode(t *testing.T) {
	g := &gauged{}
	cfg := small(&world{})
	g.listen(&cfg, 1<<40)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("a", 300), task("b", 300), nominate("a", "n1"), nominate("b", "n1")))
	g.take()
	require.True(t, r.Schedule(epoch))
	require.Equal(t, []string{
		"evaluated PreFilter small/NodeResourcesFit: 1",
		"evaluated Filter small/NodeName: 2",
		"evaluated Filter small/NodeResourcesFit: 2",
	}, g.take())
}

// A preemption for a workload, and placements of a group.
func TestMeasuredPreemptionsAndPlacements(t *testing.T) {
	g := &gauged{}
	cfg := config(&world{})
	g.listen(&cfg, 1<<40)
	l := &cfg.Listener
	l.PluginRan, l.PluginEvaluated, l.HintRan, l.ChangeOffered = nil, nil, nil, nil
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("victim", 700)))
	settle(r, epoch)
	require.NoError(t, r.Apply(epoch, urgent("urgent", 700)))
	settle(r, epoch)
	require.Equal(t, []string{
		"preemption tried " + plugins.DefaultProfileName + "/DynamicResources, group false: Unschedulable",
		"preemption tried " + plugins.DefaultProfileName + "/DefaultPreemption, group false: Success",
		"preemption ended, group false, failed false",
	}, withoutTimes(g.take()))

	member := func(id string) engine.Change {
		return engine.Submit(&model.Workload{ID: id, Group: "g", Requests: model.Resources{CPU: 4000}})
	}
	gang := engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 2, TopologyKey: "zone"})
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
	nodeOf(c).Labels = map[string]string{"zone": zone}
	return c
}

// Who measures changes nothing, not even a listener that does nothing but panic.
func TestMeasuringChangesNothing(t *testing.T) {
	t.Parallel()
	run := func(listen func(*engine.Config)) (events []string, record []byte) {
		var log bytes.Buffer
		cfg := config(&world{})
		cfg.Workers, cfg.TieBreak = 4, engine.TieBreakRandom
		cfg.Recorder = engine.NewRecorder(&log)
		listen(&cfg)
		cfg.Listener = engine.Tee(cfg.Listener, simulate.EventLines(&events))
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		changes := []engine.Change{engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 3, TopologyKey: "zone"})}
		for i := range 200 {
			changes = append(changes, inZone(fmt.Sprintf("n%03d", i), fmt.Sprint(i%3)))
		}
		for i := range 3 {
			changes = append(changes, engine.Submit(&model.Workload{ID: fmt.Sprint("m", i), Group: "g", Requests: model.Resources{CPU: 3000}}))
		}
		changes = append(changes, tasks(250, 2500)...)
		require.NoError(t, r.Apply(epoch, changes...))
		settle(r, epoch)
		require.NoError(t, r.Apply(epoch, urgent("urgent", 3000), engine.Remove("t001"), node("n000", 8000)))
		settle(r, epoch)
		later := epoch.Add(time.Hour)
		r.Tick(later)
		settle(r, later)
		return events, log.Bytes()
	}
	var mu sync.Mutex
	told := 0
	count := func() { mu.Lock(); defer mu.Unlock(); told++ }
	wantEvents, wantRecord := run(func(*engine.Config) {})
	for name, listen := range map[string]func(*engine.Config){
		"counting": measuring(1, count), "sampling": measuring(0, count), "panicking": measuring(1, func() { panic("no listener") }),
	} {
		events, record := run(listen)
		requireSameLines(t, wantEvents, events, "%s", name)
		requireSameLog(t, wantRecord, record, "%s", name)
	}
	require.Greater(t, told, 1000)
}

// measuring has f called for everything that is measured, and for each reading of the
// clock, by several goroutines.
func measuring(every int, f func()) func(*engine.Config) {
	return func(cfg *engine.Config) {
		cfg.SampleEvery, cfg.Clock = every, func() time.Duration { f(); return 0 }
		cfg.Listener = engine.Listener{
			PluginRan: func(engine.PluginRanEvent) { f() }, PluginEvaluated: func(engine.PluginEvaluatedEvent) { f() },
			HintRan: func(engine.HintRanEvent) { f() }, ChangeOffered: func(engine.ChangeOfferedEvent) { f() },
			PreemptionTried: func(engine.PluginRanEvent) { f() }, PreemptionEnded: func(engine.PreemptionEndedEvent) { f() },
			PlacementsGenerated: func(engine.PlacementsGeneratedEvent) { f() },
			PlacementTried:      func(engine.PlacementTriedEvent) { f() },
		}
	}
}

// A plugin that panics is an error, and told as one, in a sampled cycle as in any.
func TestMeasuredPanics(t *testing.T) {
	g := &gauged{}
	cfg := small(&world{})
	g.listen(&cfg, 1)
	use(&cfg, bomb{})
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

// Without a clock a Raw has no durations, and needs none.
func TestMeasuringWithoutAClock(t *testing.T) {
	cfg := small(&world{})
	var took []time.Duration
	cfg.Listener.ChangeOffered = func(e engine.ChangeOfferedEvent) { took = append(took, e.Took) }
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000)))
	require.Equal(t, []time.Duration{0}, took)
}

func TestSampleEveryMustNotBeNegative(t *testing.T) {
	cfg := config(&world{})
	cfg.SampleEvery = -1
	_, err := engine.NewRaw(cfg)
	require.ErrorContains(t, err, "SampleEvery: -1 is negative")
}
