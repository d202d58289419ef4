package queue

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// alikeWorld is a queue with a cluster of so much room, in which decisions are made as an engine
// makes them. Its twin has no classes.
type alikeWorld struct {
	*Queue
	t       *testing.T
	now     time.Time
	classes bool
	room    int64
	closed  map[string]bool // principals whose workloads are rejected by another plugin
	flaky   map[string]bool // workloads for which recording fails
	shut    map[string]bool // workloads that a gate stops
	running map[string]*model.Workload
	placed  []string
	tries   int
}

var (
	roomFreed = extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete}
	opened    = extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.UpdateNodeTaint}
	gateMoved = extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.UpdateNodeLabel}
)

func newAlikeWorld(t *testing.T, byQueues, classes bool) *alikeWorld {
	w := &alikeWorld{t: t, now: start, classes: classes, room: 8, closed: map[string]bool{}, flaky: map[string]bool{},
		shut: map[string]bool{}, running: map[string]*model.Workload{}}
	on := func(e extpoints.ClusterEvent, helps func(*model.Workload) bool) []extpoints.EventHint {
		return []extpoints.EventHint{{Event: e, Hint: func(m *model.Workload, _ *extpoints.Event) (extpoints.Hint, error) {
			if helps(m) {
				return extpoints.HintQueue, nil
			}
			return extpoints.HintSkip, nil
		}}}
	}
	q, err := New(Timing{InitialBackoff: time.Second, MaxBackoff: time.Second}, extpoints.Improved, Hooks{
		Less: byPriorityAndAge, KeepPlace: !byQueues, ByQueues: byQueues,
		PreEnqueue: map[string][]extpoints.PreEnqueuePlugin{"": {alikeGate{w}}},
		Hints: map[string][]PluginHints{"": {
			{Plugin: "Fit", Events: on(roomFreed, func(m *model.Workload) bool { return m.Requests.CPU <= w.room })},
			{Plugin: "Closed", Events: on(opened, func(m *model.Workload) bool { return !w.closed[m.Principal] })},
			{Plugin: "Gate", Events: on(gateMoved, func(m *model.Workload) bool { return !w.shut[m.ID] })},
		}},
	})
	require.NoError(t, err)
	if byQueues {
		for _, p := range []string{"u", "v"} {
			q.DefinitionChanged(nil, &model.Principal{Name: p, Queue: "q"})
		}
		q.DefinitionChanged(nil, &model.Queue{Name: "q"})
		q.NodeChanged(nil, &model.Node{Name: "n", Allocatable: model.Resources{CPU: 8}})
	}
	w.Queue = q
	return w
}

type alikeGate struct{ *alikeWorld }

func (alikeGate) Name() string { return "Gate" }

func (g alikeGate) PreEnqueue(m *model.Workload) *extpoints.Status {
	if g.shut[m.ID] {
		return extpoints.NewStatus(extpoints.Unschedulable, "shut")
	}
	return nil
}

// run makes attempts until so many have placed something, or nothing is left to be tried.
func (w *alikeWorld) run(placements int) {
	for placements > 0 {
		it, ok := w.Pop(w.now)
		if !ok {
			return
		}
		w.tries++
		m := it.Workload
		it.Class = ""
		switch {
		case w.closed[m.Principal]:
			w.reject(it, "Closed")
		case m.Requests.CPU > w.room:
			w.reject(it, "Fit")
		case w.flaky[m.ID]:
			w.AddUnschedulable(w.now, it, nil, nil)
		default:
			w.room -= m.Requests.CPU
			w.Charge(w.now, w.now, noEnd, m)
			w.running[m.ID] = m
			w.placed = append(w.placed, m.ID)
			if len(w.placed)%2 == 0 {
				w.Placed(m.ID) // it waits for something, but not for room
			}
			w.Done(m.ID)
			placements--
		}
	}
}

func (w *alikeWorld) reject(it *Item, plugin string) {
	if m := it.Workload; w.classes {
		it.Class = fmt.Sprint(m.Requests.CPU, m.Priority, m.Principal)
	}
	w.AddUnschedulable(w.now, it, []string{plugin}, nil)
}

// end ends a workload that runs.
func (w *alikeWorld) end(id string) {
	m := w.running[id]
	delete(w.running, id)
	w.room += m.Requests.CPU
	w.Discharge(w.now, m)
	w.Move(w.now, &extpoints.Event{ClusterEvent: roomFreed}, nil)
}

