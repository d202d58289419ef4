package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// says is a PostFilter and GroupPostFilter plugin that answers what the test wants.
type says struct {
	code   extpoints.Code
	result *extpoints.PostFilterResult
	group  *extpoints.GroupPostFilterResult
}

func (says) Name() string { return "Says" }

func (p says) status() *extpoints.Status {
	if p.code == extpoints.Error {
		return extpoints.AsStatus(errors.New("broken"))
	}
	return extpoints.NewStatus(p.code, "says")
}

func (p says) PostFilter(*extpoints.CycleState, *extpoints.WorkloadInfo, extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	return p.result, p.status()
}

func (p says) GroupPostFilter(*extpoints.CycleState, *extpoints.GroupInfo, extpoints.GroupTrial) (*extpoints.GroupPostFilterResult, *extpoints.Status) {
	return p.group, p.status()
}

// fails is a PreFilter plugin that fails for some workloads.
type fails map[string]bool

func (fails) Name() string { return "Fails" }

func (p fails) PreFilter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	if p[w.ID] {
		return nil, extpoints.AsStatus(errors.New("broken"))
	}
	return nil, nil
}

// instead takes DefaultPreemption out, and puts others in its place.
func instead(others ...extpoints.Plugin) func(*engine.Config) {
	return func(cfg *engine.Config) {
		cfg.Profiles[0].Remove(plugins.DefaultPreemption)
		for _, p := range others {
			use(cfg, p)
		}
	}
}

// besides adds plugins.
func besides(others ...extpoints.Plugin) func(*engine.Config) {
	return func(cfg *engine.Config) {
		for _, p := range others {
			use(cfg, p)
		}
	}
}

// allRefusing is an extender that drops every node on which room could be made.
func allRefusing(cfg *engine.Config) {
	cfg.Extenders = append(cfg.Extenders, extpoints.Extender{
		Name: "no", Interested: func(*model.Workload) bool { return true },
		Preempt: func(context.Context, *extpoints.WorkloadInfo, map[string]*extpoints.Victims, extpoints.Nodes) (map[string]*extpoints.Victims, error) {
			return map[string]*extpoints.Victims{}, nil
		},
	})
}

// nominationsOf lists to which nodes the workloads are nominated.
func nominationsOf(r *engine.Raw, ids ...string) (list []string) {
	for _, id := range ids {
		row, _ := r.View().Workload(id)
		list = append(list, row.Nominated)
	}
	return list
}

// eachCompat runs the test by either rules.
func eachCompat(t *testing.T, test func(t *testing.T, compat extpoints.Compat)) {
	for _, compat := range []extpoints.Compat{extpoints.Improved, extpoints.KubeScheduler137} {
		t.Run(compat.String(), func(t *testing.T) { test(t, compat) })
	}
}

// However the attempt of a workload ends for which no room is being made: its nomination is
// given up, and `low` gets the room that was kept for it.
func TestALoneWorkloadGivesUpANominationThatServesNothing(t *testing.T) {
	never := func(w *model.Workload) { w.Preemption = model.PreemptNever }
	for name, c := range map[string]struct {
		configure func(*engine.Config)
		change    func(*model.Workload)
		kept      bool // by kube-scheduler
	}{
		"its policy is Never":               {change: never, kept: true},
		"there are no victims":              {},
		"extenders want none of the nodes":  {configure: allRefusing, kept: true},
		"no plugin makes room":              {configure: instead(), kept: true}, // DynamicResources is asked
		"another says nothing":              {configure: instead(says{code: extpoints.Unschedulable}), kept: true},
		"another says nothing, and is done": {configure: instead(says{}), kept: true},
		"another leaves it as it is": {
			configure: instead(says{code: extpoints.Unschedulable, result: &extpoints.PostFilterResult{}}), kept: true,
		},
		"another cannot help":   {configure: instead(says{code: extpoints.UnschedulableAndUnresolvable}), kept: true},
		"another fails":         {configure: instead(says{code: extpoints.Error}), kept: true},
		"another takes it back": {configure: instead(says{result: &extpoints.PostFilterResult{Clear: true}})},
		"a plugin fails before": {configure: besides(fails{"w": true})},
		"Reserve refuses the node": {
			configure: besides(&picky{refuses: map[string]bool{"w": true}, reserved: map[string]int{}}),
			change:    func(w *model.Workload) { w.Requests.CPU, w.Preemption = 600, model.PreemptNever },
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachCompat(t, func(t *testing.T, compat extpoints.Compat) {
				cfg := config(&world{})
				cfg.Compat = compat
				if c.configure != nil {
					c.configure(&cfg)
				}
				r, err := engine.NewRaw(cfg)
				require.NoError(t, err)
				w, above := urgent("w", 700), engine.Adopt(&model.Workload{ID: "v", Requests: model.Resources{CPU: 400}, Priority: 20}, model.Binding{Node: "n1"})
				if name == "extenders want none of the nodes" {
					above = running("v", "n1", 400)
				}
				if c.change != nil {
					c.change(spec(w))
				}
				require.NoError(t, r.Apply(epoch, node("n1", 1000), above, w, nominate("w", "n1")))
				require.True(t, r.Schedule(epoch))
				if kept := c.kept && compat == extpoints.KubeScheduler137; kept {
					require.Equal(t, []string{"n1"}, nominationsOf(r, "w"))
					return
				}
				require.Equal(t, []string{""}, nominationsOf(r, "w"))
				require.NoError(t, r.Apply(epoch, task("low", 600)))
				settle(r, epoch)
				require.Equal(t, []model.Phase{model.Bound}, phases(r, "low"))
			})
		})
	}
}

