package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// What a workload's phase does not allow is an error that says in plain words why.
func TestPhasesThatDoNotAllowAChange(t *testing.T) {
	for problem, ch := range map[string]engine.Change{
		`change 0, confirm "w": workload "w" cannot be confirmed there: it is confirmed on node "n1"; requeue it first if it has left that node`: engine.Confirm(model.Binding{Workload: "w", Node: "n2"}),
		`change 0, terminate "f": workload "f" cannot be terminating: it has finished; remove it, and submit it anew if it is to run again`:      engine.Terminate("f"),
		`change 0, requeue "f": workload "f" cannot wait for a node: it has finished; remove it, and submit it anew if it is to run again`:       engine.Requeue("f"),
	} {
		r := newRaw(t, &world{})
		require.NoError(t, r.Apply(epoch, running("w", "n1", 1), running("f", "n1", 1), engine.Finish("f")))
		err := r.Apply(epoch, ch)
		require.EqualError(t, err, problem)
		var phase *engine.PhaseError
		require.ErrorAs(t, err, &phase)
		require.Equal(t, ch.ID(), phase.Workload)
		row, _ := r.View().Workload(phase.Workload)
		require.Equal(t, row.Phase, phase.From)
		require.Equal(t, row.Node, phase.Node)
		require.False(t, phase.From.CanMoveTo(phase.To))
	}
}
