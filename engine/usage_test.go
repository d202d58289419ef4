package engine_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// used is an engine whose queues go by usage.
type used struct {
	*engine.Raw
	t   *testing.T
	now time.Time
}

func newUsed(t *testing.T, configure ...func(*engine.Config)) *used {
	cfg := config(&world{})
	cfg.Order = engine.OrderByQueues
	for _, f := range configure {
		f(&cfg)
	}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	return &used{Raw: r, t: t, now: epoch}
}

func (u *used) apply(changes ...engine.Change) {
	u.t.Helper()
	require.NoError(u.t, u.Apply(u.now, changes...))
}

func (u *used) wait(d time.Duration) { u.now = u.now.Add(d) }

// first places what is next, on a node that it fills, and has it end at once.
func (u *used) first() string {
	u.t.Helper()
	settle(u.Raw, u.now)
	id := ""
	for row := range u.View().WorkloadsIn(model.Bound) {
		require.Empty(u.t, id)
		id = row.ID
	}
	require.NotEmpty(u.t, id)
	u.apply(engine.Finish(id), engine.Remove(id))
	return id
}

func (u *used) level(name, principal string) queue.Level {
	u.t.Helper()
	for _, l := range u.Queues() {
		if l.Queue == name && l.Principal == principal {
			return l
		}
	}
	u.t.Fatalf("there is no queue %q with principal %q: %+v", name, principal, u.Queues())
	return queue.Level{}
}

func byUsage(name, parent string, weight int64, halfLife time.Duration) engine.Change {
	return engine.PutObject(&model.Queue{Name: name, Parent: parent, Weight: weight, Policy: model.OrderUsage, HalfLife: halfLife})
}

func person(name string, shares int64) engine.Change {
	return engine.PutObject(&model.Principal{Name: name, Shares: shares})
}

// of is a task of a principal in a queue, with a time limit.
func of(id, inQueue, principal string, cpu int64, limit time.Duration) engine.Change {
	w := task(id, cpu)
	spec(w).Queue, spec(w).Principal, spec(w).Limit = inQueue, principal, limit
	return w
}

const week = 7 * 24 * time.Hour

// Fair Tree, the worked example: cy has never run, and comes after fay all the same, because the
// account decides first. What was used was used by what ran.
func TestKnownFairTree(t *testing.T) {
	t.Parallel()
	u := newUsed(t)
	u.apply(node("n", 8000), byUsage("root", "", 1, week),
		byUsage("phys", "root", 40, week), byUsage("chem", "root", 40, week), byUsage("bio", "root", 20, week),
		byUsage("org", "chem", 30, week), byUsage("inorg", "chem", 10, week),
		person("ann", 1), person("bob", 1), person("cy", 2), person("dan", 1), person("eve", 1), person("fay", 1), person("gus", 1), person("hal", 1))
	// 300, 100, 100, 100, 100, 50, 50: half cores for 200 s
	runs := []struct {
		in, who string
		cpu     int64
	}{
		{"phys", "ann", 1500}, {"phys", "bob", 500}, {"org", "dan", 500}, {"org", "eve", 500}, {"inorg", "fay", 500}, {"bio", "gus", 250}, {"bio", "hal", 250},
	}
	for _, w := range runs {
		u.apply(of("run-"+w.who, w.in, w.who, w.cpu, 0))
	}
	settle(u.Raw, u.now)
	u.wait(200 * time.Second)
	for _, w := range runs {
		u.apply(engine.Finish("run-"+w.who), engine.Remove("run-"+w.who))
	}
	u.wait(3 * week) // all decay alike
	u.Tick(u.now)
	require.InDelta(t, 800_000/8, u.level("phys", "").Past[model.CPU]+u.level("chem", "").Past[model.CPU]+u.level("bio", "").Past[model.CPU], 60)
	for _, w := range []string{"cy phys", "ann phys", "bob phys", "dan org", "eve org", "fay inorg", "gus bio", "hal bio"} {
		var who, in string
		_, err := fmt.Sscan(w, &who, &in)
		require.NoError(t, err)
		u.apply(of(who, in, who, 8000, 0))
	}
	for _, who := range []string{"gus", "hal", "dan", "eve", "fay", "cy", "bob", "ann"} {
		require.Equal(t, who, u.first())
	}
}

