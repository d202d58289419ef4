package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// What is odd about queues, limits and time and is not refused has a rule, which is its name here.
// In each case something runs while it comes, which goes on running.
func TestOddSharesHaveRules(t *testing.T) {
	t.Parallel()
	for rule, check := range map[string]func(*used){
		"workloads wait for a parent that is missing, and go when it comes":  missingParents,
		"what runs in a queue that is missing takes of what there is":        absentQueuesUse,
		"guarantees above the capacity are first come, first served":         guaranteesAboveCapacity,
		"guarantees above a capacity that has gone displace nobody":          capacityGoes,
		"queues without weights are equal, and after those that have one":    zeroWeights,
		"a time that was there already is no step back":                      sameTime,
		"a time that goes back is refused, and nothing is done":              timeGoesBack,
		"a start that is yet to come has used nothing, and ends by its time": startsInTheFuture,
		"a limit of nothing lets nothing in, ever":                           limitsOfNothing,
		"a limit of a queue that is missing counts from when it comes":       limitsOfNobody,
	} {
		t.Run(rule, func(t *testing.T) { check(newUsed(t)) })
	}
}

func missingParents(u *used) {
	u.apply(node("n", 8000), putQueue("q", "mid"), putQueue("other", ""), engine.PutObject(&model.Principal{Name: "ann", Parent: "lab"}),
		engine.Adopt(&model.Workload{ID: "runs", Queue: "q", Requests: model.Resources{CPU: 1000}}, model.Binding{Node: "n"}),
		of("w", "q", "", 1000, 0), of("a", "other", "ann", 1000, 0), of("o", "other", "", 1000, 0))
	all := []string{"runs", "w", "a", "o"}
	settle(u.Raw, u.now)
	require.Equal(u.t, []string{"runs", "o"}, placed(u.View(), all), "others do not wait")
	require.Equal(u.t, `there is no queue "mid", the parent of "q"`, why(u.t, u.Raw, "w"))
	require.Equal(u.t, `there is no principal "lab", the parent of "ann"`, why(u.t, u.Raw, "a"))
	u.apply(putQueue("mid", "top", func(q *model.Queue) { q.Max = map[string]int64{model.CPU: 1500} }))
	settle(u.Raw, u.now)
	require.Equal(u.t, `there is no queue "top", the parent of "mid"`, why(u.t, u.Raw, "w"), "the next that is missing")
	u.apply(putQueue("top", ""), engine.PutObject(&model.Principal{Name: "lab"}))
	settle(u.Raw, u.now)
	require.Equal(u.t, []string{"runs", "a", "o"}, placed(u.View(), all), "what ran counts when the parent comes")
	u.apply(engine.Finish("runs"))
	settle(u.Raw, u.now)
	require.Equal(u.t, []string{"w", "a", "o"}, placed(u.View(), all))
	u.apply(engine.RemoveObject(model.ObjectRef{Kind: model.QueueKind, ID: "top"}), of("w2", "q", "", 1, 0))
	settle(u.Raw, u.now)
	require.Equal(u.t, []string{"w"}, placed(u.View(), []string{"w", "w2"}), "a parent that goes takes nothing with it")
}

// keeping is a queue that is guaranteed so much, and which lends nothing of it.
func keeping(name string, cpu int64) engine.Change {
	return putQueue(name, "", func(q *model.Queue) {
		q.Guaranteed, q.Lend = map[string]int64{model.CPU: cpu}, map[string]int64{model.CPU: 0}
	})
}

func absentQueuesUse(u *used) {
	u.apply(node("n", 12000), keeping("keeps", 6000), putQueue("late", ""), putQueue("below", "nowhere"), of("late1", "late", "", 1000, 0))
	settle(u.Raw, u.now)
	for _, queue := range []string{"never", "below", "late"} { // 2 cores in each
		u.apply(engine.Adopt(&model.Workload{ID: queue, Queue: queue, Requests: model.Resources{CPU: 2000}}, model.Binding{Node: "n"}))
	}
	u.apply(engine.Finish("late1"), engine.RemoveObject(model.ObjectRef{Kind: model.QueueKind, ID: "late"}), of("w", "", "", 1000, 0))
	settle(u.Raw, u.now)
	require.Empty(u.t, placed(u.View(), []string{"w"}), "the rest is guaranteed to keeps")
	pos, _ := u.Queue("w")
	require.Equal(u.t, `queue "": what is left is guaranteed to queue "keeps": "w" asks for 1000m cpu too much now`, pos.Standing.Held.String())
	u.apply(of("k", "keeps", "", 6000, 0))
	settle(u.Raw, u.now)
	require.Equal(u.t, []string{"k"}, placed(u.View(), []string{"k", "w"}), "who gets it")
	u.apply(engine.Finish("below"))
	settle(u.Raw, u.now)
	require.Equal(u.t, []string{"w"}, placed(u.View(), []string{"w"}), "and others what is left")
}

