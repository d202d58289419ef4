package state_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// What operators want of a node: each of their wishes lasts until it is taken back.
func TestWishesOfOperators(t *testing.T) {
	w := newWorld(t)
	window := &api.Maintenance{From: w.now, To: w.now.Add(time.Hour)}
	deadline := w.now.Add(time.Minute)
	var events []string
	for _, c := range []struct {
		change      state.NodeChange
		drain       string // the reason, "-" where there is no drain
		deadline    time.Time
		maintenance *api.Maintenance
		event       string
	}{
		{state.NodeChange{Drain: &api.Drain{}}, "", time.Time{}, nil, "is drained"},
		{state.NodeChange{Drain: &api.Drain{Reason: "fan"}}, "fan", time.Time{}, nil, "is drained: fan"},
		{state.NodeChange{Maintenance: window}, "fan", time.Time{}, window, "has a maintenance window"},
		{state.NodeChange{Drain: &api.Drain{Deadline: deadline}}, "fan", deadline, window, "is drained: fan"},
		{state.NodeChange{Resume: true}, "-", time.Time{}, window, "is resumed"},
		{state.NodeChange{ClearMaintenance: true}, "-", time.Time{}, nil, "has no maintenance window any more"},
	} {
		c.change.Node = "n0"
		w.must(&state.Command{Node: &c.change})
		n := w.View().Node("n0")
		require.Equal(t, c.maintenance, n.Maintenance, c.event)
		if require.Equal(t, c.drain == "-", n.Drain == nil, c.event); n.Drain != nil {
			require.Equal(t, c.drain, n.Drain.Reason, c.event)
			require.Equal(t, c.deadline, n.Drain.Deadline, c.event)
		}
		events = append(events, c.event)
	}
	told, _, _ := w.Events().After("1.0")
	var got []string
	for _, e := range told {
		got = append(got, e.Message)
	}
	require.Equal(t, events, got)
}
