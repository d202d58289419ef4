package record

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/model"
)

func (in *Intake) putGroup(g *model.Group) error {
	if err := errors.Join(g.Validate(), in.checkTree(g)); err != nil {
		return err
	}
	switch old := in.Group(g.ID); {
	case in.children == nil:
	case old == nil:
		in.children[g.Parent] = append(in.children[g.Parent], g.ID)
	case old.Group.Parent != g.Parent:
		in.children = nil
	}
	return in.PutGroup(g)
}

func (in *Intake) removeGroup(id string) error {
	in.children = nil
	return in.DeleteGroup(id)
}

// checkTree refuses a group that would make a circle of groups, or a tree that is
// too deep. Parents may come later, and may turn out to have no groups: until that is
// mended their workloads wait.
func (in *Intake) checkTree(g *model.Group) error {
	if g.Parent == "" {
		return nil // those below it were checked with it above them
	}
	above := 0
	for at := g.Parent; at != ""; above++ {
		if at == g.ID {
			return fmt.Errorf("group %q: parent: the groups above it lead back to it", g.ID)
		}
		parent := in.Group(at)
		if parent == nil {
			above++
			break
		}
		at = parent.Group.Parent
	}
	if depth := above + in.heightOf(g.ID); depth > model.MaxGroupDepth {
		return fmt.Errorf("group %q: parent: %d groups above each other, more than %d", g.ID, depth, model.MaxGroupDepth)
	}
	return nil
}

// heightOf is how many groups are above each other from the group downwards, itself
// included, whether it is there yet or not. Where a group has no groups because it is not
// composite those that name it as their parent count all the same: it may become so.
func (in *Intake) heightOf(id string) int {
	if in.children == nil {
		in.children = map[string][]string{}
		for g := range in.Groups() {
			in.children[g.Group.Parent] = append(in.children[g.Group.Parent], g.Group.ID)
		}
	}
	below := 0
	for _, child := range in.children[id] {
		below = max(below, in.heightOf(child))
	}
	return below + 1
}
