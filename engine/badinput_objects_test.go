package engine_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// Every problem of every object is in the error, and nothing is half applied.
func TestBadObjectsAreRefusedWithEveryProblem(t *testing.T) {
	r := newRaw(t, &world{})
	apply(t, r, epoch, oneDisk()...)
	index := r.View().Index()
	bad := int64(-1)
	err := r.Apply(epoch,
		engine.PutObject(modeltest.StorageClass("good").Build()),
		engine.PutObject(&model.VolumeClaim{Request: -1, AccessModes: []model.AccessMode{"Sometimes"}, Bound: true}),
		engine.PutObject(&model.Volume{Name: "x", Capacity: -1, Phase: "Odd", Claim: &model.ClaimIdentity{}}),
		engine.PutObject(&model.StorageCapacity{ID: "x", Capacity: &bad}),
		engine.PutObject(&model.NodeStorage{Node: "n", Drivers: []model.NodeDriver{{Name: "a"}, {Name: "a"}}}),
		engine.PutObject(&model.VolumeAttachment{ID: "x"}),
		engine.PutObject(&model.DeviceSlice{ID: "x", Driver: "d", Pool: "p"}),
		engine.PutObject(&model.DeviceClaim{ID: "x", Requests: []model.ClaimRequest{{Name: "r"}}}),
		engine.PutObject(&model.DeviceTaintRule{}),
		engine.RemoveObject(model.ObjectRef{Kind: claimKind, ID: "nobody"}),
		engine.RemoveObject(model.ObjectRef{Kind: "Thing", ID: "x"}),
		engine.RemoveObject(model.ObjectRef{}),
		engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, Parent: "g"}),
	)
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorIs(t, err, engine.ErrNotFound)
	for _, problem := range []string{
		`change 1, put VolumeClaim: `, `request`, `"Sometimes"`, `must not be empty where the claim is bound`,
		`change 2, put Volume "x"`, `capacity`, `"Odd"`, `claim.id`,
		`change 3, put StorageCapacity "x"`,
		`change 4, put NodeStorage "n"`,
		`change 5, put VolumeAttachment "x"`,
		`change 6, put DeviceSlice "x"`, `exactly one must be set`, `sliceCount`,
		`change 7, put DeviceClaim "x"`,
		`change 8, put DeviceTaintRule: `,
		`change 9, remove VolumeClaim "nobody": VolumeClaim "nobody": not found`,
		`change 10, remove Thing "x"`,
		`change 11, remove object: engine.RemoveObject needs the kind and the ID of an object`,
		`change 12, put group "g"`, `parent`, `minCount`,
	} {
		require.ErrorContains(t, err, problem)
	}
	require.NotContains(t, err.Error(), "change 0")
	require.NotContains(t, err.Error(), `\x00`, "names are for people")
	require.Equal(t, index, r.View().Index(), "nothing is half applied")
	require.NoError(t, r.Apply(epoch, uses("w", "c1")))
	settle(r, epoch)
	require.Equal(t, "Bound@n2", phaseOf(r, "w"), "and the engine goes on")
}

// thing passes itself off for an object.
type thing struct{ *model.Volume }

// Objects that are not the model's could be neither used nor recorded.
func TestObjectsOfNoKindAreRefused(t *testing.T) {
	r := newRaw(t, &world{})
	for _, o := range []model.Object{thing{&model.Volume{Name: "x"}}, &thing{}, (*thing)(nil)} {
		problem := "change 0, put object: it is no object that the engine knows"
		require.EqualError(t, r.Apply(epoch, engine.PutObject(o)), problem)
		require.EqualError(t, r.Branch().Apply(epoch, engine.PutObject(o)), problem)
	}
	require.Zero(t, r.View().Index())
	random := rand.New(rand.NewPCG(1, 1))
	for _, o := range []model.Object{
		modeltest.RandomVolumeClaim(random), modeltest.RandomVolume(random), modeltest.RandomStorageClass(random),
		modeltest.RandomStorageDriver(random), modeltest.RandomNodeStorage(random), modeltest.RandomStorageCapacity(random),
		modeltest.RandomVolumeAttachment(random), modeltest.RandomDeviceSlices(random, []string{"n"})[0],
		modeltest.RandomDeviceClasses()[0], modeltest.RandomDeviceClaim(random, "c"),
		&model.DeviceTaintRule{ID: "t", Taint: model.Taint{Key: "k", Effect: model.NoEffect}},
		&model.Queue{Name: "q"}, &model.Principal{Name: "p"},
		&model.Limit{Name: "l", Queue: "q", Scope: model.LimitOwn, Measure: model.LimitRunning},
		modeltest.RandomHold(random), modeltest.RandomNodeLoad(random), modeltest.RandomNodeTopology(random),
		modeltest.RandomAppGraph(random), modeltest.RandomNetworkCosts(random),
	} {
		require.NoError(t, r.Apply(epoch, engine.PutObject(o)), "%s", model.RefOf(o).Kind)
	}
	for _, kind := range model.ObjectKinds {
		n := 0
		for range r.View().Objects(kind) {
			n++
		}
		require.Equal(t, 1, n, "%s", kind)
	}
}

