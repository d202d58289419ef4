package engine_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// badBindings are reports of where a workload is that cannot be true, each with what is
// said of it.
var badBindings = map[string]struct {
	binding  model.Binding
	problems []string
}{
	"a device below the first":        {model.Binding{Devices: []model.DeviceShare{{Device: -1, Share: 1000}}}, []string{"devices[0].device: -1 is less than 0"}},
	"the lowest index":                {model.Binding{Devices: []model.DeviceShare{{Device: math.MinInt, Share: 1}}}, []string{"devices[0].device: "}},
	"a negative share":                {model.Binding{Devices: []model.DeviceShare{{Share: -1000}}}, []string{"devices[0].share: -1000 is not between 1 and 1000"}},
	"the lowest share":                {model.Binding{Devices: []model.DeviceShare{{Share: math.MinInt64}, {Share: math.MinInt64}}}, []string{"devices[0].share: ", "devices[1].share: "}},
	"nothing of a device":             {model.Binding{Devices: []model.DeviceShare{{}}}, []string{"devices[0].share: 0 is not between 1 and 1000"}},
	"more than a device":              {model.Binding{Devices: []model.DeviceShare{{Share: 1001}}}, []string{"devices[0].share: 1001 is not between 1 and 1000"}},
	"the largest share":               {model.Binding{Devices: []model.DeviceShare{{Share: math.MaxInt64}, {Share: math.MaxInt64}}}, []string{"devices[0].share: ", "devices[1].share: "}},
	"a device twice":                  {model.Binding{Devices: []model.DeviceShare{{Device: 1, Share: 1000}, {Device: 0, Share: 1}, {Device: 1, Share: 1000}}}, []string{"devices[2].share: with those before it of the same device it is 2000, more than all, 1000"}},
	"more than a device in parts":     {model.Binding{Devices: []model.DeviceShare{{Share: 500}, {Share: 500}, {Share: 1}}}, []string{"devices[2].share: with those before it"}},
	"a negative limit":                {model.Binding{Limit: -time.Second}, []string{"limit: -1s is negative; 0 is the workload's own"}},
	"a time that cannot be written":   {model.Binding{Since: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, []string{"since: the year 10000 is not between 0 and 9999"}},
	"a year before the first":         {model.Binding{Since: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)}, []string{"since: the year -1 "}},
	"an offset of more than a day":    {model.Binding{Since: epoch.In(time.FixedZone("", 25*3600))}, []string{"since: the offset of its zone, 25h0m0s, "}},
	"an offset with seconds":          {model.Binding{Since: epoch.In(time.FixedZone("", 3601))}, []string{"since: the offset of its zone, 1h0m1s, "}},
	"a node whose name is no text":    {model.Binding{Node: "\xff"}, []string{`node: "\xff" is not valid UTF-8`}},
	"a decision about nothing":        {model.Binding{Decided: model.Objects{nil}}, []string{"decided[0]: is no object with an identity"}},
	"a decision about a nil pointer":  {model.Binding{Decided: model.Objects{(*model.DeviceClaim)(nil)}}, []string{"decided[0]: is no object with an identity"}},
	"a decision about a nameless one": {model.Binding{Decided: model.Objects{&model.Volume{}}}, []string{"decided[0]: is no object with an identity"}},
	"all of it": {
		model.Binding{Node: "\xff", Devices: []model.DeviceShare{{Device: -1, Share: 0}, {Device: 3, Share: 7000}}, Limit: -1, Since: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		[]string{"node: ", "devices[0].device: ", "devices[0].share: ", "devices[1].share: ", "limit: ", "since: "},
	},
}

// A report that cannot be true is refused, whatever reports it and wherever the workload
// is, with every problem that it has; nothing of it is recorded, and the engine goes on.
func TestBadReportsAreRefused(t *testing.T) {
	at := func(phase model.Phase) func(t *testing.T, r *engine.Raw) {
		return func(t *testing.T, r *engine.Raw) {
			require.NoError(t, r.Apply(epoch, task("w", 100)))
			if phase == model.Pending {
				return
			}
			require.True(t, r.Schedule(epoch))
			if phase == model.Assumed {
				return
			}
			settle(r, epoch)
			next := r.NextTask()
			next.Run(context.Background())
			r.Finish(epoch, next)
			if phase != model.Bound {
				require.NoError(t, r.Apply(epoch, engine.Confirm(model.Binding{Workload: "w", Node: "n1"})))
			}
			if phase == model.Terminating {
				require.NoError(t, r.Apply(epoch, engine.Terminate("w")))
			}
		}
	}
	before := map[string]struct {
		prepare func(t *testing.T, r *engine.Raw)
		report  func(b model.Binding) engine.Change
	}{
		"adopt": {func(*testing.T, *engine.Raw) {}, func(b model.Binding) engine.Change {
			return engine.Adopt(&model.Workload{ID: "w"}, b)
		}},
	}
	confirm := func(b model.Binding) engine.Change {
		b.Workload = "w"
		return engine.Confirm(b)
	}
	for _, phase := range []model.Phase{model.Pending, model.Assumed, model.Bound, model.Confirmed, model.Terminating} {
		before["confirm "+phase.String()] = struct {
			prepare func(t *testing.T, r *engine.Raw)
			report  func(b model.Binding) engine.Change
		}{at(phase), confirm}
	}
	for how, h := range before {
		for what, bad := range badBindings {
			t.Run(how+" with "+what, func(t *testing.T) {
				r := newRaw(t, &world{})
				n := node("n1", 1000)
				nodeOf(n).Devices = []model.Device{{Class: "gpu"}, {Class: "gpu"}}
				require.NoError(t, r.Apply(epoch, n))
				h.prepare(t, r)
				index := r.View().Index()
				b := bad.binding
				if b.Node == "" {
					b.Node = "n1"
				}
				err := r.Apply(epoch, task("good", 1), h.report(b), engine.Remove("nobody"))
				require.ErrorIs(t, err, model.ErrInvalid)
				require.ErrorIs(t, err, engine.ErrNotFound, "and what is wrong with others")
				for _, problem := range bad.problems {
					require.ErrorContains(t, err, problem)
				}
				branch := r.Branch()
				require.ErrorIs(t, branch.Apply(epoch, h.report(b)), model.ErrInvalid, "nor on a branch")
				require.Equal(t, index, r.View().Index(), "nothing is half applied")
				settle(r, epoch)
				require.NoError(t, r.Apply(epoch, task("later", 1)))
				settle(r, epoch)
				require.NoError(t, r.Apply(epoch, engine.Remove("later"), engine.RemoveNode("n1")), "the engine goes on")
			})
		}
	}
}

// What is known of the world at other times is no reason to refuse a report: a node that
// is not there, a device that it does not have, nor more than one on the same device.
func TestReportsOfWhatIsNotKnown(t *testing.T) {
	r := newRaw(t, &world{})
	all := []model.DeviceShare{{Device: 5, Share: 1000}, {Device: math.MaxInt, Share: 1000}, {Device: 0, Share: 300}, {Device: 0, Share: 700}}
	require.NoError(t, r.Apply(epoch,
		engine.Adopt(&model.Workload{ID: "a"}, model.Binding{Node: "gone", Devices: all}),
		node("n1", 1000),
		engine.Adopt(&model.Workload{ID: "b"}, model.Binding{Node: "n1", Devices: all}),
		engine.Adopt(&model.Workload{ID: "c"}, model.Binding{Node: "n1", Devices: all, Since: epoch.Add(time.Hour)}),
	))
	require.NoError(t, r.Apply(epoch, engine.Remove("a"), engine.Remove("b"), engine.Remove("c"), engine.RemoveNode("n1")))
}

// A report cannot give a device to two.
func TestNoDeviceIsGivenTwiceByAReport(t *testing.T) {
	r := newRaw(t, &world{})
	n := node("n1", 1000)
	nodeOf(n).Devices = []model.Device{{Class: "gpu"}}
	gpu := func(id string) *model.Workload {
		return &model.Workload{ID: id, Devices: []model.DeviceRequest{{Class: "gpu", Count: 1, Share: 1000}}}
	}
	require.NoError(t, r.Apply(epoch, n, engine.Submit(gpu("a"))))
	settle(r, epoch)
	require.Error(t, r.Apply(epoch, engine.Adopt(&model.Workload{ID: "x"}, model.Binding{Node: "n1", Devices: []model.DeviceShare{{Share: -1000}}})))
	require.NoError(t, r.Apply(epoch, engine.Submit(gpu("b"))))
	settle(r, epoch)
	require.Equal(t, 1, count(r.View(), model.Pending))
}

// Texts and times of other reports are looked at too.
func TestBadTextsOfReports(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("w", 100), engine.PutObject(&model.Queue{Name: "q"})))
	index := r.View().Index()
	for _, bad := range []struct {
		change engine.Change
		want   string
	}{
		{engine.Nominate("w", "n\xff"), `change 0, nominate "w": nomination of workload "w": node: "n\xff" is not valid UTF-8`},
		{engine.Nominate("w", "n\x00"), `nomination of workload "w": node: "n\x00" contains a NUL byte`},
		{engine.Drain("n1", "r\xff"), `change 0, drain "n1": drain of node "n1": reason: "r\xff" is not valid UTF-8`},
		{engine.ChargeUsage("q", "", map[string]int64{"cpu\xff": 1, "": 1, "memory": -1}, time.Time{}), `"cpu\xff" is not valid UTF-8`},
		{engine.ChargeUsage("q", "", nil, time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)), `until: the year -5 is not between 0 and 9999`},
		{engine.ChargeUsage("q", "", nil, epoch.In(time.FixedZone("", 3601))), `until: the offset of its zone, 1h0m1s, is not one of whole minutes`},
		{engine.Confirm(model.Binding{Workload: "nobody", Node: "n1", Limit: -1}), `limit: -1ns is negative`},
	} {
		err := r.Apply(epoch, bad.change)
		require.Error(t, err)
		require.Contains(t, strings.ReplaceAll(err.Error(), "\n", "; "), bad.want)
	}
	require.Equal(t, index, r.View().Index())
}