// The other example, with shares and usage far apart, which an earlier engine has left.
func TestKnownFairTreeOfFlux(t *testing.T) {
	t.Parallel()
	u := newUsed(t)
	u.apply(node("n", 8000), byUsage("root", "", 0, week), byUsage("1", "root", 1000, week), byUsage("2", "root", 100, week), byUsage("3", "root", 10, week))
	for _, a := range []struct {
		in, who       string
		shares, usage int64
	}{
		{"1", "1.1", 10000, 100}, {"1", "1.2", 1000, 11}, {"1", "1.3", 100000, 10},
		{"2", "2.1", 100000, 8}, {"2", "2.2", 10000, 3}, {"3", "3.1", 100, 0}, {"3", "3.2", 10, 1},
	} {
		u.apply(person(a.who, a.shares), engine.ChargeUsage(a.in, a.who, map[string]int64{model.CPU: a.usage * 1000}, u.now), of(a.who, a.in, a.who, 8000, 0))
	}
	for _, who := range []string{"3.1", "3.2", "2.1", "2.2", "1.3", "1.1", "1.2"} {
		require.Equal(t, who, u.first())
	}
}

// The known answers of fair admission by usage, as far as the engine has the policy. Its order adds
// no penalty for what begins (KU5): what runs counts until the end of the next interval.
func TestKnownAdmissionByUsage(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]struct {
		prices, used map[string]int64
		want         int64
	}{
		"KU1": {map[string]int64{"gpu": 1}, map[string]int64{"gpu": 2}, 2},
		"KU2": {map[string]int64{"gpu": 3}, map[string]int64{"gpu": 2}, 6},
		"KU3": {map[string]int64{model.CPU: 1, "gpu": 5}, map[string]int64{model.CPU: 4000, "gpu": 2}, 14},
		"KU4": {map[string]int64{model.CPU: 1, "gpu": 0}, map[string]int64{"gpu": 10}, 0},
		"KU6": {map[string]int64{"gpu": 4}, map[string]int64{"gpu": 3}, 12}, // over a weight of 2: 6
	} {
		t.Run(name, func(t *testing.T) {
			u := newUsed(t)
			u.apply(node("n", 8000), engine.PutObject(&model.Queue{Name: "q", Policy: model.OrderUsage, HalfLife: week, Prices: k.prices}),
				person("other", 1), person("one", 2), engine.ChargeUsage("q", "one", k.used, u.now))
			require.Equal(t, k.want, u.level("q", "one").Past[""])
			require.Equal(t, max(8*k.prices[model.CPU], 1), u.level("q", "one").PastCapacity, "what all nodes cost")
			for more, first := range map[int64]string{k.want/2 - 1: "other", k.want/2 + 1: "one"} {
				if more < 0 || k.want == 0 {
					continue
				}
				u := newUsed(t)
				u.apply(node("n", 8000), engine.PutObject(&model.Queue{Name: "q", Policy: model.OrderUsage, HalfLife: week, Prices: map[string]int64{"gpu": 1, model.CPU: 1}}),
					person("other", 1), person("one", 2), engine.ChargeUsage("q", "one", map[string]int64{"gpu": k.want}, u.now),
					engine.ChargeUsage("q", "other", map[string]int64{"gpu": more}, u.now), of("one", "q", "one", 8000, 0), of("other", "q", "other", 8000, 0))
				require.Equal(t, first, u.first(), "%d over a weight of 2, and %d", k.want, more)
			}
		})
	}
	t.Run("KU7", func(t *testing.T) { // without a weight it comes last, idle or not
		for _, usage := range []int64{0, 5} {
			u := newUsed(t)
			u.apply(node("n", 8000), byUsage("q", "", 1, week), person("none", 0), person("some", 1),
				engine.ChargeUsage("q", "none", map[string]int64{model.CPU: usage}, u.now), engine.ChargeUsage("q", "some", map[string]int64{model.CPU: 1 << 40}, u.now),
				of("a", "q", "none", 8000, 0), of("b", "q", "some", 8000, 0))
			require.Equal(t, "b", u.first())
		}
	})
	t.Run("KU8", func(t *testing.T) { // the moving average is the decayed sum times ln 2 / half-life
		u := newUsed(t)
		u.apply(node("n", 8000), byUsage("q", "", 1, week), person("p", 1), of("w", "q", "p", 2000, 0))
		settle(u.Raw, u.now)
		average := func() float64 {
			return float64(u.level("q", "p").Past[model.CPU]) / 1000 * math.Ln2 / week.Seconds()
		}
		last, want := 0.0, []float64{1, 1.5, 1.75}
		for i := range 3 * 2016 {
			u.wait(5 * time.Minute)
			u.Tick(u.now)
			got := average()
			require.Less(t, last, got, "it grows with each sample: KU9")
			require.Less(t, got, 2.0)
			if last = got; (i+1)%2016 == 0 {
				require.InDelta(t, want[i/2016], got, 1e-6)
			}
		}
	})
	t.Run("A", func(t *testing.T) { // of five minutes with a half-life of an hour
		u := newUsed(t)
		u.apply(node("n", 8000), byUsage("q", "", 1, time.Hour), person("p", 1), of("w", "q", "p", 8000, 0))
		settle(u.Raw, u.now)
		u.wait(5 * time.Minute)
		u.Tick(u.now)
		require.InDelta(t, .0561256873, float64(u.level("q", "p").Past[model.CPU])/8000*math.Ln2/3600, 1e-7)
	})
}