// What is wrong with objects keeps the workload, with a reason; when it is put
// right the workload is placed, long before it would be tried without a reason.
func TestAWorkloadWaitsForWhatIsWrong(t *testing.T) {
	claim := modeltest.DeviceClaim("c1").Request("r", "gpu", 1)
	slice := modeltest.DeviceSlice("gpu.example.com", "p").Node("n2")
	broken := func(o model.Object) []any { return append(append(oneDisk(), oneGPU()[2]), o) }
	without := func(kind model.ObjectKind, id string) []any {
		return append(append(oneDisk(), oneGPU()[2]), engine.RemoveObject(model.ObjectRef{Kind: kind, ID: id}))
	}
	limit := int32(0)
	small, large := int64(1), int64(100)
	made := func(o ...model.Object) []any {
		return append(oneDisk(), toBeMade(), puts(&model.StorageDriver{Name: "disk.example.com", TracksCapacity: true}), puts(o...))
	}
	room := func(c *int64) *model.StorageCapacity {
		return &model.StorageCapacity{ID: "room", Class: "made", Nodes: &model.Selector{}, Capacity: c}
	}
	attached := func(limit *int32) *model.NodeStorage {
		return &model.NodeStorage{Node: "n2", Drivers: []model.NodeDriver{{Name: "disk.example.com", MaxVolumes: limit}}}
	}
	ofDriver := modeltest.Volume("v").Class("local").Capacity(10).On("host", "n2").With(func(v *model.Volume) {
		v.Driver, v.Handle = "disk.example.com", "h"
	})
	for name, c := range map[string]struct {
		before []any
		submit engine.Change
		reason string
		right  model.Object
	}{
		"no volume claim": {without(claimKind, "c2"), uses("w", "c2"), `volume claim "c2" not found`,
			modeltest.VolumeClaim("c2").Class("local").Request(5).Build()},
		"a claim without a class": {broken(modeltest.VolumeClaim("c1").Request(5).Build()), uses("w", "c1"),
			"unbound immediate volume claims", modeltest.VolumeClaim("c1").Class("local").Request(5).Build()},
		"no storage class": {without(model.StorageClassKind, "local"), uses("w", "c1"), "unbound immediate volume claims",
			modeltest.StorageClass("local").Build()},
		"a claim that is too large": {broken(modeltest.VolumeClaim("c1").Class("local").Request(50).Build()), uses("w", "c1"),
			"didn't find available volumes to bind", modeltest.VolumeClaim("c1").Class("local").Request(5).Build()},
		"a volume that is gone": {broken(modeltest.VolumeClaim("c1").Class("local").Bound("v9").Build()), uses("w", "c1"),
			`volume "v9" of the claim not found`, modeltest.Volume("v9").Class("local").Build()},
		"a lost volume": {broken(modeltest.VolumeClaim("c1").Class("local").Bound("v9").With(func(c *model.VolumeClaim) { c.Lost = true }).Build()),
			uses("w", "c1"), `bound to non-existent volume "v9"`, modeltest.VolumeClaim("c1").Class("local").Request(5).Build()},
		"a failed volume": {broken(modeltest.Volume("v").Class("local").Capacity(10).Phase(model.VolumeFailed).Build()), uses("w", "c1"),
			"didn't find available volumes to bind", modeltest.Volume("v").Class("local").Capacity(10).Build()},
		"a claim that is being deleted": {broken(modeltest.VolumeClaim("c1").Class("local").With(func(c *model.VolumeClaim) { c.Deleting = true }).Build()),
			uses("w", "c1"), `volume claim "c1" is being deleted`, modeltest.VolumeClaim("c1").Class("local").Build()},
		"a selected node that is gone": {append(oneDisk(), toBeMade(), modeltest.VolumeClaim("m").Class("made").Request(5).Selected("gone").Build()),
			uses("w", "m"), "didn't find available volumes to bind", modeltest.VolumeClaim("m").Class("made").Request(5).Build()},
		"no room known": {made(), uses("w", "m"), "did not have enough free storage", room(&large)},
		"room shrinks":  {made(room(&large), room(&small)), uses("w", "m"), "did not have enough free storage", room(&large)},
		"a limit below what is attached": {
			append(oneDisk(), puts(ofDriver.Build(), attached(&limit),
				&model.VolumeAttachment{ID: "a", Driver: "disk.example.com", Node: "n2", Handle: "h7"}),
				modeltest.VolumeClaim("c1").Class("local").Bound("v").Build()),
			uses("w", "c1"), "node(s) exceed max volume count", attached(nil)},

		"no device claim": {without(deviceClaimKind, "c1"), asks("w", "c1"), `could not find device claim "c1"`, claim.Build()},
		"no device class": {without(model.DeviceClassKind, "gpu"), asks("w", "c1"), "request r: device class gpu does not exist",
			modeltest.DeviceClass("gpu")},
		"the wrong device class": {broken(modeltest.DeviceClaim("c1").Request("r", "cpu", 1).Build()), asks("w", "c1"),
			"request r: device class cpu does not exist", claim.Build()},
		"too many devices": {broken(modeltest.DeviceClaim("c1").Request("r", "gpu", 2).Build()), asks("w", "c1"),
			"cannot allocate all claims", claim.Build()},
		"too few devices": {broken(slice.Build()), asks("w", "c1"), "cannot allocate all claims", slice.Device("d0").Build()},
		"part of a pool": {broken(modeltest.DeviceSlice("gpu.example.com", "p").Node("n2").Part("p", 1, 2).Devices(1).Build()), asks("w", "c1"),
			"cannot allocate all claims", modeltest.DeviceSlice("gpu.example.com", "p").Node("n2").Part("p", 2, 1).Devices(1).Build()},
		"a tainted device": {broken(&model.DeviceTaintRule{ID: "t", Pool: "p", Taint: model.Taint{Key: "broken", Effect: model.NoSchedule}}),
			asks("w", "c1"), "cannot allocate all claims",
			&model.DeviceTaintRule{ID: "t", Pool: "p", Taint: model.Taint{Key: "broken", Effect: model.NoEffect}}},
		"a device claim that is being deleted": {broken(modeltest.DeviceClaim("c1").Request("r", "gpu", 1).With(func(c *model.DeviceClaim) { c.Deleting = true }).Build()),
			asks("w", "c1"), `device claim "c1" is being deleted`, claim.Build()},
		"devices on a node that is gone": {broken(reservedFor(idle(), "other")), asks("w", "c1"), "device claim not available on the node", claim.Build()},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, &world{})
			apply(t, r, epoch, c.before...)
			require.NoError(t, r.Apply(epoch, c.submit))
			settle(r, epoch)
			require.Equal(t, "Pending", phaseOf(r, "w"))
			require.Contains(t, why(t, r, "w"), c.reason)
			_, queued := r.Queue("w")
			require.True(t, queued, "it is not lost")
			require.False(t, mayBeTried(r, "w"), "it waits for something to happen")

			apply(t, r, epoch, task("small", 1)) // others are none the worse for it
			now := goOn(r, epoch)
			require.True(t, strings.HasPrefix(phaseOf(r, "small"), "Bound"))
			require.Equal(t, "Pending", phaseOf(r, "w"))
			apply(t, r, now, c.right)
			goOn(r, now)
			require.True(t, strings.HasPrefix(phaseOf(r, "w"), "Bound"), "%s: %s", phaseOf(r, "w"), why(t, r, "w"))
		})
	}
}

