package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// shortenable is a workload that takes any limit between two numbers of seconds.
func shortenable(id string, cpu int64, least, most int) *model.Workload {
	w := limited(id, cpu, most)
	w.MinLimit = time.Duration(least) * time.Second
	return w
}

// A workload is granted the longest limit with which it runs into no hold and delays nothing
// that has a reservation, and waits where that is shorter than it takes.
func TestAShorterLimitIsGranted(t *testing.T) {
	for _, c := range []struct {
		name    string
		w       *model.Workload
		changes []engine.Change
		want    int // seconds, 0 for its own limit, -1 where it waits
	}{
		{"nothing is in the way", shortenable("w", 100, 5, 30), nil, 0},
		{"a hold after its limit", shortenable("w", 100, 5, 30), []engine.Change{engine.PutObject(hold("h", 30, 40, "", "n"))}, 0},
		{"a hold", shortenable("w", 100, 5, 30), []engine.Change{engine.PutObject(hold("h", 12, 40, "", "n"))}, 12},
		{"a hold that is too near", shortenable("w", 100, 13, 30), []engine.Change{engine.PutObject(hold("h", 12, 40, "", "n"))}, -1},
		{"the end of its own reservation", func() *model.Workload {
			w := shortenable("w", 100, 5, 30)
			w.Labels = map[string]string{"app": "web"}
			return w
		}(), []engine.Change{engine.PutObject(hold("h", -5, 20, "web", "n"))}, 20},
		{"the first of two holds", shortenable("w", 100, 5, 30),
			[]engine.Change{engine.PutObject(hold("late", 20, 40, "", "n")), engine.PutObject(hold("soon", 10, 15, "", "n"))}, 10},
		{"a hold on another node", shortenable("w", 100, 5, 30),
			[]engine.Change{engine.PutObject(hold("here", 20, 40, "", "n")), engine.PutObject(hold("there", 10, 15, "", "m"))}, 20},
		{"a reservation", shortenable("w", 300, 5, 30), []engine.Change{
			engine.Adopt(limited("runs", 600, 20), model.Binding{Node: "n", Since: epoch}), engine.Submit(limited("first", 900, 5))}, 20},
		{"a reservation beside which there is room", shortenable("w", 100, 5, 30), []engine.Change{
			engine.Adopt(limited("runs", 600, 20), model.Binding{Node: "n", Since: epoch}), engine.Submit(limited("first", 900, 5))}, 0},
		{"no room", shortenable("w", 500, 5, 30), []engine.Change{
			engine.Adopt(limited("runs", 600, 20), model.Binding{Node: "n", Since: epoch}), engine.PutObject(hold("h", 12, 40, "", "n"))}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := engine.NewRaw(heeding(engine.EASY))
			require.NoError(t, err)
			require.NoError(t, r.Apply(epoch, append([]engine.Change{node("n", 1000)}, c.changes...)...))
			require.NoError(t, r.Apply(epoch, engine.Submit(c.w)))
			settle(r, epoch)
			if c.want < 0 {
				require.Equal(t, "Pending", phaseOf(r, "w"))
				return
			}
			require.Equal(t, "Bound@n", phaseOf(r, "w"))
			row, _ := r.View().Workload("w")
			require.Equal(t, time.Duration(c.want)*time.Second, row.GrantedLimit)
		})
	}
}

// What is granted is the longest limit with which the same workload, if it insisted, would be
// placed.
func TestTheLongestLimitIsGranted(t *testing.T) {
	t.Parallel()
	seeds, granted := seeds(t, 150), 0
	for _, seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 8))
		r, err := engine.NewRaw(heeding(engine.NoPlan))
		require.NoError(t, err)
		changes := []engine.Change{node("n0", 1000), node("n1", 1000)}
		for i := range 5 {
			from := rng.IntN(40) - 10
			h := hold(fmt.Sprintf("h%d", i), from, from+1+rng.IntN(25), []string{"", "web"}[rng.IntN(2)], fmt.Sprintf("n%d", rng.IntN(2)))
			h.Flex = rng.IntN(3) == 0
			changes = append(changes, engine.PutObject(h))
		}
		require.NoError(t, r.Apply(epoch, changes...))
		const most = 30
		w := shortenable("w", 100, 1+rng.IntN(10), most)
		w.Labels = map[string]string{"app": []string{"web", "db"}[rng.IntN(2)]}
		want := time.Duration(0)
		for limit := w.Limit; limit >= w.MinLimit && want == 0; limit -= time.Second {
			insists := w.Clone()
			insists.Limit, insists.MinLimit = limit, 0
			b := r.Branch()
			require.NoError(t, b.Apply(epoch, engine.Submit(insists)))
			d, err := b.Schedule(epoch, "w")
			require.NoError(t, err)
			if d.Placed() {
				want = limit
			}
		}
		b := r.Branch()
		require.NoError(t, b.Apply(epoch, engine.Submit(w)))
		d, err := b.Schedule(epoch, "w")
		require.NoError(t, err)
		require.Equal(t, want > 0, d.Placed(), "seed %d", seed)
		if want == w.Limit {
			want = 0
		}
		require.Equal(t, want, d.Binding.Limit, "seed %d", seed)
		if want > 0 {
			granted++
		}
	}
	if *seed == 0 {
		require.Greater(t, granted, len(seeds)/5)
	}
}

