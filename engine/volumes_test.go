package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/volumebinding"
	"github.com/berth-project/berth/queue"
)

const volumeKind, claimKind = model.VolumeKind, model.VolumeClaimKind

// oneDisk is a cluster of two nodes with one volume, that can be used from node
// n2 only, and two claims that want it.
func oneDisk() []any {
	return []any{
		engine.PutNode(modeltest.Node("n1").CPU(1000).Label("host", "n1").Build()),
		engine.PutNode(modeltest.Node("n2").CPU(1000).Label("host", "n2").Build()),
		puts(
			modeltest.StorageClass("local").Build(),
			modeltest.Volume("v").Class("local").Capacity(10).On("host", "n2").Build(),
			modeltest.VolumeClaim("c1").Class("local").Request(5).Build(),
			modeltest.VolumeClaim("c2").Class("local").Request(5).Build(),
		),
	}
}

// toBeMade are a claim and a class whose volumes are made for a node.
func toBeMade() []engine.Change {
	return puts(
		modeltest.StorageClass("made").Provisioner("disk.example.com").Build(),
		modeltest.VolumeClaim("m").Class("made").Request(5).Build(),
	)
}

func uses(id string, claims ...string) engine.Change {
	b := modeltest.Workload(id).CPU(100)
	for _, c := range claims {
		b.VolumeClaim(c)
	}
	return submit(b)
}

// What Reserve decides is in the view at once; what was reported can still be
// told from it. It is true for everybody once the workload is bound.
func TestVolumesAreGivenWhenTheNodeIsChosen(t *testing.T) {
	for name, o := range map[string]extpoints.Orchestrator{"asked": &provider{}, "not asked": &world{}} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, o)
			apply(t, r, epoch, append(oneDisk(), toBeMade(), uses("w", "c1", "m"))...)
			before := r.View()
			require.True(t, r.Schedule(epoch))
			require.Equal(t, "Assumed@n2", phaseOf(r, "w"))
			require.Equal(t, "for c1", said(r.View(), volumeKind, "v"))
			require.Equal(t, "on n2", said(r.View(), claimKind, "m"))
			rec, _ := r.View().Object(model.ObjectRef{Kind: volumeKind, ID: "v"})
			require.Nil(t, rec.Reported.(*model.Volume).Claim, "nobody has reported it")
			require.Equal(t, "free", said(before, volumeKind, "v"), "older views do not change")

			task := r.NextTask()
			b, _ := task.Binding()
			require.Equal(t, []string{"v for c1", "m on n2"}, saidOfAll(b.Decided))
			task.Run(t.Context())
			r.Finish(epoch, task)
			require.Equal(t, "Bound@n2", phaseOf(r, "w"))
			rec, _ = r.View().Object(model.ObjectRef{Kind: volumeKind, ID: "v"})
			require.Equal(t, rec.Object, rec.Written, "it is true now")
			require.Equal(t, "for c1", said(r.View(), volumeKind, "v"))
			require.Equal(t, "on n2", said(r.View(), claimKind, "m"))
			if p, asked := o.(*provider); asked {
				require.Equal(t, []string{"volumes w", "bind w"}, p.calls)
				require.Equal(t, []string{"v for c1", "m on n2"}, saidOfAll(p.given["volumes w"]))
			}
		})
	}
}

// No call is made for a workload whose claims are bound, or that has none.
func TestNothingIsAskedWhereNothingIsDecided(t *testing.T) {
	o := &provider{}
	r := newRaw(t, o)
	apply(t, r, epoch, append(oneDisk(), modeltest.VolumeClaim("c1").Class("local").Bound("v").Build(), uses("w", "c1"), uses("x"))...)
	settle(r, epoch)
	require.Equal(t, "Bound@n2", phaseOf(r, "w"))
	require.Equal(t, []string{"bind w", "bind x"}, o.calls)
}

var errNoDisk = errors.New("the disk is on fire")

