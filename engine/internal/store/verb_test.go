package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
)

var (
	t1      = time.Unix(1, 0)
	t2      = time.Unix(2, 0)
	shares  = []model.DeviceShare{{Device: 1, Share: 500}}
	reports = []model.DeviceShare{{Device: 2, Share: 1000}}
)

// inPhaseStore returns a store with nodes a and b and the workload w in the
// phase, on a where the phase takes room; without w for no phase.
func inPhaseStore(t *testing.T, p model.Phase, there bool) *Store {
	s := New()
	tx := s.Begin()
	require.NoError(t, tx.PutNode(&model.Node{Name: "a"}))
	require.NoError(t, tx.PutNode(&model.Node{Name: "b"}))
	if there {
		require.NoError(t, tx.Submit(&model.Workload{ID: "w", Group: "g"}))
		switch p {
		case model.Pending:
			require.NoError(t, tx.Nominate("w", "a"))
		case model.Finished:
			require.NoError(t, tx.Finish("w"))
		default:
			_, err := tx.Assume(model.Binding{Workload: "w", Node: "a", Devices: shares}, t1)
			require.NoError(t, err)
		}
		switch p {
		case model.Bound:
			require.NoError(t, tx.Bind("w"))
		case model.Confirmed:
			require.NoError(t, tx.Confirm("w", "a", nil, time.Time{}))
		case model.Terminating:
			require.NoError(t, tx.Terminate("w"))
		}
	}
	tx.Commit()
	return s
}

// show is a workload's row on one line.
func show(w *Workload) string {
	if w == nil {
		return "gone"
	}
	out := w.Phase.String()
	if w.Node != "" {
		out += "@" + w.Node
	}
	for _, d := range w.Info.Shares {
		out += fmt.Sprintf(" dev%d:%d", d.Device, d.Share)
	}
	if !w.Info.PlacedAt.IsZero() {
		out += fmt.Sprintf(" t%d", w.Info.PlacedAt.Unix())
	}
	if w.Info.Nominated != "" {
		out += " waits:" + w.Info.Nominated
	}
	if w.Info.Terminating {
		out += " out"
	}
	return out
}

