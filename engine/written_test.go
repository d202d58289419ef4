package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins"
)

// ledger is an orchestrator with a record of its own that refuses nothing: whatever it is
// asked to write it writes, also twice. So what the engine gives away twice is there twice.
type ledger struct {
	mu      sync.Mutex
	objects map[model.ObjectRef]model.Object
	running map[string]bool
	twice   []string // devices and volumes that were given to two claims

	devices, bind func(ctx context.Context, id string) error // after it was written, and instead
}

// ledgerOf has one device and one volume, both on node n2, and two claims to each.
func ledgerOf() (*ledger, []model.Object) {
	known := []model.Object{
		modeltest.StorageClass("local").Build(),
		modeltest.Volume("v").Class("local").Capacity(10).On("host", "n2").Build(),
		modeltest.VolumeClaim("w-data").Class("local").Request(5).Build(),
		modeltest.VolumeClaim("next-data").Class("local").Request(5).Build(),
		modeltest.DeviceClass("gpu"),
		modeltest.DeviceSlice("gpu.example.com", "p").Node("n2").Devices(1).Build(),
		modeltest.DeviceClaim("w-gpu").Request("r", "gpu", 1).Build(),
		modeltest.DeviceClaim("next-gpu").Request("r", "gpu", 1).Build(),
	}
	l := &ledger{objects: map[model.ObjectRef]model.Object{}, running: map[string]bool{}}
	for _, o := range known {
		l.objects[model.RefOf(o)] = o
	}
	return l, known
}

func (l *ledger) put(o model.Object) {
	l.objects[model.RefOf(o)] = o
	has := map[string]string{}
	for _, ref := range []string{"w", "next"} {
		if c := l.claim(ref); c.Allocation != nil {
			if other := has["device"]; other != "" {
				l.twice = append(l.twice, fmt.Sprintf("the device is given to %s and %s", other, c.ID))
			}
			has["device"] = c.ID
		}
	}
}

func (l *ledger) claim(workload string) *model.DeviceClaim {
	return l.objects[model.ObjectRef{Kind: deviceClaimKind, ID: workload + "-gpu"}].(*model.DeviceClaim)
}

func (l *ledger) volume() *model.Volume {
	return l.objects[model.ObjectRef{Kind: volumeKind, ID: "v"}].(*model.Volume)
}

func (l *ledger) BindVolumes(_ context.Context, _ *model.Workload, b model.Binding) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range b.Decided {
		if v, ok := o.(*model.Volume); ok {
			if was := l.volume().Claim; was != nil && *was != *v.Claim {
				l.twice = append(l.twice, fmt.Sprintf("the volume is for %s and %s", was.ID, v.Claim.ID))
			}
			l.put(v)
		}
	}
	return nil
}

func (l *ledger) BindDevices(ctx context.Context, w *model.Workload, b model.Binding) error {
	l.mu.Lock()
	for _, o := range b.Decided {
		if c, ok := o.(*model.DeviceClaim); ok {
			l.put(c)
		}
	}
	l.mu.Unlock()
	if l.devices != nil {
		return l.devices(ctx, w.ID)
	}
	return nil
}

func (l *ledger) Bind(ctx context.Context, w *model.Workload, _ model.Binding) error {
	if l.bind != nil {
		if err := l.bind(ctx, w.ID); err != nil {
			return err
		}
	}
	l.running[w.ID] = true
	return nil
}

func (l *ledger) Evict(context.Context, *model.Workload, string) error { return nil }

// free takes back what workloads have that do not run, and lists what it has changed.
func (l *ledger) free() (changed []model.Object) {
	for _, id := range []string{"w", "next"} {
		if c := l.claim(id); !l.running[id] && c.Allocation != nil {
			c = modeltest.DeviceClaim(c.ID).Request("r", "gpu", 1).Build()
			l.put(c)
			changed = append(changed, c)
		}
		if v := l.volume(); !l.running[id] && v.Claim != nil && v.Claim.ID == id+"-data" {
			v = modeltest.Volume("v").Class("local").Capacity(10).On("host", "n2").Build()
			l.put(v)
			changed = append(changed, v)
		}
	}
	return changed
}

// releasingLedger is one that is asked before claims lose their devices.
type releasingLedger struct{ *ledger }

func (l releasingLedger) ReleaseDevices(_ context.Context, claim, left *model.DeviceClaim) error {
	now := l.objects[model.RefOf(claim)].(*model.DeviceClaim)
	if now.Allocation == nil {
		return nil
	}
	for _, by := range now.ReservedFor {
		if !claim.Reserved(by) {
			return fmt.Errorf("it is reserved for %v", by)
		}
	}
	l.put(left)
	return nil
}