func reservedFor(c *model.DeviceClaim, workload string) *model.DeviceClaim {
	c.ReservedFor = []model.Consumer{{Workload: workload}}
	return c
}

// Where what is given away goes, or shrinks, those who have it keep it, others
// get none of it, and it can be given again when it is back.
func TestWhatIsUsedMayGo(t *testing.T) {
	r := newRaw(t, &world{})
	apply(t, r, epoch, append(oneDisk(), oneGPU()[2], toBeMade(), asks("d", "c1"), uses("v", "c1", "m"))...)
	require.True(t, r.Schedule(epoch))
	require.True(t, r.Schedule(epoch))
	remove := func(kind model.ObjectKind, id string) engine.Change {
		return engine.RemoveObject(model.ObjectRef{Kind: kind, ID: id})
	}
	apply(t, r, epoch, modeltest.DeviceSlice("gpu.example.com", "p").Node("n2").Build(),
		remove(model.DeviceClassKind, "gpu"), remove(model.StorageClassKind, "local"), remove(model.StorageClassKind, "made"),
		remove(volumeKind, "v"), remove(claimKind, "m"))
	work(r, epoch)
	require.Equal(t, "Bound@n2 Bound@n2", phaseOf(r, "d")+" "+phaseOf(r, "v"), "decided is decided")
	require.Equal(t, "p/d0 for d", said(r.View(), deviceClaimKind, "c1"))
	require.Equal(t, "gone gone", said(r.View(), volumeKind, "v")+" "+said(r.View(), claimKind, "m"), "and gone is gone")

	now := epoch
	back := []any{modeltest.DeviceClass("gpu"), modeltest.DeviceSlice("gpu.example.com", "p").Node("n2").Devices(1).Build()}
	apply(t, r, now, append(back, asks("next", "c2"))...)
	now = goOn(r, now)
	require.Equal(t, "Pending", phaseOf(r, "next"), "the device is given away still")
	apply(t, r, now, remove(model.DeviceSliceKind, "p"), remove(deviceClaimKind, "c1"), engine.Remove("d"), engine.Remove("v"))
	now = goOn(r, now)
	require.Equal(t, "Pending", phaseOf(r, "next"))
	apply(t, r, now, back[1])
	goOn(r, now)
	require.Equal(t, "Bound@n2", phaseOf(r, "next"))
}