// checkAwake: at rest what would fit is not asleep.
func (w *alikeWorld) checkAwake(seed uint64, step int) {
	for _, it := range w.InOrder() {
		m := it.Workload
		if it.Place() == Unschedulable && m.Requests.CPU <= w.room && !w.closed[m.Principal] {
			w.t.Errorf("seed %d, step %d: %s waits because of %v, and would fit", seed, step, m.ID, it.UnschedulablePlugins)
		}
	}
}

// With classes the same are placed in the same order as where all are tried, whatever happens, and
// what would fit is never left asleep.
func TestAlikeAsIfAllWereTried(t *testing.T) {
	for _, byQueues := range []bool{false, true} {
		saved := 0
		for _, seed := range seeds(t, 300) {
			saved += playAlike(t, seed, byQueues)
			if t.Failed() {
				return
			}
		}
		require.Greater(t, saved, 1000, "attempts")
	}
}

func playAlike(t *testing.T, seed uint64, byQueues bool) (saved int) {
	r := rand.New(rand.NewPCG(seed, 4))
	one, all := newAlikeWorld(t, byQueues, true), newAlikeWorld(t, byQueues, false)
	both := func(f func(w *alikeWorld)) { f(one); f(all) }
	know := map[string]*extpoints.WorkloadInfo{}
	priorities := 2
	if byQueues {
		priorities = 1 // of two leaves of equal shares the one goes first of which the head came first, and classes hide heads
	}
	for step := range 200 {
		id := fmt.Sprintf("w%02d", r.IntN(40))
		waits := one.Queue.waiting[id] != nil
		placements := 1 + r.IntN(4)
		switch op := r.IntN(20); {
		case op < 7:
			if waits || one.running[id] != nil {
				continue
			}
			m := &model.Workload{ID: id, Priority: int32(r.IntN(priorities)), Principal: []string{"u", "v"}[r.IntN(2)], Requests: model.Resources{CPU: int64(1 + r.IntN(3))}}
			know[id] = &extpoints.WorkloadInfo{Workload: m}
			both(func(w *alikeWorld) { w.Add(w.now, know[id]) })
		case op < 12:
			some := slices.Sorted(maps.Keys(one.running))
			for range min(len(some), 1+r.IntN(3)) {
				id, some = some[0], some[1:]
				both(func(w *alikeWorld) { w.end(id) })
			}
		case op < 13 && waits:
			both(func(w *alikeWorld) { w.Delete(id) })
		case op < 14 && waits:
			m := *know[id].Workload
			m.Priority, m.Labels = int32(r.IntN(priorities)), map[string]string{"step": fmt.Sprint(step)}
			old := know[id]
			know[id] = &extpoints.WorkloadInfo{Workload: &m}
			both(func(w *alikeWorld) { w.Update(w.now, old, know[id]) })
		case op < 15:
			p := []string{"u", "v"}[r.IntN(2)]
			both(func(w *alikeWorld) {
				w.closed[p] = !w.closed[p]
				w.Move(w.now, &extpoints.Event{ClusterEvent: opened}, nil)
			})
		case op < 16:
			both(func(w *alikeWorld) { w.flaky[id] = !w.flaky[id]; w.Apart(id) })
		case op < 17:
			both(func(w *alikeWorld) {
				w.run(1000) // a gate is asked when somebody is woken, which may be later with classes
				w.shut[id] = !w.shut[id]
				w.Move(w.now, &extpoints.Event{ClusterEvent: gateMoved}, nil)
			})
		case op < 18:
			both(func(w *alikeWorld) { w.Activate(w.now, id) })
		default:
			passes := time.Duration(r.IntN(3000)) * time.Millisecond
			if r.IntN(4) == 0 {
				passes = 6 * time.Minute
			}
			both(func(w *alikeWorld) { w.now = w.now.Add(passes); w.Tick(w.now) })
		}
		if r.IntN(3) == 0 {
			placements = 1000
		}
		both(func(w *alikeWorld) { w.run(placements) })
		if !slices.Equal(one.placed, all.placed) {
			t.Errorf("seed %d (use -seed), step %d, by queues %v: placed %v, want %v", seed, step, byQueues, one.placed, all.placed)
			return 0
		}
		if placements == 1000 {
			one.checkAwake(seed, step)
		}
	}
	return all.tries - one.tries
}