// endOf is a way in which the attempt or the life of workload w ends. It is told, when
// the engine has decided, to let it come to that.
type endOf func(t *testing.T, l *ledger, r *engine.Raw)

var errLost = errors.New("the answer was lost")

// waysToEnd are all of them. What is reported of the workload itself is late: see late.
func waysToEnd() map[string]endOf {
	once := func(err error) func(context.Context, string) error {
		return func(_ context.Context, id string) (out error) {
			if id == "w" {
				out, err = err, nil
			}
			return out
		}
	}
	during := func(changes ...engine.Change) endOf {
		return func(t *testing.T, l *ledger, r *engine.Raw) {
			done := false
			l.devices = func(ctx context.Context, id string) error {
				if id != "w" || done {
					return nil
				}
				done = true
				require.NoError(t, r.Apply(epoch, changes...))
				<-ctx.Done()
				return context.Cause(ctx)
			}
			runAll(t, r)
		}
	}
	after := func(change engine.Change) endOf {
		return func(t *testing.T, l *ledger, r *engine.Raw) {
			runAll(t, r)
			require.Equal(t, "Bound@n2", phaseOf(r, "w"))
			delete(l.running, "w")
			require.NoError(t, r.Apply(epoch, change))
		}
	}
	return map[string]endOf{
		"Bind fails": func(t *testing.T, l *ledger, r *engine.Raw) {
			l.bind = once(errNoRoute)
			runAll(t, r)
		},
		"BindDevices fails when it has written": func(t *testing.T, l *ledger, r *engine.Raw) {
			l.devices = once(errNoDisk)
			runAll(t, r)
		},
		"the answer of BindDevices is lost": func(t *testing.T, l *ledger, r *engine.Raw) {
			l.devices = once(errLost)
			runAll(t, r)
		},
		"BindDevices panics": func(t *testing.T, l *ledger, r *engine.Raw) {
			fails := once(errLost)
			l.devices = func(ctx context.Context, id string) error {
				if fails(ctx, id) != nil {
					panic("boom")
				}
				return nil
			}
			runAll(t, r)
		},
		"removed while it is bound":        during(engine.Remove("w")),
		"requeued while it is bound":       during(engine.Requeue("w")),
		"ended while it is bound":          during(engine.Finish("w")),
		"seen elsewhere while it is bound": during(engine.Confirm(model.Binding{Workload: "w", Node: "n1"}), engine.Finish("w")),
		"to leave while it is bound":       during(engine.Terminate("w"), engine.Finish("w")),
		"removed and submitted again":      during(engine.Remove("w"), needs("w", "both")),
		"evicted while it is bound": func(t *testing.T, l *ledger, r *engine.Raw) {
			done := false
			l.devices = func(ctx context.Context, id string) error {
				if id != "w" || done {
					return nil
				}
				done = true
				require.NoError(t, r.Evict(epoch, "w", "drain"))
				<-ctx.Done()
				return context.Cause(ctx)
			}
			runAll(t, r)
		},
		"requeued when it is bound": after(engine.Requeue("w")),
		"ended when it is bound":    after(engine.Finish("w")),
		"removed when it is bound":  after(engine.Remove("w")),
		"evicted when it is bound": func(t *testing.T, l *ledger, r *engine.Raw) {
			runAll(t, r)
			require.NoError(t, r.Evict(epoch, "w", "drain"))
			runAll(t, r)
			delete(l.running, "w")
			require.NoError(t, r.Apply(epoch, engine.Finish("w")))
		},
	}
}

// needs is a workload that uses a device, a volume, or both.
func needs(id, what string) engine.Change {
	b := modeltest.Workload(id).CPU(100)
	if what != "device" {
		b.VolumeClaim(id + "-data")
	}
	return submit(b.With(func(w *model.Workload) {
		if what != "volume" {
			w.DeviceClaims = []model.DeviceClaimRef{{Name: "gpu", ID: id + "-gpu"}}
		}
		if id == "next" {
			w.Priority = 1 // it is tried first
		}
	}))
}

// runAll runs the tasks that there are, and schedules nothing.
func runAll(t *testing.T, r *engine.Raw) {
	for task := r.NextTask(); task != nil; task = r.NextTask() {
		task.Run(t.Context())
		r.Finish(epoch, task)
	}
}

// selections lists all that can be chosen of the list, in every order.
func selections(list []string) [][]string {
	all := [][]string{nil}
	for i, first := range list {
		for _, rest := range selections(slices.Delete(slices.Clone(list), i, i+1)) {
			all = append(all, append([]string{first}, rest...))
		}
	}
	return all
}

