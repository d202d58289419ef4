package snapshot

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// The names are few, so that objects replace each other and meet in lists.
var (
	objectIDs     = []string{"x0", "x1", "x2", "x3"}
	objectClasses = []string{"", "c0", "c1"}
	objectNodes   = []string{"node-0", "node-1"}
	objectPools   = []model.PoolID{{Driver: "d0", Pool: "p"}, {Driver: "d1", Pool: "p"}, {Driver: "d0", Pool: "q"}}
	deviceNames   = []string{"g0", "g1"}
)

// TestObjectsAgainstFlat is TestAgainstFlat with hardly anything but objects and
// groups.
func TestObjectsAgainstFlat(t *testing.T) {
	r := &random{Rand: rand.New(rand.NewPCG(newSeed(t), 99)), names: 3, objects: 80}
	r.walk(t, *stepsFlag)
}

// patchModelObject puts or removes an object of storage or devices.
func (r *random) patchModelObject(h handle) {
	o := r.object()
	if r.IntN(4) == 0 {
		h.view.RemoveObject(o)
		h.flat.removeObject(o)
		return
	}
	h.view.PutObject(o)
	h.flat.putObject(o)
}

func (r *random) object() model.Object {
	id, class, node := pick(r, objectIDs), pick(r, objectClasses), pick(r, objectNodes)
	switch kind := pick(r, model.ObjectKinds); kind {
	case model.VolumeClaimKind:
		return &model.VolumeClaim{ID: id, Class: class}
	case model.VolumeKind:
		return &model.Volume{Name: id, Class: class}
	case model.StorageClassKind:
		return &model.StorageClass{Name: id}
	case model.StorageDriverKind:
		return &model.StorageDriver{Name: id}
	case model.NodeStorageKind:
		return &model.NodeStorage{Node: node}
	case model.StorageCapacityKind:
		return &model.StorageCapacity{ID: id, Class: class}
	case model.VolumeAttachmentKind:
		return &model.VolumeAttachment{ID: id, Node: node}
	case model.DeviceSliceKind:
		pool := pick(r, objectPools)
		s := &model.DeviceSlice{ID: id, Driver: pool.Driver, Pool: pool.Pool}
		for _, name := range deviceNames {
			d := model.SliceDevice{Name: name}
			if r.IntN(3) == 0 {
				d.Taints = []model.Taint{{Key: "own"}}
			}
			s.Devices = append(s.Devices, d)
		}
		return s
	case model.DeviceClassKind:
		return &model.DeviceClass{Name: id, Resource: class, CreatedAt: time.Unix(r.Int64N(2), 0)}
	case model.DeviceTaintRuleKind:
		pool := pick(r, objectPools)
		rule := &model.DeviceTaintRule{ID: id, Taint: model.Taint{Key: id}}
		switch r.IntN(4) {
		case 0:
			rule.Driver = pool.Driver
		case 1:
			rule.Driver, rule.Pool = pool.Driver, pool.Pool
		case 2:
			rule.Device = pick(r, deviceNames)
		}
		return rule
	case model.DeviceClaimKind:
		return r.deviceClaim(id)
	case model.QueueKind, model.PrincipalKind, model.LimitKind: // not in the view
		return r.object()
	case model.HoldKind:
		return &model.Hold{Name: id}
	case model.NodeLoadKind:
		return &model.NodeLoad{Node: node}
	case model.NodeTopologyKind:
		return &model.NodeTopology{Node: node}
	case model.AppGraphKind:
		return &model.AppGraph{ID: id}
	case model.NetworkCostsKind:
		return &model.NetworkCosts{Name: id}
	default:
		panic("no object of the kind " + kind)
	}
}

func (r *random) deviceClaim(id string) *model.DeviceClaim {
	c := &model.DeviceClaim{ID: id}
	if r.IntN(4) == 0 {
		return c
	}
	c.Allocation = &model.Allocation{}
	for range r.IntN(3) {
		pool := pick(r, objectPools)
		d := model.AllocatedDevice{
			DeviceID:    model.DeviceID{Driver: pool.Driver, Pool: pool.Pool, Device: pick(r, deviceNames)},
			AdminAccess: r.IntN(6) == 0,
		}
		if r.IntN(2) == 0 {
			d.Share, d.Consumed = fmt.Sprint(r.IntN(100)), map[string]int64{pick(r, labelKeys): 1 + r.Int64N(3)}
		}
		c.Allocation.Devices = append(c.Allocation.Devices, d)
	}
	return c
}

// patchGroup puts or removes a group.
func (r *random) patchGroup(h handle) {
	g := r.group(r.IntN(12))
	if r.IntN(3) == 0 {
		h.view.RemoveGroup(g.ID)
		delete(h.flat.groups, g.ID)
		return
	}
	h.view.PutGroup(g)
	h.flat.groups[g.ID] = g
}

// group makes a group whose parent has a higher number, so that there are no
// circles.
func (r *random) group(number int) *model.Group {
	g := &model.Group{ID: fmt.Sprint("x", number), Composite: r.IntN(5) > 0, CreatedAt: time.Unix(r.Int64N(2), 0)}
	if above := 12 - number - 1; above > 0 && r.IntN(4) > 0 {
		g.Parent = fmt.Sprint("x", number+1+r.IntN(min(above, 3)))
	}
	return g
}

