package engine_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

// doorman keeps workloads out until it is told to let them in.
type doorman struct {
	profile string
	open    bool
}

func newDoorman(_ extpoints.NoArgs, h extpoints.Handle) (*doorman, error) {
	return &doorman{profile: h.Profile()}, nil
}

func (*doorman) Name() string { return "Doorman" }

func (d *doorman) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	if d.open {
		return nil
	}
	return extpoints.NewStatus(extpoints.Unschedulable, "closed")
}

// A slot has the plugin that the engine asks.
func TestSlotHasThePluginOfTheEngine(t *testing.T) {
	cfg := config(&world{})
	slot := extpoints.Use(&cfg.Profiles[0], newDoorman, extpoints.NoArgs{})
	require.PanicsWithValue(t, "extpoints: *extpoints.Slot[*github.com/berth-project/berth/engine_test.doorman].Get: no engine has been made with the profile yet",
		func() { slot.Get() })
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("a", 100)))
	e, err := r.Explain(epoch, "a", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Empty(t, e.Node)
	slot.Get().open = true
	e, err = r.Explain(epoch, "a", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, "n1", e.Node)
}

// The same profile makes the engine of a replay, whose plugins do not count: the slot
// has the plugin of the engine that runs. Nor do those of an engine that could not be
// made.
func TestSlotAndReplay(t *testing.T) {
	var log bytes.Buffer
	cfg := config(&world{})
	slot := extpoints.Use(&cfg.Profiles[0], newDoorman, extpoints.NoArgs{})
	broken := cfg
	broken.Profiles = append(broken.Profiles[:1:1], extpoints.Profile{Name: "broken"})
	_, err := engine.NewRaw(broken)
	require.Error(t, err)
	cfg.Recorder = engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	live := slot.Get()
	require.NoError(t, r.Apply(epoch, node("n1", 1000)))

	cfg.Recorder = nil
	_, err = engine.Replay(cfg, &log)
	require.NoError(t, err)
	require.Same(t, live, slot.Get())
}

// Where a slot could mean the one or the other it means none.
func TestSlotOfSeveralPlugins(t *testing.T) {
	engines, profiles := config(&world{}), config(&world{})
	ofEngines := extpoints.Use(&engines.Profiles[0], newDoorman, extpoints.NoArgs{})
	for range 2 {
		_, err := engine.NewRaw(engines)
		require.NoError(t, err)
	}
	require.Panics(t, func() { ofEngines.Get() })

	ofProfiles := extpoints.Use(&profiles.Profiles[0], newDoorman, extpoints.NoArgs{})
	other := profiles.Profiles[0]
	other.Name = "other"
	profiles.Profiles = append(profiles.Profiles, other)
	_, err := engine.NewRaw(profiles)
	require.NoError(t, err)
	require.Panics(t, func() { ofProfiles.Get() })
}

// With a Use for each profile there is a slot for each, and one engine.
func TestASlotForEachProfile(t *testing.T) {
	cfg := config(&world{})
	other := plugins.DefaultProfile()
	other.Name = "other"
	cfg.Profiles = append(cfg.Profiles, other)
	var slots []*extpoints.Slot[*doorman]
	for i := range cfg.Profiles {
		slots = append(slots, extpoints.Use(&cfg.Profiles[i], newDoorman, extpoints.NoArgs{}))
	}
	_, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.Equal(t, plugins.DefaultProfileName, slots[0].Get().profile)
	require.Equal(t, "other", slots[1].Get().profile)
}

// A workload whose profile is not there is tried nowhere, and keeps nobody else of its group.
func TestNothingIsTriedWithoutAProfile(t *testing.T) {
	member := func(id, profile string) *model.Workload {
		return &model.Workload{ID: id, Group: "g", Profile: profile, Requests: model.Resources{CPU: 1}}
	}
	const missing = `there is no profile "gone"`
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, engine.PutGroup(&model.Group{ID: "g"}), node("n1", 1000), running("runs", "n1", 1),
		engine.Submit(member("first", "gone")), engine.Submit(member("second", ""))))

	b := r.Branch()
	_, err := b.Schedule(epoch, "first")
	require.ErrorContains(t, err, missing)
	_, err = b.WhenFits(epoch, "first")
	require.ErrorContains(t, err, missing)
	_, err = b.FitsInPlace(epoch, &model.Workload{ID: "runs", Profile: "gone"})
	require.ErrorContains(t, err, missing)
	_, err = b.WhenFits(epoch, "g")
	require.NoError(t, err)
	d, err := b.ScheduleGroup(epoch, "g")
	require.NoError(t, err)
	require.Len(t, d.Members, 1)
	require.Equal(t, "second", d.Members[0].Binding.Workload)
	e, err := r.Explain(epoch, "second", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, "n1", e.Node)
	e, err = r.Explain(epoch, "first", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Contains(t, e.Message, missing)
	require.Equal(t, queue.ProfileGate, e.Reasons[0].Plugin)

	settle(r, epoch)
	require.Equal(t, "Pending Bound@n1", phaseOf(r, "first")+" "+phaseOf(r, "second"))
}