// verbTable says what happens to a workload in each phase by each verb; an
// empty cell is a PhaseError.
const verbTable = `
verb      | from        | becomes
Submit    | none        | Pending
Submit    | Pending     | exists
Submit    | Assumed     | exists
Submit    | Bound       | exists
Submit    | Confirmed   | exists
Submit    | Terminating | exists
Submit    | Finished    | exists
Place     | none        | Confirmed@b dev2:1000 t2
Place     | Pending     | exists
Place     | Assumed     | exists
Place     | Bound       | exists
Place     | Confirmed   | exists
Place     | Terminating | exists
Place     | Finished    | exists
Update    | none        | not found
Update    | Pending     | Pending waits:a
Update    | Assumed     | Assumed@a dev1:500 t1
Update    | Bound       | Bound@a dev1:500 t1
Update    | Confirmed   | Confirmed@a dev1:500 t1
Update    | Terminating | Terminating@a dev1:500 t1 out
Update    | Finished    | Finished
Nominate  | none        | not found
Nominate  | Pending     | Pending waits:b
Nominate  | Assumed     |
Nominate  | Bound       |
Nominate  | Confirmed   |
Nominate  | Terminating |
Nominate  | Finished    |
Assume    | none        | not found
Assume    | Pending     | Assumed@b dev2:1000 t2
Assume    | Assumed     |
Assume    | Bound       |
Assume    | Confirmed   |
Assume    | Terminating |
Assume    | Finished    |
Forget    | none        | not found
Forget    | Pending     |
Forget    | Assumed     | Pending
Forget    | Bound       |
Forget    | Confirmed   |
Forget    | Terminating |
Forget    | Finished    |
Bind      | none        | not found
Bind      | Pending     |
Bind      | Assumed     | Bound@a dev1:500 t1
Bind      | Bound       |
Bind      | Confirmed   |
Bind      | Terminating |
Bind      | Finished    |
Confirm   | none        | not found
Confirm   | Pending     | Confirmed@b dev2:1000 t2
Confirm   | Assumed     | Confirmed@b dev2:1000 t2
Confirm   | Bound       | Confirmed@b dev2:1000 t2
Confirm   | Confirmed   |
Confirm   | Terminating |
Confirm   | Finished    |
Started   | none        | not found
Started   | Pending     |
Started   | Assumed     |
Started   | Bound       |
Started   | Confirmed   | Confirmed@a dev1:500 t2
Started   | Terminating |
Started   | Finished    |
Terminate | none        | not found
Terminate | Pending     | Terminating out
Terminate | Assumed     | Terminating@a dev1:500 t1 out
Terminate | Bound       | Terminating@a dev1:500 t1 out
Terminate | Confirmed   | Terminating@a dev1:500 t1 out
Terminate | Terminating |
Terminate | Finished    |
Finish    | none        | not found
Finish    | Pending     | Finished
Finish    | Assumed     | Finished
Finish    | Bound       | Finished
Finish    | Confirmed   | Finished
Finish    | Terminating | Finished
Finish    | Finished    |
Requeue   | none        | not found
Requeue   | Pending     |
Requeue   | Assumed     | Pending
Requeue   | Bound       | Pending
Requeue   | Confirmed   | Pending
Requeue   | Terminating | Pending
Requeue   | Finished    |
Delete    | none        | not found
Delete    | Pending     | gone
Delete    | Assumed     | gone
Delete    | Bound       | gone
Delete    | Confirmed   | gone
Delete    | Terminating | gone
Delete    | Finished    | gone
`

func TestVerbsByPhase(t *testing.T) {
	var got strings.Builder
	fmt.Fprintf(&got, "\n%-9s | %-11s | %s\n", "verb", "from", "becomes")
	spec := &model.Workload{ID: "w", Group: "g"}
	for _, v := range workloadVerbs(spec, model.Binding{Node: "b", Devices: reports}, t2, 0) {
		for p := -1; p <= int(model.Finished); p++ {
			from := "none"
			if p >= 0 {
				from = model.Phase(p).String()
			}
			s := inPhaseStore(t, model.Phase(max(p, 0)), p >= 0)
			before, index := s.Workload("w"), s.Index()
			tx := s.Begin()
			err := v.real(tx)
			becomes := outcome(err)
			if err == nil {
				require.Len(t, tx.Commit(), 1)
				after := s.Workload("w")
				becomes = show(after)
				checkRow(t, v.name, before, after, s.Index())
			} else {
				require.Equal(t, before, tx.Workload("w"))
				require.Nil(t, tx.Commit(), "a failed write changes nothing")
				require.Equal(t, index, s.Index())
			}
			var pe *PhaseError
			if errors.As(err, &pe) {
				require.Equal(t, "w", pe.Workload)
				require.Equal(t, before.Phase, pe.From)
				becomes = ""
			}
			got.WriteString(strings.TrimRight(fmt.Sprintf("%-9s | %-11s | %s", v.name, from, becomes), " ") + "\n")
		}
	}
	t.Log(got.String())
	require.Equal(t, verbTable, got.String())
}

// checkRow checks what holds for every successful verb.
func checkRow(t *testing.T, name string, before, after *Workload, index uint64) {
	if after == nil {
		return
	}
	require.Equal(t, index, after.ModifyIndex)
	if before == nil {
		require.Equal(t, index, after.CreateIndex)
		return
	}
	require.NotSame(t, before, after)
	require.Equal(t, before.CreateIndex, after.CreateIndex)
	if name != "Update" && before.Phase != after.Phase {
		require.True(t, before.Phase.CanMoveTo(after.Phase), "%s: %s to %s", name, before.Phase, after.Phase)
	}
	if name == "Bind" {
		require.Same(t, before.Info, after.Info, "nothing in it changes, so it is shared")
	}
	if name != "Update" {
		require.Same(t, before.Info.Workload, after.Info.Workload)
	}
}

