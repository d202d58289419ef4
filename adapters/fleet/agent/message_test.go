package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// A user's long PATH does not make a report that no server takes, and that keeps those
// of everybody else on the node from getting through.
func TestLongMessagesAreCut(t *testing.T) {
	n := newNode(t, nil)
	o := script(1, "")
	o.Run.Spec.Script, o.Run.Spec.Command = "", []string{"berth-there-is-none"}
	o.Run.Spec.Env = map[string]string{"PATH": strings.Repeat("/x:", 30_000)}
	r := n.run(o)
	require.Equal(t, job.Failed, r.State)
	require.Contains(t, r.Message, "is in no folder of PATH")
	require.Less(t, len(r.Message), 2*api.MaxMessage)
}