// A budget counts what those that run may yet use. What ends sooner gives back the rest; what has
// been used stays, also without a workload.
func TestBudgetsOfResourceSeconds(t *testing.T) {
	t.Parallel()
	for _, breach := range []model.LimitBreach{"", model.LimitRefuse} {
		u := newUsed(t)
		u.apply(node("n", 8000), engine.PutObject(&model.Queue{Name: "q"}), engine.PutObject(&model.Limit{
			Name: "l", Queue: "q", Scope: model.LimitSubtree, Measure: model.LimitResourceSeconds, Resource: model.CPU, Amount: 100_000, Breach: breach,
		}), of("w1", "q", "", 1000, time.Minute), of("w2", "q", "", 1000, time.Minute))
		settle(u.Raw, u.now)
		require.Equal(t, []string{"w1"}, placed(u.View(), []string{"w1", "w2"}))
		e, err := u.Explain(u.now, "w2", engine.ExplainOptions{})
		require.NoError(t, err)
		require.Equal(t, `limit "l": "w2" asks for 20000m cpu-seconds too much now`, e.Message)
		require.Equal(t, int64(20_000), e.Waiting.Standing.Held.Missing)

		u.wait(30 * time.Second)
		settle(u.Raw, u.now)
		require.Empty(t, placed(u.View(), []string{"w2"}), "w1 may use its minute")
		u.apply(engine.Finish("w1"), engine.Remove("w1"))
		settle(u.Raw, u.now)
		require.Equal(t, []string{"w2"}, placed(u.View(), []string{"w2"}), "30 of 100 are used")
		u.apply(of("w3", "q", "", 1000, 11*time.Second))
		if breach == "" {
			u.apply(of("endless", "q", "", 1, 0))
			e, err := u.Explain(u.now, "endless", engine.ExplainOptions{})
			require.NoError(t, err)
			require.Equal(t, `limit "l": "endless" has no time limit, so that its cpu-seconds have no end, whatever else runs`, e.Message)
		}
		u.apply(of("free", "q", "", 0, 0))
		settle(u.Raw, u.now)
		require.Empty(t, placed(u.View(), []string{"w3"}))
		u.wait(2 * time.Minute) // w2 is beyond its limit, and counts with what it has used
		u.apply(engine.Finish("w2"))
		settle(u.Raw, u.now)
		require.Empty(t, placed(u.View(), []string{"w3"}), "150 are used, and nothing is given back")
		u.apply(engine.PutObject(&model.Limit{
			Name: "l", Queue: "q", Scope: model.LimitSubtree, Measure: model.LimitResourceSeconds, Resource: model.CPU, Amount: 161_000, Breach: breach,
		}))
		settle(u.Raw, u.now)
		require.Equal(t, []string{"w3", "free"}, placed(u.View(), []string{"w3", "endless", "free"}), "what was used is remembered")
		if p, ok := u.Queue("endless"); ok {
			require.Equal(t, queue.Gated, p.Place, "there is no bound on what it may use")
		}

		err = u.Apply(u.now, of("large", "q", "", 2000, 81*time.Second))
		if breach == model.LimitRefuse {
			require.ErrorContains(t, err, `limit "l": it would be 162000, of at most 161000`)
		} else {
			require.NoError(t, err)
		}
	}
}