func guaranteesAboveCapacity(u *used) {
	u.apply(node("n", 8000), keeping("a", 6000), keeping("b", 6000), putQueue("c", ""),
		of("a1", "a", "", 3000, 0), of("c1", "c", "", 1000, 0), of("a2", "a", "", 3000, 0), of("b1", "b", "", 3000, 0), of("b2", "b", "", 2000, 0))
	settle(u.Raw, u.now)
	require.Equal(u.t, []string{"a1", "b1", "b2"}, placed(u.View(), []string{"a1", "c1", "a2", "b1", "b2"}), "in the order of the queues, and c has nothing of its own")
	u.apply(engine.Finish("b1"))
	settle(u.Raw, u.now)
	require.Equal(u.t, []string{"a2"}, placed(u.View(), []string{"a2", "c1"}), "what comes free is for those who are guaranteed it")
}

func capacityGoes(u *used) {
	u.apply(node("n1", 4000), node("n2", 4000), keeping("a", 4000), keeping("b", 4000),
		of("a1", "a", "", 4000, 0), of("b1", "b", "", 4000, 0), of("b2", "b", "", 1000, 0))
	settle(u.Raw, u.now)
	u.apply(engine.RemoveNode("n2"))
	settle(u.Raw, u.now)
	require.Equal(u.t, []string{"a1", "b1"}, placed(u.View(), []string{"a1", "b1"}), "it is for the orchestrator to say that it has ended")
	on := "a1"
	if row, _ := u.View().Workload("a1"); row.Node == "n2" {
		on = "b1"
	}
	u.apply(engine.Finish(on))
	settle(u.Raw, u.now)
	u.apply(node("n2", 4000))
	u.wait(time.Minute)
	u.Tick(u.now)
	settle(u.Raw, u.now)
	require.NotEmpty(u.t, placed(u.View(), []string{"b1", "b2"}), "and all goes on when it comes back")
}

func zeroWeights(u *used) {
	weigh := func(name string, n int64) engine.Change {
		return putQueue(name, "", func(q *model.Queue) { q.Weight = n })
	}
	u.apply(node("n", 2000), weigh("a", 0), weigh("b", 0))
	for _, id := range []string{"a1", "a2", "b1", "b2"} {
		u.apply(of(id, id[:1], "", 1000, 0))
	}
	settle(u.Raw, u.now)
	require.Equal(u.t, []string{"a1", "b1"}, placed(u.View(), []string{"a1", "a2", "b1", "b2"}), "without any weight they share equally")
	u.apply(weigh("a", 1), engine.Finish("b1"))
	settle(u.Raw, u.now)
	require.Equal(u.t, []string{"a1", "a2"}, placed(u.View(), []string{"a1", "a2", "b2"}), "one that has a weight comes first, whatever it uses")
}

func sameTime(u *used) {
	u.apply(node("n", 8000), byUsage("q", "", 1, week))
	for _, id := range []string{"a", "b"} {
		u.apply(of(id, "q", "", 1000, 0))
		settle(u.Raw, u.now)
		u.apply(engine.Finish(id))
	}
	require.Empty(u.t, u.level("q", "").Past, "no time has passed")
}

