//go:build berth_invariants

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// TestFrozenValuesAreChecked changes what an engine shows of its own, and expects it
// to find out.
func TestFrozenValuesAreChecked(t *testing.T) {
	for name, change := range map[string]func(*engine.Raw, engine.PlacedEvent){
		"an event's workload": func(_ *engine.Raw, e engine.PlacedEvent) { e.Workload.Labels["app"] = "other" },
		"a view's workload":   func(r *engine.Raw, _ engine.PlacedEvent) { w, _ := r.View().Workload("w"); w.Workload.Priority++ },
		"a view's shares":     func(r *engine.Raw, _ engine.PlacedEvent) { w, _ := r.View().Workload("w"); w.Shares[0].Share++ },
		"a view's node":       func(r *engine.Raw, _ engine.PlacedEvent) { n, _ := r.View().Node("n"); n.Node.Allocatable.CPU++ },
		"an explained workload": func(r *engine.Raw, _ engine.PlacedEvent) {
			e, _ := r.Explain(epoch, "w", engine.ExplainOptions{})
			e.Workload.Requests.CPU++
		},
		"nothing that is frozen": func(_ *engine.Raw, e engine.PlacedEvent) { e.Binding.Devices[0].Share++ },
	} {
		t.Run(name, func(t *testing.T) {
			var bound engine.PlacedEvent
			cfg := config(&world{})
			cfg.Listener.Bound = func(e engine.PlacedEvent) { bound = e }
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			n := node("n", 1000)
			nodeOf(n).Devices = []model.Device{{Class: "gpu"}}
			require.NoError(t, r.Apply(epoch, n, engine.Submit(&model.Workload{
				ID: "w", Labels: map[string]string{"app": "one"}, Devices: []model.DeviceRequest{{Class: "gpu", Count: 1, Share: model.WholeDevice}},
			})))
			settle(r, epoch)
			change(r, bound)
			err = r.Apply(epoch, node("another", 1))
			if name == "nothing that is frozen" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, engine.ErrBroken)
			require.ErrorContains(t, err, "was changed in place after it was stored")
		})
	}
}
