package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins"
)

const deviceClaimKind = model.DeviceClaimKind

// oneGPU is a cluster of two nodes with one device, on node n2, and two claims
// that want it.
func oneGPU() []any {
	return []any{
		node("n1", 1000), node("n2", 1000),
		puts(
			modeltest.DeviceClass("gpu"),
			modeltest.DeviceSlice("gpu.example.com", "p").Node("n2").Devices(1).Build(),
			modeltest.DeviceClaim("c1").Request("r", "gpu", 1).Build(),
			modeltest.DeviceClaim("c2").Request("r", "gpu", 1).Build(),
		),
	}
}

// asks is a workload that uses device claims.
func asks(id string, claims ...string) engine.Change {
	return submit(modeltest.Workload(id).CPU(100).With(func(w *model.Workload) {
		for _, c := range claims {
			w.DeviceClaims = append(w.DeviceClaims, model.DeviceClaimRef{Name: c, ID: c})
		}
	}))
}

// asksByName is a workload that asks for a device by the name of a scalar
// resource, which a class stands for.
func asksByName(id string) []any {
	class := modeltest.DeviceClass("gpu")
	class.Resource = "example.com/gpu"
	return []any{class, submit(modeltest.Workload(id).CPU(100).Resource("example.com/gpu", 1))}
}

const madeClaim = "w-extended-resources"

// What Reserve decides about claims is in the view at once, a claim that is made
// for the workload included. It is held for as long as the workload is there.
func TestDevicesAreGivenWhenTheNodeIsChosen(t *testing.T) {
	for name, o := range map[string]extpoints.Orchestrator{"asked": &provider{}, "not asked": &world{}} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, o)
			apply(t, r, epoch, append(oneGPU(), asks("w", "c1"), asks("next", "c2"))...)
			require.True(t, r.Schedule(epoch))
			require.Equal(t, "Assumed@n2", phaseOf(r, "w"))
			require.Equal(t, "p/d0 for w", said(r.View(), deviceClaimKind, "c1"))
			require.True(t, r.Schedule(epoch))
			require.Equal(t, "Pending", phaseOf(r, "next"), "the device is given away")
			work(r, epoch)
			require.Equal(t, "Bound@n2", phaseOf(r, "w"))
			require.Equal(t, "p/d0 for w", said(r.View(), deviceClaimKind, "c1"))
			if p, asked := o.(*provider); asked {
				require.Equal(t, []string{"devices w", "bind w"}, p.calls)
				require.Equal(t, []string{"c1 p/d0 for w"}, saidOfAll(p.given["devices w"]))
			}
			apply(t, r, epoch, engine.Finish("w"))
			if p, asked := o.(*provider); asked {
				require.Equal(t, "p/d0", said(r.View(), deviceClaimKind, "c1"), "it was written, and nobody has reported that it is free")
				work(r, epoch)
				require.Equal(t, []string{"devices w", "bind w", "release c1"}, p.calls[:3], "it is asked to give it back")
			}
			require.Equal(t, "free", said(r.View(), deviceClaimKind, "c1"))
			goOn(r, epoch)
			require.Equal(t, "Bound@n2", phaseOf(r, "next"))
		})
	}
}