// However the way of a workload to its node ends, what was decided for it and is not
// written is given back: whoever waits for it is woken, and gets it. A volume that may
// have been bound belongs to its claim until it is reported to be free. (Until it was so,
// it was given to next at once: a volume that two claims have.)
func TestAFailureGivesVolumesBack(t *testing.T) {
	change := func(ch engine.Change) func(t *testing.T, r *engine.Raw, ctx context.Context) error {
		return func(t *testing.T, r *engine.Raw, ctx context.Context) error {
			require.NoError(t, r.Apply(epoch, ch))
			<-ctx.Done()
			return context.Cause(ctx)
		}
	}
	fails := func(err error) func(*testing.T, *engine.Raw, context.Context) error {
		return func(*testing.T, *engine.Raw, context.Context) error { return err }
	}
	for name, c := range map[string]struct {
		during func(*testing.T, *engine.Raw, context.Context) error // BindVolumes
		bind   error
		ends   string // the first workload's phase afterwards

		notWritten bool // for certain
	}{
		"nothing is written":        {during: fails(fmt.Errorf("%w: %w", extpoints.ErrNotWritten, errNoDisk)), ends: "Pending", notWritten: true},
		"the volumes are not bound": {during: fails(errNoDisk), ends: "Pending"},
		"the call panics":           {during: func(*testing.T, *engine.Raw, context.Context) error { panic("boom") }, ends: "Pending"},
		"the workload is not bound": {bind: errNoRoute, ends: "Pending"},
		"it is requeued meanwhile":  {during: change(engine.Requeue("w")), ends: "Pending"},
		"it is removed meanwhile":   {during: change(engine.Remove("w")), ends: "gone"},
		"it has ended meanwhile":    {during: change(engine.Finish("w")), ends: "Finished"},
		"it is seen elsewhere":      {during: change(engine.Confirm(model.Binding{Workload: "w", Node: "n1"})), ends: "Confirmed@n1"},
		"it is removed but bound": {during: func(t *testing.T, r *engine.Raw, _ context.Context) error {
			return r.Apply(epoch, engine.Remove("w"))
		}, ends: "gone"},
		"it is requeued but then fails": {during: func(t *testing.T, r *engine.Raw, _ context.Context) error {
			return errors.Join(errNoDisk, r.Apply(epoch, engine.Requeue("w")))
		}, ends: "Pending"},
		"it is evicted meanwhile": {during: func(t *testing.T, r *engine.Raw, ctx context.Context) error {
			require.NoError(t, r.Evict(epoch, "w", "drain"))
			<-ctx.Done()
			return context.Cause(ctx)
		}, ends: "Pending"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &provider{}
			r := newRaw(t, o)
			o.onVolumes = func(ctx context.Context, w *model.Workload, _ model.Binding) error {
				if c.during == nil || w.ID != "w" {
					return nil
				}
				return c.during(t, r, ctx)
			}
			o.onBind = func(_ context.Context, id string) error {
				if id == "w" {
					return c.bind
				}
				return nil
			}
			apply(t, r, epoch, append(oneDisk(), uses("w", "c1"), uses("next", "c2"))...)
			require.True(t, r.Schedule(epoch))
			require.True(t, r.Schedule(epoch))
			require.Equal(t, "Assumed@n2", phaseOf(r, "w"))
			require.False(t, mayBeTried(r, "next"), "there is no volume for it")

			task := r.NextTask()
			task.Run(t.Context())
			if phaseOf(r, "w") == "Pending" {
				p, _ := r.Queue("w")
				require.Equal(t, queue.OldBinding, p.Place, "it is not tried before the first call has ended")
			}
			r.Finish(epoch, task)
			require.Equal(t, c.ends, phaseOf(r, "w"))
			if c.notWritten {
				require.Equal(t, "free", said(r.View(), volumeKind, "v"))
				require.True(t, mayBeTried(r, "next"), "it is woken")
			}
			if _, ok := r.View().Workload("w"); ok {
				require.NoError(t, r.Apply(epoch, engine.Remove("w")))
			}
			now := epoch
			if !c.notWritten {
				now = goOn(r, now)
				require.Equal(t, "for c1", said(r.View(), volumeKind, "v"))
				require.Equal(t, "Pending", phaseOf(r, "next"))
				apply(t, r, now, oneDisk()...) // it is free
				require.True(t, mayBeTried(r, "next"), "it is woken")
			}
			goOn(r, now)
			require.Equal(t, "Bound@n2", phaseOf(r, "next"))
			require.Equal(t, "for c2", said(r.View(), volumeKind, "v"))
			require.Empty(t, o.twice)
		})
	}
}