// What those that run may yet use counts against a limit, whatever comes first: they, the limit, or
// the parent by which they are in its part of the tree; and no more when they have left it.
func TestBudgetsCountWhatMayYetBeUsed(t *testing.T) {
	t.Parallel()
	queue := func(name, parent string) engine.Change {
		return engine.PutObject(&model.Queue{Name: name, Parent: parent})
	}
	limit := func(halfLife time.Duration) engine.Change {
		return engine.PutObject(&model.Limit{
			Name: "l", Queue: "top", Scope: model.LimitSubtree, Measure: model.LimitResourceSeconds, Resource: model.CPU, Amount: 100_000, HalfLife: halfLife,
		})
	}
	for name, c := range map[string]struct {
		before, after []engine.Change
		missing       int64 // cpu-seconds, for the next; 0: there is enough
		wait          time.Duration
	}{
		"the limit first":            {before: []engine.Change{queue("q", "top"), limit(0)}, missing: 30_000},
		"the workload first":         {before: []engine.Change{queue("q", "top")}, after: []engine.Change{limit(0)}, missing: 20_000},
		"another half-life":          {before: []engine.Change{queue("q", "top"), limit(0)}, after: []engine.Change{limit(1000 * week)}, missing: 30_000},
		"its queue comes":            {before: []engine.Change{queue("q", ""), limit(0)}, after: []engine.Change{queue("q", "top")}, missing: 20_000},
		"its queue leaves":           {before: []engine.Change{queue("q", "top"), limit(0)}, after: []engine.Change{queue("q", "")}, wait: time.Minute},
		"its queue comes back":       {before: []engine.Change{queue("q", "top"), limit(0)}, after: []engine.Change{queue("q", ""), queue("q", "top")}, missing: 30_000},
		"it began later than placed": {before: []engine.Change{queue("q", "top"), limit(0)}, after: []engine.Change{engine.Confirm(model.Binding{Workload: "w", Node: "n", Since: epoch.Add(5 * time.Second)})}, missing: 35_000},
		"another version of it":      {before: []engine.Change{queue("q", "top"), limit(0)}, after: []engine.Change{engine.Update(&model.Workload{ID: "w", Queue: "q", Requests: model.Resources{CPU: 1000}, Limit: 80 * time.Second, Labels: map[string]string{"a": "b"}})}, missing: 30_000},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUsed(t)
			u.apply(append(c.before, node("n", 8000), queue("top", ""), of("w", "q", "", 1000, 80*time.Second))...)
			settle(u.Raw, u.now)
			u.wait(10 * time.Second)
			for _, change := range c.after {
				u.apply(change)
			}
			u.wait(c.wait)
			u.apply(of("next", "top", "", 1000, 50*time.Second))
			settle(u.Raw, u.now)
			p, waits := u.Queue("next")
			require.Equal(t, c.missing > 0, waits)
			if waits {
				require.Equal(t, c.missing, p.Standing.Held.Missing)
			}
		})
	}
}

