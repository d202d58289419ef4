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
	"github.com/berth-project/berth/model/modeltest"
)

// roomFor is the room for volumes on both nodes, as it is reported.
func roomFor(bytes int64) engine.Change {
	return engine.PutObject(&model.StorageCapacity{ID: "room", Class: "tracked", Nodes: &model.Selector{}, Capacity: &bytes})
}

// wantsVolume are a workload and its claim, which takes six.
func wantsVolume(id string) []engine.Change {
	return []engine.Change{
		engine.PutObject(modeltest.VolumeClaim(id + "-data").Class("tracked").Request(6).Build()),
		engine.Submit(&model.Workload{ID: id, VolumeClaims: []model.VolumeClaimRef{{ID: id + "-data"}}}),
	}
}

func roomWorld(t *testing.T, o extpoints.Orchestrator, compat extpoints.Compat) *engine.Raw {
	t.Helper()
	cfg := config(o)
	cfg.Compat = compat
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), roomFor(10),
		engine.PutObject(&model.StorageDriver{Name: "disk.example.com", TracksCapacity: true}),
		engine.PutObject(&model.StorageClass{Name: "tracked", Provisioner: "disk.example.com", Binding: model.BindWhenConsumed})))
	return r
}

// Until the room for volumes is reported again, it is what was reported less what has been
// given since: what the orchestrator may have been asked for counts, however the attempt
// ends, and what it was not asked for counts as long as the attempt lasts.
func TestRoomIsWhatWasReportedLessWhatWasGiven(t *testing.T) {
	errFails := errors.New("it fails")
	notWritten := fmt.Errorf("%w: %w", extpoints.ErrNotWritten, errFails)
	for name, c := range map[string]struct {
		volumes, bind error
		before, after []engine.Change // the volume is asked for, and the workload bound
		free          bool            // without a report
	}{
		"it is bound":                   {},
		"it fails, and may be written":  {volumes: errFails, after: []engine.Change{engine.Remove("w")}},
		"it fails, and is not written":  {volumes: notWritten, after: []engine.Change{engine.Remove("w")}, free: true},
		"it is written, and not bound":  {bind: errFails, after: []engine.Change{engine.Remove("w")}},
		"it is bound and removed":       {after: []engine.Change{engine.Remove("w")}},
		"it is bound and has ended":     {after: []engine.Change{engine.Finish("w")}},
		"it is bound and waits again":   {after: []engine.Change{engine.Requeue("w"), engine.Remove("w")}},
		"it is removed before":          {before: []engine.Change{engine.Remove("w")}, free: true},
		"it has ended before":           {before: []engine.Change{engine.Finish("w")}, free: true},
		"its node is lost":              {after: []engine.Change{engine.LoseNode("n1"), engine.LoseNode("n2"), engine.Remove("w"), node("n1", 1000)}},
		"the room is another meanwhile": {before: []engine.Change{roomFor(11)}},
		"its claim is reported meanwhile": {after: []engine.Change{engine.PutObject(
			modeltest.VolumeClaim("w-data").Class("tracked").Request(6).Bound("made").Build())}},
	} {
		for _, compat := range []extpoints.Compat{extpoints.Improved, extpoints.KubeScheduler137} {
			t.Run(fmt.Sprint(name, "/", compat), func(t *testing.T) {
				o := &provider{}
				o.onVolumes = func(_ context.Context, w *model.Workload, _ model.Binding) error {
					if w.ID == "w" {
						return c.volumes
					}
					return nil
				}
				o.onBind = func(_ context.Context, id string) error {
					if id == "w" {
						return c.bind
					}
					return nil
				}
				r := roomWorld(t, o, compat)
				require.NoError(t, r.Apply(epoch, wantsVolume("w")...))
				require.True(t, r.Schedule(epoch))
				task := r.NextTask()
				require.NoError(t, r.Apply(epoch, c.before...))
				task.Run(t.Context())
				r.Finish(epoch, task)
				require.NoError(t, r.Apply(epoch, c.after...))

				fits := func(id string, want bool) {
					t.Helper()
					if _, there := r.View().Workload(id); !there {
						require.NoError(t, r.Apply(epoch, wantsVolume(id)...))
					}
					d, err := r.Branch().Schedule(epoch, id)
					require.NoError(t, err)
					require.Equal(t, want || compat == extpoints.KubeScheduler137, d.Placed(), "%s: %+v", id, r.View())
				}
				fits("next", c.free)
				require.NoError(t, r.Apply(epoch, roomFor(4)))
				if compat == extpoints.Improved {
					fits("next", false)
				}
				require.NoError(t, r.Apply(epoch, roomFor(6)))
				fits("next", true)
			})
		}
	}
}

// Two that come at once do not both get the room of one, and the second is woken when the first
// fails before anybody was asked.
func TestRoomForOneIsGivenToOne(t *testing.T) {
	o := &provider{}
	r := roomWorld(t, o, extpoints.Improved)
	require.NoError(t, r.Apply(epoch, append(wantsVolume("a"), wantsVolume("b")...)...))
	require.True(t, r.Schedule(epoch))
	require.True(t, r.Schedule(epoch))
	require.Equal(t, "Pending", phaseOf(r, "b"))
	require.Contains(t, why(t, r, "b"), "did not have enough free storage")
	task := r.NextTask()
	require.NoError(t, r.Apply(epoch, engine.Remove("a")))
	task.Run(t.Context())
	r.Finish(epoch, task)
	goOn(r, epoch)
	require.Contains(t, phaseOf(r, "b"), "Bound@")
}

// So it is for a group, and for what waits on Permit.
func TestRoomWithinAGroup(t *testing.T) {
	r := roomWorld(t, &provider{}, extpoints.Improved)
	changes := append(wantsVolume("a"), wantsVolume("b")...)
	for i := range changes {
		if w, ok := changes[i].Value().(*model.Workload); ok {
			w.Group = "gang"
		}
	}
	require.NoError(t, r.Apply(epoch, append(changes, engine.PutGroup(&model.Group{ID: "gang", Policy: model.Gang, MinCount: 2}))...))
	settle(r, epoch)
	require.Equal(t, "Pending", phaseOf(r, "a"))
	require.Equal(t, "Pending", phaseOf(r, "b"))
	require.NoError(t, r.Apply(epoch, roomFor(12)))
	goOn(r, epoch)
	require.Contains(t, phaseOf(r, "a"), "Bound@")
	require.Contains(t, phaseOf(r, "b"), "Bound@")
}