func timeGoesBack(u *used) {
	u.apply(node("n", 8000), byUsage("q", "", 1, 1000*week), byUsage("low", "q", 1, 1000*week), of("w", "low", "", 1000, 200*time.Second),
		putLimit(500_000, overTime))
	settle(u.Raw, u.now)
	u.wait(100 * time.Second)
	u.Tick(u.now)
	index, queues := u.View().Index(), u.Queues()
	for _, at := range []time.Time{{}, u.now.Add(-1), epoch.Add(-time.Hour)} {
		require.ErrorIs(u.t, u.Apply(at, engine.Finish("w"), engine.ChargeUsage("low", "", map[string]int64{model.CPU: 5}, time.Time{})), engine.ErrTime)
		require.ErrorIs(u.t, panics(func() { u.Tick(at) }), engine.ErrTime)
		require.ErrorIs(u.t, panics(func() { u.Schedule(at) }), engine.ErrTime)
	}
	require.Equal(u.t, index, u.View().Index())
	require.Equal(u.t, queues, u.Queues())
	require.InDelta(u.t, 100_000, u.level("low", "").Past[model.CPU], 1, "nothing is given back")
}

func startsInTheFuture(u *used) {
	w := &model.Workload{ID: "w", Queue: "q", Requests: model.Resources{CPU: 1000}, Limit: 40 * time.Second}
	u.apply(node("n", 8000), byUsage("top", "", 1, 1000*week), byUsage("q", "top", 1, 1000*week), putLimit(100_000, overTime),
		engine.Adopt(w, model.Binding{Node: "n", Since: u.now.Add(10 * time.Second)}))
	require.Empty(u.t, u.level("q", "").Past)
	u.apply(of("next", "q", "", 1000, 51*time.Second))
	settle(u.Raw, u.now)
	p, _ := u.Queue("next")
	require.Equal(u.t, int64(1000), p.Standing.Held.Missing, "50 s from now, and 51")
	u.wait(10 * time.Second)
	u.Tick(u.now)
	require.InDelta(u.t, 10_000, u.level("q", "").Past[model.CPU], 1, "it takes room from now on")
}

func limitsOfNothing(u *used) {
	u.apply(node("n", 8000), putQueue("q", ""), of("w1", "q", "", 1000, time.Minute))
	settle(u.Raw, u.now)
	for _, set := range []func(*model.Limit){func(*model.Limit) {}, overTime, func(l *model.Limit) { l.Measure, l.Resource = model.LimitResource, model.CPU }} {
		u.apply(putLimit(0, set), of("w2", "q", "", 1000, time.Minute))
		settle(u.Raw, u.now)
		require.Equal(u.t, []string{"w1"}, placed(u.View(), []string{"w1", "w2"}), "what runs goes on")
		p, _ := u.Queue("w2")
		require.Equal(u.t, queue.Gated, p.Place)
		u.apply(engine.Remove("w2"))
	}
}

func limitsOfNobody(u *used) {
	u.apply(node("n", 8000), putLimit(1), putQueue("other", ""), of("o1", "other", "", 1, 0), of("o2", "other", "", 1, 0))
	settle(u.Raw, u.now)
	require.Len(u.t, placed(u.View(), []string{"o1", "o2"}), 2)
	u.apply(putQueue("q", ""), of("q1", "q", "", 1, 0), of("q2", "q", "", 1, 0))
	settle(u.Raw, u.now)
	require.Equal(u.t, []string{"q1"}, placed(u.View(), []string{"q1", "q2"}))
}

// A hold in the past does nothing, to what runs, waits or is planned; one that is over by the time
// that an engine hears of it neither.
func TestAHoldInThePastDoesNothing(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]*model.Hold{
		"long over":       hold("h", -20, -10, "", "n"),
		"over now":        hold("h", -20, 0, "", "n"),
		"since ever":      {Name: "h", Until: epoch, Nodes: []string{"n"}},
		"for those of it": hold("h", -20, -10, "db", "n"),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := engine.NewRaw(heeding(engine.EASY))
			require.NoError(t, err)
			require.NoError(t, r.Apply(epoch, node("n", 2000), engine.Submit(limited("runs", 1000, 30))))
			settle(r, epoch)
			require.NoError(t, r.Apply(epoch, engine.PutObject(h), engine.Submit(limited("w", 1000, 10)), engine.Submit(limited("waits", 2000, 10))))
			settle(r, epoch)
			require.Equal(t, []string{"runs", "w"}, placed(r.View(), []string{"runs", "w", "waits"}))
			p, planned := r.Promise("waits")
			require.True(t, planned)
			require.Equal(t, after(30), p.Current)
			_, due := r.NextDue(epoch)
			require.NoError(t, r.Apply(epoch, engine.RemoveObject(model.ObjectRef{Kind: model.HoldKind, ID: "h"})))
			_, without := r.NextDue(epoch)
			require.Equal(t, without, due, "nothing is to be done because of it")
		})
	}
}

