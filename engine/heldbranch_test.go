package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// A branch says of a workload that is not there what the engine will say when it is.
func TestABranchSaysWhatQuotasAndLimitsHoldBack(t *testing.T) {
	t.Parallel()
	cpu := func(n int64) map[string]int64 { return map[string]int64{model.CPU: n} }
	cluster := []engine.Change{
		node("n", 8000),
		engine.PutObject(&model.Queue{Name: "most", Max: cpu(4000)}),
		engine.PutObject(&model.Queue{Name: "below", Parent: "most"}),
		engine.PutObject(&model.Queue{Name: "modest", Guaranteed: cpu(1000), Borrow: cpu(0)}),
		engine.PutObject(&model.Queue{Name: "lender", Guaranteed: cpu(2000), Lend: cpu(0)}),
		engine.PutObject(&model.Queue{Name: "few"}),
		engine.PutObject(&model.Principal{Name: "ann", Queue: "few"}),
		engine.PutObject(&model.Principal{Name: "lost", Queue: "nowhere"}),
		engine.PutObject(&model.Limit{Name: "one each", Queue: "few", Scope: model.LimitEachPrincipal, Measure: model.LimitRunning, Amount: 1}),
		engine.PutObject(&model.Limit{Name: "small", Queue: "few", Scope: model.LimitEachWorkload, Measure: model.LimitResource, Resource: model.CPU, Amount: 500}),
		of("runs", "most", "", 3000, 0), of("ann's", "", "ann", 100, 0),
	}
	for name, c := range map[string]struct {
		w    engine.Change
		want string
	}{
		"a quota of a queue":               {of("w", "most", "", 2000, 0), `queue "most": max: "w" asks for 1000m cpu too much now`},
		"of the queue above":               {of("w", "below", "", 1001, 0), `queue "most": max: "w" asks for 1m cpu too much now`},
		"more than there ever is":          {of("w", "most", "", 5000, 0), `queue "most": max: "w" asks for 1000m cpu too much, whatever else runs`},
		"what may be borrowed":             {of("w", "modest", "", 1001, 0), `queue "modest": borrow: "w" asks for 1m cpu too much, whatever else runs`},
		"what is not lent":                 {of("w", "", "", 3000, 0), `queue "": what is left is guaranteed to queue "lender": "w" asks for 100m cpu too much now`},
		"a limit on numbers":               {of("w", "", "ann", 1, 0), `limit "one each": "w" is 1 too many now`},
		"also where the queue is named":    {of("w", "few", "ann", 1, 0), `limit "one each": "w" is 1 too many now`},
		"a limit on each":                  {of("w", "few", "", 501, 0), `limit "small": "w" asks for 1m cpu too much, whatever else runs`},
		"a queue that is not there":        {of("w", "nowhere", "", 1, 0), `there is no queue "nowhere"`},
		"nor is that of the principal":     {of("w", "", "lost", 1, 0), `there is no queue "nowhere"`},
		"a principal that is not there":    {of("w", "", "nobody", 1, 0), `there is no principal "nobody"`},
		"nothing":                          {of("w", "most", "", 1000, 0), ""},
		"nothing in the limits of another": {of("w", "few", "", 500, 0), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUsed(t)
			u.apply(cluster...)
			settle(u.Raw, u.now)
			b := u.Branch()
			require.NoError(t, b.Apply(u.now, c.w))
			require.Equal(t, c.want, held(t, b, u.now, "w"))

			u.apply(c.w)
			settle(u.Raw, u.now)
			e, err := u.Explain(u.now, "w", engine.ExplainOptions{})
			require.NoError(t, err)
			require.Equal(t, c.want, e.Message)
		})
	}
}

// held is what a branch says of what holds the workload or group back.
func held(t *testing.T, b *engine.Branch, now time.Time, id string) string {
	t.Helper()
	h, err := b.Held(now, id)
	require.NoError(t, err)
	if h == nil {
		return ""
	}
	return h.String()
}

// What the branch places, takes away or defines counts from then on, there and on branches of it.
func TestWhatIsHeldOnABranchFollowsTheBranch(t *testing.T) {
	t.Parallel()
	queue := func(most int64) engine.Change {
		return engine.PutObject(&model.Queue{Name: "q", Max: map[string]int64{model.CPU: most}})
	}
	u := newUsed(t)
	u.apply(node("n", 8000), queue(2000), of("first", "q", "", 2000, 0), of("second", "q", "", 1000, 0))
	b := u.Branch()
	require.Empty(t, held(t, b, u.now, "second"), "whoever is before it")
	_, err := b.Schedule(u.now, "first")
	require.NoError(t, err)
	const full = `queue "q": max: "second" asks for 1000m cpu too much now`
	require.Equal(t, full, held(t, b, u.now, "second"))
	again := b.Branch()
	require.Equal(t, full, held(t, again, u.now, "second"))
	require.NoError(t, again.Apply(u.now, queue(3000)))
	require.Empty(t, held(t, again, u.now, "second"))
	require.NoError(t, again.Apply(u.now, queue(900)))
	require.Equal(t, `queue "q": max: "second" asks for 100m cpu too much, whatever else runs`, held(t, again, u.now, "second"))
	require.Equal(t, full, held(t, b, u.now, "second"), "the one knows nothing of the other")
	require.NoError(t, b.Apply(u.now, engine.Remove("first")))
	require.Empty(t, held(t, b, u.now, "second"))

	settle(u.Raw, u.now)
	require.Equal(t, []string{"first"}, placed(u.View(), []string{"first", "second"}), "and the engine of neither")
}

