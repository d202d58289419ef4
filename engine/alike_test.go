package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// silent is a filter that lets everything through, and does not say what it goes by.
type silent struct{}

// Name implements extpoints.Plugin.
func (silent) Name() string { return "Idle" }

// Filter implements extpoints.FilterPlugin.
func (silent) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	return nil
}

// frank is one that says it.
type frank struct{ silent }

// Sign implements extpoints.SignPlugin.
func (frank) Sign(*model.Workload) ([]extpoints.SignFragment, *extpoints.Status) { return nil, nil }

// What is alike is tried once, and the same starts at the same time on the same nodes as where all are
// tried, in any way of planning; without -long, in a third of the ways, with -short in a ninth.
func TestAlikeStartAsIfAllWereTried(t *testing.T) {
	oneGoroutine(t)
	every, least := 3, 100
	switch {
	case *long:
		every = 1
	case testing.Short():
		least = 20
	}
	saved := 0
	for i, how := range someModes(every) {
		if how.Every > 0 && how.by == engine.OrderByQueues {
			continue // when reservations are made anew depends on when something is tried
		}
		for _, few := range []bool{true, false} {
			how.few = few
			for _, seed := range seeds(t, 3) {
				saved += requireAlikeStart(t, seed*100+uint64(i), how)
			}
		}
	}
	require.Greater(t, saved, least, "lines")
}

// One that has found a node, and would delay others there, does not move on where the next search begins: with slack
// the next like it is not tried then, and would have moved it further.
func TestTurnedDownMovesNoSearchOn(t *testing.T) {
	oneGoroutine(t)
	how := historyModes[22]
	require.True(t, how.Slack)
	how.few = true
	requireAlikeStart(t, 622, how)
}

// requireAlikeStart returns how many lines of the history are saved.
func requireAlikeStart(t *testing.T, seed uint64, how plannedWay) int {
	t.Helper()
	how.idle = frank{}
	all := how
	all.idle = silent{} // nothing is alike
	one, plain := newPlannedHistory(t, seed, how, 1), newPlannedHistory(t, seed, all, 1)
	for range 60 {
		one.step()
		plain.step()
	}
	requireSameLines(t, reserving(plain.events), reserving(one.events), "seed %d, %v", seed, how)
	return len(plain.events) - len(one.events)
}

// One that is nominated from outside stays behind nobody: it keeps the room from those like it.
func TestNominatedFromOutsideStaysBehindNobody(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(*engine.Config){
		"by queues": func(cfg *engine.Config) { cfg.Order = engine.OrderByQueues },
		"in order":  func(cfg *engine.Config) { cfg.Backfill = engine.Backfill{Mode: engine.InOrder} },
	} {
		cfg := config(&world{})
		how(&cfg)
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		require.NoError(t, r.Apply(epoch, node("n", 1000), engine.Adopt(spec(task("old", 1000)), model.Binding{Node: "n"}), task("a", 600), task("b", 600)))
		settle(r, epoch)
		require.Equal(t, []model.Phase{model.Pending, model.Pending}, phases(r, "a", "b"), name)

		require.NoError(t, r.Apply(epoch, engine.Nominate("b", "n")))
		settle(r, epoch)
		w, _ := r.View().Workload("b")
		require.Equal(t, "n", w.Nominated, "%s: nothing has happened for which it would be tried", name)
		require.NoError(t, r.Apply(epoch, engine.Remove("old")))
		settle(r, epoch)
		require.Equal(t, []model.Phase{model.Pending, model.Bound}, phases(r, "a", "b"), name)
	}
}

// reserving are the lines that say who got which node.
func reserving(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.Contains(line, "Reserved") })
}
