package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
)

// A workload that grows in place fits if its node has the room beside all others there.
func TestFitsInPlace(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 5000), running("a", "n1", 400), running("b", "n1", 400), task("c", 9000)))
	b := r.Branch()
	index := b.View().Index()
	for _, c := range []struct {
		cpu  int64
		want []string
	}{{100, nil}, {600, nil}, {601, []string{"Insufficient cpu"}}, {5000, []string{"Insufficient cpu"}}} {
		verdicts, err := b.FitsInPlace(epoch, spec(task("a", c.cpu)))
		require.NoError(t, err)
		if c.want == nil {
			require.Empty(t, verdicts, c.cpu)
			continue
		}
		require.Len(t, verdicts, 1)
		require.Equal(t, c.want, verdicts[0].Reasons)
	}
	require.Equal(t, index, b.View().Index(), "the branch stays as it is")
	require.NoError(t, b.Apply(epoch, engine.RemoveNode("n1")))
	verdicts, err := b.FitsInPlace(epoch, spec(task("a", 100)))
	require.NoError(t, err)
	require.Len(t, verdicts, 1, "its node is gone")

	var phase *engine.PhaseError
	_, err = b.FitsInPlace(epoch, spec(task("c", 100)))
	require.ErrorAs(t, err, &phase, "it is on no node")
	_, err = b.FitsInPlace(epoch, spec(task("nobody", 100)))
	require.ErrorIs(t, err, engine.ErrNotFound)
	_, err = b.FitsInPlace(epoch, spec(task("a", -1)))
	require.Error(t, err)
}
