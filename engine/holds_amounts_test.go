package engine_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// amountsRun is a random history of a cluster on which amounts are held from its beginning on.
type amountsRun struct {
	*testing.T
	seed  uint64
	rng   *rand.Rand
	r     *engine.Raw
	now   time.Time
	holds []*model.Hold
	made  int
	// tried is how often one has tried to take all that was kept for it.
	tried int
}

// amountsNode is how much each node has.
const amountsNode = 1000

// amountsConfig plans ahead in one of the ways.
func amountsConfig(mode engine.BackfillMode) engine.Config {
	return engine.Config{Profiles: []extpoints.Profile{historyProfileWith(true)}, Orchestrator: &world{}, Backfill: engine.Backfill{Mode: mode}}
}

// Nobody takes what is kept for others, and those for whom it is kept can have it; a replay leads to the
// same.
func TestHeldAmountsAreKept(t *testing.T) {
	oneGoroutine(t)
	seeds, tried := seeds(t, 40), 0
	for _, mode := range []engine.BackfillMode{engine.NoPlan, engine.EASY, engine.Conservative} {
		for _, seed := range seeds {
			var log bytes.Buffer
			cfg := amountsConfig(mode)
			cfg.Recorder = engine.NewRecorder(&log)
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			a := &amountsRun{T: t, seed: seed, rng: rand.New(rand.NewPCG(seed, uint64(mode))), r: r, now: epoch}
			a.begin()
			for range 50 {
				a.step()
			}
			tried += a.tried
			again, err := engine.Replay(amountsConfig(mode), &log)
			require.NoError(t, err, "seed %d, %v", seed, mode)
			require.Equal(t, a.where(r), a.where(again), "seed %d, %v", seed, mode)
		}
	}
	require.True(t, *seed != 0 || tried > 5*len(seeds), "%d have tried", tried)
}

// begin makes the nodes and the holds.
func (a *amountsRun) begin() {
	var changes []engine.Change
	for i := range 3 {
		name := fmt.Sprintf("n%d", i)
		changes = append(changes, engine.PutNode(&model.Node{
			Name: name, Labels: map[string]string{historyName: name}, MaxWorkloads: 100, Allocatable: model.Resources{CPU: amountsNode},
		}))
	}
	for i := range 3 {
		h := hold(fmt.Sprintf("h%d", i), a.rng.IntN(25), 0, []string{"", "a", "b"}[a.rng.IntN(3)], fmt.Sprintf("n%d", a.rng.IntN(3)), fmt.Sprintf("n%d", a.rng.IntN(3)))
		h.Until, h.Flex = h.From.Add(time.Duration(3+a.rng.IntN(25))*time.Second), a.rng.IntN(3) == 0
		h.Amounts.CPU = 100 * int64(1+a.rng.IntN(3))
		a.holds = append(a.holds, h)
		changes = append(changes, engine.PutObject(h))
	}
	require.NoError(a, a.r.Apply(a.now, changes...))
}

// step lets a second pass.
func (a *amountsRun) step() {
	a.now = a.now.Add(time.Second)
	a.r.Tick(a.now)
	for _, id := range a.ended() {
		require.NoError(a, a.r.Apply(a.now, engine.Finish(id), engine.Remove(id)))
	}
	for range a.rng.IntN(3) {
		a.submit()
	}
	settle(a.r, a.now)
	a.check()
	a.take()
}