// However the way of a workload to its node ends, what the orchestrator has not written
// is given back: whoever waits for it is woken, and gets it. What it may have written
// stays given as long as the workload is there and nobody reports it, for outside the
// device may be that claim's; when the workload is gone the orchestrator is asked to take
// it back. (Until it was so, the device was given to next at once, and two claims had it.)
// A claim that was made for the workload goes with it.
func TestAFailureGivesDevicesBack(t *testing.T) {
	for name, c := range map[string]struct {
		change      engine.Change // while the devices are bound
		err, bind   error
		evict, boom bool
		ends        string
		notWritten  bool // for certain
	}{
		"the devices are not written": {err: fmt.Errorf("%w: %w", extpoints.ErrNotWritten, errNoDisk), ends: "Pending", notWritten: true},
		"the devices are not bound":   {err: errNoDisk, ends: "Pending"},
		"the call panics":             {boom: true, ends: "Pending"},
		"the workload is not bound":   {bind: errNoRoute, ends: "Pending"},
		"it is requeued meanwhile":    {change: engine.Requeue("w"), ends: "Pending"},
		"it is removed meanwhile":     {change: engine.Remove("w"), ends: "gone"},
		"it has ended meanwhile":      {change: engine.Finish("w"), ends: "Finished"},
		"it is evicted meanwhile":     {evict: true, ends: "Pending"},
		"it is seen elsewhere":        {change: engine.Confirm(model.Binding{Workload: "w", Node: "n1"}), ends: "Confirmed@n1"},
		"it is removed, and it fails": {change: engine.Remove("w"), err: errNoDisk, ends: "gone"},
	} {
		for _, byName := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				o := &provider{}
				r := newRaw(t, o)
				o.onDevices = func(ctx context.Context, w *model.Workload, _ model.Binding) error {
					switch {
					case w.ID != "w":
						return nil
					case c.boom:
						panic("boom")
					case c.evict:
						require.NoError(t, r.Evict(epoch, "w", "drain"))
						<-ctx.Done()
						return context.Cause(ctx)
					case c.change.Verb() != "":
						require.NoError(t, r.Apply(epoch, c.change))
						<-ctx.Done()
						return context.Cause(ctx)
					}
					return c.err
				}
				o.onBind = func(_ context.Context, id string) error {
					if id == "w" {
						return c.bind
					}
					return nil
				}
				claim := "c1"
				apply(t, r, epoch, oneGPU()...)
				if byName {
					claim = madeClaim
					apply(t, r, epoch, asksByName("w")...)
				} else {
					apply(t, r, epoch, asks("w", "c1"))
				}
				apply(t, r, epoch, asks("next", "c2"))
				require.True(t, r.Schedule(epoch))
				require.True(t, r.Schedule(epoch))
				require.Equal(t, "p/d0 for w", said(r.View(), deviceClaimKind, claim))
				require.False(t, mayBeTried(r, "next"))

				task := r.NextTask()
				task.Run(t.Context())
				r.Finish(epoch, task)
				require.Equal(t, c.ends, phaseOf(r, "w"))
				back := "free"
				if byName {
					back = "gone"
				}
				if c.notWritten {
					require.Equal(t, back, said(r.View(), deviceClaimKind, claim))
				} else {
					require.Equal(t, "p/d0", said(r.View(), deviceClaimKind, claim))
				}
				if _, ok := r.View().Workload("w"); ok {
					require.NoError(t, r.Apply(epoch, engine.Remove("w")))
				}
				for task := r.NextTask(); task != nil; task = r.NextTask() {
					task.Run(t.Context())
					r.Finish(epoch, task)
				}
				require.Equal(t, back, said(r.View(), deviceClaimKind, claim))
				require.Equal(t, !c.notWritten, slices.Contains(o.calls, "release "+claim))
				require.True(t, mayBeTried(r, "next"), "it is woken")
				goOn(r, epoch)
				require.Equal(t, "Bound@n2", phaseOf(r, "next"))
				require.Empty(t, o.twice)
			})
		}
	}
}

// A claim that was made, and is reported, before the binding fails is of no use
// to the next attempt: it is given back first.
func TestAMadeClaimOfAFailedBindingGoes(t *testing.T) {
	for name, releases := range map[string]bool{"asked": true, "not asked": false} {
		t.Run(name, func(t *testing.T) {
			o := &provider{}
			var orchestrator extpoints.Orchestrator = o
			if !releases {
				orchestrator = struct{ extpoints.DeviceBinder }{o}
			}
			r := newRaw(t, orchestrator)
			o.onDevices = func(ctx context.Context, _ *model.Workload, b model.Binding) error {
				return r.Apply(clock(ctx), puts(b.Decided...)...)
			}
			fails := true
			o.onBind = func(context.Context, string) error {
				if fails {
					return errNoRoute
				}
				return nil
			}
			apply(t, r, epoch, oneGPU()...)
			apply(t, r, epoch, asksByName("w")...)
			settle(r, epoch)
			require.Equal(t, "Pending", phaseOf(r, "w"))
			require.Equal(t, "p/d0 for w", said(r.View(), deviceClaimKind, madeClaim), "it was reported")
			fails = false
			now := goOn(r, epoch) // finds the claim in the way
			now = goOn(r, now)
			goOn(r, now)
			require.Equal(t, "Bound@n2", phaseOf(r, "w"))
			require.Equal(t, "p/d0 for w", said(r.View(), deviceClaimKind, madeClaim))
			if releases {
				require.Equal(t, []string{"devices w", "bind w", "release " + madeClaim, "devices w", "bind w"}, o.calls)
			}
		})
	}
}

