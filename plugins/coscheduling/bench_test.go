package coscheduling_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/coscheduling"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// bench is an engine whose profile has the plugin and no other for groups, with
// a clock that the test moves. Nodes have room for workloads of size 1.
type bench struct {
	*testing.T
	r   *engine.Raw
	now time.Time
	// popped are the workloads that were tried, rejected what was last said of
	// each that was not placed.
	popped   []string
	rejected map[string]string
	waiting  map[string]time.Time // since when, of each that has waited
}

// options of a bench.
type options struct {
	args coscheduling.Args
	// plainOrder keeps PrioritySort as the queue's order.
	plainOrder bool
}

func newBench(t *testing.T, o options) *bench {
	t.Helper()
	b := &bench{T: t, now: epoch, rejected: map[string]string{}, waiting: map[string]time.Time{}}
	profile := plugins.DefaultProfile()
	profile.Remove(plugins.GangScheduling)
	extpoints.Use(&profile, coscheduling.New, o.args)
	if o.plainOrder {
		profile.Plugins[len(profile.Plugins)-1].Except = []extpoints.Point{"QueueSort"}
	} else {
		profile.Remove(plugins.PrioritySort)
	}
	cfg := engine.Config{
		Profiles: []extpoints.Profile{profile}, Orchestrator: &extpointstest.Orchestrator{},
		Listener: engine.Listener{
			Popped:    func(e engine.PoppedEvent) { b.popped = append(b.popped, e.Workload.ID) },
			Rejected:  func(e engine.RejectedEvent) { b.rejected[e.Workload.ID] = e.Message },
			Waiting:   func(e engine.WaitingEvent) { b.waiting[e.Workload.ID] = e.At },
			Permitted: b.permitted,
			Failed:    func(e engine.FailedEvent) { t.Errorf("failed: %v", e.Err) },
		},
	}
	// Nothing is tried again only because it has waited for long.
	cfg.Queue.MaxInUnschedulable = 1000 * time.Hour
	var err error
	b.r, err = engine.NewRaw(cfg)
	require.NoError(t, err)
	return b
}

// permitted checks that nobody is let through before the gang has enough members
// with a node.
func (b *bench) permitted(e engine.PlacedEvent) {
	group, ok := b.r.View().Group(e.Workload.Group)
	if !ok {
		return
	}
	if n := len(b.withNode(e.Workload.Group)); n < int(group.Group.MinCount) {
		b.Errorf("%v: %s is let through with only %d of %d", e.At.Sub(epoch), e.Workload.ID, n, group.Group.MinCount)
	}
}

// withNode lists the members that take room.
func (b *bench) withNode(group string) []string {
	var ids []string
	for w := range b.r.View().WorkloadsOf(group) {
		if w.Phase.TakesRoom() {
			ids = append(ids, w.Workload.ID)
		}
	}
	return ids
}

// node adds a node with room for n workloads.
func (b *bench) node(name string, n int) {
	b.apply(engine.PutNode(&model.Node{Name: name, Allocatable: model.Resources{CPU: int64(n), Memory: 1 << 40}}))
}

// gang adds a group, made at the time of the bench.
func (b *bench) gang(id string, minCount int32) {
	b.apply(engine.PutGroup(&model.Group{ID: id, Policy: model.Gang, MinCount: minCount, CreatedAt: b.now}))
}

// submit submits workloads without scheduling anything. The group is the letters
// of the ID, a workload called "x" has none.
func (b *bench) submit(ids ...string) {
	for _, id := range ids {
		b.add(&model.Workload{ID: id})
	}
}

func (b *bench) add(w *model.Workload) {
	w.Requests = model.Resources{CPU: 1}
	if group := strings.TrimRight(w.ID, "0123456789"); group != "x" {
		w.Group = group
	}
	b.apply(engine.Submit(w))
}

func (b *bench) apply(ch engine.Change) {
	b.Helper()
	require.NoError(b, b.r.Apply(b.now, ch))
}

// settle schedules, binds and evicts until there is nothing to do at this time.
// What is evicted leaves at once.
func (b *bench) settle() {
	b.Helper()
	for range 10_000 {
		busy := b.r.Schedule(b.now)
		for t := b.r.NextTask(); t != nil; t = b.r.NextTask() {
			t.Run(context.Background())
			b.r.Finish(b.now, t)
			busy = true
		}
		for w := range b.r.View().WorkloadsIn(model.Terminating) {
			b.apply(engine.Finish(w.Workload.ID))
		}
		if !busy {
			return
		}
	}
	b.Fatalf("%v: the engine does not come to rest; the last that were tried: %v, %v", b.now.Sub(epoch), b.popped[len(b.popped)-20:], b.rejected)
}

// pass lets time go by.
func (b *bench) pass(d time.Duration) {
	b.Helper()
	end := b.now.Add(d)
	b.settle()
	for range 100_000 {
		due, ok := b.r.NextDue(b.now)
		if !ok || due.After(end) {
			b.now = end
			return
		}
		b.now = due
		b.r.Tick(b.now)
		b.settle()
	}
	b.Fatal("there is always something due")
}

// expect compares who is where: "a1 a2 | x" are those that have been let
// through, and behind the bar those that wait on Permit.
func (b *bench) expect(want string) {
	b.Helper()
	var through, waiting []string
	for w := range b.r.View().Workloads() {
		switch w.Phase {
		case model.Pending, model.Finished:
		case model.Assumed:
			waiting = append(waiting, w.Workload.ID)
		default:
			through = append(through, w.Workload.ID)
		}
	}
	got := strings.TrimSpace(fmt.Sprintf("%s | %s", strings.Join(through, " "), strings.Join(waiting, " ")))
	if got != want {
		b.Errorf("%v: %q, want %q", b.now.Sub(epoch), got, want)
	}
}
