package engine

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// check lists everything that is wrong with a workload: by itself, and with
// what it names. Its group may come later: until then it waits.
func check(profiles *decide.Profiles, tx *store.Txn, w *model.Workload) error {
	problems := []error{w.Validate(), checkProfile(profiles, w)}
	if g := tx.Group(w.Group); g != nil && g.Group.Composite {
		problems = append(problems, fmt.Errorf("workload %q: group: %q is a group of groups", w.ID, w.Group))
	}
	if w.NodeName != "" && tx.Node(w.NodeName) == nil {
		problems = append(problems, fmt.Errorf("workload %q: nodeName: there is no node %q", w.ID, w.NodeName))
	}
	return errors.Join(problems...)
}

// checkUpdate is check for a workload that is known already. What it names
// matters only while it waits for a node: what is there is there.
// Its profile matters also while it is being bound: it may yet have to wait again.
func checkUpdate(profiles *decide.Profiles, tx *store.Txn, w *model.Workload) error {
	switch row := tx.Workload(w.ID); {
	case row == nil:
	case row.Phase == model.Pending:
		return check(profiles, tx, w)
	case row.Phase == model.Assumed:
		return errors.Join(w.Validate(), checkProfile(profiles, w))
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

// anotherObject is another for objects of storage and devices. An orchestrator may
// also report the very object that it was handed as decided.
func anotherObject(tx *store.Txn, o model.Object) model.Object {
	row := tx.Object(model.ObjectRef{Kind: o.ObjectKind(), ID: o.ObjectID()})
	if row == nil || row.Reported != o && row.Decided != o {
		return o
	}
	same, _ := objectOf(o)
	return same
}

// checkProfile refuses a workload that no profile of the engine can place.
func checkProfile(profiles *decide.Profiles, w *model.Workload) error {
	if profiles.Of(w) == nil {
		return fmt.Errorf("workload %q: profile: there is no profile %q", w.ID, w.Profile)
	}
	return nil
}

// checkRequeue refuses to queue a workload that no profile of the engine can
// place: one that was adopted from somebody else.
func checkRequeue(profiles *decide.Profiles, tx *store.Txn, id string) error {
	if row := tx.Workload(id); row != nil {
		return checkProfile(profiles, row.Info.Workload)
	}
	return nil
}

// checkTree refuses a group that would make a circle of groups, or a tree that is
// too deep, and one whose parent takes workloads only. Parents may come later.
func checkTree(tx *store.Txn, g *model.Group) error {
	var problems []error
	above := 0
	for at := g.Parent; at != ""; above++ {
		if at == g.ID {
			return fmt.Errorf("group %q: parent: the groups above it lead back to it", g.ID)
		}
		parent := tx.Group(at)
		if parent == nil {
			above++
			break
		}
		if above == 0 && !parent.Group.Composite {
			problems = append(problems, fmt.Errorf("group %q: parent: %q is not a group of groups", g.ID, at))
		}
		at = parent.Group.Parent
	}
	height := 1
	if g.Composite {
		height = heightOf(tx, g.ID)
	}
	if depth := above + height; depth > model.MaxGroupDepth {
		problems = append(problems, fmt.Errorf("group %q: parent: %d groups above each other, more than %d", g.ID, depth, model.MaxGroupDepth))
	}
	return errors.Join(problems...)
}

// heightOf is how many groups are above each other from the group of groups
// downwards, itself included, whether it is there yet or not.
func heightOf(tx *store.Txn, id string) int {
	below := 0
	for g := range tx.Groups() {
		switch {
		case g.Group.Parent != id || g.Group.ID == id:
		case g.Group.Composite:
			below = max(below, heightOf(tx, g.Group.ID))
		default:
			below = max(below, 1)
		}
	}
	return below + 1
}