// However the attempt or the life of a workload ends after the orchestrator was asked to
// write, in whatever order the reports of what was written come and whichever of them are
// lost: outside no device is given to two claims, and no volume belongs to two. And in the
// end, when the orchestrator has taken back what nobody needs and has reported that, the
// next workload gets it. With -short no more than two reports come.
func TestNothingIsGivenTwiceOutside(t *testing.T) {
	reports := selections([]string{"claim", "volume", "slice", "restart"})
	if testing.Short() {
		reports = slices.DeleteFunc(reports, func(these []string) bool { return len(these) > 2 })
	}
	for name, end := range waysToEnd() {
		for _, what := range []string{"device", "volume"} {
			for _, releases := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, next needs %s, releases %v", name, what, releases), func(t *testing.T) {
					for _, these := range reports {
						nothingTwice(t, end, what, releases, these)
					}
				})
			}
		}
	}
}

// nothingTwice goes through one such history. A restart is that of an engine that is told
// what the last one knew.
func nothingTwice(t *testing.T, end endOf, what string, releases bool, reports []string) {
	l, known := ledgerOf()
	var o extpoints.Orchestrator = l
	if releases {
		o = releasingLedger{l}
	}
	r := newRaw(t, o)
	apply(t, r, epoch, node("n1", 1000), engine.PutNode(modeltest.Node("n2").CPU(1000).Label("host", "n2").Build()), puts(known...), needs("w", "both"))
	require.True(t, r.Schedule(epoch))
	require.Equal(t, "Assumed@n2", phaseOf(r, "w"))
	end(t, l, r)
	apply(t, r, epoch, needs("next", what))
	now := goOn(r, epoch)
	require.Empty(t, l.twice)
	for _, report := range reports {
		switch report {
		case "claim":
			apply(t, r, now, model.CloneObject(l.claim("w")))
		case "volume":
			apply(t, r, now, model.CloneObject(l.volume()))
		case "slice":
			apply(t, r, now, modeltest.DeviceSlice("gpu.example.com", "p").Node("n2").Devices(1).Build())
		case "restart":
			changes := slices.Collect(r.View().Changes())
			r = newRaw(t, o)
			apply(t, r, now, changes)
		}
		now = goOn(r, now)
		require.Empty(t, l.twice, "%v, after %s", reports, report)
	}
	// The end of the workload, wherever it is by now, and of what it had.
	delete(l.running, "w")
	if _, ok := r.View().Workload("w"); ok {
		apply(t, r, now, engine.Remove("w"))
	}
	now = goOn(r, now)
	require.Empty(t, l.twice, "%v, after its end", reports)
	apply(t, r, now, puts(l.free()...))
	now = goOn(r, now)
	goOn(r, now)
	require.Contains(t, []string{"Bound@n2", "Confirmed@n2"}, phaseOf(r, "next"), "%v: it gets what nobody needs", reports)
	require.Empty(t, l.twice)
}

// brittle is a PreBind plugin that fails for workload w, once.
type brittle struct{ failed bool }

func (*brittle) Name() string { return "Brittle" }