// ended lists what has reached its limit.
func (a *amountsRun) ended() (ids []string) {
	for w := range a.r.View().Workloads() {
		if w.Node != "" && w.Limit > 0 && !a.now.Before(w.PlacedAt.Add(w.Limit)) {
			ids = append(ids, w.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// submit submits a workload, or a gang of two.
func (a *amountsRun) submit() {
	a.made++
	w := limited(fmt.Sprintf("w%d", a.made), 50*int64(1+a.rng.IntN(12)), 1+a.rng.IntN(20))
	w.Labels = map[string]string{"app": []string{"a", "b", "c"}[a.rng.IntN(3)]}
	if a.rng.IntN(20) == 0 {
		w.Limit = 0
	}
	if a.rng.IntN(5) > 0 {
		require.NoError(a, a.r.Apply(a.now, engine.Submit(w)))
		return
	}
	other := *w
	other.ID, w.Group, other.Group = w.ID+"b", w.ID+"g", w.ID+"g"
	require.NoError(a, a.r.Apply(a.now, engine.PutGroup(&model.Group{ID: w.Group, Policy: model.Gang, MinCount: 2}), engine.Submit(w), engine.Submit(&other)))
}

// on reports whether the hold is on.
func (a *amountsRun) on(h *model.Hold) bool { return !a.now.Before(h.From) && a.now.Before(h.Until) }

// takes reports whether the workload, which is on the node from a time on, takes from the hold: it is the
// first that lets it in.
func (a *amountsRun) takes(from *model.Hold, w *model.Workload, node string, start time.Time) bool {
	end := start.Add(w.Limit)
	if w.Limit == 0 {
		end = start.Add(time.Hour)
	}
	for _, h := range a.holds {
		inside := !start.Before(h.From) && !end.After(h.Until)
		if slices.Contains(h.Nodes, node) && h.Users.Matches(w.Labels) && start.Before(h.Until) && h.From.Before(end) && (h.Flex || inside) {
			return h == from
		}
	}
	return false
}

// taken is what is used of a node, and how much of it by those who take from the hold.
func (a *amountsRun) taken(node string, h *model.Hold) (all, theirs int64) {
	for w := range a.r.View().Workloads() {
		if w.Node != node {
			continue
		}
		all += w.Requests.CPU
		if a.takes(h, w.Workload, node, w.PlacedAt) {
			theirs += w.Requests.CPU
		}
	}
	return all, theirs
}

// check looks whether there is as much on each node as is kept and was not taken yet.
func (a *amountsRun) check() {
	a.Helper()
	for i := range 3 {
		node := &model.Node{Name: fmt.Sprintf("n%d", i)}
		used, _ := a.taken(node.Name, a.holds[0])
		for _, h := range a.holds {
			if a.on(h) && h.Covers(node) {
				_, theirs := a.taken(node.Name, h)
				used += max(h.Amounts.CPU-theirs, 0)
			}
		}
		require.LessOrEqual(a, used, int64(amountsNode), "seed %d, at %v: node %s has too little for what is kept of it\n%v", a.seed, a.now.Sub(epoch), node.Name, a.where(a.r))
	}
}

// take has one take all that is left of what is kept for it, on a branch.
func (a *amountsRun) take() {
	a.Helper()
	h := a.holds[a.rng.IntN(len(a.holds))]
	node := h.Nodes[a.rng.IntN(len(h.Nodes))]
	_, theirs := a.taken(node, h)
	if !a.on(h) || h.Users == nil || theirs >= h.Amounts.CPU {
		return
	}
	w := &model.Workload{
		ID: "taker", NodeSelector: map[string]string{historyName: node}, Labels: map[string]string{},
		Requests: model.Resources{CPU: h.Amounts.CPU - theirs}, Limit: h.Until.Sub(a.now),
	}
	for _, app := range []string{"a", "b"} {
		if w.Labels["app"] = app; h.Users.Matches(w.Labels) {
			break
		}
	}
	if !a.takes(h, w, node, a.now) {
		return
	}
	a.tried++
	b := a.r.Branch()
	require.NoError(a, b.Apply(a.now, engine.Submit(w)))
	d, err := b.Schedule(a.now, w.ID)
	require.NoError(a, err)
	require.True(a, d.Placed(), "seed %d, at %v: %s has no room for what %s keeps: %s\n%v", a.seed, a.now.Sub(epoch), node, h.Name, d.Message, a.where(a.r))
}

// where says where everything is.
func (a *amountsRun) where(r *engine.Raw) []string {
	at := map[string]string{}
	for w := range r.View().Workloads() {
		at[w.ID] = fmt.Sprintf("%s@%s from %v for %v: %d", w.ID, w.Node, w.PlacedAt.Sub(epoch), w.Limit, w.Requests.CPU)
	}
	var list []string
	for _, id := range slices.Sorted(maps.Keys(at)) {
		list = append(list, at[id])
	}
	return list
}

// What a hold leaves to others is theirs. One that asks for more is told why, and waits until it ends; one
// for whom it is has the rest when it begins.
func TestAPromiseAmongHeldAmounts(t *testing.T) {
	t.Parallel()
	r, err := engine.NewRaw(heeding(engine.Conservative))
	require.NoError(t, err)
	h := hold("h", 10, 20, "web", "n")
	h.Amounts.CPU = 600
	web := limited("web", 600, 10)
	web.Labels = map[string]string{"app": "web"}
	require.NoError(t, r.Apply(epoch, node("n", 1000), engine.PutObject(h), engine.Submit(limited("fits", 400, 15)), engine.Submit(limited("large", 500, 11)),
		engine.Adopt(limited("short", 600, 10), model.Binding{Node: "n", Since: epoch}), engine.Submit(web)))
	settle(r, epoch)
	require.Equal(t, "Bound@n", phaseOf(r, "fits"))
	require.Equal(t, []string{"large at 20s: large on n", "web at 10s: web on n"}, reserved(r.Reservations()))
	require.NoError(t, r.Apply(after(10), engine.Finish("short"), engine.Remove("short")))
	r.Tick(after(10))
	settle(r, after(10))
	require.Equal(t, "Bound@n", phaseOf(r, "web"))

	require.NoError(t, r.Apply(after(12), engine.Remove("fits"), engine.Remove("web")))
	settle(r, after(12))
	e, err := r.Explain(after(12), "large", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Contains(t, e.Last.Message, `1 node(s) lack cpu beside what is held by "h" from 2026-01-01T00:00:10Z until 2026-01-01T00:00:20Z`)
}
