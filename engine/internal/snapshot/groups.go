package snapshot

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// groups is what a View knows of groups. Children and members are kept whether
// the group is there or not. It implements [extpoints.Groups].
type groups struct {
	byID     pmap[*model.Group]
	children lists[*model.Group] // by parent
	placed   memberSets[extpoints.PlacedMember]
	pending  memberSets[string] // IDs
	// moved are members that were taken from pending to placed, while the sets are as they were.
	moved *moved
}

var _ extpoints.Groups = (*groups)(nil)

func (g *groups) Get(id string) *model.Group {
	group, _ := g.byID.get(id)
	return group
}

func (g *groups) Root(id string) *model.Group {
	group := g.Get(id)
	// There are no circles, and no trees deeper than allowed, but a limit costs
	// nothing.
	for range model.MaxGroupDepth {
		if group == nil || group.Parent == "" {
			return group
		}
		if group = g.Get(group.Parent); group != nil && !group.Composite {
			return nil
		}
	}
	return nil
}

func (g *groups) Children(id string) []*model.Group { return g.children.get(id) }

func (g *groups) Members(id string) (all, placed int) {
	placed = g.placed.get(id).count
	return placed + g.pending.get(id).count, placed + g.moved.count(id)
}

func (g *groups) Placed(id string) []extpoints.PlacedMember {
	list := g.placed.get(id).all()
	if moved := g.moved.of(id); moved != nil {
		list = append(list, moved...)
		slices.SortFunc(list, byMember)
	}
	return list
}

func (g *groups) Pending(id string) []string {
	list := g.pending.get(id).all()
	if moved := g.moved.of(id); moved != nil {
		list = slices.DeleteFunc(list, func(id string) bool {
			_, gone := slices.BinarySearchFunc(moved, id, func(m extpoints.PlacedMember, id string) int { return strings.Compare(m.ID, id) })
			return gone
		})
	}
	return list
}
