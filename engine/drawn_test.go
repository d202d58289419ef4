package engine_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// halves is a card of 4 slots, published with these devices, which draw so many each.
func halves(slots int64, devices ...string) *model.DeviceSlice {
	b := modeltest.DeviceSlice("gpu.example.com", "p").Node("n").Part("p-devices", 1, 2)
	for _, name := range devices {
		b.Device(name, modeltest.Consumes("card", "slots", slots))
	}
	return b.Build()
}

func card() []model.Object {
	return []model.Object{
		modeltest.DeviceClass("gpu"),
		modeltest.DeviceSlice("gpu.example.com", "p").Node("n").Part("p-counters", 1, 2).Counter("card", "slots", 4).Build(),
	}
}

// drawn is what the claim is known to have drawn, -1 for not known.
func drawn(t *testing.T, r *engine.Raw, claim string) int64 {
	t.Helper()
	o, ok := r.View().Object(model.ObjectRef{Kind: model.DeviceClaimKind, ID: claim})
	require.True(t, ok)
	a := o.Object.(*model.DeviceClaim).Allocation
	require.NotNil(t, a)
	if a.Devices[0].Drawn == nil {
		return -1
	}
	var sum int64
	for _, use := range a.Devices[0].Drawn.Counters {
		sum += use.Counters["slots"]
	}
	return sum
}

// reported is the claim as an orchestrator reports it that does not keep what was drawn.
func reported(id, device string) *model.DeviceClaim {
	return modeltest.DeviceClaim(id).Request("r", "gpu", 1).
		Given(nil, model.AllocatedDevice{DeviceID: model.DeviceID{Driver: "gpu.example.com", Pool: "p", Device: device}, Request: "r"}).
		With(func(c *model.DeviceClaim) { c.ReservedFor = []model.Consumer{{Workload: "w"}} }).Build()
}

// What the engine has decided knows what it drew, whatever is reported afterwards by those
// who do not keep it, and however drivers publish the devices then. A second device of the
// card is not given as long as the first one is.
func TestAReportDoesNotForgetWhatWasDrawn(t *testing.T) {
	var log bytes.Buffer
	cfg := config(&world{})
	cfg.Recorder = engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	apply(t, r, epoch, node("n", 1000), puts(card()...), puts(halves(3, "half0", "half1"), modeltest.DeviceClaim("c1").Request("r", "gpu", 1).Build()), asks("w", "c1"))
	settle(r, epoch)
	require.EqualValues(t, 3, drawn(t, r, "c1"))
	for _, published := range []*model.DeviceSlice{halves(3, "half0", "half1"), halves(3, "half1"), halves(1, "half0", "half1"), halves(0, "half0"), halves(3, "half1")} {
		apply(t, r, epoch, puts(reported("c1", "half0")), puts(published), puts(reported("c1", "half0")))
		require.EqualValues(t, 3, drawn(t, r, "c1"))
	}
	apply(t, r, epoch, puts(modeltest.DeviceClaim("c2").Request("r", "gpu", 1).Build()), asks("next", "c2"))
	settle(r, epoch)
	require.Equal(t, "Pending", phaseOf(r, "next"))
	apply(t, r, epoch, engine.Remove("w"), puts(modeltest.DeviceClaim("c1").Request("r", "gpu", 1).Build()))
	goOn(r, epoch)
	require.Equal(t, "Bound@n", phaseOf(r, "next"))

	replayed, err := engine.Replay(config(&world{}), bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	require.EqualValues(t, 3, drawn(t, replayed, "c2"))
}

// After a restart what was drawn is found out from the slices, if they are there before the
// claims, and kept. If they do not say it any more it is not known, and nothing that draws on
// the pool's counters is given.
func TestARestartFindsOutWhatWasDrawn(t *testing.T) {
	for _, tt := range []struct {
		name    string
		changes []model.Object
		known   int64
		after   *model.DeviceSlice
		next    string
	}{
		{"the slices first", []model.Object{halves(3, "half0", "half1"), reported("c1", "half0")}, 3, halves(1, "half0", "half1"), "Bound@n"},
		{"the slices first, then less is said", []model.Object{halves(3, "half0", "half1"), reported("c1", "half0")}, 3, halves(2, "half1"), "Pending"},
		{"the claims first", []model.Object{reported("c1", "half0"), halves(3, "half0", "half1")}, -1, halves(3, "half0", "half1"), "Pending"},
		{"the claims first, and then the device is gone", []model.Object{reported("c1", "half0"), halves(3, "half0", "half1")}, -1, halves(1, "half1"), "Pending"},
		{"the device is gone", []model.Object{halves(1, "half1"), reported("c1", "half0")}, -1, halves(1, "half1"), "Pending"},
		{"of an old generation", []model.Object{
			model.CloneObject(halves(3, "half0")),
			modeltest.DeviceSlice("gpu.example.com", "p").Node("n").Part("newer", 2, 2).Device("half1", modeltest.Consumes("card", "slots", 1)).Build(),
			reported("c1", "half0"),
		}, -1, halves(1, "half1"), "Pending"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRaw(t, &world{})
			apply(t, r, epoch, node("n", 1000), puts(card()...), puts(tt.changes...), engine.Adopt(&model.Workload{ID: "w"}, model.Binding{Node: "n"}))
			require.Equal(t, tt.known, drawn(t, r, "c1"))
			apply(t, r, epoch, puts(tt.after), puts(reported("c1", "half0")), puts(modeltest.DeviceClaim("c2").Request("r", "gpu", 1).Build()), asks("next", "c2"))
			require.Equal(t, tt.known, drawn(t, r, "c1"), "and it stays so")
			settle(r, epoch)
			require.Equal(t, tt.next, phaseOf(r, "next"))
		})
	}
}

// What was drawn is of the device that the claim has: with another it is found out anew.
func TestWhatWasDrawnIsOfTheDevice(t *testing.T) {
	r := newRaw(t, &world{})
	apply(t, r, epoch, node("n", 1000), puts(card()...), puts(halves(3, "half0"), reported("c1", "half0")))
	require.EqualValues(t, 3, drawn(t, r, "c1"))
	apply(t, r, epoch, puts(halves(2, "half0", "half1"), reported("c1", "half1")))
	require.EqualValues(t, 2, drawn(t, r, "c1"))
	claim := reported("c1", "half1")
	claim.Allocation.Devices[0].Drawn = &model.Drawn{Counters: []model.CounterUse{{Set: "card", Counters: map[string]int64{"slots": 1}}}}
	apply(t, r, epoch, puts(claim))
	require.EqualValues(t, 1, drawn(t, r, "c1"), "a report that says it is believed")
}