func TestConfirmKeepsWhatTheReportDoesNotSay(t *testing.T) {
	for _, c := range []struct {
		node    string
		devices []model.DeviceShare
		at      time.Time
		want    string
	}{
		{"a", nil, time.Time{}, "Confirmed@a dev1:500 t1"},
		{"a", reports, time.Time{}, "Confirmed@a dev2:1000 t1"},
		{"a", []model.DeviceShare{}, time.Time{}, "Confirmed@a t1"},
		{"a", nil, t2, "Confirmed@a dev1:500 t2"},
		{"b", nil, time.Time{}, "Confirmed@b"},
		{"unknown", reports, t2, "Confirmed@unknown dev2:1000 t2"},
	} {
		s := inPhaseStore(t, model.Bound, true)
		before := s.Workload("w")
		tx := s.Begin()
		require.NoError(t, tx.Confirm("w", c.node, c.devices, c.at))
		tx.Commit()
		require.Equal(t, c.want, show(s.Workload("w")))
		require.Equal(t, "Bound@a dev1:500 t1", show(before))
	}
}

func TestAssumeNeedsTheNode(t *testing.T) {
	s := inPhaseStore(t, model.Pending, true)
	tx := s.Begin()
	defer tx.Abort()
	_, err := tx.Assume(model.Binding{Workload: "w", Node: "gone"}, t1)
	var re *RowError
	require.ErrorAs(t, err, &re)
	require.Equal(t, RowError{NodeKind, "gone", ErrNotFound}, *re)
	require.EqualError(t, err, `node "gone": not found`)
	row, err := tx.Assume(model.Binding{Workload: "w", Node: "a"}, t1)
	require.NoError(t, err)
	require.Same(t, tx.Workload("w"), row)
}

// TestExpect runs every verb that takes an expectation with the right one and
// with a wrong one.
func TestExpect(t *testing.T) {
	for p := model.Pending; p <= model.Finished; p++ {
		s := inPhaseStore(t, p, true)
		right := Expect(s.Workload("w").ModifyIndex)
		for i := range workloadVerbs(&model.Workload{ID: "w"}, model.Binding{Node: "b"}, t2, 0) {
			run := func(expect Expect) (string, error) {
				v := workloadVerbs(&model.Workload{ID: "w"}, model.Binding{Node: "b"}, t2, expect)[i]
				tx := s.Begin()
				defer tx.Abort()
				return v.name, v.real(tx)
			}
			name, anyErr := run(0)
			if name == "Submit" || name == "Place" {
				continue
			}
			_, rightErr := run(right)
			require.Equal(t, anyErr, rightErr, name)
			for _, wrong := range []Expect{right + 1, right - 1, Absent} {
				if wrong != 0 {
					_, err := run(wrong)
					require.Equal(t, &ConflictError{WorkloadKind, "w", wrong, uint64(right)}, err, name)
				}
			}
		}
	}
	s := New()
	verbs := func(expect Expect) []verb {
		return append(otherVerbs("x", expect), objectVerbs(&model.Volume{Name: "x"}, expect)...)
	}
	for i := range verbs(0) {
		name := verbs(0)[i].name
		run := func(expect Expect) error {
			tx := s.Begin()
			defer tx.Commit()
			return verbs(expect)[i].real(tx)
		}
		if strings.HasPrefix(name, "Put") {
			require.Equal(t, conflict, outcome(run(7)), "%s with an index where there is none", name)
			require.NoError(t, run(Absent), name)
			require.NoError(t, run(Expect(s.Index())), name)
		} else {
			require.Equal(t, conflict, outcome(run(Expect(s.Index()+1))), name)
			require.Equal(t, conflict, outcome(run(Absent)), name)
			require.NoError(t, run(Expect(s.Index())-1+1), name)
			require.Equal(t, notThere, outcome(run(0)), name)
		}
		if strings.HasPrefix(name, "Put") {
			require.Equal(t, conflict, outcome(run(Absent)), name)
		}
	}
	require.EqualError(t, &ConflictError{NodeKind, "n", 3, 4}, `node "n": expected index 3, found index 4`)
	require.EqualError(t, &ConflictError{NodeKind, "n", Absent, 4}, `node "n": expected no row, found index 4`)
	volume := objectKey(model.ObjectRef{Kind: model.VolumeKind, ID: "v"})
	require.EqualError(t, &ConflictError{ObjectKind, volume, 3, 4}, `Volume "v": expected index 3, found index 4`)
}

