package gangscheduling

import (
	"fmt"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// needed is the smallest number of members, for a group of groups of children,
// that will do.
func needed(g *model.Group) int {
	if g.Policy != model.Gang {
		return 1
	}
	return int(g.MinCount)
}

// counted picks one of the two counts of [extpoints.Groups].Members.
type counted func(all, placed int) int

func everybody(all, _ int) int   { return all }
func withNode(_, placed int) int { return placed }

// leaf returns the group that has workloads as its members, nil where there is
// none of the ID.
func leaf(groups extpoints.Groups, id string) *model.Group {
	if g := groups.Get(id); g != nil && !g.Composite {
		return g
	}
	return nil
}

// rootOf returns the highest of the groups above one that has a parent. The
// error names the first that is not there.
func rootOf(groups extpoints.Groups, g *model.Group) (*model.Group, error) {
	if root := groups.Root(g.ID); root != nil {
		return root, nil
	}
	missing := g.Parent
	for range model.MaxGroupDepth {
		parent := groups.Get(missing)
		if parent == nil || !parent.Composite || parent.Parent == "" {
			break
		}
		missing = parent.Parent
	}
	return nil, fmt.Errorf("failed to build hierarchy snapshot: there is no composite group %s/%s",
		g.Namespace, nameOf(missing, g.Namespace))
}

func waitingForTree(root *model.Group) string {
	return fmt.Sprintf("waiting for composite group %q tree to meet quorum", nameOf(root.ID, root.Namespace))
}

// ready reports whether enough members of the group count, or for a group of
// groups whether enough of its children are ready.
func ready(groups extpoints.Groups, g *model.Group, count counted) bool {
	if !g.Composite {
		return enough(groups, g, count)
	}
	n := 0
	for _, child := range groups.Children(g.ID) {
		if ready(groups, child, count) {
			n++
		}
	}
	return n >= needed(g)
}

func enough(groups extpoints.Groups, g *model.Group, count counted) bool {
	return count(groups.Members(g.ID)) >= needed(g)
}

// leaves calls f for the group, or for a group of groups for all groups of
// workloads below it.
func leaves(groups extpoints.Groups, g *model.Group, f func(id string)) {
	if !g.Composite {
		f(g.ID)
		return
	}
	for _, child := range groups.Children(g.ID) {
		leaves(groups, child, f)
	}
}

// nameOf is what messages call a group. Where the ID ends with the namespace, a
// slash and something more, as those of groups from Kubernetes do, that is the
// name; any other ID is a name by itself.
func nameOf(id, namespace string) string {
	if i := strings.LastIndexByte(id, '/'); i >= 0 && namespace != "" && strings.HasSuffix("/"+id[:i], "/"+namespace) {
		return id[i+1:]
	}
	return id
}
