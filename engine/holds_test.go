package engine_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/holds"
)

// heeding is a configuration of the default plugins and of holds, with strict order.
func heeding(mode engine.BackfillMode) engine.Config {
	cfg := config(&world{})
	extpoints.Use(&cfg.Profiles[0], holds.New, extpoints.NoArgs{})
	cfg.Backfill.Mode = mode
	return cfg
}

// hold sets the nodes aside between two seconds: for the users of an app, or for nobody.
func hold(name string, from, until int, app string, nodes ...string) *model.Hold {
	h := &model.Hold{Name: name, From: after(from), Until: after(until), Nodes: nodes}
	if app != "" {
		h.Users = model.SelectLabels(map[string]string{"app": app})
	}
	return h
}

// A workload that waits for a hold to end, or to begin, is promised that moment.
func TestAPromiseIsMadeForTheEndOfAHold(t *testing.T) {
	for _, c := range []struct {
		name    string
		app     string
		seconds int
		busy    int // the node is, until then
		want    int
	}{
		{name: "it ends before", seconds: 10, want: 0},
		{name: "maintenance", seconds: 11, want: 20},
		{name: "others' reservation", app: "db", seconds: 11, want: 20},
		{name: "its own reservation", app: "web", seconds: 10, busy: 1, want: 10},
		{name: "longer than its own reservation", app: "web", seconds: 11, want: 20},
		{name: "the node is busy until later", seconds: 11, busy: 25, want: 25},
		{name: "the node is free between", seconds: 6, busy: 5, want: 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			reserved := ""
			if c.app != "" {
				reserved = "web"
			}
			r, err := engine.NewRaw(heeding(engine.EASY))
			require.NoError(t, err)
			require.NoError(t, r.Apply(epoch, node("n", 1000), engine.PutObject(hold("h", 10, 20, reserved, "n"))))
			if c.busy > 0 {
				require.NoError(t, r.Apply(epoch, engine.Adopt(limited("busy", 500, c.busy), model.Binding{Node: "n", Since: epoch})))
			}
			w := limited("w", 1000, c.seconds)
			w.Labels = map[string]string{"app": c.app}
			require.NoError(t, r.Apply(epoch, engine.Submit(w)))
			settle(r, epoch)
			if c.want == 0 {
				require.Equal(t, "Bound@n", phaseOf(r, "w"))
				return
			}
			p, _ := r.Promise("w")
			require.Equal(t, after(c.want), p.Current)
			start := tickUntilBound(t, r, "w", c.busy)
			require.Equal(t, after(c.want), start, "the promise is kept, by nothing but Tick and the end of what ran")
		})
	}
}

// tickUntilBound goes on from one second at which something is due to the next. What is
// busy ends at its second.
func tickUntilBound(t *testing.T, r *engine.Raw, id string, busy int) time.Time {
	t.Helper()
	for at := 0; at < 100; at++ {
		now := after(at)
		if at == busy && busy > 0 {
			require.NoError(t, r.Apply(now, engine.Finish("busy")))
		}
		if due, ok := r.NextDue(now); ok && !due.After(now) {
			r.Tick(now)
		}
		settle(r, now)
		if strings.HasPrefix(phaseOf(r, id), "Bound") {
			return now
		}
	}
	t.Fatal("it never starts")
	return time.Time{}
}

// A hold that is put in the way of a promise is its cause.
func TestAHoldMovesAPromise(t *testing.T) {
	r, err := engine.NewRaw(heeding(engine.EASY))
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000), engine.Adopt(limited("runs", 600, 10), model.Binding{Node: "n", Since: epoch}),
		engine.Submit(limited("waits", 900, 5))))
	settle(r, epoch)
	p, _ := r.Promise("waits")
	require.Equal(t, after(10), p.Current)
	require.NoError(t, r.Apply(after(1), engine.PutObject(hold("firmware", 12, 30, "", "n"))))
	settle(r, after(1))
	p, _ = r.Promise("waits")
	require.Equal(t, after(10), p.First)
	require.Equal(t, after(30), p.Current)
	require.Equal(t, []engine.PromiseCause{{Reason: engine.ObjectChanged, Name: "firmware"}}, p.Causes)
}