// A workload whose volumes could not be bound is tried again by itself, after
// its backoff, and asks again.
func TestAFailureToBindVolumesIsTriedAgain(t *testing.T) {
	o := &provider{}
	tries := 0
	o.onVolumes = func(context.Context, *model.Workload, model.Binding) error {
		if tries++; tries < 3 {
			return errNoDisk
		}
		return nil
	}
	r := newRaw(t, o)
	apply(t, r, epoch, append(oneDisk(), uses("w", "c1"))...)
	settle(r, epoch)
	require.Contains(t, why(t, r, "w"), `binding volumes: workload "w", claims "c1": the disk is on fire`)
	now := goOn(r, epoch)
	goOn(r, now)
	require.Equal(t, "Bound@n2", phaseOf(r, "w"))
	require.Equal(t, []string{"volumes w", "volumes w", "volumes w", "bind w"}, o.calls)
}

// Where the workload is there although Bind reported a failure, it keeps its
// volumes.
func TestALostAnswerKeepsTheVolumes(t *testing.T) {
	for _, confirmedFirst := range []bool{true, false} {
		o := &provider{}
		r := newRaw(t, o)
		confirm := engine.Confirm(model.Binding{Workload: "w", Node: "n2"})
		o.onBind = func(context.Context, string) error {
			if confirmedFirst {
				require.NoError(t, r.Apply(epoch, confirm))
			}
			return errNoRoute
		}
		apply(t, r, epoch, append(oneDisk(), uses("w", "c1"), uses("next", "c2"))...)
		require.True(t, r.Schedule(epoch))
		task := r.NextTask()
		task.Run(t.Context())
		r.Finish(epoch, task)
		if !confirmedFirst {
			require.Equal(t, "for c1", said(r.View(), volumeKind, "v"), "BindVolumes has said so")
			apply(t, r, epoch, modeltest.Volume("v").Class("local").Capacity(10).On("host", "n2").For("c1").Build(), confirm)
		}
		goOn(r, epoch)
		require.Equal(t, "Confirmed@n2", phaseOf(r, "w"))
		require.Equal(t, "for c1", said(r.View(), volumeKind, "v"))
		require.Equal(t, "Pending", phaseOf(r, "next"))
	}
}

// The orchestrator may report the volume before its call returns, in parts, or
// after the workload is bound; a failure of Bind does not undo what is reported.
func TestReportsOfVolumesWhileBinding(t *testing.T) {
	bound := modeltest.Volume("v").Class("local").Capacity(10).On("host", "n2").For("c1").Phase(model.VolumeBound)
	claim := modeltest.VolumeClaim("c1").Class("local").Request(5).Bound("v")
	same := modeltest.Volume("v").Class("local").Capacity(10).On("host", "n2").Label("seen", "yes")
	for name, c := range map[string]struct {
		report []model.Object
		fails  bool
		want   string // of the volume, afterwards
		has    string // the claim
	}{
		"both":                      {report: []model.Object{bound.Build(), claim.Build()}, want: "for c1", has: "has v"},
		"both, and then it fails":   {report: []model.Object{bound.Build(), claim.Build()}, fails: true, want: "for c1", has: "has v"},
		"the volume, then it fails": {report: []model.Object{bound.Build()}, fails: true, want: "for c1", has: "free"},
		"something else":            {report: []model.Object{same.Build()}, want: "for c1", has: "free"},
		"something else, and fails": {report: []model.Object{same.Build()}, fails: true, want: "for c1", has: "free"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &provider{}
			r := newRaw(t, o)
			o.onVolumes = func(ctx context.Context, _ *model.Workload, _ model.Binding) error {
				return r.Apply(clock(ctx), puts(c.report...)...)
			}
			o.onBind = func(context.Context, string) error {
				if c.fails {
					return errNoRoute
				}
				return nil
			}
			apply(t, r, epoch, append(oneDisk(), uses("w", "c1"))...)
			require.True(t, r.Schedule(epoch))
			task := r.NextTask()
			task.Run(t.Context())
			require.Equal(t, "for c1", said(r.View(), volumeKind, "v"), "it holds all the time")
			r.Finish(epoch, task)
			require.Equal(t, c.want, said(r.View(), volumeKind, "v"))
			require.Equal(t, c.has, said(r.View(), claimKind, "c1"))
			c.fails = false
			goOn(r, epoch)
			require.Equal(t, "Bound@n2", phaseOf(r, "w"), "it gets there in the end")
		})
	}
}

