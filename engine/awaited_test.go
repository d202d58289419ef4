package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
)

// An eviction that was accepted is awaited, however long it takes: no second victim goes.
// What the orchestrator reports ends the wait. (Decision 0034.)
func TestAnAcceptedEvictionIsAwaited(t *testing.T) {
	for name, c := range map[string]struct {
		report engine.Change
		ends   string
	}{
		"the victim has gone":  {engine.Remove("v1"), "Bound@n1"},
		"the node is lost":     {engine.LoseNode("n1"), "Pending"},
		"nothing is ever said": {node("n3", 1), "Pending"},
	} {
		for _, compat := range []extpoints.Compat{extpoints.Improved, extpoints.KubeScheduler137} {
			t.Run(name+" "+compat.String(), func(t *testing.T) {
				o := &world{}
				cfg := config(o)
				cfg.Compat = compat
				r, err := engine.NewRaw(cfg)
				require.NoError(t, err)
				urgent := task("urgent", 1000)
				spec(urgent).Priority = 10
				require.NoError(t, r.Apply(epoch, node("n1", 1000), running("v1", "n1", 1000), urgent))
				now := epoch
				for range 20 {
					work(r, now)
					now = now.Add(5 * time.Minute)
					r.Tick(now)
				}
				require.NoError(t, r.Apply(now, node("n2", 1000), running("v2", "n2", 1000)))
				for range 20 {
					work(r, now)
					now = now.Add(5 * time.Minute)
					r.Tick(now)
				}
				require.Equal(t, []string{"v1"}, o.evicted, "one victim for one room")
				require.Equal(t, "Terminating@n1", phaseOf(r, "v1"))
				require.NoError(t, r.Apply(now, c.report))
				now = now.Add(time.Minute)
				r.Tick(now)
				settle(r, now)
				require.Equal(t, c.ends, phaseOf(r, "urgent"))
			})
		}
	}
}
