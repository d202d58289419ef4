package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Storage, devices and groups in the flat twin: plain maps, gone through from the
// beginning for every question.

// flatMember is a member of a group: on a node, or for an empty name waiting.
type flatMember struct {
	info *extpoints.WorkloadInfo
	node string
}

func (f *flat) putObject(o model.Object) {
	f.objects[model.RefOf(o)] = o
}

func (f *flat) removeObject(o model.Object) {
	delete(f.objects, model.RefOf(o))
}

// objectOf returns the object of the type and ID, nil where there is none.
func objectOf[T model.Object](f *flat, id string) T {
	var none T
	o, _ := f.objects[model.ObjectRef{Kind: model.RefOf(none).Kind, ID: id}].(T)
	return o
}

// objectsOf lists the objects of the type that keep keeps, by ID.
func objectsOf[T model.Object](f *flat, keep func(T) bool) []T {
	var list []T
	for _, o := range f.objects {
		if o, ok := o.(T); ok && keep(o) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(model.RefOf(a).ID, model.RefOf(b).ID) })
	return list
}

// users counts how often workloads on nodes that are there use each claim.
func (f *flat) users() map[string]int {
	counts := map[string]int{}
	for node := range f.nodes {
		for _, w := range f.on[node] {
			for i := range w.VolumeClaims {
				counts[w.VolumeClaims[i].ID]++
			}
		}
	}
	return counts
}

// classFor is the class that stands for the resource: the newest, then the first
// by name.
func (f *flat) classFor(resource string) (best *model.DeviceClass) {
	for _, c := range objectsOf(f, func(c *model.DeviceClass) bool { return c.Resource == resource }) {
		if best == nil || c.CreatedAt.After(best.CreatedAt) {
			best = c
		}
	}
	return best
}

// taintsOf are the taints of each device of the slice, those of the rules behind
// its own.
func (f *flat) taintsOf(s *model.DeviceSlice) (list [][]model.Taint) {
	rules := objectsOf(f, func(*model.DeviceTaintRule) bool { return true })
	for _, d := range s.Devices {
		taints := slices.Clone(d.Taints)
		for _, r := range rules {
			if cmp.Or(r.Driver, s.Driver) == s.Driver && cmp.Or(r.Pool, s.Pool) == s.Pool && cmp.Or(r.Device, d.Name) == d.Name {
				taints = append(taints, r.Taint)
			}
		}
		list = append(list, taints)
	}
	return list
}

// use adds up what the claims have been given of the pool.
func (f *flat) use(pool model.PoolID) map[string]extpoints.DeviceUse {
	sum := map[string]extpoints.DeviceUse{}
	for _, c := range objectsOf(f, func(c *model.DeviceClaim) bool { return c.Allocation != nil }) {
		for _, d := range c.Allocation.Devices {
			if d.Driver != pool.Driver || d.Pool != pool.Pool || d.AdminAccess {
				continue
			}
			u := sum[d.Device]
			if d.Share == "" {
				u.Whole++
			} else {
				u.Shares++
				consumed := map[string]int64{}
				maps.Copy(consumed, u.Consumed)
				for name, amount := range d.Consumed {
					consumed[name] += amount
				}
				u.Consumed = consumed
			}
			sum[d.Device] = u
		}
	}
	return sum
}

// root goes up from the group for as long as everything is as it must be.
func (f *flat) root(id string) *model.Group {
	chain := []*model.Group{f.groups[id]}
	for at := chain[0]; at != nil && at.Parent != ""; chain = append(chain, at) {
		if at = f.groups[at.Parent]; at != nil && !at.Composite {
			return nil
		}
	}
	if len(chain) > model.MaxGroupDepth {
		return nil
	}
	return chain[len(chain)-1]
}

// children are the groups below, the oldest first, then by ID.
func (f *flat) children(id string) (list []*model.Group) {
	for _, child := range slices.Sorted(maps.Keys(f.groups)) {
		if g := f.groups[child]; g.Parent == id {
			list = append(list, g)
		}
	}
	slices.SortStableFunc(list, (*model.Group).CompareAge)
	return list
}

func (f *flat) placed(group string) (list []extpoints.PlacedMember) {
	for _, id := range slices.Sorted(maps.Keys(f.members)) {
		if m := f.members[id]; m.info.Group == group && m.node != "" {
			list = append(list, extpoints.PlacedMember{WorkloadInfo: m.info, Node: m.node})
		}
	}
	return list
}

func (f *flat) pending(group string) (list []string) {
	for _, id := range slices.Sorted(maps.Keys(f.members)) {
		if m := f.members[id]; m.info.Group == group && m.node == "" {
			list = append(list, id)
		}
	}
	return list
}