// gangWorld is an engine with a gang of members a and b, nominated to n1 and n2, on each of which
// a workload of higher priority leaves too little room for them, but enough for others.
func gangWorld(t *testing.T, compat extpoints.Compat, configure func(*engine.Config), minCount int32) *engine.Raw {
	t.Helper()
	cfg := config(&world{})
	cfg.Compat = compat
	if configure != nil {
		configure(&cfg)
	}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000),
		engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: minCount, Priority: 10})))
	for _, id := range []string{"a", "b"} {
		ch := urgent(id, 800)
		spec(ch).Group = "g"
		require.NoError(t, r.Apply(epoch, ch))
	}
	return r
}

// However the attempt of a gang ends for which no room is being made: all members give up
// their nominations, those too that were not tried or that have found a node.
func TestAGangGivesUpNominationsThatServeNothing(t *testing.T) {
	above := func(id, node string, cpu int64) engine.Change {
		return engine.Adopt(&model.Workload{ID: id, Requests: model.Resources{CPU: cpu}, Priority: 20}, model.Binding{Node: node})
	}
	never := func(r *engine.Raw) error {
		return r.Apply(epoch, engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 2, Priority: 10, Preemption: model.PreemptNever}),
			change(r, "a", func(w *model.Workload) { w.Preemption = model.PreemptNever }),
			change(r, "b", func(w *model.Workload) { w.Preemption = model.PreemptNever }), running("v", "n1", 100))
	}
	for name, c := range map[string]struct {
		configure func(*engine.Config)
		first     func(*engine.Raw) error
		kept      []string // by kube-scheduler
	}{
		"there are no victims": {kept: []string{"n1", "n2"}},
		"its policy is Never":  {first: never, kept: []string{"n1", "n2"}},
		"nobody makes room":    {configure: instead(), kept: []string{"n1", "n2"}},
		"another says nothing": {configure: instead(says{code: extpoints.Unschedulable}), kept: []string{"n1", "n2"}},
		"another is content":   {configure: instead(says{}), kept: []string{"n1", "n2"}},
		"another fails":        {configure: instead(says{code: extpoints.Error}), kept: []string{"", ""}},
		"another says nothing of b": {
			configure: instead(says{group: &extpoints.GroupPostFilterResult{Nominations: map[string]extpoints.PostFilterResult{"a": {Clear: true}}}}),
			kept:      []string{"", "n2"},
		},
		"a plugin fails for a": {configure: besides(fails{"a": true}), kept: []string{"", ""}},
		"only one fits":        {first: func(r *engine.Raw) error { return r.Apply(epoch, engine.Remove("v2")) }, kept: []string{"", "n2"}},
		"members do not agree": {
			first: func(r *engine.Raw) error {
				return r.Apply(epoch, change(r, "b", func(w *model.Workload) { w.Priority = 3 }))
			},
			kept: []string{"", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachCompat(t, func(t *testing.T, compat extpoints.Compat) {
				r := gangWorld(t, compat, c.configure, 2)
				require.NoError(t, r.Apply(epoch, above("v1", "n1", 300), above("v2", "n2", 300), nominate("a", "n1"), nominate("b", "n2")))
				if c.first != nil {
					require.NoError(t, c.first(r))
				}
				require.True(t, r.Schedule(epoch))
				require.Equal(t, []model.Phase{model.Pending, model.Pending}, phases(r, "a", "b"))
				if compat == extpoints.KubeScheduler137 {
					require.Equal(t, c.kept, nominationsOf(r, "a", "b"))
					return
				}
				require.Equal(t, []string{"", ""}, nominationsOf(r, "a", "b"))
				require.NoError(t, r.Apply(epoch, task("low", 600), task("low2", 600)))
				settle(r, epoch)
				require.Equal(t, []model.Phase{model.Bound, model.Bound}, phases(r, "low", "low2"))
			})
		})
	}
}

