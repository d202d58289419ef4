package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

// TestTurnedDownWithItsTree: a member that fits by itself waits for what rejected another of its tree.
func TestTurnedDownWithItsTree(t *testing.T) {
	t.Parallel()
	s := &sim{cur: &observed{positions: map[string]queue.Position{
		"delays": {Group: "a", UnschedulablePlugins: []string{backfillPlugin, plugins.NodeResourcesFit}},
		"fits":   {Group: "a"},
		"full":   {Group: "b", UnschedulablePlugins: []string{plugins.NodeResourcesFit}},
		"other":  {Group: "b"},
		"alone":  {},
		"held":   {UnschedulablePlugins: []string{backfillPlugin}},
	}}}
	for id, want := range map[string]bool{"delays": true, "fits": true, "full": false, "other": false, "alone": false, "held": true} {
		pos := s.cur.positions[id]
		require.Equal(t, want, s.turnedDown(&pos), id)
	}
}