// Where a quota or a limit comes that is less than what runs, that runs on; nothing more begins, and
// the next begins when enough has ended, and not before.
func TestLimitsBelowWhatRuns(t *testing.T) {
	t.Parallel()
	resource := func(l *model.Limit) { l.Measure, l.Resource = model.LimitResource, model.CPU }
	scope := func(s model.LimitScope, set func(*model.Limit)) func(*model.Limit) {
		return func(l *model.Limit) { set(l); l.Scope = s }
	}
	for name, c := range map[string]struct {
		less []engine.Change
		ends int // how many must have ended of the four that run, for another one
	}{
		"running":                    {[]engine.Change{putLimit(2)}, 3},
		"running, of each principal": {[]engine.Change{putLimit(1, scope(model.LimitEachPrincipal, func(*model.Limit) {}))}, 4},
		"a resource":                 {[]engine.Change{putLimit(3000, resource)}, 2},
		"a resource, of the queue":   {[]engine.Change{putLimit(1000, scope(model.LimitOwn, resource))}, 4},
		"of the principal":           {[]engine.Change{putLimit(2, func(l *model.Limit) { l.Queue, l.Principal = "", "ann" })}, 3},
		"resource-seconds":           {[]engine.Change{putLimit(150_000, overTime)}, 3}, // 4 of 60 s may run, 10 s of each have
		"the most of the queue":      {[]engine.Change{putQueue("q", "top", func(q *model.Queue) { q.Max = map[string]int64{model.CPU: 2000} })}, 3},
		"the most of the one above":  {[]engine.Change{putQueue("top", "", func(q *model.Queue) { q.Max = map[string]int64{model.CPU: 1000} })}, 4},
		"what it may borrow": {[]engine.Change{putQueue("q", "top", func(q *model.Queue) {
			q.Guaranteed, q.Borrow = map[string]int64{model.CPU: 1000}, map[string]int64{model.CPU: 1000}
		})}, 3},
		"what others are guaranteed": {[]engine.Change{keeping("other", 6000)}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUsed(t)
			run := []string{"r1", "r2", "r3", "r4"}
			u.apply(node("n", 8000), putQueue("top", ""), putQueue("q", "top"), person("ann", 1))
			for _, id := range run {
				u.apply(of(id, "q", "ann", 1000, time.Minute))
			}
			settle(u.Raw, u.now)
			u.wait(10 * time.Second)
			u.apply(append(c.less, of("next", "q", "ann", 1000, time.Minute))...)
			for ended := 0; ; ended++ {
				settle(u.Raw, u.now)
				require.Equal(t, append(run[:0:0], run[ended:]...), append(run[:0:0], placed(u.View(), run)...), "what runs goes on")
				if len(placed(u.View(), []string{"next"})) > 0 || ended == len(run) {
					require.Equal(t, c.ends, ended)
					require.Len(t, placed(u.View(), []string{"next"}), 1)
					return
				}
				u.apply(engine.Finish(run[ended]))
			}
		})
	}
	t.Run("a number of workloads", func(t *testing.T) { // what there is stays, no more is taken
		u := newUsed(t)
		count := func(l *model.Limit) { l.Measure, l.Breach = model.LimitCount, model.LimitRefuse }
		u.apply(node("n", 1000), putQueue("q", ""), of("w1", "q", "", 1000, 0), of("w2", "q", "", 1000, 0), of("w3", "q", "", 1000, 0))
		settle(u.Raw, u.now)
		u.apply(putLimit(2, count))
		require.Error(t, u.Apply(u.now, of("w4", "q", "", 1, 0)))
		for _, id := range []string{"w1", "w2"} {
			settle(u.Raw, u.now)
			require.Equal(t, []string{id}, placed(u.View(), []string{"w1", "w2", "w3"}))
			u.apply(engine.Finish(id), engine.Remove(id))
		}
		u.apply(of("w4", "q", "", 1, 0))
		require.Error(t, u.Apply(u.now, of("w5", "q", "", 1, 0)))
	})
}