// A limit on what is used over time counts what has been used, also by what has ended, as it decays.
func TestWhatIsHeldOnABranchByWhatWasUsed(t *testing.T) {
	t.Parallel()
	budget := func(halfLife time.Duration) engine.Change {
		return engine.PutObject(&model.Limit{
			Name: "l", Queue: "q", Scope: model.LimitSubtree, Measure: model.LimitResourceSeconds, Resource: model.CPU, Amount: 100_000, HalfLife: halfLife,
		})
	}
	u := newUsed(t)
	usage := engine.ChargeUsage("q", "", map[string]int64{model.CPU: 80_000}, u.now)
	u.apply(node("n", 8000), engine.PutObject(&model.Queue{Name: "q"}), budget(0), usage, of("w", "q", "", 1000, 50*time.Second))
	const held30 = `limit "l": "w" asks for 30000m cpu-seconds too much now`
	b := u.Branch()
	u.apply(engine.ChargeUsage("q", "", map[string]int64{model.CPU: 1_000_000}, u.now))
	require.Equal(t, held30, held(t, b, u.now, "w"), "it is as old as it is")
	require.Equal(t, held30, held(t, b.Branch(), u.now, "w"))
	require.NoError(t, b.Apply(u.now, engine.ChargeUsage("q", "", map[string]int64{model.CPU: 5_000}, u.now)))
	require.Equal(t, `limit "l": "w" asks for 35000m cpu-seconds too much now`, held(t, b, u.now, "w"), "what is charged on the branch")

	u = newUsed(t)
	u.apply(node("n", 8000), engine.PutObject(&model.Queue{Name: "q"}), budget(time.Minute), usage, of("w", "q", "", 1000, 50*time.Second))
	b = u.Branch()
	require.Equal(t, held30, held(t, b, u.now, "w"))
	require.Empty(t, held(t, b, u.now.Add(time.Minute), "w"), "40 of them are left")
	require.Empty(t, held(t, b.Branch(), u.now.Add(time.Minute), "w"))

	u = newUsed(t)
	u.apply(node("n", 8000), engine.PutObject(&model.Queue{Name: "q"}), budget(0), of("runs", "q", "", 1000, 80*time.Second))
	settle(u.Raw, u.now)
	u.apply(of("w", "q", "", 1000, 50*time.Second))
	u.wait(10 * time.Second)
	b = u.Branch()
	require.NoError(t, b.Apply(u.now, engine.Remove("runs")))
	require.Empty(t, held(t, b, u.now, "w"), "10 of 100 are used, and no more")
	require.Equal(t, held30, held(t, u.Branch(), u.now, "w"), "what runs may use its 80")
}

// The members of a tree of groups are counted together.
func TestGroupsThatAreHeldOnABranch(t *testing.T) {
	t.Parallel()
	member := func(id, queue string) engine.Change {
		return engine.Submit(&model.Workload{ID: id, Group: "g", Queue: queue, Requests: model.Resources{CPU: 1000}})
	}
	u := newUsed(t)
	u.apply(node("n", 8000), engine.PutObject(&model.Queue{Name: "q", Max: map[string]int64{model.CPU: 1500}}),
		engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 1}), member("one", "q"))
	b := u.Branch()
	require.Empty(t, held(t, b, u.now, "g"))
	require.NoError(t, b.Apply(u.now, member("two", "q")))
	require.Equal(t, `queue "q": max: "g" asks for 500m cpu too much, whatever else runs`, held(t, b, u.now, "g"))
	require.Empty(t, held(t, b, u.now, "two"), "by itself")
	require.NoError(t, b.Apply(u.now, member("three", "")))
	require.Equal(t, "the members of its group name different queues or principals", held(t, b, u.now, "g"))
	require.NoError(t, b.Apply(u.now, engine.Remove("one"), engine.Remove("two"), engine.Remove("three")))
	require.Empty(t, held(t, b, u.now, "g"), "there is nobody to hold back")
}

func TestWhatIsNotHeldOnABranch(t *testing.T) {
	t.Parallel()
	u := newUsed(t)
	u.apply(node("n", 8000), of("placed", "", "", 1, 0))
	settle(u.Raw, u.now)
	_, err := u.Branch().Held(u.now, "placed")
	require.EqualError(t, err, `what holds "placed" back on a branch: it is Bound, not Pending`)
	_, err = u.Branch().Held(u.now, "nobody")
	require.ErrorIs(t, err, engine.ErrNotFound)

	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, engine.PutObject(&model.Queue{Name: "q", Max: map[string]int64{model.CPU: 0}}), of("w", "q", "", 1, 0)))
	require.Empty(t, held(t, r.Branch(), epoch, "w"), "the order is not by queues")
	require.Empty(t, held(t, r.Branch().Branch(), epoch, "w"))
}