// Two workloads with one claim go where its volume is; the orchestrator is asked
// for both, and what one gives back the other keeps.
func TestTwoWorkloadsWithOneClaim(t *testing.T) {
	for _, firstFails := range []bool{true, false} {
		o := &provider{}
		r := newRaw(t, o)
		apply(t, r, epoch, append(oneDisk(), toBeMade(), uses("w", "c1", "m"), uses("x", "m", "c1"), uses("next", "c2"))...)
		for range 3 {
			require.True(t, r.Schedule(epoch))
		}
		require.Equal(t, "Assumed@n2 Assumed@n2 Pending", phaseOf(r, "w")+" "+phaseOf(r, "x")+" "+phaseOf(r, "next"))
		first, second := r.NextTask(), r.NextTask()
		b, _ := second.Binding()
		require.ElementsMatch(t, []string{"v for c1", "m on n2"}, saidOfAll(b.Decided))
		if firstFails {
			first.Settle(errNoDisk)
			r.Finish(epoch, first)
			require.Equal(t, "for c1", said(r.View(), volumeKind, "v"), "the second needs it")
			require.Equal(t, "on n2", said(r.View(), claimKind, "m"))
			second.Run(t.Context())
			r.Finish(epoch, second)
		} else {
			first.Run(t.Context())
			r.Finish(epoch, first)
			second.Settle(errNoDisk)
			r.Finish(epoch, second)
		}
		require.Equal(t, "for c1", said(r.View(), volumeKind, "v"))
		require.Equal(t, "on n2", said(r.View(), claimKind, "m"))
		goOn(r, epoch)
		require.Equal(t, "Bound@n2 Bound@n2 Pending", phaseOf(r, "w")+" "+phaseOf(r, "x")+" "+phaseOf(r, "next"))
	}
}

// A claim that is made for the workload is waited for, and must say for whom it
// was made.
func TestGeneratedVolumeClaims(t *testing.T) {
	r := newRaw(t, &world{})
	claim := modeltest.VolumeClaim("w-data").Class("local").Request(5)
	apply(t, r, epoch, append(oneDisk(), submit(modeltest.Workload("w").CPU(100).GeneratedVolumeClaim("w-data")))...)
	settle(r, epoch)
	require.Contains(t, why(t, r, "w"), `waiting for volume claim "w-data" to be created for the workload`)
	apply(t, r, epoch, claim.Owner("x").Build())
	now := goOn(r, epoch)
	require.Contains(t, why(t, r, "w"), `volume claim w-data was not created for workload w (workload is not owner)`, "it is another's")
	apply(t, r, now, claim.Owner("w").Build())
	goOn(r, now)
	require.Equal(t, "Bound@n2", phaseOf(r, "w"))
	require.Equal(t, "for w-data", said(r.View(), volumeKind, "v"))
}

// A plan gives volumes on its branch; the engine and the orchestrator hear
// nothing of it.
func TestABranchPlansWithVolumes(t *testing.T) {
	o := &provider{}
	r := newRaw(t, o)
	apply(t, r, epoch, append(oneDisk(), toBeMade())...)
	index := r.View().Index()
	b := r.Branch()
	require.NoError(t, b.Apply(epoch, uses("w", "c1", "m"), uses("next", "c2")))
	other := b.Branch()
	d, err := b.Schedule(epoch, "w")
	require.NoError(t, err)
	require.Equal(t, "n2", d.Binding.Node)
	require.Equal(t, []string{"v for c1", "m on n2"}, saidOfAll(d.Binding.Decided))
	require.Equal(t, "for c1", said(b.View(), volumeKind, "v"))
	d, err = b.Schedule(epoch, "next")
	require.NoError(t, err)
	require.False(t, d.Placed(), "the volume is given away on this branch")
	require.Equal(t, []string{volumebinding.Name}, d.Plugins)
	require.NoError(t, b.Apply(epoch, engine.Requeue("w")))
	d, err = b.Schedule(epoch, "next")
	require.NoError(t, err)
	require.Equal(t, "n2", d.Binding.Node, "and is given back on it")

	require.Equal(t, "free", said(other.View(), volumeKind, "v"))
	require.Equal(t, "free", said(r.View(), volumeKind, "v"))
	require.Equal(t, "free", said(r.View(), claimKind, "m"))
	require.Equal(t, index, r.View().Index())
	require.Nil(t, r.NextTask())
	require.Empty(t, o.calls)
}