// change is an update of a workload that is there.
func change(r *engine.Raw, id string, f func(*model.Workload)) engine.Change {
	row, _ := r.View().Workload(id)
	w := row.Workload.Clone()
	f(w)
	return engine.Update(w)
}

// A gang that has displaced others and then loses one of its nodes does not keep the rest.
func TestAGangThatLostANodeKeepsNoOther(t *testing.T) {
	r := gangWorld(t, extpoints.Improved, nil, 2)
	require.NoError(t, r.Apply(epoch, running("v1", "n1", 900), running("v2", "n2", 900)))
	settle(r, epoch)
	require.Equal(t, []string{"n1", "n2"}, nominationsOf(r, "a", "b"))
	require.Equal(t, []model.Phase{model.Terminating, model.Terminating}, phases(r, "v1", "v2"))

	lord := engine.Submit(&model.Workload{ID: "lord", Requests: model.Resources{CPU: 900}, Priority: 100})
	require.NoError(t, r.Apply(epoch, engine.Remove("v1"), lord))
	settle(r, epoch)
	require.Equal(t, []model.Phase{model.Bound}, phases(r, "lord"))
	require.NoError(t, r.Apply(epoch, engine.Remove("v2"), task("low", 500)))
	for now := epoch; now.Before(epoch.Add(time.Minute)); now = now.Add(time.Second) {
		r.Tick(now)
		settle(r, now)
	}
	require.Equal(t, []string{"", ""}, nominationsOf(r, "a", "b"))
	require.Equal(t, []model.Phase{model.Bound}, phases(r, "low"))
}

// While room is being made the nomination holds, whatever an attempt comes to meanwhile.
func TestANominationHoldsWhileRoomIsMade(t *testing.T) {
	for name, configure := range map[string]func(*engine.Config){
		"DefaultPreemption waits":  nil,
		"another says nothing":     besides(says{code: extpoints.Unschedulable}),
		"a plugin fails meanwhile": besides(fails{}),
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(&world{})
			broken := fails{}
			if name == "a plugin fails meanwhile" {
				configure = besides(broken)
			}
			if configure != nil {
				configure(&cfg)
			}
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			require.NoError(t, r.Apply(epoch, node("n1", 1000), running("v", "n1", 900), urgent("w", 800)))
			settle(r, epoch)
			require.Equal(t, []string{"n1"}, nominationsOf(r, "w"))
			broken["w"] = true
			later := epoch.Add(time.Minute)
			require.NoError(t, r.Apply(later, change(r, "w", func(w *model.Workload) { w.Requests.CPU = 790 }))) // worth another attempt
			r.Tick(later)
			require.True(t, r.Schedule(later))
			require.Equal(t, []string{"n1"}, nominationsOf(r, "w"))
			delete(broken, "w")
			last := later.Add(time.Hour)
			require.NoError(t, r.Apply(last, engine.Remove("v"), task("low", 500)))
			for range 20 {
				last = last.Add(time.Minute)
				r.Tick(last)
				settle(r, last)
			}
			require.Equal(t, []model.Phase{model.Bound, model.Pending}, phases(r, "w", "low"))
		})
	}
}