// What decays lets others in by itself, at the time that NextDue says.
func TestDecayingLimitsLetGo(t *testing.T) {
	t.Parallel()
	u := newUsed(t)
	u.apply(node("n", 8000), engine.PutObject(&model.Queue{Name: "q"}), engine.PutObject(&model.Limit{
		Name: "l", Queue: "q", Scope: model.LimitSubtree, Measure: model.LimitResourceSeconds, Resource: model.CPU, Amount: 100_000, HalfLife: time.Minute,
	}), engine.ChargeUsage("q", "", map[string]int64{model.CPU: 200_000}, u.now.Add(-time.Minute)))
	u.apply(of("w", "q", "", 1000, 50*time.Second))
	settle(u.Raw, u.now)
	require.Empty(t, placed(u.View(), []string{"w"}))
	due, ok := u.NextDue(u.now)
	require.True(t, ok)
	require.WithinDuration(t, u.now.Add(time.Minute), due, 2*time.Millisecond)
	u.Tick(due.Add(-2 * time.Millisecond))
	require.False(t, u.Schedule(due.Add(-2*time.Millisecond)))
	u.Tick(due)
	settle(u.Raw, due)
	require.Equal(t, []string{"w"}, placed(u.View(), []string{"w"}))
}

// Where others stop what is beyond it, all may begin as long as anything is left, and they are
// told when nothing is: once, also where the limit becomes less than what runs has used.
func TestLimitsThatStopAreTold(t *testing.T) {
	t.Parallel()
	var told []string
	u := newUsed(t, func(c *engine.Config) {
		c.Listener.LimitReached = func(e engine.LimitReachedEvent) {
			told = append(told, fmt.Sprint(e.Limit.Name, " ", e.Principal, " ", e.At.Sub(epoch)))
		}
	})
	limit := func(amount int64) engine.Change {
		return engine.PutObject(&model.Limit{
			Name: "l", Queue: "q", Scope: model.LimitEachPrincipal, Measure: model.LimitResourceSeconds, Resource: model.CPU, Amount: amount, Breach: model.LimitStop,
		})
	}
	u.apply(node("n", 8000), engine.PutObject(&model.Queue{Name: "q"}), person("p", 1), person("o", 1), limit(100_000), of("w1", "q", "p", 2000, 0), of("o1", "q", "o", 1000, 0))
	settle(u.Raw, u.now)
	require.Len(t, placed(u.View(), []string{"w1", "o1"}), 2, "without time limits")
	for _, after := range []time.Duration{50 * time.Second, 50 * time.Second} {
		due, ok := u.NextDue(u.now)
		require.True(t, ok)
		require.Equal(t, u.now.Add(after), due)
		u.now = due
		u.Tick(u.now)
	}
	require.Equal(t, []string{"l p 50s", "l o 1m40s"}, told)
	u.Tick(u.now)
	require.Len(t, told, 2, "once")
	u.apply(of("w2", "q", "p", 1000, 0))
	settle(u.Raw, u.now)
	require.Empty(t, placed(u.View(), []string{"w2"}))
	u.apply(limit(250_000))
	settle(u.Raw, u.now)
	require.Equal(t, []string{"w2"}, placed(u.View(), []string{"w2"}))
	u.apply(limit(150_000)) // p has used 200
	u.Tick(u.now)
	require.Equal(t, []string{"l p 1m40s"}, told[2:])
}

