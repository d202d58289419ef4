package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// nowhere is a workload that asks for a node that there is not.
func nowhere(w *model.Workload) *model.Workload {
	w.NodeSelector = map[string]string{"disk": "none"}
	return w
}

// What no node can take holds up nobody while its quota is short, whatever has happened before: it is
// tried at once, and waits for an event.
func TestWhatNoNodeTakesHoldsUpNobody(t *testing.T) {
	t.Parallel()
	for name, history := range map[string]func(t *testing.T, r *engine.Raw){
		"it comes while the quota is short": func(t *testing.T, r *engine.Raw) {
			require.NoError(t, r.Apply(epoch, engine.Submit(inQueue("a", limited("runs", 700, 5)))))
			settle(r, epoch)
			require.NoError(t, r.Apply(epoch, engine.Submit(inQueue("a", nowhere(limited("lost", 600, 5))))))
		},
		"it was tried before": func(t *testing.T, r *engine.Raw) {
			require.NoError(t, r.Apply(epoch, engine.Submit(inQueue("a", nowhere(limited("lost", 600, 5))))))
			settle(r, epoch)
			require.NoError(t, r.Apply(epoch, engine.Submit(inQueue("a", limited("runs", 700, 5)))))
		},
		"it has waited too long for an event": func(t *testing.T, r *engine.Raw) {
			require.NoError(t, r.Apply(epoch, engine.Submit(inQueue("a", nowhere(limited("lost", 600, 5))))))
			settle(r, epoch)
			require.NoError(t, r.Apply(epoch, engine.Submit(inQueue("a", limited("runs", 700, 5)))))
			settle(r, epoch)
			r.Tick(epoch.Add(10 * time.Minute))
		},
		"the queues were changed": func(t *testing.T, r *engine.Raw) {
			require.NoError(t, r.Apply(epoch, engine.PutObject(&model.Queue{Name: "a", Weight: 1, Max: map[string]int64{model.CPU: 1000}, Reclaim: model.ReclaimAny}),
				engine.Submit(inQueue("a", nowhere(limited("lost", 600, 5))))))
			settle(r, epoch)
			require.NoError(t, r.Apply(epoch, engine.Submit(inQueue("a", limited("runs", 700, 5)))))
			settle(r, epoch)
			require.NoError(t, r.Apply(epoch, engine.PutObject(&model.Queue{Name: "b", Weight: 3})))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := byQueues(t, engine.Backfill{})
			history(t, r)
			at := epoch.Add(11 * time.Minute)
			settle(r, at)
			require.NoError(t, r.Apply(at, engine.Submit(inQueue("a", limited("small", 200, 5)))))
			settle(r, at)
			require.Equal(t, []model.Phase{model.Bound, model.Pending, model.Bound}, phases(r, "runs", "lost", "small"))
			require.Empty(t, engine.WhatIsHeldBack(r))
			held, err := r.Branch().Held(at, "lost")
			require.NoError(t, err)
			require.Nil(t, held)
			p, ok := r.Queue("lost")
			require.True(t, ok)
			require.Equal(t, []string{"NodeAffinity"}, p.UnschedulablePlugins)
		})
	}
}

// What some node could take, if others left, holds up those behind it: until the node is no longer the
// right one for it.
func TestWhatANodeCouldTakeHoldsUpItsQueue(t *testing.T) {
	t.Parallel()
	labelled := func(disk string) engine.Change {
		n := node("n", 2000)
		nodeOf(n).Labels = map[string]string{"disk": disk}
		return n
	}
	first := limited("first", 600, 5)
	first.NodeSelector = map[string]string{"disk": "fast"}
	r := byQueues(t, engine.Backfill{}, labelled("fast"),
		engine.Submit(inQueue("b", limited("elsewhere", 1000, 5))),
		engine.Submit(inQueue("a", limited("runs", 700, 5))),
		engine.Submit(inQueue("a", first)),
		engine.Submit(inQueue("a", limited("small", 200, 5))))
	all := []string{"elsewhere", "runs", "first", "small"}
	require.Equal(t, []model.Phase{model.Bound, model.Bound, model.Pending, model.Pending}, phases(r, all...))

	require.NoError(t, r.Apply(epoch, labelled("slow")))
	settle(r, epoch)
	require.Equal(t, []model.Phase{model.Bound, model.Bound, model.Pending, model.Bound}, phases(r, all...))
	require.Empty(t, engine.WhatIsHeldBack(r))
}