// Nor is an eviction recorded whose reason would be another one in a replay.
func TestBadReasonOfAnEviction(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), running("w", "n1", 100)))
	require.EqualError(t, r.Evict(epoch, "w", "r\xff"), `eviction of workload "w": reason: "r\xff" is not valid UTF-8`)
	require.EqualError(t, r.Evict(epoch, "w", "r\x00"), `eviction of workload "w": reason: "r\x00" contains a NUL byte`)
	require.Nil(t, r.NextTask())
}

// liar is a Reserve plugin that sets aside what cannot be.
type liar struct{ shares []model.DeviceShare }

func (*liar) Name() string { return "Liar" }

func (l *liar) Reserve(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	b.Devices = append(b.Devices, l.shares...)
	return nil
}

func (*liar) Unreserve(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) {}

// Nor does a plugin set aside what cannot be: its attempt fails, with its name.
func TestBadBindingsOfPlugins(t *testing.T) {
	for what, bad := range badBindings {
		if len(bad.binding.Devices) == 0 {
			continue
		}
		t.Run(what, func(t *testing.T) {
			cfg := config(&world{})
			l := &liar{bad.binding.Devices}
			use(&cfg, l)
			var failures []error
			cfg.Listener.Rejected = func(e engine.RejectedEvent) { failures = append(failures, e.Err) }
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			n := node("n1", 1000)
			nodeOf(n).Devices = []model.Device{{Class: "gpu"}}
			require.NoError(t, r.Apply(epoch, n, task("w", 100)))
			settle(r, epoch)
			require.Equal(t, 1, count(r.View(), model.Pending))
			require.NotEmpty(t, failures)
			require.ErrorContains(t, failures[0], "Liar")
			require.ErrorContains(t, failures[0], "devices[")
			l.shares = nil
			r.Tick(epoch.Add(time.Hour))
			settle(r, epoch.Add(time.Hour))
			require.Equal(t, 1, count(r.View(), model.Bound))
		})
	}
}