func (*brittle) PreBindPreFlight(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (extpoints.PreFlight, *extpoints.Status) {
	return extpoints.PreFlight{}, nil
}

func (p *brittle) PreBind(_ context.Context, _ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) *extpoints.Status {
	if w.ID != "w" || p.failed {
		return nil
	}
	p.failed = true
	return extpoints.AsStatus(errNoRoute)
}

// Of what was decided only what the orchestrator was asked to write counts as written: by the
// plugin that has decided it, whose PreBind was called and did not say ErrNotWritten. The
// rest is free at once, and needs no report.
func TestOnlyWhatWasAskedForIsWritten(t *testing.T) {
	notWritten := fmt.Errorf("%w: %w", extpoints.ErrNotWritten, errNoDisk)
	for _, c := range []struct {
		name           string
		use            func(*engine.Config)
		volumes        error
		devices        error
		instead        func(r *engine.Raw) // of running the task
		volume, device string
	}{
		{name: "a plugin before fails", use: func(cfg *engine.Config) { use(cfg, &brittle{}, extpoints.Before(plugins.VolumeBinding)) }, volume: "free", device: "free"},
		{name: "a plugin behind fails", use: func(cfg *engine.Config) { use(cfg, &brittle{}, extpoints.Before(plugins.DefaultBinder)) }, volume: "for w-data", device: "p/d0"},
		{name: "no volume is written", volumes: notWritten, volume: "free", device: "p/d0"},
		{name: "no claim is written", devices: notWritten, volume: "for w-data", device: "free"},
		{name: "neither is", volumes: notWritten, devices: notWritten, volume: "free", device: "free"},
		{name: "it is called off", instead: func(r *engine.Raw) { r.CallOff(epoch, nil) }, volume: "free", device: "free"},
		{name: "the task is given back", instead: func(r *engine.Raw) { r.Finish(epoch, r.NextTask()) }, volume: "free", device: "free"},
		{name: "it is removed, and then called off", instead: func(r *engine.Raw) {
			_ = r.Apply(epoch, engine.Remove("w"))
			r.CallOff(epoch, nil)
		}, volume: "free", device: "free"},
		{name: "it is said to have failed", instead: func(r *engine.Raw) {
			task := r.NextTask()
			task.Settle(errNoRoute)
			r.Finish(epoch, task)
		}, volume: "for w-data", device: "p/d0"},
		{name: "it is said that nothing was written", instead: func(r *engine.Raw) {
			task := r.NextTask()
			task.Settle(notWritten)
			r.Finish(epoch, task)
		}, volume: "free", device: "free"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &provider{}
			o.onVolumes = func(context.Context, *model.Workload, model.Binding) error { return c.volumes }
			o.onDevices = func(context.Context, *model.Workload, model.Binding) error { return c.devices }
			o.onBind = func(context.Context, string) error { return errNoRoute }
			_, known := ledgerOf()
			cfg := config(o)
			if c.use != nil {
				c.use(&cfg)
			}
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			apply(t, r, epoch, engine.PutNode(modeltest.Node("n2").CPU(1000).Label("host", "n2").Build()), puts(known...), needs("w", "both"))
			require.True(t, r.Schedule(epoch))
			require.Equal(t, "p/d0 for w", said(r.View(), deviceClaimKind, "w-gpu"))
			if c.instead != nil {
				c.instead(r)
			} else {
				runAll(t, r)
			}
			require.Equal(t, c.volume, said(r.View(), volumeKind, "v"))
			require.Equal(t, c.device, said(r.View(), deviceClaimKind, "w-gpu"))
		})
	}
}

// What was written is in the log: a replay, which asks no binder, makes the same decisions.
func TestReplayOfWhatIsWritten(t *testing.T) {
	o := &provider{}
	tries, denied := 0, false
	o.onBind = func(context.Context, string) error {
		if tries++; tries < 4 {
			return errNoRoute
		}
		return nil
	}
	o.onDevices = func(context.Context, *model.Workload, model.Binding) error {
		if tries == 2 && !denied {
			denied = true
			return fmt.Errorf("%w: %w", extpoints.ErrNotWritten, errNoDisk)
		}
		return nil
	}
	_, known := ledgerOf()
	r := replays(t, o, func(r *engine.Raw) {
		apply(t, r, epoch, engine.PutNode(modeltest.Node("n2").CPU(1000).Label("host", "n2").Build()), puts(known...), needs("w", "both"))
		now := epoch
		for range 2 {
			settle(r, now)
			now = goOn(r, now)
		}
		apply(t, r, now, needs("next", "device"), engine.Remove("w"))
		for range 4 {
			now = goOn(r, now)
		}
	})
	require.Equal(t, "Bound@n2", phaseOf(r, "next"))
}

// A recording that begins when something is written and not reported has it in its state.
func TestWhatIsWrittenIsInTheState(t *testing.T) {
	o := &provider{}
	o.onBind = func(context.Context, string) error { return errNoRoute }
	_, known := ledgerOf()
	r := newRaw(t, o)
	apply(t, r, epoch, engine.PutNode(modeltest.Node("n2").CPU(1000).Label("host", "n2").Build()), puts(known...), needs("w", "both"))
	settle(r, epoch)
	var log bytes.Buffer
	require.NoError(t, r.StartRecording(epoch, engine.NewRecorder(&log)))
	apply(t, r, epoch, needs("next", "both"))
	goOn(r, epoch)
	again, err := engine.Replay(config(o), &log)
	require.NoError(t, err)
	for _, v := range []*engine.View{r.View(), again.View()} {
		require.Equal(t, "for w-data", said(v, volumeKind, "v"))
		require.Equal(t, "p/d0", said(v, deviceClaimKind, "w-gpu"))
		rec, _ := v.Object(model.ObjectRef{Kind: deviceClaimKind, ID: "w-gpu"})
		require.Equal(t, rec.Object, rec.Written)
		require.Nil(t, rec.Reported.(*model.DeviceClaim).Allocation)
	}
}
