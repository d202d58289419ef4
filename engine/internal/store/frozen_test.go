//go:build berth_invariants

package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
)

// TestMutationIsCaught changes stored objects in place, each in some way, and
// expects the next commit that touches the row, or any commit, to say so.
func TestMutationIsCaught(t *testing.T) {
	for name, mutate := range map[string]func(s *Store){
		"row":         func(s *Store) { s.Workload("w").Node = "b" },
		"label":       func(s *Store) { s.Workload("w").Info.Labels["app"] = "other" },
		"spec":        func(s *Store) { s.Workload("w").Info.Workload.Priority++ },
		"devices":     func(s *Store) { s.Workload("w").Info.Shares[0].Share++ },
		"devices-app": func(s *Store) { i := s.Workload("w").Info; i.Shares = append(i.Shares, model.DeviceShare{}) },
		"placed":      func(s *Store) { s.Workload("w").Info.PlacedAt = time.Unix(9, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			for verb, touch := range map[string]func(tx *Txn) error{
				"replace": func(tx *Txn) error { return tx.Bind("w") },
				"delete":  func(tx *Txn) error { return tx.DeleteWorkload("w") },
				"commit":  func(tx *Txn) error { return tx.PutNode(&model.Node{Name: "c"}) },
			} {
				s := New()
				tx := s.Begin()
				require.NoError(t, tx.PutNode(&model.Node{Name: "a"}))
				require.NoError(t, tx.Submit(&model.Workload{ID: "w", Labels: map[string]string{"app": "one"}}))
				_, err := tx.Assume(model.Binding{Workload: "w", Node: "a", Devices: []model.DeviceShare{{Device: 1, Share: 2}}}, t1)
				require.NoError(t, err)
				tx.Commit()
				mutate(s)
				require.PanicsWithValue(t, `invariants: workload "w" was changed in place after it was stored`, func() {
					tx := s.Begin()
					defer tx.Abort()
					_ = touch(tx)
					tx.Commit()
				}, verb)
			}
		})
	}
	s := New()
	tx := s.Begin()
	node := &model.Node{Name: "n", Labels: map[string]string{}}
	require.NoError(t, tx.PutNode(node))
	tx.Commit()
	require.NotPanics(t, func() {
		tx := s.Begin()
		defer tx.Abort()
		require.NoError(t, tx.PutNode(&model.Node{Name: "n"}))
		tx.Commit()
	})
	node.Labels["zone"] = "z" // replaced by now; snapshots may still read it
	require.PanicsWithValue(t, `invariants: node "n" was changed in place after it was stored`, s.frozen.CheckAll)
}

// TestMutationOfAnObjectIsCaught changes an object of storage or devices behind
// its interface, as it was reported or as it was decided.
func TestMutationOfAnObjectIsCaught(t *testing.T) {
	for name, mutate := range map[string]func(s *Store){
		"reported": func(s *Store) { s.Object(gpuRef).Reported.(*model.DeviceClaim).Name = "other" },
		"decided":  func(s *Store) { s.Object(gpuRef).Decided.(*model.DeviceClaim).ReservedFor[0].Workload = "x" },
		"whose":    func(s *Store) { s.Object(gpuRef).Workloads[0] = "x" },
	} {
		t.Run(name, func(t *testing.T) {
			s := decidedStore(t)
			do(t, s, assume("w", "a", decision("w")...))
			mutate(s)
			require.PanicsWithValue(t, `invariants: object "DeviceClaim\x00d" was changed in place after it was stored`, func() {
				tx := s.Begin()
				defer tx.Abort()
				_ = tx.PutObject(&model.DeviceClaim{ID: "d"})
			})
		})
	}
	s := decidedStore(t)
	do(t, s, assume("w", "a", decision("w")...))
	do(t, s, put(&model.DeviceClaim{ID: "d", Name: "new"}), func(tx *Txn) error { return tx.Bind("w") })
	require.NotPanics(t, s.frozen.CheckAll, "decisions and reports leave what they are about alone")
}
