package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// panickySort is an order that has none.
type panickySort struct{}

func (panickySort) Name() string                     { return "PanickySort" }
func (panickySort) Less(_, _ *extpoints.Queued) bool { panic("no order") }

func TestAnOrderThatPanicsDoesNotStopTheQueue(t *testing.T) {
	cfg := config(&world{})
	var failures []error
	cfg.Listener.Failed = func(e engine.FailedEvent) { failures = append(failures, e.Err) }
	use(&cfg, panickySort{}, extpoints.InPlaceOf(plugins.PrioritySort))
	var order []string
	cfg.Listener.Popped = func(e engine.PoppedEvent) { order = append(order, e.Workload.ID) }
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000)))
	for i, id := range []string{"old", "middle", "young"} {
		require.NoError(t, r.Apply(epoch.Add(time.Duration(i)*time.Second), task(id, 100)))
	}
	settle(r, epoch.Add(time.Minute))
	require.Equal(t, []string{"old", "middle", "young"}, order)
	var plugin *extpoints.PluginError
	require.ErrorAs(t, failures[0], &plugin)
	require.Equal(t, "QueueSort", plugin.Point)
}