// An adopted workload has used what it asks for since it was placed, whatever comes first in the
// batch.
func TestAdoptedWorkloadsHaveAPast(t *testing.T) {
	t.Parallel()
	u := newUsed(t)
	w := &model.Workload{ID: "w", Queue: "q", Principal: "p", Requests: model.Resources{CPU: 2000}, Limit: 200 * time.Second}
	u.apply(engine.Adopt(w, model.Binding{Node: "n", Since: u.now.Add(-100 * time.Second)}), node("n", 8000), byUsage("q", "", 1, 1000*week), person("p", 1),
		engine.PutObject(&model.Limit{Name: "l", Queue: "q", Scope: model.LimitOwn, Measure: model.LimitResourceSeconds, Resource: model.CPU, Amount: 500_000}))
	require.InDelta(t, 200_000, u.level("q", "p").Past[model.CPU], 1)
	u.apply(of("next", "q", "p", 1000, 101*time.Second)) // 200 used, 200 may be, 101 more
	settle(u.Raw, u.now)
	require.Empty(t, placed(u.View(), []string{"next"}))
	u.apply(engine.Finish("w"))
	settle(u.Raw, u.now)
	require.Equal(t, []string{"next"}, placed(u.View(), []string{"next"}))
	require.InDelta(t, 200_000, u.level("q", "p").Past[model.CPU], 1)
	require.Equal(t, model.CPU, u.level("q", "p").PastOf)
	require.Equal(t, int64(8000), u.level("q", "p").PastCapacity)
}

// A queue that moves away, or goes, is charged no more to the parent that it had: it finds there
// what it had used until then, also if what runs in it ran on. The same goes for a principal
// whose workloads go to another queue.
func TestAQueueThatMovesAwayIsChargedNoMoreToItsOldParent(t *testing.T) {
	t.Parallel()
	account := func(inQueue string) engine.Change {
		return engine.PutObject(&model.Principal{Name: "p", Shares: 1, Queue: inQueue})
	}
	for _, prices := range []map[string]int64{nil, {model.CPU: 1}} {
		u := newUsed(t)
		queue := func(name, parent string) engine.Change {
			return engine.PutObject(&model.Queue{Name: name, Parent: parent, Weight: 1, Policy: model.OrderUsage, HalfLife: 1000 * week, Prices: prices})
		}
		past, unit := model.CPU, int64(1000)
		if prices != nil {
			past, unit = "", 1
		}
		hundreds := func(name, principal string) float64 {
			return float64(u.level(name, principal).Past[past]) / float64(100*unit)
		}
		u.apply(node("n", 8000), queue("old", ""), queue("new", ""), queue("moves", "old"), queue("goes", "old"), account("old"),
			of("m", "moves", "", 1000, 0), of("g", "goes", "", 1000, 0), of("p", "", "p", 1000, 0))
		settle(u.Raw, u.now)
		u.wait(100 * time.Second)
		u.apply(queue("moves", "new"), engine.RemoveObject(model.ObjectRef{Kind: model.QueueKind, ID: "goes"}), account("new"))
		u.wait(200 * time.Second)
		u.Tick(u.now)
		require.InDelta(t, 2, hundreds("moves", ""), 0.02, "what it has used in its new place")
		require.InDelta(t, 2, hundreds("new", "p"), 0.02)
		require.InDelta(t, 1, hundreds("old", "p"), 0.02)
		u.apply(queue("moves", "old"), queue("goes", "old"), account("old"))
		for _, name := range []string{"moves", "goes"} {
			require.InDelta(t, 1, hundreds(name, ""), 0.02, "what %s has used in the place where it was", name)
		}
		require.InDelta(t, 1, hundreds("old", "p"), 0.02)
		u.wait(100 * time.Second)
		u.Tick(u.now)
		require.InDelta(t, 2, hundreds("moves", ""), 0.02, "it is charged again")
		require.InDelta(t, 2, hundreds("old", "p"), 0.02)
		require.InDelta(t, 2, hundreds("new", "p"), 0.02, "and not there any more")
		u.apply(queue("moves", "new"))
		require.InDelta(t, 2, hundreds("moves", ""), 0.02)
	}
}

