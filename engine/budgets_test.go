package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// web is the budget of the workloads with app=web.
func web(allowed int32, displaced ...string) engine.Change {
	return engine.PutBudget(&model.Budget{
		ID: "web", Allowed: allowed, Displaced: displaced, Selector: model.SelectLabels(map[string]string{"app": "web"}),
	})
}

// protected is a task that the budget protects, on the node.
func protected(id, node string) engine.Change {
	return engine.Adopt(&model.Workload{ID: id, Labels: map[string]string{"app": "web"}, Requests: model.Resources{CPU: 900}}, model.Binding{Node: node})
}

// budgetWorld has the protected a and b on n1 and n2, and the unprotected c, which matters more,
// on n3.
func budgetWorld(t *testing.T, compat extpoints.Compat, o *reluctant) *engine.Raw {
	t.Helper()
	cfg := config(o)
	cfg.Compat = compat
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	c := &model.Workload{ID: "c", Priority: 1, Requests: model.Resources{CPU: 900}}
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), node("n3", 1000),
		protected("a", "n1"), protected("b", "n2"), engine.Adopt(c, model.Binding{Node: "n3"}), web(1)))
	return r
}

// Until the budget is reported again, what the engine has displaced itself is no longer allowed.
func TestABudgetIsWhatWasReportedLessWhatWasDone(t *testing.T) {
	lone := func(id string) []engine.Change { return []engine.Change{urgent(id, 800)} }
	gang := func(id string) []engine.Change {
		w := urgent(id, 800)
		spec(w).Group = "g"
		return []engine.Change{engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 1, Priority: 10}), w}
	}
	refuse := func(_ context.Context, id string) error {
		if id == "a" {
			return errors.New("not now")
		}
		return nil
	}
	for name, c := range map[string]struct {
		first    func(r *engine.Raw) error // by which a is displaced, as a rule
		between  []engine.Change
		second   []engine.Change
		want     []string
		kube     []string
		together bool // nothing is carried out between the two
	}{
		"two come at once": {
			first: func(r *engine.Raw) error { return r.Apply(epoch, lone("p1")...) }, second: lone("p2"), together: true,
			want: []string{"a", "c"}, kube: []string{"a", "b"},
		},
		"the first is terminating": {
			first: func(r *engine.Raw) error { return r.Apply(epoch, lone("p1")...) }, second: lone("p2"),
			want: []string{"a", "c"}, kube: []string{"a", "b"},
		},
		"the first has gone": {
			first: func(r *engine.Raw) error { return r.Apply(epoch, lone("p1")...) }, second: lone("p2"),
			between: []engine.Change{engine.Remove("a")},
			want:    []string{"a", "c"}, kube: []string{"a", "b"},
		},
		"a gang comes first": {
			first: func(r *engine.Raw) error { return r.Apply(epoch, gang("p1")...) }, second: lone("p2"),
			want: []string{"a", "c"}, kube: []string{"a", "b"},
		},
		"somebody has it evicted": {
			first: func(r *engine.Raw) error { return r.Evict(epoch, "a", "drained") }, second: lone("p2"),
			between: []engine.Change{engine.Remove("a"), engine.Adopt(&model.Workload{ID: "lord", Priority: 20, Requests: model.Resources{CPU: 900}}, model.Binding{Node: "n1"})},
			want:    []string{"a", "c"}, kube: []string{"a", "b"},
		},
		"it is reported that one more may go": {
			first: func(r *engine.Raw) error { return r.Apply(epoch, lone("p1")...) }, second: lone("p2"),
			between: []engine.Change{web(1, "a")},
			want:    []string{"a", "b"}, kube: []string{"a", "b"},
		},
		"two were allowed": {
			first: func(r *engine.Raw) error { return r.Apply(epoch, append(lone("p1"), web(2))...) }, second: lone("p2"),
			want: []string{"a", "b"}, kube: []string{"a", "b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachCompat(t, func(t *testing.T, compat extpoints.Compat) {
				o := &reluctant{}
				r := budgetWorld(t, compat, o)
				require.NoError(t, c.first(r))
				if !c.together {
					settle(r, epoch)
					for task := r.NextTask(); task != nil; task = r.NextTask() {
						task.Run(t.Context())
						r.Finish(epoch, task)
					}
				}
				require.NoError(t, r.Apply(epoch, c.between...))
				require.NoError(t, r.Apply(epoch, c.second...))
				for r.Schedule(epoch) {
				}
				settle(r, epoch)
				for task := r.NextTask(); task != nil; task = r.NextTask() {
					task.Run(t.Context())
					r.Finish(epoch, task)
				}
				want := c.want
				if compat == extpoints.KubeScheduler137 {
					want = c.kube
				}
				require.ElementsMatch(t, want, o.evicted)
			})
		})
	}
	left := func(r *engine.Raw) (allowed int32) {
		for ch := range r.View().Changes() {
			if b, ok := ch.Value().(*model.Budget); ok {
				allowed = b.Allowed
			}
		}
		return allowed
	}
	t.Run("what stays costs nothing", func(t *testing.T) {
		r := budgetWorld(t, extpoints.Improved, &reluctant{onEvict: refuse})
		require.NoError(t, r.Apply(epoch, urgent("p1", 800)))
		require.True(t, r.Schedule(epoch))
		b, _ := r.View().Budget("web")
		require.Equal(t, []string{"a"}, b.Spent)
		require.Equal(t, int32(0), left(r))
		evict := r.NextTask()
		evict.Run(t.Context())
		r.Finish(epoch, evict)
		b, _ = r.View().Budget("web")
		require.Empty(t, b.Spent)
		require.Equal(t, int32(1), left(r))
	})
	t.Run("what is not asked after all costs nothing", func(t *testing.T) {
		r := budgetWorld(t, extpoints.Improved, &reluctant{})
		small := &model.Workload{ID: "small", Labels: map[string]string{"app": "web"}, Requests: model.Resources{CPU: 50}}
		require.NoError(t, r.Apply(epoch, engine.Remove("b"), engine.Remove("c"), engine.RemoveNode("n2"), engine.RemoveNode("n3"),
			engine.Adopt(small, model.Binding{Node: "n1"}), urgent("p1", 1000)))
		require.True(t, r.Schedule(epoch))
		b, _ := r.View().Budget("web")
		require.ElementsMatch(t, []string{"a", "small"}, b.Spent)
		asked := r.NextTask()
		require.Nil(t, r.NextTask(), "the last is asked when the first has accepted")
		require.NoError(t, r.Apply(epoch, engine.Remove("p1")))
		r.Tick(epoch)
		b, _ = r.View().Budget("web")
		require.Equal(t, []string{asked.Workload().ID}, b.Spent)
	})
}