// Reports of a claim before Bind returns, and what is left of them when the
// workload goes.
func TestReportsOfClaimsWhileBinding(t *testing.T) {
	given := model.AllocatedDevice{DeviceID: model.DeviceID{Driver: "gpu.example.com", Pool: "p", Device: "d0"}, Request: "r"}
	claim := func(change func(*model.DeviceClaim)) *model.DeviceClaim {
		return modeltest.DeviceClaim("c1").Request("r", "gpu", 1).With(change).Build()
	}
	for name, c := range map[string]struct {
		report      *model.DeviceClaim
		then, after string // once it is reported, and once the workload is gone
	}{
		"all of it": {claim(func(c *model.DeviceClaim) {
			c.Allocation, c.ReservedFor = &model.Allocation{Devices: []model.AllocatedDevice{given}}, []model.Consumer{{Workload: "w"}}
		}), "p/d0 for w", "p/d0 for w"},
		"only what it was given": {claim(func(c *model.DeviceClaim) {
			c.Allocation = &model.Allocation{Devices: []model.AllocatedDevice{given}}
		}), "p/d0 for w", "p/d0"},
		"nothing of it, as yet": {claim(func(c *model.DeviceClaim) { c.Name = "seen" }), "p/d0 for w", "p/d0"},
		"another claim":         {claim(func(c *model.DeviceClaim) { c.UID = "2" }), "free", "free"},
	} {
		for _, fails := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				o := &provider{}
				r := newRaw(t, o)
				o.onDevices = func(ctx context.Context, _ *model.Workload, _ model.Binding) error {
					return r.Apply(clock(ctx), puts(c.report)...)
				}
				o.onBind = func(context.Context, string) error {
					if fails {
						return errNoRoute
					}
					return nil
				}
				apply(t, r, epoch, append(oneGPU(), asks("w", "c1"))...)
				settle(r, epoch)
				if fails {
					require.Equal(t, "Pending", phaseOf(r, "w"))
					require.Equal(t, c.after, said(r.View(), deviceClaimKind, "c1"))
					return
				}
				require.Equal(t, "Bound@n2", phaseOf(r, "w"))
				require.Equal(t, c.then, said(r.View(), deviceClaimKind, "c1"))
				apply(t, r, epoch, engine.Remove("w"))
				require.Equal(t, c.after, said(r.View(), deviceClaimKind, "c1"))
			})
		}
	}
}

// Two workloads share a claim: the second follows the first to its devices, and
// the devices are free when both are gone.
func TestTwoWorkloadsShareDevices(t *testing.T) {
	for _, firstFails := range []bool{true, false} {
		o := &provider{}
		r := newRaw(t, o)
		apply(t, r, epoch, append(oneGPU(), asks("w", "c1"), asks("x", "c1"))...)
		require.True(t, r.Schedule(epoch))
		require.True(t, r.Schedule(epoch))
		require.Equal(t, "p/d0 for w for x", said(r.View(), deviceClaimKind, "c1"))
		first, second := r.NextTask(), r.NextTask()
		b, _ := second.Binding()
		require.Equal(t, []string{"c1 p/d0 for w for x"}, saidOfAll(b.Decided))
		if firstFails {
			first.Settle(errNoRoute)
			r.Finish(epoch, first)
			require.Equal(t, "p/d0 for x", said(r.View(), deviceClaimKind, "c1"))
		} else {
			first.Run(t.Context())
			r.Finish(epoch, first)
		}
		second.Run(t.Context())
		r.Finish(epoch, second)
		now := goOn(r, epoch)
		require.Equal(t, "Bound@n2 Bound@n2", phaseOf(r, "w")+" "+phaseOf(r, "x"))
		apply(t, r, now, engine.Remove("w"))
		require.Equal(t, "p/d0 for x", said(r.View(), deviceClaimKind, "c1"))
		apply(t, r, now, engine.Finish("x"))
		require.Equal(t, "p/d0", said(r.View(), deviceClaimKind, "c1"), "outside it may be given")
		work(r, now)
		require.Equal(t, "free", said(r.View(), deviceClaimKind, "c1"), "it was taken back")
	}
}

// A claim that is made for the workload is waited for, under whatever name it
// comes, and must say for whom it was made.
func TestGeneratedDeviceClaims(t *testing.T) {
	r := newRaw(t, &world{})
	w := modeltest.Workload("w").CPU(100).With(func(w *model.Workload) {
		w.DeviceClaims = []model.DeviceClaimRef{{Name: "gpu", Generated: true}}
	})
	apply(t, r, epoch, append(oneGPU(), submit(w))...)
	settle(r, epoch)
	require.Equal(t, `workload "w": device claim not created yet`, why(t, r, "w"))
	claim := modeltest.DeviceClaim("w-gpu-x7").Request("r", "gpu", 1)
	named := w.With(func(w *model.Workload) {
		w.DeviceClaims = []model.DeviceClaimRef{{Name: "gpu", ID: "w-gpu-x7", Generated: true}}
	})
	apply(t, r, epoch, engine.Update(named.Build()))
	settle(r, epoch)
	require.Equal(t, "Pending", phaseOf(r, "w"))
	apply(t, r, epoch, claim.With(func(c *model.DeviceClaim) { c.Owner = "w" }).Build())
	settle(r, epoch)
	require.Equal(t, "Bound@n2", phaseOf(r, "w"))
	require.Equal(t, "p/d0 for w", said(r.View(), deviceClaimKind, "w-gpu-x7"))
}

