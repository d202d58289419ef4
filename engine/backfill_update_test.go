package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// What waits for nothing but not to delay another starts as soon as its owner, or that of the other, changes
// it so that it does not, whether its rejection stands for others or not.
func TestAChangeAfterWhichNothingIsDelayedWakes(t *testing.T) {
	t.Parallel()
	web := map[string]string{"app": "web"}
	for name, c := range map[string]struct {
		first  func(*model.Workload) // what has the reservation
		id     string                // what is changed
		change func(*model.Workload)
	}{
		"it asks for less":     {id: "behind", change: func(w *model.Workload) { w.Requests.CPU = 100 }},
		"its limit is shorter": {id: "behind", change: func(w *model.Workload) { w.Limit = 90 * time.Second }},
		"its labels are others": {
			first: func(w *model.Workload) {
				w.Requests.CPU = 800
				w.AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{{Selector: model.SelectLabels(web), TopologyKey: "host"}}}
			},
			id: "behind", change: func(w *model.Workload) { w.Labels = nil },
		},
		"the other asks for less": {id: "first", change: func(w *model.Workload) { w.Requests.CPU = 800 }},
	} {
		for kind, filter := range map[string]extpoints.Plugin{"for others": frank{}, "for it alone": silent{}} {
			t.Run(name+", "+kind, func(t *testing.T) {
				eachCompat(t, func(t *testing.T, compat extpoints.Compat) {
					cfg := heeding(engine.EASY)
					cfg.Compat = compat
					use(&cfg, filter)
					r, err := engine.NewRaw(cfg)
					require.NoError(t, err)
					first, behind := limited("first", 900, 10), limited("behind", 200, 150)
					behind.Labels = web
					if c.first != nil {
						c.first(first)
					}
					require.NoError(t, r.Apply(epoch,
						engine.PutNode(&model.Node{Name: "n", Labels: map[string]string{"host": "n"}, Allocatable: model.Resources{CPU: 1000}}),
						engine.Adopt(limited("runs", 800, 100), model.Binding{Node: "n", Since: epoch}),
						engine.Submit(first), engine.Submit(behind)))
					settle(r, epoch)
					pos, _ := r.Queue("behind")
					require.Equal(t, queue.Unschedulable, pos.Place)
					require.Equal(t, []string{"Backfill"}, pos.UnschedulablePlugins)
					require.Equal(t, []string{"first at 1m40s: first on n"}, reserved(r.Reservations()))

					require.NoError(t, r.Apply(after(1), change(r, c.id, c.change)))
					settle(r, after(1))
					require.Equal(t, "Bound@n", phaseOf(r, "behind"))
					require.Equal(t, []string{"first at 1m40s: first on n"}, reserved(r.Reservations()))
				})
			})
		}
	}
}