// boundWith remembers the limits that bindings had.
type boundWith struct {
	world
	limits map[string]time.Duration
}

func (o *boundWith) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	o.limits[w.ID] = b.Limit
	return o.world.Bind(ctx, w, b)
}

// What was granted goes with the binding and stays in the record: promises are made by it, one
// who adopts what runs says it again, a replay grants the same, and it is gone with the node.
func TestAGrantedLimitStays(t *testing.T) {
	var log bytes.Buffer
	o := &boundWith{limits: map[string]time.Duration{}}
	cfg := heeding(engine.EASY)
	cfg.Orchestrator, cfg.Recorder = o, engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000), engine.PutObject(hold("h", 10, 11, "", "n")), engine.Submit(shortenable("w", 600, 5, 30))))
	settle(r, epoch)
	require.Equal(t, 10*time.Second, o.limits["w"])
	require.NoError(t, r.Apply(epoch, engine.Confirm(model.Binding{Workload: "w", Node: "n", Since: after(1)}), engine.Submit(limited("next", 600, 60))))
	settle(r, epoch)
	row, _ := r.View().Workload("w")
	require.Equal(t, 10*time.Second, row.GrantedLimit)
	p, _ := r.Promise("next")
	require.Equal(t, after(11), p.Current, "ten seconds after it began")

	again, err := engine.Replay(heeding(engine.EASY), bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	replayed, _ := again.View().Workload("w")
	require.Equal(t, row.GrantedLimit, replayed.GrantedLimit)
	lied := bytes.Replace(log.Bytes(), []byte(`"Node":"n","Limit":10000000000`), []byte(`"Node":"n","Limit":20000000000`), 1)
	_, err = engine.Replay(heeding(engine.EASY), bytes.NewReader(lied))
	var d *engine.Divergence
	require.ErrorAs(t, err, &d)
	require.Equal(t, []string{`node "n" for 20s`, `node "n" for 10s`}, []string{d.Want, d.Got})

	var later bytes.Buffer
	require.NoError(t, r.StartRecording(epoch, engine.NewRecorder(&later)))
	again, err = engine.Replay(heeding(engine.EASY), &later)
	require.NoError(t, err)
	replayed, _ = again.View().Workload("w")
	require.Equal(t, row.GrantedLimit, replayed.GrantedLimit, "also from the middle")

	fresh, err := engine.NewRaw(heeding(engine.EASY))
	require.NoError(t, err)
	require.NoError(t, fresh.Apply(epoch, node("n", 1000), engine.Adopt(row.Workload, model.Binding{Node: "n", Since: after(1), Limit: row.GrantedLimit})))
	adopted, _ := fresh.View().Workload("w")
	require.Equal(t, row.GrantedLimit, adopted.GrantedLimit)
	require.ErrorContains(t, fresh.Apply(epoch, engine.Adopt(limited("x", 1, 1), model.Binding{Node: "n", Limit: -1})), "is negative")

	require.NoError(t, r.Apply(epoch, engine.Requeue("w")))
	row, _ = r.View().Workload("w")
	require.Zero(t, row.GrantedLimit)
}

// The reason that a workload waits for a hold names it.
func TestTheReasonNamesTheHold(t *testing.T) {
	r, err := engine.NewRaw(heeding(engine.EASY))
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("B", 1000), engine.PutObject(hold("firmware", 10, 20, "", "B")), engine.Submit(limited("J2", 1000, 15))))
	settle(r, epoch)
	require.Contains(t, why(t, r, "J2"), `node(s) are held by "firmware" from 2026-01-01T00:00:10Z until 2026-01-01T00:00:20Z`)
}
