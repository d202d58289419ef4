package engine

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// check lists everything that is wrong with a workload: by itself, and with
// what it names.
func (c *core) check(tx *store.Txn, w *model.Workload) error {
	problems := []error{w.Validate(), c.checkProfile(w)}
	if w.Group != "" && tx.Group(w.Group) == nil {
		problems = append(problems, fmt.Errorf("workload %q: group: there is no group %q", w.ID, w.Group))
	}
	if w.NodeName != "" && tx.Node(w.NodeName) == nil {
		problems = append(problems, fmt.Errorf("workload %q: nodeName: there is no node %q", w.ID, w.NodeName))
	}
	return errors.Join(problems...)
}

// checkUpdate is check for a workload that is known already. What it names
// matters only while it waits for a node: what is there is there.
// Its profile matters also while it is being bound: it may yet have to wait again.
func (c *core) checkUpdate(tx *store.Txn, w *model.Workload) error {
	switch row := tx.Workload(w.ID); {
	case row == nil:
	case row.Phase == model.Pending:
		return c.check(tx, w)
	case row.Phase == model.Assumed:
		return errors.Join(w.Validate(), c.checkProfile(w))
	}
	return w.Validate()
}

// another returns the workload, or a copy where it is the very object that is
// recorded: an update is told from other changes by its object, and in a replay
// it is always another.
func another(tx *store.Txn, w *model.Workload) *model.Workload {
	if row := tx.Workload(w.ID); row != nil && row.Info.Workload == w {
		same := *w
		return &same
	}
	return w
}

// checkProfile refuses a workload that no profile of the engine can place.
func (c *core) checkProfile(w *model.Workload) error {
	if c.framework(w) == nil {
		return fmt.Errorf("workload %q: profile: there is no profile %q", w.ID, w.Profile)
	}
	return nil
}

// checkRequeue refuses to queue a workload that no profile of the engine can
// place: one that was adopted from somebody else.
func (c *core) checkRequeue(tx *store.Txn, id string) error {
	if row := tx.Workload(id); row != nil {
		return c.checkProfile(row.Info.Workload)
	}
	return nil
}
