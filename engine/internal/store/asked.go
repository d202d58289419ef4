package store

import (
	"slices"

	"github.com/berth-project/berth/model"
)

// Ask records that from now on the orchestrator may be asked to make true what was
// decided for the assumed workload. Until [Txn.Answer] that is left as it is, whatever
// becomes of the workload.
func (t *Txn) Ask(id string) error {
	old, err := t.existing(id, nil)
	if err != nil {
		return err
	}
	if old.Phase != model.Assumed {
		return &PhaseError{Workload: id, Node: old.TakesRoomOn(), From: old.Phase, To: model.Bound}
	}
	if old.Asked || len(old.Decided) == 0 {
		return nil
	}
	row := *old
	row.Asked = true
	t.replace(old, &row)
	return nil
}

// Answer ends what [Txn.Ask] began. What was decided about objects of the kinds may
// have been written, and counts until they are reported; of the others nothing was. The
// decisions are given by name, since the workload may have gone or been placed elsewhere
// meanwhile; then they are taken back.
func (t *Txn) Answer(id string, decisions []model.ObjectRef, written []model.ObjectKind) {
	for _, ref := range decisions {
		if slices.Contains(written, ref.Kind) {
			t.write(ref, id)
		}
	}
	old := t.Workload(id)
	if old == nil || !old.Asked {
		t.undecide(decisions, id)
		return
	}
	row := *old
	row.Asked = false
	t.replace(old, &row)
}
