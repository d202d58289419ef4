package volumebinding

import (
	"math"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// gift is what a claim would get on a node.
type gift struct {
	*need
	// volume is one that is there; nil where one has to be made.
	volume *model.Volume
	// room is where there is room for a new one; nil where nobody keeps track
	// of that.
	room *model.StorageCapacity
}

// find appends to the list what the claims without a volume would get on the
// node: first those that are tied to a node, then the others in their order. It
// is complete where the verdict is 0.
func (c *claims) find(s *extpoints.CycleState, n *model.Node, list []gift) ([]gift, verdict) {
	v := c.reach(s, n)
	for i := range c.selected {
		d := &c.selected[i]
		if d.claim.SelectedNode != n.Name {
			return list, v | bindConflict
		}
		list = append(list, gift{need: d})
	}
	for i := range c.open {
		d := &c.open[i]
		list = append(list, gift{need: d, volume: d.volumeOn(n, list)})
	}
	for i := range list {
		g := &list[i]
		if g.volume != nil {
			continue
		}
		if !provisions(g.class) || !g.class.AllowedNodes.Matches(n) {
			return list, v | bindConflict
		}
		if !g.tracked {
			continue
		}
		if g.room = g.roomOn(n, c.givenRoom(list[:i])); g.room == nil {
			return list, v | notEnoughSpace
		}
	}
	return list, v
}

// reach says whether the volumes of bound claims can be used from the node. The
// first one that cannot decides.
func (c *claims) reach(s *extpoints.CycleState, n *model.Node) verdict {
	for _, v := range c.bound {
		if v == nil {
			return volumeGone
		}
		nodes := v.Nodes
		if v.StandInNodes != nil && standsIn(s.View().Storage().NodeStorage(n.Name), v.Plugin) {
			nodes = v.StandInNodes
		}
		if !nodes.Matches(n) {
			return nodeConflict
		}
	}
	return 0
}

// standsIn reports whether a driver stands in for the plugin on the node.
func standsIn(s *model.NodeStorage, plugin string) bool {
	return s != nil && slices.Contains(s.StandsIn, plugin)
}

// volumeOn returns the volume for the claim on the node, nil for none. Those
// that were given away already are not to be had.
func (d *need) volumeOn(n *model.Node, given []gift) *model.Volume {
	if d.kept != nil {
		if d.kept.Nodes.Matches(n) {
			return d.kept
		}
		return nil
	}
	i := d.places.first(n, func(i int32) bool {
		v := d.volumes[i]
		return v.Nodes.Matches(n) && !isGiven(v, given)
	})
	if i < 0 {
		return nil
	}
	return d.volumes[i]
}

func isGiven(v *model.Volume, given []gift) bool {
	for i := range given {
		if g := given[i].volume; g != nil && g.Name == v.Name {
			return true
		}
	}
	return false
}

// givenRoom are the gifts before that take room. In kube-scheduler none does.
func (c *claims) givenRoom(before []gift) []gift {
	if c.compat == extpoints.KubeScheduler137 {
		return nil
	}
	return before
}

// roomOn returns the capacity with room for the claim on the node, beside what is given to other
// claims of the workload already; nil for none.
func (d *need) roomOn(n *model.Node, given []gift) *model.StorageCapacity {
	i := d.near.first(n, func(i int32) bool {
		r := &d.rooms[i]
		return r.Nodes.Matches(n.Labels) && r.has(d.claim.Request, roomOf(r.ID, given))
	})
	if i < 0 {
		return nil
	}
	return d.rooms[i].StorageCapacity
}

// roomOf is how much of the room the gifts take.
func roomOf(id string, given []gift) (taken int64) {
	for i := range given {
		if g := &given[i]; g.room != nil && g.room.ID == id {
			taken += min(g.claim.Request, math.MaxInt64-taken)
		}
	}
	return taken
}