// patchMember moves a member of a group: on to a node, away, or to another group.
func (r *random) patchMember(h handle) {
	id := fmt.Sprint("m", r.IntN(8))
	if old, ok := h.flat.members[id]; ok {
		if old.node == "" && r.IntN(3) > 0 {
			info, node := &extpoints.WorkloadInfo{Workload: old.info.Workload}, r.node()
			h.view.MoveMember(info, node)
			h.flat.members[id] = flatMember{info, node}
			return
		}
		if old.node != "" {
			h.view.UnplaceMember(old.info)
		} else {
			h.view.UnawaitMember(old.info)
		}
		delete(h.flat.members, id)
	}
	info := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Group: fmt.Sprint("x", r.IntN(3))}}
	switch r.IntN(4) {
	case 0:
		return
	case 1, 2:
		h.view.AwaitMember(info)
		h.flat.members[id] = flatMember{info: info}
	default:
		node := r.node()
		if r.IntN(2) == 0 {
			h.view.MoveMember(info, node) // it did not wait
		} else {
			h.view.PlaceMember(info, node)
		}
		h.flat.members[id] = flatMember{info, node}
	}
}

// compareObjects compares all that can be asked of storage, devices and groups.
func (r *random) compareObjects(t *testing.T, h handle) {
	t.Helper()
	compareStorage(t, h)
	compareDevices(t, h)
	holds := objectsOf(h.flat, func(*model.Hold) bool { return true })
	require.True(t, slices.Equal(holds, h.view.Holds()), "holds: %v, want %v", h.view.Holds(), holds)
	for _, node := range append(slices.Clone(objectNodes), "none") {
		require.True(t, objectOf[*model.NodeLoad](h.flat, node) == h.view.NodeLoad(node), "the load of %s", node)
		require.True(t, objectOf[*model.NodeTopology](h.flat, node) == h.view.NodeTopology(node), "the topology of %s", node)
	}
	for _, id := range append(slices.Clone(objectIDs), "none") {
		require.True(t, objectOf[*model.AppGraph](h.flat, id) == h.view.AppGraph(id), "the graph %s", id)
		require.True(t, objectOf[*model.NetworkCosts](h.flat, id) == h.view.NetworkCosts(id), "the costs %s", id)
	}
	f, groups := h.flat, h.view.Groups()
	for i := range 13 {
		id := fmt.Sprint("x", i)
		require.True(t, f.root(id) == groups.Root(id), "the root of %s", id)
		require.True(t, slices.Equal(f.children(id), groups.Children(id)), "the children of %s", id)
		require.True(t, slices.Equal(f.placed(id), groups.Placed(id)), "the placed of %s", id)
		require.True(t, slices.Equal(f.pending(id), groups.Pending(id)), "the pending of %s", id)
		all, placed := groups.Members(id)
		require.True(t, len(f.placed(id)) == placed && placed+len(f.pending(id)) == all, "the members of %s", id)
	}
}

func compareStorage(t *testing.T, h handle) {
	t.Helper()
	f, s := h.flat, h.view.Storage()
	users := f.users()
	for _, id := range append(slices.Clone(objectIDs), "none") {
		require.True(t, objectOf[*model.VolumeClaim](f, id) == s.Claim(id), "claim %s", id)
		require.True(t, objectOf[*model.Volume](f, id) == s.Volume(id), "volume %s", id)
		require.True(t, objectOf[*model.StorageClass](f, id) == s.Class(id), "class %s", id)
		require.True(t, objectOf[*model.StorageDriver](f, id) == s.Driver(id), "driver %s", id)
		require.True(t, users[id] == s.Users(id), "the users of %s: %d, want %d", id, s.Users(id), users[id])
	}
	for _, class := range append(slices.Clone(objectClasses), "none") {
		volumes := objectsOf(f, func(v *model.Volume) bool { return v.Class == class })
		require.True(t, slices.Equal(volumes, s.Volumes(class)), "volumes of %q", class)
		capacities := objectsOf(f, func(c *model.StorageCapacity) bool { return c.Class == class })
		require.True(t, slices.Equal(capacities, s.Capacities(class)), "capacities of %q", class)
	}
	for _, node := range append(slices.Clone(objectNodes), "none") {
		require.True(t, objectOf[*model.NodeStorage](f, node) == s.NodeStorage(node), "storage of %s", node)
		attached := objectsOf(f, func(a *model.VolumeAttachment) bool { return a.Node == node })
		require.True(t, slices.Equal(attached, s.Attachments(node)), "attachments to %s", node)
	}
}

