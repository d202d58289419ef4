package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// gang submits a group whose members are mostly equal, alone or below another; some are to stay
// together, and some make room.
func (h *fastHistory) gang(t *testing.T) {
	h.groups++
	group := &model.Group{ID: fmt.Sprint("g", h.groups), Policy: model.Gang, TopologyKey: []string{"", "disk", "rack", model.ByZone}[h.r.IntN(4)]}
	if h.one(4) {
		group.Priority = 10
	}
	var changes []engine.Change
	if h.one(4) {
		group.Parent = "top-" + group.ID
		changes = append(changes, engine.PutGroup(&model.Group{ID: group.Parent, Composite: true, Policy: model.Gang, MinCount: 1, Priority: group.Priority, TopologyKey: model.ByZone}))
	}
	size := 2 + h.r.IntN(12)
	group.MinCount = int32(1 + h.r.IntN(size))
	changes = append(changes, engine.PutGroup(group))
	like, profile := h.workload(), ""
	if h.one(3) {
		profile = "second"
	}
	for i := range size {
		if i > 0 && h.one(8) {
			like = h.workload()
		}
		member := *like
		member.ID, member.Group, member.Priority, member.Gates, member.Profile = fmt.Sprint(group.ID, "-", i), group.ID, group.Priority, nil, profile
		h.placed = append(h.placed, member.ID)
		changes = append(changes, engine.Submit(&member))
	}
	h.apply(t, changes...)
}

// Groups are placed alike by engines that decide fast and slowly: what each member's search
// found, in every placement, and whom they displace.
func TestFastPathOfGroups(t *testing.T) {
	t.Parallel()
	seeds, steps := uint64(6), 120
	if testing.Short() {
		seeds, steps = 3, 40
	}
	for seed := range seeds {
		var all []*fastHistory
		for _, path := range []engine.FastPath{engine.FastPathOff, engine.FastPathAuto, engine.FastPathVerify} {
			h := newFastHistory(t, seed, path)
			h.gangs = true
			all = append(all, h)
		}
		for step := range steps {
			for _, h := range all {
				h.events = h.events[:0]
				h.step(t)
			}
			require.Equal(t, all[0].events, all[1].events, "seed %d, step %d", seed, step)
			require.Equal(t, all[0].events, all[2].events, "seed %d, step %d", seed, step)
		}
		t.Logf("seed %d: %d fast answers, %d groups", seed, all[1].raw.FastAnswers(), all[1].groups)
		require.Greater(t, all[1].raw.FastAnswers(), steps)
	}
}

// racks makes an engine with five racks of ten nodes, and a group of equal members that is to be
// within one of them.
func racks(t *testing.T, path engine.FastPath, group model.Group, members int) *engine.Raw {
	t.Helper()
	raw, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: &world{}, FastPath: path})
	require.NoError(t, err)
	for i := range 50 {
		n := &model.Node{Name: fmt.Sprintf("n%02d", i), Labels: map[string]string{"rack": fmt.Sprint(i % 5)}, Allocatable: model.Resources{CPU: 1000}, MaxWorkloads: 10}
		if i/5 == 2 {
			n.Images = []model.NodeImage{{Names: []string{"image:latest"}, Size: 900 << 20}}
		}
		require.NoError(t, raw.Apply(epoch, engine.PutNode(n)))
	}
	changes := []engine.Change{engine.PutGroup(&group)}
	for i := range members {
		changes = append(changes, engine.Submit(&model.Workload{ID: fmt.Sprint("m", i), Group: group.ID, Priority: group.Priority, Images: []string{"image"}, Requests: model.Resources{CPU: 400}}))
	}
	require.NoError(t, raw.Apply(epoch, changes...))
	return raw
}

// In each placement every member is decided on fast, but for the first of all.
func TestFastPathInPlacements(t *testing.T) {
	raw := racks(t, engine.FastPathAuto, model.Group{ID: "g", Policy: model.Gang, MinCount: 12, TopologyKey: "rack"}, 12)
	require.True(t, raw.Schedule(epoch))
	require.Equal(t, 5*12-1, raw.FastAnswers())
}

// The same goes for the tries of a group that is to displace others. In these no image counts, so
// what is known of nodes with one does not hold there.
func TestFastPathWhereGroupsMakeRoom(t *testing.T) {
	displacing := func(path engine.FastPath) (nominated []string, answers int) {
		raw := racks(t, path, model.Group{ID: "g", Policy: model.Gang, MinCount: 12, TopologyKey: "rack", Priority: 1}, 12)
		for i := range 50 {
			if i >= 15 { // three nodes of each rack are free
				w := &model.Workload{ID: fmt.Sprint("low", i), Requests: model.Resources{CPU: 1000}}
				require.NoError(t, raw.Apply(epoch, engine.Adopt(w, model.Binding{Node: fmt.Sprintf("n%02d", i)})))
			}
		}
		require.True(t, raw.Schedule(epoch))
		for i := range 12 {
			w, _ := raw.View().Workload(fmt.Sprint("m", i))
			nominated = append(nominated, w.Nominated)
		}
		return nominated, raw.FastAnswers()
	}
	want, none := displacing(engine.FastPathOff)
	require.Zero(t, none)
	require.NotContains(t, want, "")
	got, answers := displacing(engine.FastPathAuto)
	require.Equal(t, want, got)
	fitting, making := 5*(2*3+1)-1, 5*12-1 // without room two go to each free node, and the next ends the try
	require.Equal(t, fitting+making, answers)
	verified, _ := displacing(engine.FastPathVerify)
	require.Equal(t, want, verified)
}