// Of those that are alike and wait for the same an event is offered to the first alone, and to another
// when that has gone, has changed, or is behind one that comes.
func TestEventsAreOfferedToTheFirst(t *testing.T) {
	asked := map[string]int{}
	q, err := New(Timing{InitialBackoff: time.Second, MaxBackoff: time.Second}, extpoints.Improved, Hooks{
		Less: byPriorityAndAge, KeepPlace: true,
		Hints: map[string][]PluginHints{"": {{Plugin: "Fit", Events: []extpoints.EventHint{
			{Event: roomFreed, Hint: func(m *model.Workload, _ *extpoints.Event) (extpoints.Hint, error) {
				asked[m.ID]++
				return extpoints.HintSkip, nil
			}},
		}}, {Plugin: "Other", Events: []extpoints.EventHint{{Event: roomFreed}}}}},
	})
	require.NoError(t, err)
	know := map[string]*extpoints.WorkloadInfo{}
	reject := func(at time.Duration, id, class, plugin string) {
		know[id] = &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id}}
		q.Add(start.Add(at), know[id])
		it, ok := q.Pop(start.Add(time.Minute))
		require.True(t, ok)
		it.Class = class
		q.AddUnschedulable(start.Add(time.Minute), it, []string{plugin}, nil)
	}
	offer := func() map[string]int {
		clear(asked)
		q.Move(start.Add(time.Hour), &extpoints.Event{ClusterEvent: roomFreed}, nil)
		return asked
	}
	for i, id := range []string{"b", "c", "d"} {
		reject(time.Duration(i+1)*time.Second, id, "class", "Fit")
	}
	reject(0, "x", "", "Fit")
	reject(0, "y", "another", "Fit")
	require.Equal(t, map[string]int{"b": 1, "x": 1, "y": 1}, offer())

	reject(0, "a", "class", "Fit") // it is older
	require.Equal(t, map[string]int{"a": 1, "x": 1, "y": 1}, offer())

	again := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "c", Labels: map[string]string{"new": ""}}}
	q.Update(start.Add(time.Hour), know["c"], again) // another to plugins: it is tried
	it, _ := q.Pop(start.Add(time.Hour))
	require.Equal(t, "c", it.ID())
	q.AddUnschedulable(start.Add(time.Hour), it, []string{"Fit"}, nil)
	require.Equal(t, map[string]int{"a": 1, "c": 1, "x": 1, "y": 1}, offer())

	for _, id := range []string{"a", "c"} {
		q.Delete(id)
	}
	it, _ = q.Pop(start.Add(time.Hour))
	require.Equal(t, "b", it.ID(), "it was the next")
	it.Class = "class"
	q.AddUnschedulable(start.Add(time.Hour), it, []string{"Other"}, nil) // which knows nothing better than to try it
	require.Equal(t, map[string]int{"d": 1, "x": 1, "y": 1}, offer())
	require.Equal(t, Active, q.waiting["b"].Place())
	require.Equal(t, Unschedulable, q.waiting["d"].Place())
}

// That the order of some that wait changes, as by a plugin that looks at more than the workloads, leaves none
// of them asleep: each is in a front, and whoever is the first of it is asked.
func TestOrderThatChangesLeavesNobodyAsleep(t *testing.T) {
	rank := map[string]int{"d": 1, "a": 2, "g": 3}
	q, err := New(Timing{InitialBackoff: time.Second, MaxBackoff: time.Second}, extpoints.Improved, Hooks{
		Less: func(a, b *extpoints.Queued) bool { return rank[a.Workload.ID] < rank[b.Workload.ID] }, KeepPlace: true,
		Hints: map[string][]PluginHints{"": {
			{Plugin: "Fit", Events: []extpoints.EventHint{{Event: roomFreed}}},
			{Plugin: "Taint", Events: []extpoints.EventHint{{Event: opened}}},
		}},
	})
	require.NoError(t, err)
	by := map[string][]string{"a": {"Fit"}, "g": {"Fit", "Taint"}, "d": {"Fit"}}
	try := func() {
		for it, ok := q.Pop(start); ok; it, ok = q.Pop(start) {
			it.Class = "class"
			q.AddUnschedulable(start, it, by[it.ID()], nil)
		}
	}
	add := func(id string) {
		q.Add(start, &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id}})
		try()
	}
	add("a")
	add("g")
	rank = map[string]int{"g": 1, "d": 2, "a": 3}
	add("d")
	for _, id := range []string{"d", "g"} {
		q.Delete(id)
		try()
	}
	q.Move(start, &extpoints.Event{ClusterEvent: roomFreed}, nil)
	require.Equal(t, Active, q.waiting["a"].Place())
}