// Something that starts now and ends before a hold is not in the way of what is planned
// beside it meanwhile: at that moment it has run for a while already.
func TestWhatRunsBesideAReservationEndsBeforeTheHold(t *testing.T) {
	r, err := engine.NewRaw(heeding(engine.NoPlan))
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000), engine.PutObject(hold("h", 10, 20, "", "n")),
		engine.Adopt(limited("busy", 600, 5), model.Binding{Node: "n", Since: epoch}),
		engine.Submit(limited("first", 600, 5)), engine.Submit(limited("second", 300, 8))))
	fits, err := r.Branch().WhenFits(epoch, "first", "second")
	require.NoError(t, err)
	require.Equal(t, []time.Time{after(5), epoch}, []time.Time{fits[0].At, fits[1].At})
}

// When something fits is when a cycle at that moment would place it, and no earlier one
// would, whatever holds there are.
func TestWhenFitsAmongHolds(t *testing.T) {
	t.Parallel()
	const horizon = 60
	fits := map[string]int{}
	for _, seed := range seeds(t, 150) {
		rng := rand.New(rand.NewPCG(seed, 15))
		r, err := engine.NewRaw(heeding(engine.NoPlan))
		require.NoError(t, err)
		ends := map[string]int{}
		var changes []engine.Change
		for i := range 3 {
			name := fmt.Sprintf("n%d", i)
			changes = append(changes, node(name, 1000))
			for j := range rng.IntN(3) {
				id, seconds := fmt.Sprintf("r%d%d", i, j), 1+rng.IntN(30)
				ends[id] = seconds
				changes = append(changes, engine.Adopt(limited(id, 300*int64(1+rng.IntN(2)), seconds), model.Binding{Node: name, Since: epoch}))
			}
		}
		for i := range 4 {
			from := rng.IntN(40) - 10
			h := hold(fmt.Sprintf("h%d", i), from, from+1+rng.IntN(25), []string{"", "web"}[rng.IntN(2)], fmt.Sprintf("n%d", rng.IntN(3)), fmt.Sprintf("n%d", rng.IntN(3)))
			h.Flex = rng.IntN(3) == 0
			if rng.IntN(5) == 0 {
				h.Until = time.Time{}
			}
			changes = append(changes, engine.PutObject(h))
		}
		w := limited("w", 700, rng.IntN(20))
		w.Labels = map[string]string{"app": []string{"web", "db"}[rng.IntN(2)]}
		require.NoError(t, r.Apply(epoch, append(changes, engine.Submit(w))...))

		want := time.Time{}
		for at := 0; at < horizon && want.IsZero(); at++ {
			b := r.Branch()
			for _, id := range sorted(ends) {
				if ends[id] <= at {
					require.NoError(t, b.Apply(after(at), engine.Finish(id)))
				}
			}
			d, err := b.Schedule(after(at), "w")
			require.NoError(t, err)
			if d.Placed() {
				want = after(at)
			}
		}
		got, err := r.Branch().WhenFits(epoch, "w")
		require.NoError(t, err)
		require.Equal(t, want, got[0].At, "seed %d", seed)
		switch {
		case want.IsZero():
			fits["never"]++
		case want.Equal(epoch):
			fits["now"]++
		default:
			fits["later"]++
		}
	}
	t.Log(fits)
	if *seed == 0 {
		require.True(t, fits["never"] > 0 && fits["now"] > 0 && 7*fits["later"] > fits["later"]+fits["now"]+fits["never"], "%v", fits)
	}
}

// A recording that begins while a hold is still to end, or has ended and nobody was told of
// it, replays to the same.
func TestReplayFromTheMiddleTellsOfHolds(t *testing.T) {
	for _, begin := range []int{5, 12} {
		t.Run(fmt.Sprint(begin), func(t *testing.T) {
			r, err := engine.NewRaw(heeding(engine.NoPlan))
			require.NoError(t, err)
			require.NoError(t, r.Apply(epoch, node("n", 1000), engine.PutObject(hold("h", 0, 10, "", "n")), engine.Submit(limited("w", 100, 5))))
			settle(r, epoch)
			var log bytes.Buffer
			require.NoError(t, r.StartRecording(after(begin), engine.NewRecorder(&log)))
			due, ok := r.NextDue(after(begin))
			require.True(t, ok)
			require.Equal(t, after(max(begin, 10)), due)
			r.Tick(due)
			settle(r, due.Add(time.Minute))
			require.Equal(t, "Bound@n", phaseOf(r, "w"))
			again, err := engine.Replay(heeding(engine.NoPlan), &log)
			require.NoError(t, err)
			require.Equal(t, "Bound@n", phaseOf(again, "w"))
		})
	}
}