// A group breaks no budget where it can make room on other nodes, however many of its members need
// some and whatever it prefers. In kube-scheduler the nodes are chosen before.
func TestAGroupMakesRoomWhereNoBudgetIsBroken(t *testing.T) {
	for name, c := range map[string]struct {
		members    int
		allowed    int32
		change     []engine.Change
		want, kube []string
	}{
		"one, and none may go":        {members: 1, allowed: 0, want: []string{"c"}, kube: []string{"a"}},
		"one, and one may go":         {members: 1, allowed: 1, want: []string{"a"}, kube: []string{"a"}},
		"two, and one may go":         {members: 2, allowed: 1, want: []string{"a", "c"}, kube: []string{"a", "b"}},
		"two, and none may go":        {members: 2, allowed: 0, want: []string{"b", "c"}, kube: []string{"a", "b"}},
		"three, and none may go":      {members: 3, allowed: 0, want: []string{"a", "b", "c"}, kube: []string{"a", "b", "c"}},
		"only the protected are left": {members: 1, allowed: 0, change: []engine.Change{engine.RemoveNode("n3"), engine.Remove("c")}, want: []string{"b"}, kube: []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			eachCompat(t, func(t *testing.T, compat extpoints.Compat) {
				o := &reluctant{}
				r := budgetWorld(t, compat, o)
				require.NoError(t, r.Apply(epoch, append(c.change, web(c.allowed),
					engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: int32(c.members), Priority: 10}))...))
				for i := range c.members {
					w := urgent(fmt.Sprint("w", i), 800)
					spec(w).Group, spec(w).Images = "g", []string{"i"}
					require.NoError(t, r.Apply(epoch, w))
				}
				for r.Schedule(epoch) {
				}
				settle(r, epoch)
				for task := r.NextTask(); task != nil; task = r.NextTask() {
					task.Run(t.Context())
					r.Finish(epoch, task)
				}
				want := c.want
				if compat == extpoints.KubeScheduler137 {
					want = c.kube
				}
				require.ElementsMatch(t, want, o.evicted)
			})
		})
	}
}
