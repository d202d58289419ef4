package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// byQueues is an engine that plans ahead by queues "a", which may use 1,000 at most, and "b", with one
// node that offers 2,000.
func byQueues(t *testing.T, how engine.Backfill, changes ...engine.Change) *engine.Raw {
	t.Helper()
	cfg := config(&world{})
	cfg.Order, cfg.Backfill = engine.OrderByQueues, how
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, engine.PutObject(&model.Queue{Name: "a", Weight: 1, Max: map[string]int64{model.CPU: 1000}}),
		engine.PutObject(&model.Queue{Name: "b", Weight: 1}), node("n", 2000)))
	require.NoError(t, r.Apply(epoch, changes...))
	settle(r, epoch)
	return r
}

func inQueue(queue string, w *model.Workload) *model.Workload {
	w.Queue = queue
	return w
}

// What a quota holds back is promised nothing, and the promise says which quota; what comes behind it
// in other queues is promised something.
func TestPromiseSaysWhatHoldsItBack(t *testing.T) {
	t.Parallel()
	r := byQueues(t, engine.Backfill{Mode: engine.Conservative},
		engine.Adopt(inQueue("b", limited("runs", 1500, 10)), model.Binding{Node: "n", Since: epoch}),
		engine.Submit(inQueue("a", limited("first", 700, 5))),
		engine.Submit(inQueue("a", limited("second", 600, 5))),
		engine.Submit(inQueue("b", limited("other", 1600, 5))))
	first, ok := r.Promise("first")
	require.True(t, ok)
	require.Equal(t, after(10), first.Current)
	require.Nil(t, first.Held)
	second, ok := r.Promise("second")
	require.True(t, ok)
	require.Zero(t, second.Current)
	require.Equal(t, `queue "a": max: "second" asks for 300m cpu too much now`, second.Held.String())
	other, ok := r.Promise("other")
	require.True(t, ok)
	require.Equal(t, after(15), other.Current, "when first has ended")

	// Once there is no more of the queue before it, it has its turn.
	require.NoError(t, r.Apply(after(1), engine.Remove("first")))
	settle(r, after(1))
	second, ok = r.Promise("second")
	require.True(t, ok)
	require.Equal(t, after(10), second.Current)
	require.Nil(t, second.Held)
}

// Nothing starts that would leave something with a reservation too little of a quota, unless it has
// ended by then: there is room for small from the start.
func TestBackfillLeavesQuotasToReservations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		limit int
		want  model.Phase
	}{
		{"it has ended by then", 10, model.Bound},
		{"it has not", 11, model.Pending},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := byQueues(t, engine.Backfill{Mode: engine.EASY},
				engine.Adopt(inQueue("b", limited("runs", 1500, 10)), model.Binding{Node: "n", Since: epoch}),
				engine.Submit(inQueue("a", limited("first", 700, 5))),
				engine.Submit(inQueue("a", limited("small", 400, c.limit))))
			row, _ := r.View().Workload("small")
			require.Equal(t, c.want, row.Phase)
			if c.want == model.Pending {
				e, err := r.Explain(epoch, "small", engine.ExplainOptions{})
				require.NoError(t, err)
				require.Equal(t, `0/1 nodes are available: 1 would delay "first", which is to start at 2026-01-01T00:00:10Z: `+
					`with both, queue "a": max: "first" asks for 100m cpu too much now.`, e.Last.Message)
			}
		})
	}
}

// A reservation may be passed by another queue's, whose share has become less: that is the cause.
func TestPromiseIsPassed(t *testing.T) {
	t.Parallel()
	r := byQueues(t, engine.Backfill{Mode: engine.EASY},
		engine.Adopt(inQueue("b", limited("runs", 1500, 10)), model.Binding{Node: "n", Since: epoch}),
		engine.Adopt(inQueue("b", limited("short", 400, 5)), model.Binding{Node: "n", Since: epoch}),
		engine.Submit(inQueue("a", limited("first", 1000, 5))),
		engine.Submit(inQueue("b", limited("other", 1600, 5))))
	require.Equal(t, []string{"first at 10s: first on n"}, reserved(r.Reservations()), "queue a uses nothing")
	require.NoError(t, r.Apply(after(1), engine.Remove("runs"), engine.Adopt(inQueue("a", limited("theirs", 1600, 30)), model.Binding{Node: "n", Since: after(1)})))
	settle(r, after(1))
	require.Equal(t, []string{"other at 31s: other on n"}, reserved(r.Reservations()), "it uses more than queue b now")
	first, ok := r.Promise("first")
	require.True(t, ok)
	require.Zero(t, first.Current)
	require.Equal(t, after(10), first.First)
	require.Equal(t, after(1), first.MovedAt)
	require.Contains(t, first.Causes, engine.PromiseCause{Reason: engine.SomethingAhead, Name: "other"})
}

// A reservation that a quota takes away has that quota as its cause, also when it is back later.
func TestPromiseIsHeldBack(t *testing.T) {
	t.Parallel()
	r := byQueues(t, engine.Backfill{Mode: engine.EASY},
		engine.Adopt(inQueue("b", limited("runs", 1500, 10)), model.Binding{Node: "n", Since: epoch}),
		engine.Submit(inQueue("a", limited("first", 700, 5))))
	require.Equal(t, []string{"first at 10s: first on n"}, reserved(r.Reservations()))
	require.NoError(t, r.Apply(after(1), engine.Adopt(inQueue("a", limited("theirs", 400, 30)), model.Binding{Node: "n", Since: after(1)})))
	settle(r, after(1))
	causes := []engine.PromiseCause{{Reason: engine.PlacedOutside, Name: "theirs"}, {Reason: engine.HeldBack, Name: "a"}}
	first, ok := r.Promise("first")
	require.True(t, ok)
	require.Zero(t, first.Current)
	require.Equal(t, causes, first.Causes)
	require.Equal(t, `the queue or limit "a" holds it back`, first.Causes[1].String())

	require.NoError(t, r.Apply(after(9), engine.Remove("theirs"), engine.Adopt(inQueue("b", limited("more", 500, 10)), model.Binding{Node: "n", Since: after(9)})))
	settle(r, after(9))
	first, _ = r.Promise("first")
	require.Equal(t, after(10), first.Current)
	require.Equal(t, causes, first.Causes)
	require.Equal(t, after(1), first.MovedAt)
}

// bouncer rejects one workload at Permit.
type bouncer struct{}

func (bouncer) Name() string { return "Bouncer" }

func (bouncer) Permit(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) (*extpoints.Status, time.Duration) {
	if w.ID == "refused" {
		return extpoints.NewStatus(extpoints.Unschedulable, "not tonight"), 0
	}
	return nil, 0
}

// A workload that Permit rejects waits for something else than room: it has no reservation, and
// others start.
func TestRejectedByPermitHasNoReservation(t *testing.T) {
	t.Parallel()
	cfg := config(&world{})
	cfg.Backfill.Mode = engine.InOrder
	use(&cfg, bouncer{})
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000), engine.Submit(limited("refused", 400, 5))))
	settle(r, epoch)
	require.Empty(t, r.Reservations())
	require.NoError(t, r.Apply(epoch.Add(time.Second), engine.Submit(limited("next", 900, 5))))
	settle(r, epoch.Add(time.Second))
	row, _ := r.View().Workload("next")
	require.Equal(t, model.Bound, row.Phase)
}
