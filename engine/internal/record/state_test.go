package record

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// A state that is read has the layers of an object as they were: one value or two, even where two are equal.
func TestLayersOfAnObjectInAState(t *testing.T) {
	claimed := func() *model.Volume { return &model.Volume{Name: "v", Claim: &model.ClaimIdentity{ID: "c"}} }
	one := claimed()
	for name, row := range map[string]*store.Object{
		"decided and written as one": {Reported: &model.Volume{Name: "v"}, Written: one, Decided: one, Workloads: []string{"w"}},
		"amended one by one":         {Reported: &model.Volume{Name: "v"}, Written: claimed(), Decided: claimed(), Workloads: []string{"w"}},
		"decided":                    {Reported: &model.Volume{Name: "v"}, Decided: claimed(), Workloads: []string{"w"}},
		"reported":                   {Reported: claimed()},
	} {
		text, err := json.Marshal(&State{rows: store.Rows{Objects: []*store.Object{row}}})
		require.NoError(t, err)
		var again State
		require.NoError(t, json.Unmarshal(text, &again))
		require.Equal(t, row, again.rows.Objects[0], name)
		require.Equal(t, row.Decided == row.Written, again.rows.Objects[0].Decided == again.rows.Objects[0].Written, name)
	}
}