func TestNames(t *testing.T) {
	s := New()
	tx := s.Begin()
	for _, bad := range []string{"", "\x00", "a\x00b"} {
		for _, err := range []error{
			tx.Submit(&model.Workload{ID: bad}),
			tx.Place(&model.Workload{ID: bad}, model.Binding{Node: "n", Since: t1}),
			tx.Place(&model.Workload{ID: "w"}, model.Binding{Node: bad, Since: t1}),
			tx.PutNode(&model.Node{Name: bad}),
			tx.PutGroup(&model.Group{ID: bad}),
			tx.PutBudget(&model.Budget{ID: bad}),
			tx.PutNamespace(&model.Namespace{Name: bad}),
			tx.PutObject(&model.Volume{Name: bad}),
		} {
			require.ErrorIs(t, err, ErrName)
		}
		if bad != "" { // no group is fine
			require.ErrorIs(t, tx.Submit(&model.Workload{ID: "w", Group: bad}), ErrName)
		}
	}
	require.Nil(t, tx.Commit())
	s = inPhaseStore(t, model.Bound, true)
	tx = s.Begin()
	require.ErrorIs(t, tx.Confirm("w", "", nil, t1), ErrName)
	require.ErrorIs(t, tx.UpdateWorkload(&model.Workload{ID: "w", Group: "\x00"}), ErrName)
	require.Nil(t, tx.Commit())
}

func TestNodeComesBack(t *testing.T) {
	s := inPhaseStore(t, model.Bound, true)
	require.EqualValues(t, 1, s.Node("a").Seq)
	step := func(f func(tx *Txn) error) []Change {
		tx := s.Begin()
		require.NoError(t, f(tx))
		return tx.Commit()
	}
	step(func(tx *Txn) error { return tx.PutNode(&model.Node{Name: "a", Zone: "z"}) })
	require.EqualValues(t, 1, s.Node("a").Seq, "kept on update")
	step(func(tx *Txn) error { return tx.DeleteNode("a") })
	on := func() (ids []string) {
		for w := range s.WorkloadsOn("a") {
			ids = append(ids, w.Info.ID+"@"+w.Node)
		}
		return ids
	}
	require.Equal(t, []string{"w@a"}, on())
	step(func(tx *Txn) error { return tx.PutNode(&model.Node{Name: "a"}) })
	require.EqualValues(t, 3, s.Node("a").Seq, "new on its return")
	require.Equal(t, []string{"w@a"}, on())
	changes := step(func(tx *Txn) error {
		return errors.Join(tx.DeleteNode("a"), tx.PutNode(&model.Node{Name: "a"}))
	})
	require.Len(t, changes, 1)
	require.EqualValues(t, 3, changes[0].OldNode.Seq)
	require.EqualValues(t, 4, changes[0].NewNode.Seq)
}

func TestRoomPhases(t *testing.T) {
	for p := model.Pending; p <= model.Finished; p++ {
		require.Equal(t, p.TakesRoom(), firstRoomPhase <= p && p <= lastRoomPhase, p)
	}
}
