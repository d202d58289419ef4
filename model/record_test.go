package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
)

// TestWorkloadRecord pins down which of two names wins where the record has a
// name in common with the spec in it.
func TestWorkloadRecord(t *testing.T) {
	spec := &model.Workload{
		ID: "w", Name: "job", NodeName: "wanted",
		Devices: []model.DeviceRequest{{Class: "gpu", Count: 1, Share: 500}},
	}
	r := model.WorkloadRecord{
		Workload: spec, Phase: model.Bound, Node: "chosen",
		Shares: []model.DeviceShare{{Device: 3, Share: 500}},
	}
	require.Equal(t, "w", r.ID)
	require.Equal(t, "job", r.DisplayName())
	require.Equal(t, "chosen", r.Node)
	require.Equal(t, "wanted", r.NodeName)
	require.Equal(t, []model.DeviceShare{{Device: 3, Share: 500}}, r.Shares, "what it has")
	require.Equal(t, spec.Devices, r.Workload.Devices, "what it asked for")
}

func TestOtherRecords(t *testing.T) {
	require.Equal(t, "n", model.NodeRecord{Node: &model.Node{Name: "n"}}.Name)
	require.Equal(t, "g", model.GroupRecord{Group: &model.Group{ID: "g"}}.ID)
	require.Equal(t, "b", model.BudgetRecord{Budget: &model.Budget{ID: "b"}}.ID)
	require.Equal(t, "x", model.NamespaceRecord{Namespace: &model.Namespace{Name: "x"}}.Name)
}
