package extpointstest

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Storage implements [extpoints.ClusterView].
func (v *View) Storage() extpoints.Storage { return (*storage)(v) }

// Devices implements [extpoints.ClusterView].
func (v *View) Devices() extpoints.Devices { return (*devices)(v) }

// Put adds the objects, each in place of one of the same kind and ID.
func (v *View) Put(objects ...model.Object) {
	if v.memo == nil {
		v.memo = &deviceMemo{}
	}
	for _, o := range objects {
		v.Drop(model.RefOf(o).Kind, model.RefOf(o).ID)
		v.Objects = append(v.Objects, o)
	}
}

// Drop removes the object, if it is there.
func (v *View) Drop(kind model.ObjectKind, id string) {
	v.Objects = slices.DeleteFunc(v.Objects, func(o model.Object) bool { return model.RefOf(o) == model.ObjectRef{Kind: kind, ID: id} })
}

// object returns the object of T's kind and the ID, nil where there is none.
func object[T model.Object](v *View, id string) (found T) {
	for _, o := range v.Objects {
		if t, ok := o.(T); ok && model.RefOf(o).ID == id {
			return t
		}
	}
	return found
}

// objects lists those of T's kind that will do, by ID.
func objects[T model.Object](v *View, will func(T) bool) []T {
	var list []T
	for _, o := range v.Objects {
		if t, ok := o.(T); ok && will(t) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(model.RefOf(a).ID, model.RefOf(b).ID) })
	return list
}

// storage is the view as an [extpoints.Storage].
type storage View

func (s *storage) Claim(id string) *model.VolumeClaim {
	return object[*model.VolumeClaim]((*View)(s), id)
}
func (s *storage) Volume(name string) *model.Volume { return object[*model.Volume]((*View)(s), name) }
func (s *storage) Class(name string) *model.StorageClass {
	return object[*model.StorageClass]((*View)(s), name)
}
func (s *storage) Driver(name string) *model.StorageDriver {
	return object[*model.StorageDriver]((*View)(s), name)
}
func (s *storage) NodeStorage(node string) *model.NodeStorage {
	return object[*model.NodeStorage]((*View)(s), node)
}

func (s *storage) Volumes(class string) []*model.Volume {
	return objects((*View)(s), func(v *model.Volume) bool { return v.Class == class })
}

func (s *storage) Capacities(class string) []*model.StorageCapacity {
	return objects((*View)(s), func(c *model.StorageCapacity) bool { return c.Class == class })
}

func (s *storage) Attachments(node string) []*model.VolumeAttachment {
	return objects((*View)(s), func(a *model.VolumeAttachment) bool { return a.Node == node })
}

func (s *storage) Users(claim string) (n int) {
	for _, node := range s.NodeInfos {
		for _, w := range node.Workloads {
			if slices.ContainsFunc(w.VolumeClaims, func(r model.VolumeClaimRef) bool { return r.ID == claim }) {
				n++
			}
		}
	}
	return n
}

// devices is the view as an [extpoints.Devices].
type devices View

func (d *devices) Claim(id string) *model.DeviceClaim {
	return object[*model.DeviceClaim]((*View)(d), id)
}
func (d *devices) Class(name string) *model.DeviceClass {
	return object[*model.DeviceClass]((*View)(d), name)
}

func (d *devices) ClassFor(resource string) *model.DeviceClass {
	list := objects((*View)(d), func(c *model.DeviceClass) bool { return resource != "" && c.Resource == resource })
	slices.SortStableFunc(list, func(a, b *model.DeviceClass) int { return b.CreatedAt.Compare(a.CreatedAt) })
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// Slices makes the list anew unless there are the same slices and rules as when
// it was last asked.
func (d *devices) Slices() *extpoints.DeviceSlices {
	rules := objects((*View)(d), func(*model.DeviceTaintRule) bool { return true })
	list := objects((*View)(d), func(*model.DeviceSlice) bool { return true })
	var memo *slicesMemo
	if d.memo != nil {
		memo = d.memo.slices.Load()
	}
	if memo == nil || !slices.Equal(memo.list, list) || !slices.Equal(memo.rules, rules) {
		memo = &slicesMemo{list: list, rules: rules}
		for _, s := range list {
			memo.made.List = append(memo.made.List, tainted(s, rules))
		}
		if d.memo != nil {
			d.memo.slices.Store(memo)
		}
	}
	return &memo.made
}

// tainted returns the slice with the taints of the rules on its devices.
func tainted(s *model.DeviceSlice, rules []*model.DeviceTaintRule) *model.DeviceSlice {
	c := *s
	c.Devices = slices.Clone(s.Devices)
	for i := range c.Devices {
		device := &c.Devices[i]
		for _, r := range rules {
			if (r.Driver == "" || r.Driver == s.Driver) && (r.Pool == "" || r.Pool == s.Pool) &&
				(r.Device == "" || r.Device == device.Name) {
				device.Taints = append(slices.Clip(device.Taints), r.Taint)
			}
		}
	}
	return &c
}

// Use adds up the allocations of all claims anew unless they are the same as
// when it was last asked.
func (d *devices) Use(pool model.PoolID) *extpoints.PoolUse {
	claims := objects((*View)(d), func(c *model.DeviceClaim) bool { return c.Allocation != nil })
	var memo *useMemo
	if d.memo != nil {
		memo = d.memo.use.Load()
	}
	if memo == nil || !slices.Equal(memo.claims, claims) {
		memo = &useMemo{claims: claims, use: map[model.PoolID]*extpoints.PoolUse{}}
		for _, c := range claims {
			for _, p := range c.Allocation.Pools() {
				memo.use[p] = memo.use[p].With(p, c.Allocation)
			}
		}
		if d.memo != nil {
			d.memo.use.Store(memo)
		}
	}
	return memo.use[pool]
}

// Groups implements [extpoints.ClusterView].
func (v *View) Groups() extpoints.Groups { return (*groups)(v) }

// groups is the view as an [extpoints.Groups].
type groups View

func (g *groups) Get(id string) *model.Group {
	return find(g.GroupList, func(o *model.Group) bool { return o.ID == id })
}

func (g *groups) Root(id string) *model.Group {
	at := g.Get(id)
	for range g.GroupList {
		if at == nil || at.Parent == "" {
			return at
		}
		at = g.Get(at.Parent)
	}
	return nil // in a circle
}

func (g *groups) Children(id string) []*model.Group {
	list := keep(g.GroupList, func(o *model.Group) bool { return id != "" && o.Parent == id })
	slices.SortFunc(list, (*model.Group).CompareAge)
	return list
}

func (g *groups) Members(id string) (all, placed int) {
	placed = len(g.Placed(id))
	return placed + len(g.Pending(id)), placed
}

func (g *groups) Placed(id string) []extpoints.PlacedMember {
	var list []extpoints.PlacedMember
	for _, node := range g.NodeInfos {
		for _, w := range node.Workloads {
			if id != "" && w.Group == id {
				list = append(list, extpoints.PlacedMember{WorkloadInfo: w, Node: node.Node.Name})
			}
		}
	}
	slices.SortFunc(list, func(a, b extpoints.PlacedMember) int { return strings.Compare(a.ID, b.ID) })
	return list
}

func (g *groups) Pending(id string) []string {
	var list []string
	for _, w := range g.PendingMembers {
		if id != "" && w.Group == id {
			list = append(list, w.ID)
		}
	}
	slices.Sort(list)
	return list
}
