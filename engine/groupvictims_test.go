package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// A gang that leaves as a whole has a member on a node that is gone. Neither a group nor a
// workload alone that wants room fails because of it: others are displaced, and it is said that
// the gang stays. In kube-scheduler no group can make room for as long as that member is known.
func TestAVictimGangOnARemovedNodeIsLeftOut(t *testing.T) {
	for _, grouped := range []bool{true, false} {
		eachCompat(t, func(t *testing.T, compat extpoints.Compat) {
			cfg := config(&world{})
			cfg.Compat = compat
			var said string
			cfg.Listener.Rejected = func(e engine.RejectedEvent) { said += e.Message }
			cfg.Listener.Decided = func(e engine.GroupEvent) { said += e.Message }
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), node("n3", 1000),
				engine.PutGroup(&model.Group{ID: "old", Policy: model.Gang, MinCount: 1, Disruption: model.DisruptAll}),
				engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 1, Priority: 10})))
			for i, id := range []string{"o1", "o2"} {
				ch := task(id, 900)
				spec(ch).Group = "old"
				require.NoError(t, r.Apply(epoch, engine.Adopt(spec(ch), model.Binding{Node: []string{"n1", "n2"}[i]})))
			}
			require.NoError(t, r.Apply(epoch, running("v", "n3", 900), engine.RemoveNode("n2")))
			w := urgent("w", 800)
			if grouped {
				spec(w).Group = "g"
			}
			require.NoError(t, r.Apply(epoch, w))
			settle(r, epoch)
			if compat == extpoints.KubeScheduler137 && grouped {
				require.Equal(t, []model.Phase{model.Confirmed}, phases(r, "v"))
				require.Contains(t, said, "failed to create domain")
				return
			}
			require.Equal(t, []model.Phase{model.Terminating, model.Confirmed, model.Confirmed}, phases(r, "v", "o1", "o2"))
			require.Equal(t, []string{"n3"}, nominationsOf(r, "w"))
			if compat == extpoints.Improved {
				require.Contains(t, said, `group "old" stays: workload "o2" of it is on node "n2", which is not there`)
			}
		})
	}
}
