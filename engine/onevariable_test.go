//go:build !berth_invariants

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// An object that is handed over is frozen. One variable for a list of objects is noticed when
// it is handed over again; the same object, as it was, may be.
func TestOneVariableForAList(t *testing.T) {
	t.Parallel()
	var w model.Workload
	var n model.Node
	submit := func(id string) engine.Change { w.ID = id; return engine.Submit(&w) }
	put := func(name string) engine.Change { n.Name = name; return engine.PutNode(&n) }

	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, submit("a")))
	require.EqualError(t, r.Apply(epoch, submit("b")),
		`change 0, submit "b": it is the object that was handed over as "a", and was changed since: make a new one each time`)
	require.NoError(t, r.Apply(epoch, put("n1")))
	require.ErrorContains(t, r.Apply(epoch, put("n2")), `change 0, put node "n2": it is the object that was handed over as "n1"`)

	r = newRaw(t, &world{})
	require.ErrorContains(t, r.Apply(epoch, put("n1"), put("n2"), put("n3")), `change 1, put node "n3": it is the object of the change before it`)
	require.NoError(t, r.Apply(epoch, put("n1")))
	require.NoError(t, r.Apply(epoch, put("n1")))
	require.NoError(t, r.Apply(epoch, engine.RemoveNode("n1"), put("n1")))
	require.Error(t, r.Apply(epoch, engine.Submit(&model.Workload{})), "what is refused is not handed over")
	require.NoError(t, r.Apply(epoch, submit("a")))
	require.NoError(t, r.Apply(epoch, engine.Remove("a")))
	require.NoError(t, r.Apply(epoch, submit("a")))
}
