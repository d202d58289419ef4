package engine

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
)

// wholeTree is the tree of groups of a member that waits, to be tried as a whole.
type wholeTree struct {
	decider *decide.Decider // a fork
	group   string
	now     time.Time
}

// missing says which group is not there, or is not one for workloads.
func (w *wholeTree) missing() string {
	groups := w.decider.Record.View.Groups()
	id := w.group
	if g := groups.Get(id); g != nil && g.Composite {
		return fmt.Sprintf("group %q is composite: it has groups, and no workloads", id)
	}
	for g := groups.Get(id); g != nil; g = groups.Get(id) {
		if parent := groups.Get(g.Parent); parent != nil && !parent.Composite {
			return fmt.Sprintf("group %q is not composite, and group %q names it as its parent", g.Parent, id)
		}
		id = g.Parent
	}
	return fmt.Sprintf("group %q is not there", id)
}

// try returns the node of a member that fits by itself if its whole tree is placed, or why the tree
// is not: what the groups say, and the first member that fits nowhere.
func (w *wholeTree) try(member string) (node, message string) {
	entity, err := w.decider.TreeEntity(w.group)
	if err != nil {
		return "", fmt.Sprintf("group %q: %v", w.group, err)
	}
	st, chosen, tried := w.decider.TryTree(w.now, entity.Tree)
	for _, c := range chosen {
		if c.Info.ID == member {
			return c.Binding.Node, ""
		}
	}
	message = st.Message()
	for _, c := range tried {
		if c.Diagnosis != nil {
			return "", fmt.Sprintf("%s; workload %q: %s", message, c.Info.ID, c.Diagnosis.Message())
		}
	}
	return "", message
}