// What is wrong with usage is said, all of it, and nothing is half applied.
func TestUsageThatIsWrong(t *testing.T) {
	t.Parallel()
	u := newUsed(t)
	u.apply(node("n", 8000), byUsage("q", "", 1, week), byUsage("low", "lost", 1, week), person("p", 1))
	err := u.Apply(u.now, engine.ChargeUsage("q", "p", map[string]int64{model.CPU: 5}, time.Time{}),
		engine.ChargeUsage("low", "nobody", map[string]int64{model.CPU: -1, "": 2}, u.now.Add(time.Second)), engine.ChargeUsage("", "p", nil, u.now))
	require.EqualError(t, err, `change 1, charge usage "low": usage of queue "low": there is no queue "lost"
usage of queue "low": there is no principal "nobody"
usage of queue "low": a resource has an empty name
usage of queue "low": -1 of "cpu" is negative
usage of queue "low": 2026-01-01 00:00:01 +0000 UTC is yet to come
change 2, charge usage: engine.ChargeUsage needs the name of a queue`)
	require.Error(t, u.Apply(u.now.Add(-time.Second), engine.ChargeUsage("q", "p", map[string]int64{model.CPU: 5}, time.Time{})), "clocks do not go back")
	require.Zero(t, len(u.Queues()[1].Past))
	u.apply(engine.ChargeUsage("q", "p", map[string]int64{model.CPU: math.MaxInt64, model.Memory: math.MaxInt64}, time.Time{}))
	require.Positive(t, u.level("q", "p").Past[model.CPU], "however much it was")
}

// What is remembered is in the state of an engine, and a replay from anywhere has it bit for bit.
func TestUsageIsRecorded(t *testing.T) {
	oneGoroutine(t)
	steps := 300
	if testing.Short() {
		steps = 100
	}
	for _, seed := range seeds(t, 3) {
		rng := rand.New(rand.NewPCG(seed, 49))
		var whole, rest bytes.Buffer
		cfg := func() engine.Config {
			cfg := config(&world{})
			cfg.Order, cfg.Backfill = engine.OrderByQueues, engine.Backfill{Mode: engine.Conservative, Depth: 20}
			return cfg
		}
		u := newUsed(t, func(c *engine.Config) { *c = cfg(); c.Recorder = engine.NewRecorder(&whole) })
		u.apply(node("n", 4000), byUsage("root", "", 1, 50*time.Second), byUsage("a", "root", 1, time.Hour), byUsage("b", "root", 2, 3*time.Second), person("p", 1), person("o", 3),
			engine.PutObject(&model.Limit{Name: "l", Queue: "root", Scope: model.LimitEachPrincipal, Measure: model.LimitResourceSeconds, Resource: model.CPU, Amount: 300_000, HalfLife: time.Minute}),
			engine.PutObject(&model.Limit{Name: "m", Queue: "a", Scope: model.LimitSubtree, Measure: model.LimitResourceSeconds, Resource: model.CPU, Amount: 900_000}))
		var running []string
		for i := range steps {
			u.wait(time.Duration(rng.Int64N(int64(4 * time.Second))))
			u.Tick(u.now)
			u.apply(of(fmt.Sprintf("w%03d", i), []string{"a", "b"}[rng.IntN(2)], []string{"p", "o"}[rng.IntN(2)], 1+rng.Int64N(2000), time.Duration(1+rng.IntN(20))*time.Second))
			settle(u.Raw, u.now)
			running = running[:0]
			for row := range u.View().WorkloadsIn(model.Bound) {
				running = append(running, row.ID)
			}
			if len(running) > 0 && rng.IntN(3) > 0 {
				id := running[rng.IntN(len(running))]
				u.apply(engine.Finish(id), engine.Remove(id))
			}
			if i == steps/2 {
				require.NoError(t, u.StartRecording(u.now, engine.NewRecorder(&rest)))
			}
		}
		require.Greater(t, len(u.level("root", "").Use), 0, "seed %d", seed)
		again, err := engine.Replay(cfg(), &rest)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, u.Queues(), again.Queues(), "seed %d", seed)
		require.NotEmpty(t, u.level("b", "o").Past, "seed %d", seed)
		_, err = engine.Replay(cfg(), bytes.NewReader(whole.Bytes()))
		require.NoError(t, err, "seed %d", seed)
	}
}