// A history with volumes is replayed to the letter, also where the orchestrator
// reports the very objects that it was handed.
func TestReplayWithVolumes(t *testing.T) {
	o := &provider{}
	now, fails := epoch, true
	r := replays(t, o, func(r *engine.Raw) {
		o.onVolumes = func(ctx context.Context, _ *model.Workload, b model.Binding) error {
			if fails {
				return errNoDisk
			}
			return r.Apply(clock(ctx), puts(b.Decided...)...)
		}
		apply(t, r, now, append(oneDisk(), toBeMade(), uses("w", "c1", "m"))...)
		settle(r, now)
		fails = false
		now = now.Add(soon)
		r.Tick(now)
		require.True(t, r.Schedule(now))
		apply(t, r, now, uses("next", "c2"))
		require.True(t, r.Schedule(now)) // waits for the volume, which is then reported as decided
		work(r, now)
		require.Equal(t, "Bound@n2", phaseOf(r, "w"))
		now = goOn(r, now)
		require.False(t, mayBeTried(r, "next"))
		rec, _ := r.View().Object(model.ObjectRef{Kind: claimKind, ID: "c2"})
		apply(t, r, now, rec.Reported)
		require.True(t, mayBeTried(r, "next"), "a report is a report, also of the same")
		now = goOn(r, now)
		apply(t, r, now, engine.RemoveObject(model.ObjectRef{Kind: claimKind, ID: "m"}), engine.Finish("w"),
			modeltest.Volume("v").Class("local").Capacity(10).On("host", "n2").Build())
		now = goOn(r, now)
	})
	require.Equal(t, "Finished Bound@n2", phaseOf(r, "w")+" "+phaseOf(r, "next"))
	require.Equal(t, "for c2", said(r.View(), volumeKind, "v"))
}

// The engine with goroutines: volumes are bound beside each other, never twice at
// once for one workload, and a call that takes too long is given up.
func TestAnEngineBindsVolumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &provider{}
		slow := true
		o.onVolumes = func(ctx context.Context, w *model.Workload, _ model.Binding) error {
			if w.ID == "slow" && slow {
				slow = false
				<-ctx.Done()
				return ctx.Err()
			}
			select {
			case <-time.After(2 * time.Second):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		e, stop := start(t, config(o))
		require.NoError(t, e.Apply(engine.PutNode(modeltest.Node("n1").CPU(1000).Label("host", "n1").Build())))
		require.NoError(t, e.Apply(toBeMade()...))
		require.NoError(t, e.Apply(puts(modeltest.VolumeClaim("m2").Class("made").Request(5).Build())...))
		require.NoError(t, e.Apply(uses("w", "m"), uses("slow", "m2")))
		synctest.Wait()
		require.Equal(t, "on n1", said(e.View(), claimKind, "m"))
		require.Equal(t, 2, count(e.View(), model.Assumed))
		time.Sleep(3 * time.Second)
		require.Equal(t, 1, count(e.View(), model.Bound))
		require.NoError(t, e.Apply(engine.Requeue("w"))) // it is bound, and placed anew
		time.Sleep(volumebinding.DefaultBindTimeout)
		synctest.Wait()
		time.Sleep(soon)
		require.Equal(t, 2, count(e.View(), model.Bound), "the slow one has been given up and tried again")
		require.Equal(t, "on n1", said(e.View(), claimKind, "m2"))
		require.NoError(t, stop())
		require.Empty(t, o.twice)
	})
}