func compareDevices(t *testing.T, h handle) {
	t.Helper()
	f, d := h.flat, h.view.Devices()
	for _, id := range append(slices.Clone(objectIDs), "none") {
		require.True(t, objectOf[*model.DeviceClaim](f, id) == d.Claim(id), "device claim %s", id)
		require.True(t, objectOf[*model.DeviceClass](f, id) == d.Class(id), "device class %s", id)
	}
	for _, resource := range []string{"c0", "c1", "none"} {
		require.True(t, f.classFor(resource) == d.ClassFor(resource), "the class for %s", resource)
	}
	list := d.Slices()
	require.True(t, list == d.Slices(), "the same as long as nothing changes")
	want := objectsOf(f, func(*model.DeviceSlice) bool { return true })
	require.Len(t, list.List, len(want))
	for i, s := range list.List {
		require.Equal(t, want[i].ID, s.ID)
		require.Equal(t, want[i].Driver+want[i].Pool, s.Driver+s.Pool)
		for j, taints := range f.taintsOf(want[i]) {
			require.True(t, slices.Equal(taints, s.Devices[j].Taints), "taints of %s/%s: %v, want %v", s.ID, s.Devices[j].Name, s.Devices[j].Taints, taints)
		}
	}
	for _, pool := range objectPools {
		use := d.Use(pool)
		want := f.use(pool)
		require.Equal(t, len(want) == 0, use == nil, "%v", pool)
		if use == nil {
			continue
		}
		require.Len(t, use.Devices, len(want), "%v", pool)
		for name, u := range want {
			got := use.Devices[name]
			require.True(t, u.Whole == got.Whole && u.Shares == got.Shares, "%s of %v: %v, want %v", name, pool, got, u)
			for _, capacity := range labelKeys {
				require.True(t, u.Consumed[capacity] == got.Consumed[capacity], "%s of %v: %v, want %v", name, pool, got, u)
			}
		}
	}
}

// dumpObjects writes down what a View knows of objects and groups, down to their
// identity.
func dumpObjects(out io.Writer, v *View) {
	s, d, g := v.Storage(), v.Devices(), v.Groups()
	for _, id := range objectIDs {
		fmt.Fprintf(out, "%p %p %p %p %d %p %p\n", s.Claim(id), s.Volume(id), s.Class(id), s.Driver(id), s.Users(id), d.Claim(id), d.Class(id))
	}
	for _, class := range objectClasses {
		fmt.Fprintln(out, s.Volumes(class), s.Capacities(class), d.ClassFor(class))
	}
	for _, node := range objectNodes {
		fmt.Fprintf(out, "%p %v\n", s.NodeStorage(node), s.Attachments(node))
	}
	for _, pool := range objectPools {
		fmt.Fprintf(out, "%v\n", d.Use(pool))
	}
	for _, slice := range d.Slices().List {
		fmt.Fprintf(out, "%v\n", slice)
	}
	fmt.Fprintln(out, v.Holds())
	for i := range 12 {
		id := fmt.Sprint("x", i)
		fmt.Fprintf(out, "%p %v %v %v\n", g.Root(id), g.Children(id), g.Placed(id), g.Pending(id))
	}
}

// What a reader may remember under a pointer keeps it: the slices until one of
// them or a rule changes, and what is given away of a pool until that changes;
// also on a branch, and whatever else happens.
func TestWhatMayBeRememberedKeepsItsPointer(t *testing.T) {
	pool, other := objectPools[0], objectPools[1]
	given := func(id string, pool model.PoolID, device string) *model.DeviceClaim {
		return &model.DeviceClaim{ID: id, Allocation: &model.Allocation{Devices: []model.AllocatedDevice{
			{DeviceID: model.DeviceID{Driver: pool.Driver, Pool: pool.Pool, Device: device}},
		}}}
	}
	slice := &model.DeviceSlice{ID: "s", Driver: pool.Driver, Pool: pool.Pool, Devices: []model.SliceDevice{{Name: "g0"}}}
	v := New()
	require.Same(t, v.Devices().Slices(), New().Devices().Slices(), "there are none")
	v.PutObject(slice)
	v.PutObject(given("a", pool, "g0"))
	slices, use := v.Devices().Slices(), v.Devices().Use(pool)

	b := v.Branch()
	for _, same := range []*View{v, b} {
		same.PutObject(given("b", other, "g0"))
		same.PutObject(&model.DeviceClass{Name: "gpu"})
		same.PutObject(&model.Volume{Name: "v"})
		same.PutNode(&model.Node{Name: "n"})
		require.Same(t, slices, same.Devices().Slices())
		require.Same(t, use, same.Devices().Use(pool))
	}
	b.PutObject(given("c", pool, "g1"))
	require.Equal(t, map[string]extpoints.DeviceUse{"g0": {Whole: 1}, "g1": {Whole: 1}}, b.Devices().Use(pool).Devices)
	require.Same(t, use, v.Devices().Use(pool), "that of another branch")
	require.Same(t, slices, b.Devices().Slices())
	for name, change := range map[string]func(*View){
		"a slice changes": func(v *View) { v.PutObject(slice) },
		"a slice goes":    func(v *View) { v.RemoveObject(slice) },
		"a rule comes":    func(v *View) { v.PutObject(&model.DeviceTaintRule{ID: "r"}) },
	} {
		b := v.Branch()
		change(b)
		require.NotSame(t, slices, b.Devices().Slices(), name)
		require.Same(t, slices, v.Devices().Slices(), name)
	}
}
