package record

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// check lists everything that is wrong with a workload: by itself, and with
// what it names. Its group may come later: until then it waits.
func (in *Intake) check(w *model.Workload) error {
	problems := []error{w.Validate(), in.checkProfile(w)}
	if g := in.Group(w.Group); g != nil && g.Group.Composite {
		problems = append(problems, fmt.Errorf("workload %q: group: %q is a group of groups", w.ID, w.Group))
	}
	if w.NodeName != "" && in.Node(w.NodeName) == nil {
		problems = append(problems, fmt.Errorf("workload %q: nodeName: there is no node %q", w.ID, w.NodeName))
	}
	return errors.Join(problems...)
}

// checkUpdate is check for a workload that is known already. What it names
// matters only while it waits for a node: what is there is there.
// Its profile matters also while it is being bound: it may yet have to wait again.
func (in *Intake) checkUpdate(w *model.Workload) error {
	switch row := in.Workload(w.ID); {
	case row == nil:
	case row.Phase == model.Pending:
		return in.check(w)
	case row.Phase == model.Assumed:
		return errors.Join(w.Validate(), in.checkProfile(w))
	}
	return w.Validate()
}

// another returns the workload, or a copy where it is the very object that is
// recorded: an update is told from other changes by its object, and in a replay
// it is always another.
func (in *Intake) another(w *model.Workload) *model.Workload {
	if row := in.Workload(w.ID); row != nil && row.Info.Workload == w {
		same := *w
		return &same
	}
	return w
}

// checkProfile refuses a workload that no profile of the engine can place.
func (in *Intake) checkProfile(w *model.Workload) error {
	if !in.HasProfile(w) {
		return fmt.Errorf("workload %q: profile: there is no profile %q", w.ID, w.Profile)
	}
	return nil
}

// checkRequeue refuses to queue a workload that no profile of the engine can
// place: one that was adopted from somebody else.
func (in *Intake) checkRequeue(id string) error {
	if row := in.Workload(id); row != nil {
		return in.checkProfile(row.Info.Workload)
	}
	return nil
}

// text is a field of a report, and what is in it.
type text struct{ field, value string }

// checkTexts returns all that is wrong with texts of a report that is no object: what would
// not survive being written down and read again, and the NUL that separates names. The
// identity is of what the report is about.
func checkTexts(report, identity string, texts ...text) error {
	var problems []model.Problem
	for _, t := range texts {
		switch {
		case !utf8.ValidString(t.value):
			problems = append(problems, model.Problem{Field: t.field, Message: fmt.Sprintf("%q is not valid UTF-8", t.value)})
		case strings.IndexByte(t.value, 0) >= 0:
			problems = append(problems, model.Problem{Field: t.field, Message: fmt.Sprintf("%q contains a NUL byte", t.value)})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return &model.ValidationError{Object: fmt.Sprintf("%s %q", report, identity), Problems: problems}
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
