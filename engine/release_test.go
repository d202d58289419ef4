package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// idle is claim c1 with a device that cannot be used from any node, and that
// nobody uses.
func idle() *model.DeviceClaim {
	nowhere := &model.NodeTerms{Terms: []model.NodeTerm{{Labels: []model.Requirement{{Key: "host", Operator: model.In, Values: []string{"gone"}}}}}}
	device := model.AllocatedDevice{DeviceID: model.DeviceID{Driver: "gpu.example.com", Pool: "elsewhere", Device: "d0"}, Request: "r"}
	return modeltest.DeviceClaim("c1").Request("r", "gpu", 1).Given(nowhere, device).Build()
}

// Devices in the wrong place that nobody uses are taken back, with the
// orchestrator's consent where it wants to be asked, and others given.
func TestIdleDevicesAreTakenBack(t *testing.T) {
	for name, o := range map[string]extpoints.Orchestrator{"asked": &provider{}, "not asked": &world{}} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, o)
			apply(t, r, epoch, append(oneGPU(), idle(), asks("w", "c1"))...)
			require.True(t, r.Schedule(epoch))
			p, asked := o.(*provider)
			if asked {
				require.Equal(t, "elsewhere/d0", said(r.View(), deviceClaimKind, "c1"), "not before it has answered")
				task := r.NextTask()
				require.Equal(t, "c1", task.Claim().ID)
				require.Equal(t, "w", task.Workload().ID)
				_, binds := task.Binding()
				require.False(t, binds)
				task.Run(t.Context())
				r.Finish(epoch, task)
				require.Equal(t, []string{"release c1"}, p.calls)
			}
			require.Nil(t, r.NextTask())
			require.Equal(t, "free", said(r.View(), deviceClaimKind, "c1"))
			require.True(t, mayBeTried(r, "w"), "it is woken")
			goOn(r, epoch)
			require.Equal(t, "Bound@n2", phaseOf(r, "w"))
		})
	}
}

// A group of which no member is on a node gives up its reservation of a claim that
// others have reserved, too; they keep it, and the devices.
func TestAGroupGivesUpItsReservation(t *testing.T) {
	shared := idle()
	shared.ReservedFor = []model.Consumer{{Group: "g"}, {Workload: "other"}}
	member := submit(modeltest.Workload("m").CPU(100).Group("g").With(func(w *model.Workload) {
		w.DeviceClaims = []model.DeviceClaimRef{{Name: "gpu", ID: "c1", OfGroup: true}}
	}))
	group := &model.Group{ID: "g", Policy: model.Gang, MinCount: 1, DeviceClaims: []model.DeviceClaimRef{{Name: "gpu", ID: "c1"}}}
	for name, o := range map[string]extpoints.Orchestrator{"asked": &provider{}, "not asked": &world{}} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, o)
			apply(t, r, epoch, append(oneGPU(), shared, engine.PutGroup(group), member)...)
			require.True(t, r.Schedule(epoch))
			if p, asked := o.(*provider); asked {
				task := r.NextTask()
				task.Run(t.Context())
				r.Finish(epoch, task)
				require.Equal(t, []string{"release c1"}, p.calls)
				require.Equal(t, []string{"c1 elsewhere/d0 for other"}, saidOfAll(p.given["release c1"]))
			}
			require.Equal(t, "elsewhere/d0 for other", said(r.View(), deviceClaimKind, "c1"))
		})
	}
}

// A claim is not taken back for a member of a group that fits nowhere for want of
// something else: its devices were never looked at.
func TestClaimsThatAreNotInTheWayStay(t *testing.T) {
	for cpu, want := range map[int64]string{100: "free", 1 << 40: "elsewhere/d0"} {
		r := newRaw(t, &world{})
		member := submit(modeltest.Workload("m").CPU(cpu).Group("g").With(func(w *model.Workload) {
			w.DeviceClaims = []model.DeviceClaimRef{{Name: "gpu", ID: "c1"}}
		}))
		apply(t, r, epoch, append(oneGPU(), idle(), engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 1}), member)...)
		require.True(t, r.Schedule(epoch))
		require.Equal(t, want, said(r.View(), deviceClaimKind, "c1"), "cpu %d", cpu)
	}
}

// Where the orchestrator does not take devices back, or something has become of
// the claim meanwhile, nothing is recorded; the next attempt asks again.
func TestDevicesThatAreNotTakenBack(t *testing.T) {
	reserved := idle()
	reserved.ReservedFor = []model.Consumer{{Workload: "other"}}
	for name, c := range map[string]struct {
		err    error
		boom   bool
		report *model.DeviceClaim
		want   string
	}{
		"it refuses":                    {err: errNoDisk, want: "elsewhere/d0"},
		"it panics":                     {boom: true, want: "elsewhere/d0"},
		"somebody reserves it":          {report: reserved, want: "elsewhere/d0 for other"},
		"it reports that it is done":    {report: modeltest.DeviceClaim("c1").Request("r", "gpu", 1).Build(), want: "free"},
		"it reports that all is as was": {report: idle(), want: "elsewhere/d0"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &provider{}
			cfg := config(o)
			var failed []string
			cfg.Listener.Failed = func(e engine.FailedEvent) { failed = append(failed, e.Err.Error()) }
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			o.onRelease = func(context.Context, *model.DeviceClaim) error {
				if c.boom {
					panic("boom")
				}
				if c.report != nil {
					require.NoError(t, r.Apply(epoch, puts(c.report)...))
				}
				return c.err
			}
			apply(t, r, epoch, append(oneGPU(), idle(), asks("w", "c1"))...)
			require.True(t, r.Schedule(epoch))
			task := r.NextTask()
			task.Run(t.Context())
			r.Finish(epoch, task)
			require.Equal(t, c.want, said(r.View(), deviceClaimKind, "c1"))
			if c.err != nil || c.boom {
				require.Len(t, failed, 1)
				require.Contains(t, failed[0], `take back the devices of claim "c1": `)
				c.err, c.boom = nil, false
				apply(t, r, epoch, node("n3", 1)) // something that makes it worth trying
				now := goOn(r, epoch)
				goOn(r, now)
				require.Equal(t, "Bound@n2", phaseOf(r, "w"))
			}
		})
	}
}

// One claim is not asked for twice at once, however many workloads want its
// devices back and however often they are tried meanwhile.
func TestDevicesAreTakenBackOnce(t *testing.T) {
	o := &provider{}
	r := newRaw(t, o)
	apply(t, r, epoch, append(oneGPU(), idle(), asks("w", "c1"), asks("x", "c1"))...)
	require.True(t, r.Schedule(epoch))
	require.True(t, r.Schedule(epoch))
	task := r.NextTask()
	require.NotNil(t, task)
	now := epoch.Add(soon)
	apply(t, r, now, node("n3", 1))
	r.Tick(now)
	for r.Schedule(now) {
	}
	require.Nil(t, r.NextTask())
	task.Run(t.Context())
	r.Finish(now, task)
	require.Equal(t, "free", said(r.View(), deviceClaimKind, "c1"))
	goOn(r, now)
	require.Equal(t, "Bound@n2 Bound@n2", phaseOf(r, "w")+" "+phaseOf(r, "x"))
	require.Equal(t, "release c1", o.calls[0])
	require.NotContains(t, o.calls[1:], "release c1")
}
