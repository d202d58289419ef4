package state

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// However the ring lies, what is after an ID is told in order, and what is gone is said.
func TestEventsAfter(t *testing.T) {
	for added := range 25 {
		v := newEvents(10)
		for i := range added {
			v.add([]api.Event{{ID: fmt.Sprintf("%d.0", i+1)}})
		}
		for after := range added + 2 {
			events, missed, _ := v.After(fmt.Sprintf("%d.0", after))
			first := max(after+1, added-10+1)
			require.Len(t, events, max(0, added-first+1), "%d added, after %d", added, after)
			for i, e := range events {
				require.Equal(t, fmt.Sprintf("%d.0", first+i), e.ID)
			}
			require.Equal(t, after < added-10, missed, "%d added, after %d", added, after)
		}
	}
}

// A reader that follows closely costs little, however many events are remembered.
func TestEventsAfterCopiesWhatIsNew(t *testing.T) {
	v := newEvents(DefaultEvents)
	for i := range DefaultEvents + 1000 {
		v.add([]api.Event{{ID: fmt.Sprintf("%d.0", i+1)}})
	}
	last := fmt.Sprintf("%d.0", DefaultEvents+999)
	require.Less(t, testing.AllocsPerRun(100, func() { v.After(last) }), 8.0)
	events, _, _ := v.After(last)
	require.LessOrEqual(t, cap(events), 2)
}
