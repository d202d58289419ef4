package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// A workload waits for another to leave its nominated node. That node cannot be used any more:
// it makes room elsewhere at its next attempt, alone or in a group, however long the other takes to
// leave. In kube-scheduler a group goes on waiting.
func TestAGroupMovesOnLikeALoneWorkload(t *testing.T) {
	cordoned := func(name string) engine.Change {
		ch := node(name, 1000)
		nodeOf(ch).Unschedulable = true
		return ch
	}
	lord := func(id, node string) engine.Change {
		return engine.Adopt(&model.Workload{ID: id, Priority: 100, Requests: model.Resources{CPU: 500}}, model.Binding{Node: node})
	}
	for name, ruin := range map[string]engine.Change{
		"it is cordoned":             cordoned("n1"),
		"it is too small":            node("n1", 400),
		"another has taken the room": lord("lord", "n1"),
		"it is removed":              engine.RemoveNode("n1"),
	} {
		for _, grouped := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				eachCompat(t, func(t *testing.T, compat extpoints.Compat) {
					if !grouped && name == "another has taken the room" {
						t.Skip("for as long as somebody leaves a workload alone does not look whether that is enough")
					}
					cfg := config(&world{})
					cfg.Compat = compat
					r, err := engine.NewRaw(cfg)
					require.NoError(t, err)
					w := urgent("w", 800)
					if grouped {
						spec(w).Group = "g"
					}
					v2 := engine.Adopt(&model.Workload{ID: "v2", Priority: 1, Requests: model.Resources{CPU: 900}}, model.Binding{Node: "n2"})
					require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), running("v1", "n1", 400), v2,
						engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 1, Priority: 10}), w))
					settle(r, epoch)
					require.Equal(t, []string{"n1"}, nominationsOf(r, "w"))
					require.Equal(t, []model.Phase{model.Terminating, model.Confirmed}, phases(r, "v1", "v2"))

					later := epoch.Add(time.Minute)
					require.NoError(t, r.Apply(later, ruin))
					for range 10 { // it is tried again at the latest when it has waited for long
						later = later.Add(time.Minute)
						r.Tick(later)
						settle(r, later)
					}
					waits := grouped && compat == extpoints.KubeScheduler137 && name != "it is removed"
					if waits {
						require.Equal(t, []string{"n1"}, nominationsOf(r, "w"))
						require.Equal(t, []model.Phase{model.Terminating, model.Confirmed}, phases(r, "v1", "v2"))
						return
					}
					require.Equal(t, []string{"n2"}, nominationsOf(r, "w"))
					require.Equal(t, []model.Phase{model.Terminating, model.Terminating}, phases(r, "v1", "v2"))
				})
			})
		}
	}
}