// What waits for something that others have, or that is not there yet, holds up its queue, though to
// displace somebody would not help it now.
func TestWhatWaitsForOthersHoldsUpItsQueue(t *testing.T) {
	t.Parallel()
	near := limited("first", 600, 5)
	near.Affinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{{Selector: model.SelectLabels(map[string]string{"app": "db"}), TopologyKey: model.ByNode}}}
	r := byQueues(t, engine.Backfill{},
		engine.Submit(inQueue("a", limited("runs", 700, 5))),
		engine.Submit(inQueue("a", near)),
		engine.Submit(inQueue("a", limited("small", 200, 5))))
	require.Equal(t, []model.Phase{model.Bound, model.Pending, model.Pending}, phases(r, "runs", "first", "small"))
	require.Contains(t, engine.WhatIsHeldBack(r), "first")
}

// A tree of groups whose members no node can take holds up nobody either; one with a member for which
// there is hope does.
func TestGangsThatNoNodeTakesHoldUpNobody(t *testing.T) {
	t.Parallel()
	for _, hope := range []bool{false, true} {
		member := func(id string, hope bool) engine.Change {
			w := inQueue("a", limited(id, 300, 5))
			if w.Group = "g"; !hope {
				nowhere(w)
			}
			return engine.Submit(w)
		}
		r := byQueues(t, engine.Backfill{}, engine.Submit(inQueue("a", limited("runs", 700, 5))))
		require.NoError(t, r.Apply(epoch, engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 2}),
			member("g1", hope), member("g2", false), engine.Submit(inQueue("a", limited("small", 200, 5)))))
		settle(r, epoch)
		small := model.Bound
		if hope {
			small = model.Pending
		}
		require.Equal(t, []model.Phase{model.Pending, model.Pending, small}, phases(r, "g1", "g2", "small"))
	}
}

// moody rejects every node for one workload, as long as it has been asked so often, and says that it goes
// by the node alone.
type moody struct{ often int }

func (*moody) Name() string { return "Moody" }

func (*moody) NodeLocal(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return key, true
}

func (m *moody) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *extpoints.NodeInfo) *extpoints.Status {
	if w.ID != "first" {
		return nil
	}
	if m.often--; m.often < 0 {
		return nil
	}
	return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "not today")
}

// A plugin whose answers change does not get anything placed beyond a quota.
func TestNothingIsPlacedBeyondAQuotaByAPluginThatChangesItsMind(t *testing.T) {
	t.Parallel()
	cfg := config(&world{})
	cfg.Order, cfg.FastPath = engine.OrderByQueues, engine.FastPathOff
	use(&cfg, &moody{1})
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, engine.PutObject(&model.Queue{Name: "a", Max: map[string]int64{model.CPU: 1000}}), node("n", 2000),
		engine.Submit(inQueue("a", limited("runs", 700, 5))), engine.Submit(inQueue("a", limited("first", 600, 5)))))
	settle(r, epoch)
	require.Equal(t, []model.Phase{model.Bound, model.Pending}, phases(r, "runs", "first"))
	p, _ := r.Queue("first")
	require.Equal(t, 1, p.ConsecutiveErrors)
	r.Tick(after(5))
	settle(r, after(5))
	require.Contains(t, engine.WhatIsHeldBack(r), "first")
}

// early rejects one workload at PreFilter, for now.
type early struct{}

func (early) Name() string { return "Early" }

func (early) PreFilter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	if w.ID == "lost" {
		return nil, extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "not today")
	}
	return nil, nil
}

// That no node could take it is seen whatever else is against it, which may change when nobody looks.
func TestWhatElseIsWrongHidesNotThatNoNodeTakesIt(t *testing.T) {
	t.Parallel()
	cfg := config(&world{})
	cfg.Order = engine.OrderByQueues
	use(&cfg, early{})
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, engine.PutObject(&model.Queue{Name: "a", Max: map[string]int64{model.CPU: 1000}}), node("n", 2000),
		engine.Submit(inQueue("a", limited("runs", 700, 5))), engine.Submit(inQueue("a", nowhere(limited("lost", 600, 5)))), engine.Submit(inQueue("a", limited("small", 200, 5)))))
	settle(r, epoch)
	require.Equal(t, []model.Phase{model.Bound, model.Pending, model.Bound}, phases(r, "runs", "lost", "small"))
	p, _ := r.Queue("lost")
	require.Equal(t, []string{"Early"}, p.UnschedulablePlugins)
}