// What keeps a group is said, and its members go when it is put right, in whatever
// order things come.
func TestAGroupWaitsForWhatIsWrong(t *testing.T) {
	gang := func(count int32, change func(*model.Group)) engine.Change {
		g := &model.Group{ID: "g", Policy: model.Gang, MinCount: count}
		if change != nil {
			change(g)
		}
		return engine.PutGroup(g)
	}
	member := func(id string) engine.Change { return submit(modeltest.Workload(id).CPU(100).Group("g")) }
	high := func(id string) engine.Change {
		return submit(modeltest.Workload(id).CPU(100).Group("g").Priority(7))
	}
	under := func(g *model.Group) { g.Parent = "top" }
	top := engine.PutGroup(&model.Group{ID: "top", Composite: true})
	flat := engine.PutGroup(&model.Group{ID: "top"})
	for name, c := range map[string]struct {
		before []engine.Change
		reason string
		right  []engine.Change
	}{
		"no group":                   {nil, "Incomplete", []engine.Change{gang(2, nil)}},
		"too few members":            {[]engine.Change{gang(3, nil)}, "waiting for minCount workloads from a gang to appear in scheduling queue", []engine.Change{member("m3")}},
		"a count that is too high":   {[]engine.Change{gang(9, nil)}, "waiting for minCount workloads", []engine.Change{gang(2, nil)}},
		"no parent":                  {[]engine.Change{gang(2, under)}, "Incomplete", []engine.Change{top}},
		"a parent that is no parent": {[]engine.Change{gang(2, under), flat}, "Incomplete", []engine.Change{top}},
		"another priority":           {[]engine.Change{gang(2, func(g *model.Group) { g.Priority = 7 })}, "should have the same priority", []engine.Change{gang(2, nil)}},
		"members that do not agree":  {[]engine.Change{gang(2, nil), high("odd")}, "should have the same priority", []engine.Change{engine.Remove("odd")}},
		"a group that has gone":      {[]engine.Change{engine.PutGroup(&model.Group{ID: "g"}), engine.RemoveGroup("g")}, "Incomplete", []engine.Change{gang(2, nil)}},
	} {
		for _, groupFirst := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				r := newRaw(t, &world{})
				apply(t, r, epoch, node("n1", 1000))
				if groupFirst {
					apply(t, r, epoch, c.before)
				}
				apply(t, r, epoch, member("m1"), member("m2"))
				if !groupFirst {
					apply(t, r, epoch, c.before)
				}
				settle(r, epoch)
				for _, id := range []string{"m1", "m2"} {
					require.Equal(t, "Pending", phaseOf(r, id))
					require.Contains(t, why(t, r, id), c.reason)
				}
				apply(t, r, epoch, task("small", 1))
				now := goOn(r, epoch)
				require.Equal(t, "Bound@n1", phaseOf(r, "small"))
				apply(t, r, now, c.right)
				now = goOn(r, now)
				goOn(r, now)
				require.Equal(t, "Bound@n1 Bound@n1", phaseOf(r, "m1")+" "+phaseOf(r, "m2"), "%s", why(t, r, "m2"))
			})
		}
	}
}