// A plan gives devices on its branch; the engine and the orchestrator hear
// nothing of it, also where devices would have to be taken back.
func TestABranchPlansWithDevices(t *testing.T) {
	o := &provider{}
	r := newRaw(t, o)
	apply(t, r, epoch, oneGPU()...)
	index := r.View().Index()
	b := r.Branch()
	require.NoError(t, b.Apply(epoch, asks("w", "c1"), asks("next", "c2")))
	d, err := b.Schedule(epoch, "w")
	require.NoError(t, err)
	require.Equal(t, []string{"c1 p/d0 for w"}, saidOfAll(d.Binding.Decided))
	d, err = b.Schedule(epoch, "next")
	require.NoError(t, err)
	require.Equal(t, []string{plugins.DynamicResources}, d.Plugins)
	require.NoError(t, b.Apply(epoch, engine.Remove("w"), engine.Remove("next")))
	require.Equal(t, "free", said(b.View(), deviceClaimKind, "c1"))

	require.NoError(t, b.Apply(epoch, puts(idle())...))
	require.NoError(t, b.Apply(epoch, asks("w", "c1")))
	d, err = b.Schedule(epoch, "w")
	require.NoError(t, err)
	require.False(t, d.Placed())
	require.Equal(t, "elsewhere/d0", said(b.View(), deviceClaimKind, "c1"))
	require.Equal(t, index, r.View().Index())
	require.Nil(t, r.NextTask())
	require.Empty(t, o.calls)
}

// A history with devices and groups, with failures and devices that are taken
// back, is replayed to the letter.
func TestReplayWithDevicesAndGroups(t *testing.T) {
	o := &provider{}
	now := epoch
	fails := 2
	r := replays(t, o, func(r *engine.Raw) {
		o.onDevices = func(ctx context.Context, _ *model.Workload, b model.Binding) error {
			if fails--; fails >= 0 {
				return errNoDisk
			}
			return r.Apply(clock(ctx), puts(b.Decided...)...)
		}
		member := func(id string) engine.Change {
			return submit(modeltest.Workload(id).CPU(100).Group("g").With(func(w *model.Workload) {
				w.DeviceClaims = []model.DeviceClaimRef{{Name: "gpu", ID: "c1", OfGroup: true}}
			}))
		}
		apply(t, r, now, oneGPU()...)
		apply(t, r, now, idle(), member("m1"),
			engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 2, DeviceClaims: []model.DeviceClaimRef{{Name: "gpu", ID: "c1"}}}))
		settle(r, now)
		apply(t, r, now, member("m2"))
		settle(r, now)
		for range 4 {
			now = goOn(r, now)
		}
		require.Equal(t, "Bound@n2 Bound@n2", phaseOf(r, "m1")+" "+phaseOf(r, "m2"))
		require.Equal(t, "p/d0 for g", said(r.View(), deviceClaimKind, "c1"))
		apply(t, r, now, asks("next", "c2"))
		settle(r, now)
		apply(t, r, now, engine.RemoveGroup("g"), engine.Remove("m1"), engine.Remove("m2"))
		apply(t, r, now, engine.RemoveObject(model.ObjectRef{Kind: deviceClaimKind, ID: "c1"}))
		now = goOn(r, now)
	})
	require.Equal(t, "Bound@n2", phaseOf(r, "next"))
	require.Contains(t, o.calls, "release c1")
}

// The engine with goroutines: devices are bound while others are scheduled, and
// one that fails lets the next have the device.
func TestAnEngineBindsDevices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &provider{}
		o.onDevices = func(ctx context.Context, w *model.Workload, _ model.Binding) error {
			time.Sleep(2 * time.Second)
			if w.ID == "w" {
				return fmt.Errorf("%w: no such device", extpoints.ErrNotWritten)
			}
			return nil
		}
		e, stop := start(t, config(o))
		for _, c := range oneGPU() {
			switch c := c.(type) {
			case engine.Change:
				require.NoError(t, e.Apply(c))
			case []engine.Change:
				require.NoError(t, e.Apply(c...))
			}
		}
		require.NoError(t, e.Apply(asks("w", "c1")))
		synctest.Wait()
		require.Equal(t, "p/d0 for w", said(e.View(), deviceClaimKind, "c1"))
		require.NoError(t, e.Apply(asks("next", "c2"), task("other", 100)))
		synctest.Wait()
		require.Equal(t, []string{"devices w", "bind other"}, o.called())
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, "p/d0 for next", said(e.View(), deviceClaimKind, "c2"))
		require.NoError(t, stop())
		require.Empty(t, o.twice)
	})
}