// However groups come, go and change their parents, there are never circles, nor
// trees that are too deep; what is refused is refused for one of these reasons.
func TestGroupTreesStayTrees(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	for _, seed := range seeds(t, 40) {
		random := rand.New(rand.NewPCG(seed, 3))
		r := newRaw(t, &world{})
		groups := map[string]*model.Group{}
		for range 150 {
			g := &model.Group{ID: names[random.IntN(len(names))], Composite: random.IntN(4) > 0}
			if random.IntN(5) > 0 {
				g.Parent = names[random.IntN(len(names))]
			}
			if random.IntN(6) == 0 {
				err := r.Apply(epoch, engine.RemoveGroup(g.ID))
				require.Equal(t, groups[g.ID] != nil, err == nil, "seed %d", seed)
				delete(groups, g.ID)
				continue
			}
			old := groups[g.ID]
			groups[g.ID] = g
			want := treeProblem(groups, g)
			err := r.Apply(epoch, engine.PutGroup(g))
			if want == "" {
				require.NoError(t, err, "seed %d", seed)
				continue
			}
			require.ErrorContains(t, err, want, "seed %d: %+v", seed, g)
			if groups[g.ID] = old; old == nil {
				delete(groups, g.ID)
			}
		}
	}
}

// treeProblem is what is wrong with the groups once g is among them: by looking
// at the way up from every one.
func treeProblem(groups map[string]*model.Group, g *model.Group) string {
	above := 0
	for at := g; at != nil && at.Parent != ""; at = groups[at.Parent] {
		if above++; at.Parent == g.ID {
			return "parent: "
		}
	}
	below := 1
	for _, low := range groups {
		n, at := 1, low
		for at != nil && at != g {
			n, at = n+1, groups[at.Parent]
		}
		if at == g {
			below = max(below, n)
		}
	}
	if above+below > model.MaxGroupDepth {
		return "groups above each other, more than"
	}
	return ""
}

// A workload that was submitted before its group turned out to be one of groups
// waits, with a reason, and goes when it is put right.
func TestAMemberOfAGroupOfGroups(t *testing.T) {
	r := newRaw(t, &world{})
	apply(t, r, epoch, node("n1", 1000), submit(modeltest.Workload("w").CPU(100).Group("g")))
	apply(t, r, epoch, engine.PutGroup(&model.Group{ID: "g", Composite: true}))
	settle(r, epoch)
	require.Equal(t, "Pending", phaseOf(r, "w"))
	require.Equal(t, "Incomplete", why(t, r, "w"))
	apply(t, r, epoch, engine.PutGroup(&model.Group{ID: "g"}))
	goOn(r, epoch)
	require.Equal(t, "Bound@n1", phaseOf(r, "w"))
}

// Removing a group under its members, while they are being bound and before.
func TestAGroupGoesUnderItsMembers(t *testing.T) {
	r := newRaw(t, &world{})
	group := engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 2})
	member := func(id string) engine.Change { return submit(modeltest.Workload(id).CPU(100).Group("g")) }
	apply(t, r, epoch, node("n1", 250), group, member("a"), member("b"), member("c"))
	require.True(t, r.Schedule(epoch))
	require.Equal(t, 2, count(r.View(), model.Assumed))
	apply(t, r, epoch, engine.RemoveGroup("g"))
	work(r, epoch)
	require.Equal(t, 2, count(r.View(), model.Bound), "decided is decided")
	apply(t, r, epoch, node("n1", 1000))
	now := goOn(r, epoch)
	require.Equal(t, 1, count(r.View(), model.Pending))
	apply(t, r, now, group)
	now = now.Add(time.Second)
	goOn(r, now)
	require.Equal(t, 3, count(r.View(), model.Bound))
}
